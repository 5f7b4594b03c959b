//! The order of terms: that of SPARQL's ORDER BY, MIN and MAX, made total.
//!
//! Shape: a term's text and its kind. Terms of one kind come before those of the next; within a kind
//! they are ordered by value, then by text. SPARQL leaves open how literals of different kinds
//! compare; where it says which of two comes first, this order agrees.

use std::cmp::Ordering;

use oxsdatatypes::{
    DateTime, DayTimeDuration, Decimal, Duration, TimezoneOffset, YearMonthDuration,
};

use crate::datatype::Digits;
use crate::value::{UNBOUND, Value, XSD, digits_of, double_lexical, is_of_xml_schema, literal};

/// A term, ordered by kind, then by value, then by text.
pub struct Ranked {
    /// The term's text.
    pub text: Box<str>,
    kind: Kind,
}

/// The kinds of terms, in the order of terms.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// No term at all; or, where only values of one kind compare, one that has none.
    Unordered,
    Blank,
    Iri,
    Number,
    NotANumber,
    String,
    Boolean,
    /// With a time zone, or without, where that makes two kinds.
    DateTime(bool),
    Date(bool),
    Duration,
    /// With a language, of another datatype, or ill-typed: by its text.
    Other,
}

impl Kind {
    fn of(text: &str, is_total: bool) -> Self {
        match Value::of(text) {
            Some(Value::Double(number)) if f64::from(number).is_nan() => {
                if is_total {
                    Self::NotANumber
                } else {
                    Self::Unordered
                }
            }
            Some(Value::Integer(_) | Value::Decimal(_) | Value::Double(_)) => Self::Number,
            Some(Value::String(_)) => Self::String,
            Some(Value::Boolean(_)) => Self::Boolean,
            Some(Value::DateTime(moment)) => {
                Self::DateTime(!is_total && moment.timezone().is_some())
            }
            Some(Value::Date(day)) => Self::Date(!is_total && day.timezone().is_some()),
            None if text == UNBOUND => Self::Unordered,
            None if text.starts_with('<') => Self::Iri,
            None if text.starts_with('_') => Self::Blank,
            None if !is_total && is_of_xml_schema(text) => Self::Unordered,
            None if digits_of(text).is_some() => Self::Number,
            None if length(text).is_some() => Self::Duration,
            None => Self::Other,
        }
    }
}

impl Ranked {
    /// In total, every term has a place; else only values of one kind compare.
    pub fn of(text: &str, is_total: bool) -> Self {
        Self { text: text.into(), kind: Kind::of(text, is_total) }
    }

    /// Whether it has a place in the order.
    pub fn is_ordered(&self) -> bool {
        self.kind != Kind::Unordered
    }

    /// Whether both are values of one kind.
    pub fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind && Kind::Iri < self.kind && self.kind < Kind::Other
    }

    fn by_value(&self, other: &Self) -> Option<Ordering> {
        match self.kind {
            Kind::Number => Some(compare_numbers(&self.text, &other.text)),
            Kind::String | Kind::Boolean => {
                Value::of(&self.text)?.compare(&Value::of(&other.text)?)
            }
            Kind::DateTime(_) | Kind::Date(_) => {
                moment(&self.text)?.partial_cmp(&moment(&other.text)?)
            }
            Kind::Duration => length(&self.text)?.partial_cmp(&length(&other.text)?),
            _ => None,
        }
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = || self.by_value(other).unwrap_or(Ordering::Equal);
        let by_text = || self.text.as_bytes().cmp(other.text.as_bytes());
        self.kind.cmp(&other.kind).then_with(by_value).then_with(by_text)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Ranked {}

/// How two numbers compare: exactly, and a double as the shortest decimal that reads back as it.
fn compare_numbers(left: &str, right: &str) -> Ordering {
    let known = match (Value::of(left), Value::of(right)) {
        (Some(left), Some(right)) => left.compare(&right).filter(|known| {
            known.is_ne() || (left.decimal().is_some() == right.decimal().is_some())
        }),
        _ => None,
    };
    known.unwrap_or_else(|| number_rank(left).cmp(&number_rank(right)))
}

/// Seconds from 1970 on of an instant, or of the beginning of a day; in UTC if no zone is said.
///
/// So all have an order, and it agrees with that of XML Schema where this has one.
fn moment(text: &str) -> Option<Decimal> {
    let moment = match Value::of(text)? {
        Value::DateTime(moment) => moment,
        Value::Date(day) => DateTime::try_from(day).ok()?,
        _ => return None,
    };
    let epoch: DateTime = "1970-01-01T00:00:00Z".parse().ok()?;
    let since = moment.adjust(Some(TimezoneOffset::UTC))?.checked_sub(epoch)?;
    Some(since.as_seconds())
}

/// The seconds of a duration, if a month is a twelfth of the calendar's mean year.
///
/// So all have an order, and it agrees with that of XML Schema where this has one.
fn length(text: &str) -> Option<Decimal> {
    const MONTH: i64 = 2_629_746;
    let (lexical, kind) = literal(text)?;
    let duration: Duration = match kind.strip_prefix("^^<")?.strip_suffix('>')?.strip_prefix(XSD)? {
        "duration" => lexical.parse().ok()?,
        "dayTimeDuration" => lexical.parse::<DayTimeDuration>().ok()?.into(),
        "yearMonthDuration" => lexical.parse::<YearMonthDuration>().ok()?.into(),
        _ => return None,
    };
    let months = duration.years().checked_mul(12)?.checked_add(duration.months())?;
    let parts = [
        (months, MONTH),
        (duration.days(), 86_400),
        (duration.hours(), 3_600),
        (duration.minutes(), 60),
    ];
    parts.into_iter().try_fold(duration.seconds(), |sum, (count, unit)| {
        sum.checked_add(Decimal::from(count).checked_mul(unit)?)
    })
}

/// A text that is ordered, byte by byte, as the term is by kind and value.
///
/// Terms of one kind and value have the same.
pub fn rank(text: &str) -> String {
    let kind = Kind::of(text, true);
    let value = match kind {
        Kind::Number => Some(number_rank(text)),
        Kind::DateTime(_) | Kind::Date(_) => moment(text).map(by_units),
        Kind::Duration => length(text).map(by_units),
        Kind::NotANumber => Some(String::new()),
        _ => match Value::of(text) {
            Some(Value::String(string)) => Some(string.into_owned()),
            Some(Value::Boolean(truth)) => Some(truth.to_string()),
            _ => None,
        },
    };
    let place = match kind {
        Kind::Unordered => 'a',
        Kind::Blank => 'b',
        Kind::Iri => 'c',
        Kind::Number => 'd',
        Kind::NotANumber => 'e',
        Kind::String => 'f',
        Kind::Boolean => 'g',
        Kind::DateTime(_) => 'h',
        Kind::Date(_) => 'i',
        Kind::Duration => 'j',
        Kind::Other => 'k',
    };
    format!("{place}{}", value.as_deref().unwrap_or(text))
}

/// The rank of a number among numbers, however many digits it has.
fn number_rank(text: &str) -> String {
    let number = match Value::of(text) {
        Some(Value::Double(number)) => f64::from(number),
        _ => return digits_of(text).map(|digits| digits.rank()).unwrap_or_default(),
    };
    if number.is_infinite() {
        return if number > 0.0 { "2" } else { "/" }.to_owned();
    }
    Digits::of(&double_lexical(number.into())).map(|digits| digits.rank()).unwrap_or_default()
}

fn by_units(number: Decimal) -> String {
    let units = i128::from_be_bytes(number.to_be_bytes());
    format!("{:032x}", units.cast_unsigned() ^ (1 << 127))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(lexical: &str, datatype: &str) -> String {
        format!("\"{lexical}\"^^<{XSD}{datatype}>")
    }

    /// In their order; those of one line are equal by value.
    fn ascending() -> Vec<Vec<String>> {
        let one = |lexical: &str, datatype: &str| vec![typed(lexical, datatype)];
        vec![
            vec!["_:a".into()],
            vec!["<a:a>".into()],
            one("-INF", "double"),
            one("-1e300", "double"),
            one("-123456789012345678901234567890", "integer"),
            one("-99999999999999999999.5", "decimal"),
            one("-99999999999999999999", "integer"),
            one("-4", "integer"),
            one("-1.5", "double"),
            vec![typed("-0", "double"), typed("0", "integer"), typed("0.0", "decimal")],
            one("0.1", "decimal"),
            one("0.10000000000000000000000000001", "decimal"),
            one("0.1000000000000000000000000001", "decimal"),
            one("0.5", "decimal"),
            vec![typed("2", "integer"), typed("2", "double"), typed("2.0", "decimal")],
            one("10", "integer"),
            one("9007199254740992", "integer"),
            one("9007199254740993", "integer"),
            one("9223372036854775807", "integer"),
            one("09223372036854775808.0", "decimal"),
            one("9223372036854775808", "double"),
            one("18446744073709551615", "unsignedLong"),
            one("99999999999999999999", "integer"),
            one("+123456789012345678901234567890", "integer"),
            one("1e300", "double"),
            one("INF", "double"),
            one("NaN", "double"),
            vec!["\"\"".into()],
            vec!["\"abc\"".into()],
            one("false", "boolean"),
            one("true", "boolean"),
            one("2020-01-01T00:00:00Z", "dateTime"),
            one("2023-12-31T23:59:59", "dateTime"),
            vec![
                typed("2024-01-01T00:00:00", "dateTime"),
                typed("2024-01-01T00:00:00Z", "dateTime"),
                typed("2024-01-01T02:00:00+02:00", "dateTime"),
            ],
            one("2023-06-01", "date"),
            one("2024-01-01+01:00", "date"),
            one("2024-01-01", "date"),
            one("-P1D", "dayTimeDuration"),
            vec![typed("PT5M", "dayTimeDuration"), typed("PT300S", "duration")],
            one("P1D", "dayTimeDuration"),
            one("P1Y", "yearMonthDuration"),
            vec!["\"b\"@de".into()],
            one("nope", "integer"),
        ]
    }

    #[test]
    fn terms_have_one_order() {
        let lines = ascending();
        for (place, line) in lines.iter().enumerate() {
            for text in line {
                for (other_place, other_line) in lines.iter().enumerate() {
                    for other in other_line {
                        let expected = place.cmp(&other_place);
                        assert_eq!(rank(text).cmp(&rank(other)), expected, "{text} {other}");
                        let found = Ranked::of(text, true).cmp(&Ranked::of(other, true));
                        assert_eq!(found, expected.then_with(|| text.cmp(other)), "{text} {other}");
                    }
                }
            }
        }
    }
}
