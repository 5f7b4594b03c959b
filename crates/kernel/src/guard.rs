//! Guards: builtin tests and functions over terms.
//!
//! A guard over terms that have no meaning for it does not hold: nothing here fails.

use std::cmp::Ordering;
use std::collections::HashMap;

use oxsdatatypes::Decimal;
use regex::Regex;

use crate::datatype::{has_type, same_value, value_text};
use crate::external::{External, Externals, Failed};
use crate::ids::ExternalId;
use crate::invent::{functor, functor_argument, invent, is_functor, is_invented};
use crate::recall::{Question, Recall};
use crate::value::{
    Kind, Value, datatype_of, double_lexical, is_iri_value, string_of, string_text, typed_text,
};

macro_rules! builtins {
    ($($variant:ident $name:literal),+ $(,)?) => {
        /// What a guard asks or computes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are the builtins'")]
        pub enum Builtin {
            $($variant,)+
            /// One that the kernel does not know, and whether it is a function.
            External(ExternalId, bool),
        }

        impl Builtin {
            /// The builtin of that name.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Its name; none if the kernel does not know it.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($name),)+
                    Self::External(..) => None,
                }
            }
        }
    };
}

builtins! {
    Equal "equal",
    NotEqual "notEqual",
    SameTerm "sameTerm",
    NotSameTerm "notSameTerm",
    LessThan "lessThan",
    GreaterThan "greaterThan",
    Le "le",
    Ge "ge",
    IsLiteral "isLiteral",
    NotLiteral "notLiteral",
    IsUri "isURI",
    IsBNode "isBNode",
    NotBNode "notBNode",
    IsPLiteral "isPLiteral",
    IsDLiteral "isDLiteral",
    IsDType "isDType",
    NotDType "notDType",
    SameValue "sameValue",
    DifferentValue "differentValue",
    StrStarts "strStarts",
    StrEnds "strEnds",
    StrContains "strContains",
    Regex "regex",
    Matches "matches",
    Bound "bound",
    IsFunctor "isFunctor",
    NotFunctor "notFunctor",
    NotInvented "notInvented",
    Sum "sum",
    Difference "difference",
    Product "product",
    Quotient "quotient",
    Min "min",
    Max "max",
    StrConcat "strConcat",
    StrLength "strLength",
    Datatype "datatype",
    DataValue "dataValue",
    UriConcat "uriConcat",
    MatchGroup "matchGroup",
    Skolem "skolem",
    Functor "functor",
    FunctorArgument "functorArgument",
}

impl Builtin {
    /// Whether the last argument is a result.
    pub fn is_function(self) -> bool {
        self.makes_terms() || matches!(self, Self::Min | Self::Max)
    }

    /// Whether the result may be a term that no argument is.
    pub fn makes_terms(self) -> bool {
        use Builtin::{
            DataValue, Datatype, Difference, External, Functor, FunctorArgument, MatchGroup,
            Product, Quotient, Skolem, StrConcat, StrLength, Sum, UriConcat,
        };
        match self {
            Sum | Difference | Product | Quotient => true,
            StrConcat | StrLength | UriConcat | MatchGroup | Datatype | DataValue => true,
            Skolem | Functor | FunctorArgument => true,
            External(_, is_function) => is_function,
            _ => false,
        }
    }
}

impl Builtin {
    /// Which one it is of those that the kernel does not know, if it is one.
    #[inline]
    pub fn external(self) -> Option<ExternalId> {
        match self {
            Self::External(id, _) => Some(id),
            _ => None,
        }
    }

    /// Whether a comparison holds for two whole numbers; none for other builtins.
    #[inline]
    pub fn holds_for(self, left: i64, right: i64) -> Option<bool> {
        match self {
            Self::Equal => Some(left == right),
            Self::NotEqual => Some(left != right),
            Self::LessThan => Some(left < right),
            Self::GreaterThan => Some(left > right),
            Self::Le => Some(left <= right),
            Self::Ge => Some(left >= right),
            _ => None,
        }
    }

    /// Whether a test of one term holds if it is of a kind; none for other builtins.
    #[inline]
    pub fn holds_of(self, kind: Kind) -> Option<bool> {
        match self {
            Self::IsLiteral => Some(matches!(kind, Kind::Plain | Kind::Typed)),
            Self::NotLiteral => Some(matches!(kind, Kind::Iri | Kind::Blank)),
            Self::IsUri => Some(kind == Kind::Iri),
            Self::IsBNode => Some(kind == Kind::Blank),
            Self::NotBNode => Some(kind != Kind::Blank),
            Self::IsPLiteral => Some(kind == Kind::Plain),
            Self::IsDLiteral => Some(kind == Kind::Typed),
            _ => None,
        }
    }
}

/// Evaluates guards, and keeps the regular expressions it met.
#[derive(Default)]
pub struct Evaluator {
    externals: Externals,
    failed: bool,
    recall: Recall,
    searched: Patterns,
    matched: Patterns,
}

/// Regular expressions by their texts; none for a text that is no pattern.
#[derive(Default)]
struct Patterns(HashMap<Box<str>, Option<Regex>>);

/// Patterns come from data too; beyond this many the cache starts anew.
const PATTERNS_KEPT: usize = 256;

impl Patterns {
    /// The expression of a text, read by `read` when it is first met.
    fn get(&mut self, text: &str, read: impl FnOnce() -> Option<Regex>) -> Option<&Regex> {
        if !self.0.contains_key(text) {
            if self.0.len() >= PATTERNS_KEPT {
                self.0.clear();
            }
            self.0.insert(text.into(), read());
        }
        self.0[text].as_ref()
    }
}

impl Evaluator {
    /// An evaluator with the builtins that the kernel does not know, by `ExternalId`.
    pub fn new(externals: Externals) -> Self {
        Self { externals, ..Self::default() }
    }

    /// What explanations call a builtin.
    pub fn name(&self, builtin: Builtin) -> &str {
        match builtin {
            Builtin::External(id, _) => self.externals[id.index()].name(),
            known => known.name().unwrap_or_default(),
        }
    }

    /// Whether an external builtin failed. From then on none is asked, until this was.
    pub fn take_failure(&mut self) -> bool {
        std::mem::take(&mut self.failed)
    }

    /// Whether an external builtin failed.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// What was answered to a question since the dictionary was swept, if it is remembered.
    #[inline]
    pub(crate) fn recall(&self, question: Question) -> Option<bool> {
        self.recall.get(question)
    }

    /// Remember an answer, unless there was none.
    pub(crate) fn remember(&mut self, question: Question, answer: bool) {
        if !self.failed {
            self.recall.put(question, answer);
        }
    }

    /// The dictionary is swept: terms may be others from now on.
    pub(crate) fn forget(&mut self) {
        self.recall.forget();
    }

    fn ask<T: Default>(
        &mut self,
        id: ExternalId,
        answer: impl FnOnce(&dyn External) -> Result<T, Failed>,
    ) -> T {
        if self.failed {
            return T::default();
        }
        answer(&*self.externals[id.index()]).unwrap_or_else(|Failed| {
            self.failed = true;
            T::default()
        })
    }

    /// Whether a test holds for these terms.
    pub fn test(&mut self, builtin: Builtin, terms: &[&str]) -> bool {
        if let [term] = terms
            && let Some(holds) = builtin.holds_of(Kind::of(term))
        {
            return holds;
        }
        match (builtin, terms) {
            (Builtin::Equal, [left, right]) => equal(left, right),
            (Builtin::NotEqual, [left, right]) => !equal(left, right),
            (Builtin::SameTerm, [left, right]) => left == right,
            (Builtin::NotSameTerm, [left, right]) => left != right,
            (Builtin::LessThan, [left, right]) => ordered(left, right, &[Ordering::Less]),
            (Builtin::GreaterThan, [left, right]) => ordered(left, right, &[Ordering::Greater]),
            (Builtin::Le, [left, right]) => {
                ordered(left, right, &[Ordering::Less, Ordering::Equal])
            }
            (Builtin::Ge, [left, right]) => {
                ordered(left, right, &[Ordering::Greater, Ordering::Equal])
            }
            (Builtin::IsDType, [term, datatype]) => has_type(term, datatype) == Some(true),
            (Builtin::NotDType, [term, datatype]) => has_type(term, datatype) == Some(false),
            (Builtin::SameValue, [left, right]) => same_value(left, right) == Some(true),
            (Builtin::DifferentValue, [left, right]) => same_value(left, right) == Some(false),
            (Builtin::StrStarts, [text, part]) => strings(text, part, |t, p| t.starts_with(p)),
            (Builtin::StrEnds, [text, part]) => strings(text, part, |t, p| t.ends_with(p)),
            (Builtin::StrContains, [text, part]) => strings(text, part, |t, p| t.contains(p)),
            (Builtin::Regex, [text, pattern]) => {
                strings(text, pattern, |text, pattern| self.searches(text, pattern))
            }
            (Builtin::Matches, [text, pattern]) => strings(text, pattern, |text, pattern| {
                self.whole(pattern).is_some_and(|regex| regex.is_match(text))
            }),
            (Builtin::Bound, _) => true,
            (Builtin::IsFunctor, [term]) => is_functor(term),
            (Builtin::NotFunctor, [term]) => !is_functor(term),
            (Builtin::NotInvented, [term]) => !is_invented(term),
            (Builtin::External(id, _), terms) => self.ask(id, |external| external.test(terms)),
            _ => false,
        }
    }

    /// Whether a pattern matches somewhere in a text.
    fn searches(&mut self, text: &str, pattern: &str) -> bool {
        let found = self.searched.get(pattern, || Regex::new(pattern).ok());
        found.is_some_and(|regex| regex.is_match(text))
    }

    /// The expression that matches whole texts.
    fn whole(&mut self, pattern: &str) -> Option<&Regex> {
        self.matched.get(pattern, || {
            // On its own it must be an expression, too: `a)(b` is none.
            Regex::new(pattern).ok()?;
            Regex::new(&format!("^(?:{pattern})$")).ok()
        })
    }

    /// The result of a function, as a term's text.
    pub fn compute(&mut self, builtin: Builtin, terms: &[&str]) -> Option<String> {
        match (builtin, terms) {
            (Builtin::External(id, _), terms) => self.ask(id, |external| external.compute(terms)),
            (Builtin::MatchGroup, [text, pattern, group]) => {
                let (text, pattern) = (string_of(text)?, string_of(pattern)?);
                let groups = self.whole(&pattern)?.captures(&text)?;
                let group = count(group)?;
                let part = groups.get(group).map_or("", |found| found.as_str());
                (group < groups.len()).then(|| string_text(part))
            }
            _ => compute(builtin, terms),
        }
    }
}

/// The result of a function that needs nothing but its terms.
fn compute(builtin: Builtin, terms: &[&str]) -> Option<String> {
    match (builtin, terms) {
        (Builtin::StrConcat, parts) => joined(parts).map(|text| string_text(&text)),
        (Builtin::UriConcat, parts) => {
            joined(parts).filter(|text| is_iri_value(text)).map(|text| format!("<{text}>"))
        }
        (Builtin::Skolem, inputs) => invent(inputs),
        (Builtin::Functor, [name, arguments @ ..]) => functor(name, arguments),
        (Builtin::FunctorArgument, [term, kind, position]) => {
            functor_argument(term, kind, count(position)?)
        }
        (Builtin::DataValue, [term]) => value_text(term).map(|text| string_text(&text)),
        (Builtin::Datatype, [term]) => datatype_of(term).map(|datatype| format!("<{datatype}>")),
        (Builtin::StrLength, [term]) => {
            Some(typed_text(string_of(term)?.chars().count(), "integer"))
        }
        (Builtin::Min | Builtin::Max, [left, right]) => {
            let (low, high) = (Value::of(left)?, Value::of(right)?);
            let order = low.compare(&high)?;
            let beaten = if builtin == Builtin::Min { Ordering::Greater } else { Ordering::Less };
            Some((if order == beaten { *right } else { *left }).to_owned())
        }
        (_, [left, right]) => arithmetic(builtin, &Value::of(left)?, &Value::of(right)?),
        _ => None,
    }
}

fn joined(parts: &[&str]) -> Option<String> {
    let texts: Option<Vec<_>> = parts.iter().map(|part| string_of(part)).collect();
    Some(texts?.concat())
}

/// A whole number that counts something.
fn count(text: &str) -> Option<usize> {
    match Value::of(text)? {
        Value::Integer(number) => number.try_into().ok(),
        _ => None,
    }
}

fn arithmetic(builtin: Builtin, left: &Value<'_>, right: &Value<'_>) -> Option<String> {
    if let (Value::Integer(left), Value::Integer(right)) = (left, right) {
        let whole = match builtin {
            Builtin::Sum => left.checked_add(*right),
            Builtin::Difference => left.checked_sub(*right),
            Builtin::Product => left.checked_mul(*right),
            _ => None,
        };
        if builtin != Builtin::Quotient {
            return whole.map(|value| typed_text(value, "integer"));
        }
    }
    if let (Some(left), Some(right)) = (left.decimal(), right.decimal()) {
        let decimal = match builtin {
            Builtin::Sum => left.checked_add(right),
            Builtin::Difference => left.checked_sub(right),
            Builtin::Product => left.checked_mul(right),
            Builtin::Quotient => divide(left, right),
            _ => None,
        };
        return decimal.map(|value| typed_text(value, "decimal"));
    }
    let (left, right) = (left.double()?, right.double()?);
    let double = match builtin {
        Builtin::Sum => left + right,
        Builtin::Difference => left - right,
        Builtin::Product => left * right,
        Builtin::Quotient if f64::from(right) != 0.0 => left / right,
        _ => return None,
    };
    Some(typed_text(double_lexical(double), "double"))
}

/// The quotient of two decimals, cut after 18 places. The library's own gives up on zero and on
/// large results, because its intermediate value is no wider than a decimal.
pub(crate) fn divide(left: Decimal, right: Decimal) -> Option<Decimal> {
    const ONE: u128 = 1_000_000_000_000_000_000;
    let (left, right) =
        (i128::from_be_bytes(left.to_be_bytes()), i128::from_be_bytes(right.to_be_bytes()));
    let (dividend, divisor) = (left.unsigned_abs(), right.unsigned_abs());
    if divisor == 0 {
        return None;
    }
    // The 256 bits of dividend * ONE.
    let (low, carried) = ((dividend & u128::from(u64::MAX)) * ONE, (dividend >> 64) * ONE);
    let (low, overflowed) = low.overflowing_add(carried << 64);
    let high = (carried >> 64) + u128::from(overflowed);
    // Division by hand, bit by bit: the remainder stays below the divisor, so it can be doubled.
    let (mut quotient, mut remainder) = (0_u128, 0_u128);
    for position in (0..256).rev() {
        let word = if position >= 128 { high } else { low };
        remainder = (remainder << 1) | ((word >> (position % 128)) & 1);
        if quotient >> 127 == 1 {
            return None;
        }
        quotient <<= 1;
        if remainder >= divisor {
            remainder -= divisor;
            quotient |= 1;
        }
    }
    let magnitude = i128::try_from(quotient).ok()?;
    let value = if (left < 0) == (right < 0) { magnitude } else { -magnitude };
    Some(Decimal::from_be_bytes(value.to_be_bytes()))
}

/// Whether two terms are equal: identical, or in value where both have one of the same kind.
pub fn equal(left: &str, right: &str) -> bool {
    left == right
        || match (Value::of(left), Value::of(right)) {
            (Some(one), Some(other)) if one.is_like(&other) => {
                one.compare(&other) == Some(Ordering::Equal)
            }
            _ => false,
        }
}

fn ordered(left: &str, right: &str, wanted: &[Ordering]) -> bool {
    let (Some(left), Some(right)) = (Value::of(left), Value::of(right)) else {
        return false;
    };
    left.compare(&right).is_some_and(|order| wanted.contains(&order))
}

fn strings(text: &str, part: &str, holds: impl FnOnce(&str, &str) -> bool) -> bool {
    match (string_of(text), string_of(part)) {
        (Some(text), Some(part)) => holds(&text, &part),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "\"2\"^^<http://www.w3.org/2001/XMLSchema#integer>";
    const TWO_POINT_OH: &str = "\"2.0\"^^<http://www.w3.org/2001/XMLSchema#decimal>";
    const HUGE: &str = "\"9223372036854775807\"^^<http://www.w3.org/2001/XMLSchema#integer>";

    #[test]
    fn values_are_equal_across_datatypes() {
        assert!(equal(TWO, TWO_POINT_OH));
        assert!(!equal(TWO, "\"2\""));
        assert!(equal("<a>", "<a>"));
    }

    #[test]
    fn comparisons_of_whole_numbers_are_those_of_their_texts() {
        use Builtin::{Equal, Ge, GreaterThan, Le, LessThan, NotEqual};
        let mut guards = Evaluator::default();
        for builtin in [Equal, NotEqual, LessThan, GreaterThan, Le, Ge] {
            for (left, right) in [(-3, 2), (2, 2), (10, 9)] {
                let texts = [left, right].map(|number| typed_text(number, "integer"));
                let told = guards.test(builtin, &[&texts[0], &texts[1]]);
                assert_eq!(builtin.holds_for(left, right), Some(told));
            }
        }
        assert_eq!(Builtin::Sum.holds_for(1, 2), None);
    }

    #[test]
    fn what_has_no_meaning_does_not_hold() {
        let mut guards = Evaluator::default();
        assert!(!guards.test(Builtin::LessThan, &["<a>", TWO]));
        assert!(!guards.test(Builtin::Regex, &["\"a\"", "\"(\""]));
        assert_eq!(compute(Builtin::Sum, &[HUGE, TWO]), None);
        assert_eq!(
            compute(Builtin::Quotient, &[TWO, "\"0\"^^<http://www.w3.org/2001/XMLSchema#integer>"]),
            None
        );
    }

    #[test]
    fn quotients_are_exact_to_the_last_place() {
        let decimal =
            |text: &str| format!("\"{text}\"^^<http://www.w3.org/2001/XMLSchema#decimal>");
        let quotient = |left: &str, right: &str| {
            compute(Builtin::Quotient, &[&decimal(left), &decimal(right)])
        };
        assert_eq!(quotient("0", "0.1"), Some(decimal("0")));
        assert_eq!(quotient("-1", "3"), Some(decimal("-0.333333333333333333")));
        assert_eq!(
            quotient("9223372036854775807", "0.054210109"),
            Some(decimal("170141182281237910940.190140551091679229"))
        );
        assert_eq!(quotient("100000000000000000000", "0.1"), None);
    }

    #[test]
    fn functions_give_canonical_literals() {
        assert_eq!(
            compute(Builtin::Quotient, &[TWO, TWO]).unwrap(),
            "\"1\"^^<http://www.w3.org/2001/XMLSchema#decimal>"
        );
        assert_eq!(compute(Builtin::StrConcat, &["\"a\\\"\"", "<b>"]).unwrap(), "\"a\\\"b\"");
    }
}
