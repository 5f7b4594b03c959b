//! Every strategy, tick by tick, against a recomputation that fits on this page.
//!
//! The rules: `path` is the transitive closure of `edge`, and `open(x)` holds for a node with an edge
//! that no `shut` fact blocks. Streams mix statements, duplicates, retractions and a count window.

use std::collections::{BTreeMap, BTreeSet};

use ebbtide_kernel::budget::{Budget, BudgetExceeded, Stopped};
use ebbtide_kernel::ids::{FactId, RelationId, StreamId, TermId};
use ebbtide_kernel::instant::{FOREVER, Grid, Instant, NEVER};
use ebbtide_kernel::kernel::{Kernel, Settings};
use ebbtide_kernel::maintain::Strategy as Maintenance;
use ebbtide_kernel::rule::{Argument, Atom, Declaration, Program, Rule};
use ebbtide_kernel::statements::Refused;
use ebbtide_kernel::window::Window;
use proptest::prelude::*;

const EDGE: RelationId = RelationId(0);
const PATH: RelationId = RelationId(1);
const SHUT: RelationId = RelationId(2);
const OPEN: RelationId = RelationId(3);
const RANGE: i64 = 5;
const TIMED: StreamId = StreamId(0);
const COUNTED: StreamId = StreamId(1);
const COUNT: usize = 2;

fn atom(relation: RelationId, variables: &[u32]) -> Atom<String> {
    let arguments = variables.iter().map(|variable| Argument::Variable(*variable)).collect();
    Atom { relation, arguments }
}

fn rule(name: &str, stratum: usize, head: Atom<String>, body: &[Atom<String>]) -> Rule<String> {
    Rule {
        name: name.into(),
        stratum,
        heads: vec![head],
        positives: body.to_vec(),
        negations: Vec::new(),
        guards: Vec::new(),
    }
}

fn program() -> Program<String> {
    let declare = |name: &str, arity| Declaration { name: name.into(), arity };
    // path(x, y) :- edge(x, y).    path(x, z) :- path(x, y), edge(y, z).
    let first = rule("first", 0, atom(PATH, &[0, 1]), &[atom(EDGE, &[0, 1])]);
    let next = rule("next", 0, atom(PATH, &[0, 2]), &[atom(PATH, &[0, 1]), atom(EDGE, &[1, 2])]);
    // open(x) :- path(x, y), not shut(y).
    let mut open = rule("open", 0, atom(OPEN, &[0]), &[atom(PATH, &[0, 1])]);
    open.negations.push(atom(SHUT, &[1]));
    open.stratum = 1;
    Program {
        relations: vec![
            declare("edge", 2),
            declare("path", 2),
            declare("shut", 1),
            declare("open", 1),
        ],
        rules: vec![first, next, open],
        ..Program::default()
    }
}

fn kernel(strategy: Maintenance, budget: Budget) -> Kernel {
    let windows =
        vec![Window::Sliding { range: RANGE }, Window::Count { size: COUNT, group: Vec::new() }];
    let grid = Grid { step: 1, origin: Instant(0) };
    Kernel::new(program(), Vec::new(), Settings { strategy, grid, windows, budget })
}

fn exceeded(outcome: Result<(), Stopped>) -> BudgetExceeded {
    match outcome {
        Err(Stopped::Budget(exceeded)) => exceeded,
        other => panic!("no budget was hit: {other:?}"),
    }
}

fn terms(kernel: &mut Kernel, names: &[u8]) -> Vec<TermId> {
    names.iter().map(|name| kernel.dictionary_mut().intern(&format!("<{name}>"))).collect()
}

type Facts = BTreeMap<(u32, Vec<String>), i64>;

fn facts(kernel: &Kernel) -> Facts {
    let mut facts = Facts::new();
    for id in [EDGE, PATH, SHUT, OPEN] {
        let relation = kernel.relation(id);
        for row in relation.live() {
            let texts = relation.terms(row).map(|term| kernel.dictionary().text(term).to_owned());
            facts.insert((id.0, texts.collect()), relation.until(row).0);
        }
    }
    facts
}

/// What happens within one tick.
#[derive(Clone, Debug)]
enum Event {
    Edge(u8, u8),
    CountedEdge(u8, u8),
    Shut(u8),
    Retract(u8, u8),
}

fn event() -> impl Strategy<Value = Event> {
    let node = 0..5_u8;
    prop_oneof![
        4 => (node.clone(), node.clone()).prop_map(|(x, y)| Event::Edge(x, y)),
        1 => (node.clone(), node.clone()).prop_map(|(x, y)| Event::CountedEdge(x, y)),
        1 => node.clone().prop_map(Event::Shut),
        1 => (node.clone(), node).prop_map(|(x, y)| Event::Retract(x, y)),
    ]
}

fn tell(kernel: &mut Kernel, event: &Event, at: Instant) {
    let outcome = match event {
        Event::Edge(x, y) => {
            let terms = terms(kernel, &[*x, *y]);
            kernel.push(TIMED, EDGE, &terms, at)
        }
        Event::CountedEdge(x, y) => {
            let terms = terms(kernel, &[*x, *y]);
            kernel.push(COUNTED, EDGE, &terms, at)
        }
        Event::Shut(x) => {
            let terms = terms(kernel, &[*x]);
            kernel.push(TIMED, SHUT, &terms, at)
        }
        Event::Retract(x, y) => {
            let terms = terms(kernel, &[*x, *y]);
            kernel.retract(EDGE, &terms, at)
        }
    };
    assert_eq!(outcome, Ok(()));
}

/// The stated facts, kept by the book.
#[derive(Default)]
struct Oracle {
    edges: BTreeMap<(u8, u8), i64>,
    counted: Vec<(i64, (u8, u8))>,
    shut: BTreeMap<u8, i64>,
}

impl Oracle {
    fn tick(&mut self, events: &[Event], at: i64) -> Facts {
        let until = at + RANGE;
        let mut counted = BTreeSet::new();
        for event in events {
            match event {
                Event::Edge(x, y) => _ = self.edges.insert((*x, *y), until),
                Event::Shut(x) => _ = self.shut.insert(*x, until),
                Event::CountedEdge(x, y) => _ = counted.insert((*x, *y)),
                Event::Retract(..) => {}
            }
        }
        self.counted.extend(counted.into_iter().map(|edge| (at, edge)));
        let surplus = self.counted.len().saturating_sub(COUNT);
        self.counted.drain(..surplus);
        for event in events {
            if let Event::Retract(x, y) = event {
                self.edges.remove(&(*x, *y));
                self.counted.retain(|(_, edge)| *edge != (*x, *y));
            }
        }
        self.edges.retain(|_, until| *until > at);
        self.shut.retain(|_, until| *until > at);
        self.close()
    }

    fn close(&self) -> Facts {
        let mut edges = self.edges.clone();
        edges.extend(self.counted.iter().map(|(_, edge)| (*edge, FOREVER.0)));
        let mut path = edges.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for ((x, y), one) in path.clone() {
                for ((from, z), other) in &edges {
                    let until = one.min(*other);
                    if *from == y && path.get(&(x, *z)).is_none_or(|known| *known < until) {
                        path.insert((x, *z), until);
                        changed = true;
                    }
                }
            }
        }
        let name = |node: u8| format!("<{node}>");
        let mut facts = Facts::new();
        facts.extend(edges.iter().map(|((x, y), u)| ((EDGE.0, vec![name(*x), name(*y)]), *u)));
        facts.extend(path.iter().map(|((x, y), u)| ((PATH.0, vec![name(*x), name(*y)]), *u)));
        facts.extend(self.shut.iter().map(|(x, until)| ((SHUT.0, vec![name(*x)]), *until)));
        for ((x, y), until) in &path {
            if !self.shut.contains_key(y) {
                let known = facts.entry((OPEN.0, vec![name(*x)])).or_insert(*until);
                *known = (*until).max(*known);
            }
        }
        facts
    }
}

fn ticks() -> impl Strategy<Value = Vec<Vec<Event>>> {
    prop::collection::vec(prop::collection::vec(event(), 0..5), 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_strategy_equals_the_recomputation(ticks in ticks()) {
        for strategy in [Maintenance::Expiry, Maintenance::Dred, Maintenance::Naive] {
            let mut kernel = kernel(strategy, Budget::default());
            let mut oracle = Oracle::default();
            let mut before = Facts::new();
            for (position, events) in ticks.iter().enumerate() {
                let at = Instant(1 + position as i64);
                events.iter().rev().for_each(|event| tell(&mut kernel, event, at));
                kernel.advance(at).unwrap();
                let now = facts(&kernel);
                prop_assert_eq!(&now, &oracle.tick(events, at.0), "{:?} at {}", strategy, at.0);
                let entered = now.keys().filter(|fact| !before.contains_key(*fact)).count();
                let told = kernel.changes().filter(|(change, _)| change.before == NEVER).count();
                prop_assert_eq!(entered, told);
                before = now;
            }
        }
    }

    #[test]
    fn a_restored_kernel_goes_on_the_same(ticks in ticks(), cut in 0..20_usize) {
        let mut whole = kernel(Maintenance::Expiry, Budget::default());
        let mut parts = kernel(Maintenance::Expiry, Budget::default());
        for (position, events) in ticks.iter().enumerate() {
            let at = Instant(1 + position as i64);
            for event in events {
                tell(&mut whole, event, at);
                tell(&mut parts, event, at);
            }
            if position == cut {
                let snapshot = parts.snapshot("program");
                parts = kernel(Maintenance::Expiry, Budget::default());
                parts.restore(&snapshot, "program").unwrap();
            }
            whole.advance(at).unwrap();
            parts.advance(at).unwrap();
            prop_assert_eq!(facts(&whole), facts(&parts));
        }
    }

    #[test]
    fn premises_precede_their_conclusion(ticks in ticks()) {
        let mut kernel = kernel(Maintenance::Expiry, Budget::default());
        for (position, events) in ticks.iter().enumerate() {
            let at = Instant(1 + position as i64);
            events.iter().for_each(|event| tell(&mut kernel, event, at));
            kernel.advance(at).unwrap();
        }
        for id in [PATH, OPEN] {
            let rows: Vec<_> = kernel.relation(id).live().collect();
            for row in rows {
                let proof = kernel.why(FactId { relation: id, row }).unwrap();
                for node in &proof {
                    let untils = node.premises.iter().map(|premise| proof[*premise].until);
                    prop_assert_eq!(node.rule.is_none(), node.premises.is_empty());
                    if node.rule.is_some() {
                        prop_assert_eq!(untils.min(), Some(node.until));
                    }
                }
            }
        }
    }
}

fn chain(kernel: &mut Kernel, length: u8, at: i64) {
    for node in 0..length {
        let terms = terms(kernel, &[node, node + 1]);
        kernel.push(TIMED, EDGE, &terms, Instant(at)).unwrap();
    }
}

#[test]
fn a_budget_names_the_rule_and_the_next_tick_recovers() {
    let budget = Budget { derivations: Some(20), ..Budget::default() };
    let mut kernel = kernel(Maintenance::Expiry, budget);
    chain(&mut kernel, 10, 1);
    let exceeded = exceeded(kernel.advance(Instant(1)));
    assert_eq!((exceeded.resource, exceeded.limit), ("derivations", 20));
    assert!(exceeded.rule.is_some() && exceeded.to_string().contains("path("));
    for node in 3..9 {
        let terms = terms(&mut kernel, &[node, node + 1]);
        kernel.retract(EDGE, &terms, Instant(2)).unwrap();
    }
    kernel.advance(Instant(2)).unwrap();
    assert!(kernel.is_complete());
    assert_eq!(kernel.relation(PATH).len(), 3 + 2 + 1 + 1);
}

#[test]
fn a_budget_may_mark_answers_incomplete_instead() {
    let budget = Budget { facts: Some(12), go_on: true, ..Budget::default() };
    let mut kernel = kernel(Maintenance::Expiry, budget);
    chain(&mut kernel, 10, 1);
    kernel.advance(Instant(1)).unwrap();
    assert!(!kernel.is_complete());
    kernel.advance(Instant(6)).unwrap();
    assert!(kernel.is_complete() && kernel.is_empty());
}

#[test]
fn statements_alone_can_hit_a_budget() {
    let mut kernel = kernel(Maintenance::Expiry, Budget { facts: Some(1), ..Budget::default() });
    for node in 0..3 {
        let terms = terms(&mut kernel, &[node]);
        kernel.push(TIMED, SHUT, &terms, Instant(1)).unwrap();
    }
    let exceeded = exceeded(kernel.advance(Instant(1)));
    assert_eq!((exceeded.resource, exceeded.rule), ("facts", None));
}

#[test]
fn what_comes_after_its_tick_is_late() {
    let mut kernel = kernel(Maintenance::Expiry, Budget::default());
    kernel.advance(Instant(5)).unwrap();
    let terms = terms(&mut kernel, &[1, 2]);
    assert_eq!(kernel.push(TIMED, EDGE, &terms, Instant(5)), Err(Refused::Late));
    assert_eq!(kernel.push(TIMED, EDGE, &terms, Instant(6)), Ok(()));
}

#[test]
fn terms_and_rows_of_the_past_are_given_back() {
    let mut kernel = kernel(Maintenance::Expiry, Budget::default());
    let mut sizes = Vec::new();
    for tick in 1..=400_i64 {
        for fact in 0..20 {
            let texts = [format!("<{tick}-{fact}>"), format!("<{tick}-{}>", fact + 1)];
            let terms: Vec<_> = texts.iter().map(|t| kernel.dictionary_mut().intern(t)).collect();
            kernel.push(TIMED, EDGE, &terms, Instant(tick)).unwrap();
        }
        kernel.advance(Instant(tick)).unwrap();
        sizes.push((kernel.len(), kernel.dictionary().len()));
    }
    assert_eq!(sizes[50], sizes[399]);
}

#[test]
fn a_foreign_or_damaged_snapshot_is_refused() {
    let mut saved = kernel(Maintenance::Expiry, Budget::default());
    chain(&mut saved, 3, 1);
    let mut snapshot = saved.snapshot("one");
    let mut other = kernel(Maintenance::Expiry, Budget::default());
    let foreign = other.restore(&snapshot, "two").unwrap_err();
    assert!(foreign.to_string().contains("another program"));
    let last = snapshot.len() - 1;
    snapshot[last] ^= 1;
    let damaged = other.restore(&snapshot, "one").unwrap_err();
    assert!(damaged.to_string().contains("checksum"));
    assert!(other.restore(&snapshot[..10], "one").is_err());
}
