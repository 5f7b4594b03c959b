//! Aggregates: a value for each group of a relation's facts, kept as facts come and go.
//!
//! Shape: a group's key to its members' lifetimes and values. A count, a sum or an average holds
//! until the first of its members ends; a least or greatest value until the last of those ends that
//! have it. A group whose values have no meaning for the function yields nothing while they stay.
//!
//! `First` and `Last` are SPARQL's MIN and MAX: of terms of any kind, in the order of ORDER BY.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use oxsdatatypes::{Decimal, Double, Float};

use super::Operator;
use super::exact::Exact;
use crate::guard::divide;
use crate::ids::{FactId, RelationId, TermId};
use crate::instant::{Instant, NEVER};
use crate::kernel::Kernel;
use crate::maintain::Strategy;
use crate::rank::Ranked;
use crate::value::{Value, double_lexical, nearest_double, single, typed_text};

/// What an aggregate computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// How many facts.
    Count,
    /// The sum of numbers.
    Sum,
    /// The least value.
    Min,
    /// The greatest value.
    Max,
    /// The sum by the count.
    Avg,
    /// The first in the order of terms.
    First,
    /// The last in the order of terms.
    Last,
}

impl Function {
    /// The function of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "count" => Some(Self::Count),
            "sum" => Some(Self::Sum),
            "min" => Some(Self::Min),
            "max" => Some(Self::Max),
            "avg" => Some(Self::Avg),
            "first" => Some(Self::First),
            "last" => Some(Self::Last),
            _ => None,
        }
    }

    /// Whether it is about terms of any kind.
    fn is_total(self) -> bool {
        matches!(self, Self::First | Self::Last)
    }
}

/// The units of a decimal in a whole number.
const ONE: i128 = 1_000_000_000_000_000_000;

/// How many members end at each instant.
type Lifetimes = BTreeMap<Instant, usize>;

fn change(lifetimes: &mut Lifetimes, until: Instant, by: isize) {
    let count = lifetimes.entry(until).or_default();
    *count = count.wrapping_add_signed(by);
    if *count == 0 {
        lifetimes.remove(&until);
    }
}

/// A sum of numbers, exact whatever their order.
#[derive(Default)]
struct Sum {
    /// Units of 10^-18, in two parts so that no sum of decimals is too large: 2^64s and ones.
    decimals: (i128, i128),
    doubles: Exact,
    /// How many are whole numbers, decimals, floats, doubles, and none of these.
    kinds: [usize; 5],
}

/// What numbers come to: a float if one of them is, and none is a double.
enum Total {
    Integer(i64),
    Decimal(Decimal),
    Float(Float),
    Double(Double),
}

impl Total {
    fn text(&self) -> String {
        match self {
            Self::Integer(number) => typed_text(number, "integer"),
            Self::Decimal(number) => typed_text(number, "decimal"),
            Self::Float(number) => typed_text(number, "float"),
            Self::Double(number) => typed_text(double_lexical(*number), "double"),
        }
    }
}

impl Sum {
    fn change(&mut self, text: &str, by: isize) {
        let value = Value::of(text);
        // What is added to doubles is the float, which is not what its digits say.
        let float = single(text);
        let kind = match value {
            Some(Value::Integer(_)) => 0,
            Some(Value::Decimal(_)) => 1,
            Some(Value::Double(_)) if float.is_some() => 2,
            Some(Value::Double(_)) => 3,
            _ => 4,
        };
        self.kinds[kind] = self.kinds[kind].wrapping_add_signed(by);
        match value {
            Some(Value::Double(double)) => {
                self.doubles.add(float.map_or(double.into(), f64::from), by as i64);
            }
            Some(number) => {
                if let Some(decimal) = number.decimal() {
                    let units = i128::from_be_bytes(decimal.to_be_bytes());
                    self.decimals.0 += (units >> 64) * by as i128;
                    self.decimals.1 += (units & i128::from(u64::MAX)) * by as i128;
                }
            }
            None => {}
        }
    }

    fn decimal(&self) -> Option<Decimal> {
        let high = self.decimals.0.checked_mul(1 << 64)?;
        Some(Decimal::from_be_bytes(high.checked_add(self.decimals.1)?.to_be_bytes()))
    }

    fn total(&self) -> Option<Total> {
        let [whole, decimal, float, double, other] = self.kinds;
        if other > 0 {
            return None;
        }
        if float + double > 0 {
            let doubles = Double::from(self.doubles.round());
            let rest =
                if whole + decimal > 0 { Some(nearest_double(self.decimal()?)) } else { None };
            let sum = rest.map_or(doubles, |rest| doubles + rest);
            return Some(if double > 0 { Total::Double(sum) } else { Total::Float(sum.into()) });
        }
        if decimal > 0 {
            return self.decimal().map(Total::Decimal);
        }
        let units = i128::from_be_bytes(self.decimal()?.to_be_bytes());
        i64::try_from(units / ONE).ok().map(Total::Integer)
    }

    fn average(&self) -> Option<Total> {
        let count = self.kinds.iter().sum::<usize>();
        let share = |sum| {
            let count = Decimal::from(i64::try_from(count).ok()?);
            divide(sum, count).map(Total::Decimal)
        };
        match self.total()? {
            Total::Integer(sum) => share(Decimal::from(sum)),
            Total::Decimal(sum) => share(sum),
            Total::Float(sum) => Some(Total::Float(sum / Float::from(count as f32))),
            Total::Double(sum) => Some(Total::Double(sum / Double::from(count as f64))),
        }
    }
}

enum Values {
    Uncounted,
    Summed(Sum),
    Ranked(BTreeMap<Ranked, Lifetimes>),
}

/// The members of one group.
struct Group {
    lifetimes: Lifetimes,
    members: usize,
    values: Values,
    /// The fact that says its value.
    says: Option<FactId>,
    /// Whether it waits among the touched.
    is_touched: bool,
}

impl Group {
    fn new(function: Function) -> Self {
        let values = match function {
            Function::Count => Values::Uncounted,
            Function::Sum | Function::Avg => Values::Summed(Sum::default()),
            Function::Min | Function::Max | Function::First | Function::Last => {
                Values::Ranked(BTreeMap::new())
            }
        };
        Self { lifetimes: Lifetimes::new(), members: 0, values, says: None, is_touched: false }
    }

    /// A member ended, came or lasts longer or shorter.
    fn change(&mut self, function: Function, text: &str, before: Instant, now: Instant) {
        for (until, by) in [(before, -1), (now, 1)] {
            if until == NEVER {
                continue;
            }
            self.members = self.members.wrapping_add_signed(by);
            match &mut self.values {
                Values::Ranked(ranked) => {
                    let value = || Ranked::of(text, function.is_total());
                    let lifetimes = ranked.entry(value()).or_default();
                    change(lifetimes, until, by);
                    if lifetimes.is_empty() {
                        ranked.remove(&value());
                    }
                }
                Values::Summed(sum) => {
                    change(&mut self.lifetimes, until, by);
                    sum.change(text, by);
                }
                Values::Uncounted => change(&mut self.lifetimes, until, by),
            }
        }
    }

    /// The value's text, and until when it holds.
    fn result(&self, function: Function) -> Option<(String, Instant)> {
        let first_end = || self.lifetimes.keys().next().copied();
        match &self.values {
            Values::Uncounted => Some((typed_text(self.members, "integer"), first_end()?)),
            Values::Summed(sum) if function == Function::Sum => {
                Some((sum.total()?.text(), first_end()?))
            }
            Values::Summed(sum) => Some((sum.average()?.text(), first_end()?)),
            Values::Ranked(ranked) => {
                let (least, greatest) = (ranked.first_key_value()?, ranked.last_key_value()?);
                let has_order = if function.is_total() {
                    least.0.is_ordered()
                } else {
                    least.0.is_like(greatest.0)
                };
                if !has_order {
                    return None;
                }
                let is_least = matches!(function, Function::Min | Function::First);
                let (value, lifetimes) = if is_least { least } else { greatest };
                Some((value.text.to_string(), *lifetimes.keys().next_back()?))
            }
        }
    }
}

/// An aggregate at work.
pub(crate) struct Grouping {
    function: Function,
    pub(crate) input: RelationId,
    pub(crate) output: RelationId,
    columns: Vec<usize>,
    value: Option<usize>,
    stratum: usize,
    groups: HashMap<Vec<TermId>, Group>,
    /// The groups that changed, each once.
    touched: Vec<Vec<TermId>>,
    /// The key of the group that was looked up last.
    key: Vec<TermId>,
}

impl Grouping {
    pub(crate) fn new(operator: &Operator) -> Option<Self> {
        let Operator::Aggregate { function, input, output, group, value, stratum } = operator
        else {
            return None;
        };
        Some(Self {
            function: *function,
            input: *input,
            output: *output,
            columns: group.clone(),
            value: *value,
            stratum: *stratum,
            groups: HashMap::new(),
            touched: Vec::new(),
            key: Vec::new(),
        })
    }
}

impl Kernel {
    /// State the values of the groups that changed, before a stratum that may read them.
    pub(crate) fn aggregate(&mut self, stratum: usize, anew: bool) {
        for position in 0..self.groupings.len() {
            if self.groupings[position].stratum != stratum {
                continue;
            }
            if anew {
                self.group_anew(position);
            } else {
                for change in 0..self.changes.len() {
                    let change = self.changes[change];
                    if change.fact.relation == self.groupings[position].input {
                        self.regroup(position, change.fact, change.before);
                    }
                }
            }
            for key in std::mem::take(&mut self.groupings[position].touched) {
                self.say(position, key, stratum);
            }
        }
    }

    /// Forget the groups, and group what holds.
    fn group_anew(&mut self, position: usize) {
        let grouping = &mut self.groupings[position];
        grouping.groups.clear();
        let input = grouping.input;
        let rows: Vec<_> = self.relations[input.index()].live().collect();
        for row in rows {
            self.regroup(position, FactId { relation: input, row }, NEVER);
        }
    }

    /// Find the groups of a restored kernel, and the facts that say their values.
    pub(crate) fn restore_groups(&mut self) {
        for position in 0..self.groupings.len() {
            self.group_anew(position);
            for key in std::mem::take(&mut self.groupings[position].touched) {
                let Grouping { function, output, groups, .. } = &mut self.groupings[position];
                let Some(group) = groups.get_mut(&key) else { continue };
                group.is_touched = false;
                group.says = group.result(*function).and_then(|(text, _)| {
                    let value = self.dictionary.lookup(&text)?;
                    let row =
                        self.relations[output.index()].find(&[&key[..], &[value]].concat()[..])?;
                    Some(FactId { relation: *output, row })
                });
            }
        }
    }

    fn regroup(&mut self, position: usize, fact: FactId, before: Instant) {
        let now = self.until(fact);
        if before == now {
            return;
        }
        let relation = &self.relations[fact.relation.index()];
        let Grouping { function, columns, value, groups, touched, key, .. } =
            &mut self.groupings[position];
        key.clear();
        key.extend(columns.iter().map(|column| relation.term(fact.row, *column)));
        let text = value.map_or("", |column| self.dictionary.text(relation.term(fact.row, column)));
        let group = groups.entry_ref(&key[..]).or_insert_with(|| Group::new(*function));
        group.change(*function, text, before, now);
        if !std::mem::replace(&mut group.is_touched, true) {
            touched.push(key.clone());
        }
    }

    /// State what a group's value is now, in place of what it was.
    fn say(&mut self, position: usize, key: Vec<TermId>, stratum: usize) {
        let Grouping { function, output, groups, .. } = &mut self.groupings[position];
        let Some(group) = groups.get_mut(&key) else { return };
        group.is_touched = false;
        let (output, said) = (*output, group.says.take());
        let result = group.result(*function);
        if group.members == 0 {
            groups.remove(&key);
        }
        let says = result.map(|(text, until)| {
            let value = self.dictionary.intern(&text);
            let fact = self.row_for(output, &[&key[..], &[value]].concat()[..]);
            self.restate(fact, until, stratum);
            fact
        });
        if let Some(fact) = said.filter(|fact| Some(*fact) != says) {
            self.restate(fact, NEVER, stratum);
        }
        if let Some(group) = self.groupings[position].groups.get_mut(&key) {
            group.says = says;
        }
    }

    /// Change until when an operator states a fact.
    pub(crate) fn restate(&mut self, fact: FactId, until: Instant, stratum: usize) {
        let before = self.relations[fact.relation.index()].stated(fact.row);
        if before == until {
            return;
        }
        self.set_stated(fact, until);
        if until != NEVER && self.settings.strategy == Strategy::Dred {
            self.note_end(fact);
        }
        if until > before {
            self.offer_statement(fact, until);
        } else if before >= self.until(fact) {
            self.candidates[stratum].push(fact);
        }
    }
}
