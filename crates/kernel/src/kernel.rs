//! The kernel: one program, its facts, and the ticks that keep its conclusions true.
//!
//! Data flows one way through a tick:
//!
//! ```text
//! arrivals ─► statements ─► per stratum: lower, raise ─► changes
//! ```
//!
//! *Lower* ends or shortens what lost its support (see `maintain::lower`), *raise* settles what is
//! new or lasts longer (see `maintain::raise`). What a tick changed stays readable until the next.
//!
//! Invariant, between ticks: the facts that hold are the closure of the stated facts in sight, each
//! with the maximum over its derivations of the minimum over their bodies. And every derived fact
//! has a derivation from facts that *precede* it: they last longer, or as long and were settled in a
//! lower stratum or before. Proofs and retraction rest on that order.

use hashbrown::HashMap;

use crate::agenda::Agenda;
use crate::arrivals::Arrivals;
use crate::budget::{Budget, Stopped};
use crate::counts::{CountWindow, Counted};
use crate::derivations::Derivations;
use crate::endings::Endings;
use crate::external::Externals;
use crate::guard::Evaluator;
use crate::ids::{ClassId, FactId, RelationId, TermId};
use crate::instant::{Grid, Instant, NEVER};
use crate::key::Key;
use crate::maintain::{Strategy, ends_last};
use crate::operator::{Covering, Grouping, Runs, Steps};
use crate::plan::{Condition, Conditions, Live, Plan};
use crate::relation::Relation;
use crate::rule::Program;
use crate::sessions::SessionWindow;
use crate::term::Dictionary;
use crate::window::Window;

/// How a kernel is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the materialisation is maintained.
    pub strategy: Strategy,
    /// The grid of ticks. Ticks may fall beside it, at some cost.
    pub grid: Grid,
    /// The windows of the streams, by `StreamId`.
    pub windows: Vec<Window>,
    /// What it may hold and do.
    pub budget: Budget,
}

impl Default for Settings {
    fn default() -> Self {
        let grid = Grid { step: 1, origin: Instant(0) };
        Self { strategy: Strategy::Expiry, grid, windows: Vec::new(), budget: Budget::default() }
    }
}

/// One fact that a tick changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The fact.
    pub fact: FactId,
    /// Its `until` before the tick; NEVER if it did not hold.
    pub before: Instant,
}

/// Running totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Ticks evaluated.
    pub ticks: u64,
    /// Statements taken in.
    pub stated: u64,
    /// Lookups of atoms while joining.
    pub lookups: u64,
    /// Derivations found, repeated ones included.
    pub derivations: u64,
    /// Facts that came to hold.
    pub entered: u64,
    /// Facts that ceased to hold.
    pub left: u64,
}

/// A program at work.
pub struct Kernel {
    pub(crate) settings: Settings,
    pub(crate) program: Program<TermId>,
    pub(crate) dictionary: Dictionary,
    pub(crate) relations: Vec<Relation>,
    /// Relations whose rows may hold terms that no statement does, so that all their rows count as
    /// uses of their terms.
    pub(crate) makes_terms: Vec<bool>,
    pub(crate) body: Conditions,
    pub(crate) head: Conditions,
    /// The highest stratum that derives facts of each head condition.
    pub(crate) producers: Vec<usize>,
    pub(crate) live: Live,
    pub(crate) plan: Plan,
    pub(crate) plans_heads: bool,
    pub(crate) evaluator: Evaluator,
    pub(crate) arrivals: Arrivals,
    /// Facts by the tick at which they may end. A renewed fact stays in its old bucket too; whoever
    /// empties a bucket compares with what holds now.
    pub(crate) endings: Endings,
    pub(crate) count_windows: Vec<Option<CountWindow>>,
    /// By stream, as the count windows are.
    pub(crate) session_windows: Vec<Option<SessionWindow>>,
    pub(crate) counted: HashMap<FactId, Counted>,
    pub(crate) groupings: Vec<Grouping>,
    pub(crate) runs: Vec<Runs>,
    pub(crate) coverings: Vec<Covering>,
    pub(crate) steps: Option<Steps>,
    pub(crate) agenda: Agenda,
    pub(crate) derivations: Derivations,
    pub(crate) derived_this_tick: usize,
    /// Counts settlings.
    pub(crate) order: u64,
    pub(crate) tick: Option<Instant>,
    pub(crate) changes: Vec<Change>,
    /// How many of them, from the first on, are of facts that may not hold in the end. What comes after is new or
    /// lasts longer, and stays, unless something takes facts back: then all of them.
    pub(crate) unsure: usize,
    /// What facts lowered in this tick had before.
    pub(crate) prior: HashMap<FactId, Instant>,
    pub(crate) lowered: Vec<FactId>,
    /// Per stratum, facts that may have lost their support.
    pub(crate) candidates: Vec<Vec<FactId>>,
    /// The last tick broke off: the next one starts from the statements.
    pub(crate) broken: bool,
    pub(crate) complete: bool,
    /// Whether the changes were read by somebody: a tick that failed is told with the next one.
    pub(crate) told: bool,
    pub(crate) totals: Totals,
    /// Scratch: the slots of a walk, and the facts to warm.
    pub(crate) slots: Vec<TermId>,
    pub(crate) upcoming: Vec<FactId>,
    /// Scratch: the terms of a head that cannot be packed.
    pub(crate) wide: Vec<TermId>,
}

impl Kernel {
    /// A kernel for a checked program, and the builtins that only the program's guards know.
    pub fn new(program: Program<String>, externals: Externals, settings: Settings) -> Self {
        let mut dictionary = Dictionary::default();
        let mut program = program.map(|text| {
            let term = dictionary.intern(&text);
            dictionary.retain(term);
            term
        });
        program.lift();
        let mut relations: Vec<Relation> =
            program.relations.iter().map(|relation| Relation::new(relation.arity)).collect();
        let mut makes_terms = vec![false; relations.len()];
        for rule in program.rules.iter().filter(|rule| rule.computes()) {
            for head in &rule.heads {
                makes_terms[head.relation.index()] = true;
            }
        }
        let rules = &program.rules;
        let bodies = rules.iter().flat_map(|rule| {
            let positives = rule.positives.iter().map(|atom| Condition::in_rule(atom, rule));
            positives.chain(rule.negations.iter().map(Condition::of))
        });
        let body = Conditions::of(bodies, relations.len());
        let heads = rules.iter().flat_map(|rule| &rule.heads).map(Condition::of);
        let head = Conditions::of(heads, relations.len());
        let mut producers = vec![0; head.len()];
        for rule in rules {
            for atom in &rule.heads {
                let stratum = &mut producers[head.id(&Condition::of(atom)).index()];
                *stratum = rule.stratum.max(*stratum);
            }
        }
        let ends_last = ends_last(&program, &settings);
        let live = Live::new(&body);
        let plan = Plan::new(&program, &body, &head, &mut relations, &live, false);
        let slots = vec![TermId(0); plan.slots];
        let count_windows = settings.windows.iter().map(|window| match window {
            Window::Count { size, group } => Some(CountWindow::new(*size, group.clone())),
            _ => None,
        });
        let session_windows = settings.windows.iter().map(|window| match window {
            Window::Session { gap, group } => Some(SessionWindow::new(*gap, group.clone())),
            _ => None,
        });
        Self {
            count_windows: count_windows.collect(),
            session_windows: session_windows.collect(),
            groupings: program.operators.iter().filter_map(Grouping::new).collect(),
            runs: program.operators.iter().filter_map(Runs::new).collect(),
            coverings: program.operators.iter().filter_map(Covering::new).collect(),
            steps: program.spanned.map(Steps::new),
            arrivals: Arrivals::new(settings.grid),
            endings: Endings::new(settings.grid, ends_last),
            agenda: Agenda::new(settings.grid),
            candidates: vec![Vec::new(); plan.starts.len()],
            live,
            settings,
            program,
            dictionary,
            relations,
            makes_terms,
            body,
            head,
            producers,
            plan,
            plans_heads: false,
            evaluator: Evaluator::new(externals),
            counted: HashMap::new(),
            derivations: Derivations::default(),
            derived_this_tick: 0,
            order: 0,
            tick: None,
            changes: Vec::new(),
            unsure: 0,
            prior: HashMap::new(),
            lowered: Vec::new(),
            // The first tick has nothing to build on.
            broken: true,
            complete: true,
            told: true,
            totals: Totals::default(),
            slots,
            upcoming: Vec::new(),
            wide: Vec::new(),
        }
    }

    /// The program.
    pub fn program(&self) -> &Program<TermId> {
        &self.program
    }

    /// The terms.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The terms, to intern those of a push.
    pub fn dictionary_mut(&mut self) -> &mut Dictionary {
        &mut self.dictionary
    }

    /// A relation's facts.
    pub fn relation(&self, id: RelationId) -> &Relation {
        &self.relations[id.index()]
    }

    /// Keep an index for readers of a relation.
    pub fn ask_index(&mut self, id: RelationId, columns: Vec<usize>) {
        self.relations[id.index()].ask(columns);
    }

    /// The plan in force.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The body conditions that plans speak of.
    pub fn conditions(&self) -> &Conditions {
        &self.body
    }

    /// The last tick.
    pub fn tick(&self) -> Option<Instant> {
        self.tick
    }

    /// The tick that is being evaluated.
    #[inline]
    pub(crate) fn present(&self) -> Instant {
        self.tick.unwrap_or(NEVER)
    }

    /// Whether the last tick derived everything.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Running totals.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// How many facts hold.
    pub fn len(&self) -> usize {
        self.relations.iter().map(Relation::len).sum()
    }

    /// Whether no fact holds.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many arrivals wait for their tick.
    pub fn waiting(&self) -> usize {
        self.arrivals.len()
    }

    /// An estimate of the memory held.
    pub fn bytes(&self) -> usize {
        let relations: usize = self.relations.iter().map(Relation::bytes).sum();
        relations + self.dictionary.bytes() + self.endings.len() * size_of::<FactId>()
    }

    /// What the last tick changed, facts whose `until` came out the same aside.
    pub fn changes(&self) -> impl Iterator<Item = (Change, Instant)> + '_ {
        let after = |change: &Change| (*change, self.until(change.fact));
        self.changes.iter().map(after).filter(|(change, until)| change.before != *until)
    }

    /// The facts that the last tick touched, in runs of the same relation.
    pub fn touched(&self) -> impl Iterator<Item = (RelationId, &Relation, &[Change])> {
        let mut rest = &self.changes[..];
        std::iter::from_fn(move || {
            let id = rest.first()?.fact.relation;
            let run = rest.iter().take_while(|change| change.fact.relation == id).count();
            let (run, others) = rest.split_at(run);
            rest = others;
            Some((id, &self.relations[id.index()], run))
        })
    }

    /// Until when a fact holds.
    pub fn until(&self, fact: FactId) -> Instant {
        self.relations[fact.relation.index()].until(fact.row)
    }

    /// A fact by its terms, if it holds.
    pub fn find(&self, relation: RelationId, texts: &[&str]) -> Option<FactId> {
        let terms: Option<Vec<TermId>> =
            texts.iter().map(|text| self.dictionary.lookup(text)).collect();
        let row = self.relations[relation.index()].find(&terms?[..])?;
        let fact = FactId { relation, row };
        (self.until(fact) != NEVER).then_some(fact)
    }

    /// The instants at which a fact entered the count windows that hold it.
    pub fn counted_at(&self, fact: FactId) -> Vec<Instant> {
        let terms = self.terms_of(fact);
        let windows = self.count_windows.iter().flatten();
        windows.flat_map(|window| window.instants_of(fact, &terms)).collect()
    }

    /// Evaluate a tick. Ticks ascend.
    ///
    /// # Errors
    /// When a budget was hit, or an external builtin failed. The next tick starts again from the
    /// statements.
    ///
    /// # Panics
    /// When the tick does not come after the last one.
    pub fn advance(&mut self, tick: Instant) -> Result<(), Stopped> {
        assert!(self.tick.is_none_or(|last| last < tick), "ticks ascend");
        self.begin(tick);
        let mut outcome = self.maintain(tick);
        self.note_missed_runs(tick);
        if self.evaluator.take_failure() {
            outcome = Err(Stopped::Builtin);
        }
        self.broken = outcome.is_err();
        self.complete = !self.broken;
        self.totals.ticks += 1;
        self.told = true;
        if let Err(stopped) = outcome {
            self.unsure = usize::MAX;
            self.agenda.clear();
            let waiting = self.derivations.take();
            self.derivations.clear(waiting);
            if stopped == Stopped::Builtin || !self.settings.budget.go_on {
                self.told = false;
                return Err(stopped);
            }
        }
        self.bury();
        self.end_last(tick);
        Ok(())
    }

    /// Give back the ids of terms that nothing uses, unless a tick that failed is still to be told. Answers that are
    /// remembered by id go with them.
    pub fn sweep(&mut self) {
        if self.told {
            self.dictionary.sweep();
            self.evaluator.forget();
        }
    }

    fn begin(&mut self, tick: Instant) {
        if self.told {
            self.changes.clear();
            self.order += 1;
            self.relations.iter_mut().for_each(|relation| relation.begin(self.order));
        }
        self.agenda.begin(tick);
        self.sweep();
        self.tick = Some(tick);
        self.derived_this_tick = 0;
        self.prior.clear();
        self.lowered.clear();
    }

    /// Plan anew if the facts have become many more or many fewer since.
    pub(crate) fn replan_if_stale(&mut self) {
        if self.plan.is_stale(&self.relations) {
            self.replan();
        }
    }

    pub(crate) fn replan(&mut self) {
        let heads = self.plans_heads;
        let Self { program, body, head, relations, live, .. } = self;
        self.plan = Plan::new(program, body, head, relations, live, heads);
        self.slots.resize(self.plan.slots, TermId(0));
    }

    /// Make the plan ready for conditions that had their first fact.
    #[inline]
    pub(crate) fn wake(&mut self) {
        if !self.live.woken.is_empty() {
            self.plan.wake(&mut self.live, &mut self.relations);
        }
    }

    #[inline]
    pub(crate) fn note_change(&mut self, fact: FactId, before: Instant) {
        if !self.relations[fact.relation.index()].set_changed(fact.row) {
            self.changes.push(Change { fact, before });
        }
    }

    /// The row of a fact, made if there is none. Whether the fact will hold is left open.
    #[inline]
    pub(crate) fn row_for<'t>(
        &mut self,
        relation: RelationId,
        terms: impl Into<Key<'t>>,
    ) -> FactId {
        self.unsure = usize::MAX;
        self.row_or_made(relation, terms.into()).0
    }

    /// The row of a fact; if there was none, made, with the body conditions that the fact matches. What
    /// was just written into a row would have to be waited for.
    #[inline(always)]
    pub(crate) fn row_or_made(
        &mut self,
        relation: RelationId,
        terms: Key<'_>,
    ) -> (FactId, Option<ClassId>) {
        let (row, is_made) = self.relations[relation.index()].find_or_insert(terms);
        let fact = FactId { relation, row };
        (fact, is_made.then(|| self.welcome(fact, terms)))
    }

    /// A row was made for a fact. Returns the body conditions that the fact matches.
    #[inline(always)]
    pub(crate) fn welcome(&mut self, fact: FactId, terms: Key<'_>) -> ClassId {
        let relation = &mut self.relations[fact.relation.index()];
        if self.makes_terms[fact.relation.index()] {
            relation.terms(fact.row).for_each(|term| self.dictionary.retain(term));
        }
        let first = match terms {
            Key::Packed(terms) => terms,
            Key::Terms(_) => relation.first_terms(fact.row),
        };
        let class = self.body.class_of_terms(fact.relation, first, relation, fact.row);
        relation.set_class(fact.row, class);
        self.changes.push(Change { fact, before: NEVER });
        class
    }

    /// Say until when a fact is stated, keeping count of its terms.
    pub(crate) fn set_stated(&mut self, fact: FactId, stated: Instant) {
        let relation = &mut self.relations[fact.relation.index()];
        let before = relation.stated(fact.row);
        relation.set_stated(fact.row, stated);
        if self.makes_terms[fact.relation.index()] || (before == NEVER) == (stated == NEVER) {
            return;
        }
        for term in self.relations[fact.relation.index()].terms(fact.row) {
            if stated == NEVER {
                self.dictionary.release(term);
            } else {
                self.dictionary.retain(term);
            }
        }
    }

    /// End a fact, and keep count of its conditions.
    #[inline]
    pub(crate) fn end(&mut self, fact: FactId) -> Instant {
        let before = self.relations[fact.relation.index()].end(fact.row);
        if before != NEVER {
            self.unsure = usize::MAX;
            self.note_change(fact, before);
            self.live.leave(&self.body, self.class_of(fact));
            if let Some(steps) = &mut self.steps {
                steps.forget(fact.relation, &self.relations[fact.relation.index()], fact.row);
            }
        }
        before
    }

    /// The terms of a fact.
    pub(crate) fn terms_of(&self, fact: FactId) -> Vec<TermId> {
        self.relations[fact.relation.index()].terms(fact.row).collect()
    }

    /// The body conditions that a fact matches.
    pub(crate) fn class_of(&self, fact: FactId) -> ClassId {
        self.relations[fact.relation.index()].class(fact.row)
    }

    /// Find and note the body conditions that a fact matches.
    pub(crate) fn classify(&mut self, fact: FactId) {
        let relation = &mut self.relations[fact.relation.index()];
        let class = self.body.class_of(fact.relation, relation, fact.row);
        relation.set_class(fact.row, class);
    }

    /// A fact as text.
    pub fn show(&self, relation: RelationId, terms: impl Iterator<Item = TermId>) -> String {
        let terms: Vec<&str> = terms.map(|term| self.dictionary.text(term)).collect();
        format!("{}({})", self.program.relations[relation.index()].name, terms.join(", "))
    }
}
