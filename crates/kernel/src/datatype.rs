//! The data values of literals, and the value spaces of datatypes.
//!
//! Unlike the values that guards compare and compute with (`value`), these are those of the
//! standards: no bounds on digits, and identity instead of numerical equality, because
//! `"1"^^xsd:float` and `"1"^^xsd:integer` denote different things. Spaces are disjoint. Known are
//! the datatypes of OWL 2 RL but rdf:XMLLiteral, and xsd:date and rdf:langString.

use std::borrow::Cow;
use std::str::FromStr;

use oxsdatatypes::{Date, DateTime, TimezoneOffset};

use crate::value::{LANG_STRING, XSD, is_iri, literal, unescape};

const PLAIN_LITERAL: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#PlainLiteral";
const RDFS_LITERAL: &str = "http://www.w3.org/2000/01/rdf-schema#Literal";

/// A datatype whose values are known.
#[derive(Clone, Copy)]
enum Datatype<'a> {
    AnyLiteral,
    PlainLiteral,
    LangString,
    /// The name within XML Schema.
    Schema(&'a str),
}

impl<'a> Datatype<'a> {
    fn named(iri: &'a str) -> Option<Self> {
        match iri {
            PLAIN_LITERAL => Some(Self::PlainLiteral),
            LANG_STRING => Some(Self::LangString),
            RDFS_LITERAL => Some(Self::AnyLiteral),
            _ => {
                let name = iri.strip_prefix(XSD)?;
                let is_known = bounds(name).is_some()
                    || restriction(name).is_some()
                    || matches!(
                        name,
                        "decimal" | "float" | "double" | "boolean" | "string" | "anyURI"
                    )
                    || matches!(
                        name,
                        "dateTime" | "dateTimeStamp" | "date" | "hexBinary" | "base64Binary"
                    );
                is_known.then_some(Self::Schema(name))
            }
        }
    }
}

/// The bounds of the types derived from the integers.
fn bounds(name: &str) -> Option<(i128, i128)> {
    let bounds = match name {
        "integer" => (i128::MIN, i128::MAX),
        "nonNegativeInteger" => (0, i128::MAX),
        "positiveInteger" => (1, i128::MAX),
        "nonPositiveInteger" => (i128::MIN, 0),
        "negativeInteger" => (i128::MIN, -1),
        "long" => (i64::MIN.into(), i64::MAX.into()),
        "int" => (i32::MIN.into(), i32::MAX.into()),
        "short" => (i16::MIN.into(), i16::MAX.into()),
        "byte" => (i8::MIN.into(), i8::MAX.into()),
        "unsignedLong" => (0, u64::MAX.into()),
        "unsignedInt" => (0, u32::MAX.into()),
        "unsignedShort" => (0, u16::MAX.into()),
        "unsignedByte" => (0, u8::MAX.into()),
        _ => return None,
    };
    Some(bounds)
}

/// What the types derived from the strings allow.
fn restriction(name: &str) -> Option<fn(&str) -> bool> {
    let allows: fn(&str) -> bool = match name {
        "normalizedString" => |text| !text.contains(['\t', '\n', '\r']),
        "token" => is_token,
        "language" => is_language,
        "NMTOKEN" => |text| !text.is_empty() && text.chars().all(is_name_character),
        "Name" => is_name,
        "NCName" => |text| is_name(text) && !text.contains(':'),
        _ => return None,
    };
    Some(allows)
}

/// A number with any number of digits. Zero is not negative.
#[derive(PartialEq)]
pub(crate) struct Digits<'a> {
    negative: bool,
    /// Without leading zeros.
    whole: &'a str,
    /// Without trailing zeros.
    fraction: &'a str,
}

impl<'a> Digits<'a> {
    pub(crate) fn of(lexical: &'a str) -> Option<Self> {
        let unsigned = lexical.strip_prefix(['+', '-']).unwrap_or(lexical);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !are_digits(whole) || !are_digits(fraction) {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let is_zero = whole.is_empty() && fraction.is_empty();
        Some(Self { negative: lexical.starts_with('-') && !is_zero, whole, fraction })
    }

    /// A text that is ordered as the number is: by sign, by how many digits it has in front of the
    /// point, then by all its digits.
    pub(crate) fn rank(&self) -> String {
        let Self { negative, whole, fraction } = self;
        let ascending = format!("{:08x}{whole}{fraction}", whole.len());
        if !negative {
            return format!("1{ascending}");
        }
        // Negative numbers ascend as their digits descend, and come after those that go on.
        let digits = ascending.chars().filter_map(|digit| digit.to_digit(16));
        let descending = digits.filter_map(|digit| char::from_digit(15 - digit, 16));
        format!("0{}~", descending.collect::<String>())
    }

    fn is_within(&self, (low, high): (i128, i128)) -> bool {
        if !self.fraction.is_empty() {
            return false;
        }
        // Beyond the digits of any bound, only a type without a bound on that side has it.
        let size = match self.whole {
            "" => 0,
            whole if whole.len() > 38 => i128::MAX,
            whole => whole.parse().unwrap_or(i128::MAX),
        };
        let value = if self.negative { -size } else { size };
        (low <= value || low == i128::MIN) && (value <= high || high == i128::MAX)
    }
}

/// What a literal denotes.
enum DataValue<'a> {
    Decimal(Digits<'a>),
    Float(u32),
    Double(u64),
    Boolean(bool),
    String(&'a str),
    Language(&'a str, String),
    Uri(&'a str),
    DateTime(DateTime),
    Date(Date),
    Hex(String),
    Base64(String),
}

impl PartialEq for DataValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Decimal(left), Self::Decimal(right)) => left == right,
            (Self::Float(left), Self::Float(right)) => left == right,
            (Self::Double(left), Self::Double(right)) => left == right,
            (Self::Boolean(left), Self::Boolean(right)) => left == right,
            (Self::String(left), Self::String(right)) | (Self::Uri(left), Self::Uri(right)) => {
                left == right
            }
            (Self::Language(text, tag), Self::Language(other, another)) => {
                text == other && tag == another
            }
            (Self::DateTime(left), Self::DateTime(right)) => left.is_identical_with(*right),
            (Self::Date(left), Self::Date(right)) => left.is_identical_with(*right),
            (Self::Hex(left), Self::Hex(right)) | (Self::Base64(left), Self::Base64(right)) => {
                left == right
            }
            _ => false,
        }
    }
}

impl<'a> DataValue<'a> {
    /// The value of a lexical form of a datatype, if the datatype allows it.
    fn of(lexical: &'a str, datatype: Datatype<'_>) -> Option<Self> {
        let value = match datatype {
            Datatype::AnyLiteral | Datatype::LangString => return None,
            Datatype::PlainLiteral => {
                let (text, tag) = lexical.rsplit_once('@')?;
                match tag {
                    "" => Self::String(text),
                    _ if is_language(tag) => Self::Language(text, tag.to_ascii_lowercase()),
                    _ => return None,
                }
            }
            Datatype::Schema(name) => match name {
                "float" => Self::Float(float::<f32>(lexical)?.to_bits()),
                "double" => Self::Double(float::<f64>(lexical)?.to_bits()),
                "boolean" => match lexical {
                    "true" | "1" => Self::Boolean(true),
                    "false" | "0" => Self::Boolean(false),
                    _ => return None,
                },
                "anyURI" => Self::Uri(lexical),
                "dateTime" | "dateTimeStamp" => Self::DateTime(DateTime::from_str(lexical).ok()?),
                "date" => Self::Date(Date::from_str(lexical).ok()?),
                "hexBinary" => Self::Hex(hex(lexical)?),
                "base64Binary" => Self::Base64(base64(lexical)?),
                _ if name == "decimal" || bounds(name).is_some() => {
                    Self::Decimal(Digits::of(lexical)?)
                }
                _ => Self::String(lexical),
            },
        };
        // An integer is written without a point, even if nothing follows it.
        let misses_form = matches!(value, Self::Decimal(_))
            && !matches!(datatype, Datatype::Schema("decimal"))
            && lexical.contains('.');
        (!misses_form && value.is_in(datatype)).then_some(value)
    }

    fn is_in(&self, datatype: Datatype<'_>) -> bool {
        match datatype {
            Datatype::AnyLiteral => true,
            Datatype::PlainLiteral => matches!(self, Self::String(_) | Self::Language(..)),
            Datatype::LangString => matches!(self, Self::Language(..)),
            Datatype::Schema(name) => match self {
                Self::Decimal(number) => {
                    name == "decimal" || bounds(name).is_some_and(|bounds| number.is_within(bounds))
                }
                Self::Float(_) => name == "float",
                Self::Double(_) => name == "double",
                Self::Boolean(_) => name == "boolean",
                Self::String(text) => {
                    name == "string" || restriction(name).is_some_and(|allows| allows(text))
                }
                Self::Language(..) => false,
                Self::Uri(_) => name == "anyURI",
                Self::DateTime(instant) => {
                    name == "dateTime"
                        || (name == "dateTimeStamp" && instant.timezone_offset().is_some())
                }
                Self::Date(_) => name == "date",
                Self::Hex(_) => name == "hexBinary",
                Self::Base64(_) => name == "base64Binary",
            },
        }
    }
}

impl DataValue<'_> {
    /// The space and the value as a text, one for each value.
    fn text(&self) -> String {
        let zoned = |offset: Option<TimezoneOffset>| offset.map_or("-".into(), |at| at.to_string());
        match self {
            Self::Decimal(Digits { negative, whole, fraction }) => {
                format!("decimal {}{whole}.{fraction}", if *negative { "-" } else { "" })
            }
            Self::Float(bits) => format!("float {bits:08x}"),
            Self::Double(bits) => format!("double {bits:016x}"),
            Self::Boolean(truth) => format!("boolean {truth}"),
            Self::String(text) => format!("string {text}"),
            Self::Language(text, tag) => format!("language {tag} {text}"),
            Self::Uri(text) => format!("anyURI {text}"),
            Self::DateTime(at) => {
                let (day, zone) = ((at.year(), at.month(), at.day()), zoned(at.timezone_offset()));
                let (hour, minute, second) = (at.hour(), at.minute(), at.second());
                format!("dateTime {} {} {} {hour} {minute} {second} {zone}", day.0, day.1, day.2)
            }
            Self::Date(at) => {
                let zone = zoned(at.timezone_offset());
                format!("date {} {} {} {zone}", at.year(), at.month(), at.day())
            }
            Self::Hex(digits) => format!("hexBinary {digits}"),
            Self::Base64(digits) => format!("base64Binary {digits}"),
        }
    }
}

/// A literal's unescaped lexical form, and how it goes on: nothing, a language, a datatype.
fn parts(text: &str) -> Option<(Cow<'_, str>, &str)> {
    literal(text).map(|(lexical, kind)| (unescape(lexical), kind))
}

/// Calls `then` with what a literal of a known datatype denotes; with none if it is ill-typed.
fn with_value<R>(text: &str, then: impl FnOnce(Option<DataValue<'_>>) -> R) -> Option<R> {
    let (lexical, kind) = parts(text)?;
    if let Some(tag) = kind.strip_prefix('@') {
        return Some(then(Some(DataValue::Language(&lexical, tag.to_ascii_lowercase()))));
    }
    if kind.is_empty() {
        return Some(then(Some(DataValue::String(&lexical))));
    }
    let datatype = Datatype::named(kind.strip_prefix("^^<")?.strip_suffix('>')?)?;
    Some(then(DataValue::of(&lexical, datatype)))
}

/// Whether the value of a literal is in a datatype; none where that is not known.
pub fn has_type(text: &str, datatype: &str) -> Option<bool> {
    if !is_iri(datatype) {
        return None;
    }
    let datatype = Datatype::named(datatype.get(1..datatype.len() - 1)?)?;
    with_value(text, |value| value.is_some_and(|value| value.is_in(datatype)))
}

/// Whether two literals denote the same value; none where a value is not known.
pub fn same_value(left: &str, right: &str) -> Option<bool> {
    with_value(left, |left| {
        let left = left?;
        with_value(right, |right| right.map(|right| left == right))?
    })?
}

/// The value of a literal as a text: two have the same exactly if they denote the same value.
pub fn value_text(text: &str) -> Option<String> {
    with_value(text, |value| value.map(|value| value.text()))?
}

/// A number as XML Schema writes floats and doubles.
pub(crate) fn float<F: FromStr>(lexical: &str) -> Option<F> {
    let number = match lexical {
        "INF" | "+INF" => "inf",
        "-INF" => "-inf",
        "NaN" => "nan",
        _ => {
            let (mantissa, exponent) = match lexical.split_once(['e', 'E']) {
                Some((mantissa, exponent)) => (mantissa, Some(exponent)),
                None => (lexical, None),
            };
            Digits::of(mantissa)?;
            if let Some(exponent) = exponent {
                let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
            }
            lexical
        }
    };
    number.parse().ok()
}

fn hex(lexical: &str) -> Option<String> {
    let is_hex = lexical.len().is_multiple_of(2) && lexical.bytes().all(|b| b.is_ascii_hexdigit());
    is_hex.then(|| lexical.to_ascii_uppercase())
}

/// The text without spaces. Unused bits are zero, so there is one for each value.
fn base64(lexical: &str) -> Option<String> {
    if lexical.starts_with(' ') || lexical.ends_with(' ') || lexical.contains("  ") {
        return None;
    }
    let joined: String = lexical.chars().filter(|letter| *letter != ' ').collect();
    let digits = joined.trim_end_matches('=');
    let ends_well = match joined.len() - digits.len() {
        0 => true,
        1 => digits.ends_with(|letter| "AEIMQUYcgkosw048".contains(letter)),
        2 => digits.ends_with(['A', 'Q', 'g', 'w']),
        _ => false,
    };
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    let is_base64 = joined.len().is_multiple_of(4) && ends_well && digits.bytes().all(is_digit);
    is_base64.then_some(joined)
}

fn is_token(text: &str) -> bool {
    let is_spaced = text.starts_with(' ') || text.ends_with(' ') || text.contains("  ");
    !is_spaced && !text.contains(['\t', '\n', '\r'])
}

fn is_language(text: &str) -> bool {
    let is_part = |part: &str| (1..=8).contains(&part.len());
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default();
    is_part(first)
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| is_part(part) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn is_name(text: &str) -> bool {
    text.starts_with(is_name_start) && text.chars().all(is_name_character)
}

fn is_name_start(letter: char) -> bool {
    matches!(letter,
        ':' | 'A'..='Z' | '_' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}'
        | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

fn is_name_character(letter: char) -> bool {
    is_name_start(letter)
        || matches!(letter,
            '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(lexical: &str, datatype: &str) -> String {
        format!("\"{lexical}\"^^<{XSD}{datatype}>")
    }

    fn has(lexical: &str, of: &str, datatype: &str) -> Option<bool> {
        has_type(&typed(lexical, of), &format!("<{XSD}{datatype}>"))
    }

    #[test]
    fn values_are_in_every_datatype_that_holds_them() {
        assert_eq!(has("5.0", "decimal", "byte"), Some(true));
        assert_eq!(has("300", "integer", "byte"), Some(false));
        assert_eq!(has("300", "byte", "integer"), Some(false), "ill-typed");
        assert_eq!(
            has("99999999999999999999999999999999999999999", "integer", "long"),
            Some(false)
        );
        assert_eq!(has("1", "float", "double"), Some(false));
        assert_eq!(has("P1D", "duration", "duration"), None);
    }

    #[test]
    fn values_are_identical_not_equal() {
        let same = |left: &str, right: &str, datatype: &str| {
            same_value(&typed(left, datatype), &typed(right, datatype))
        };
        assert_eq!(same("16777205.5", "16777206.5", "float"), Some(true));
        assert_eq!(same("0", "-0", "double"), Some(false));
        assert_eq!(same("1e400", "1e401", "double"), Some(true));
        assert_eq!(same("01", "+1", "integer"), Some(true));
        assert_eq!(same_value(&typed("1", "integer"), &typed("1", "float")), Some(false));
        assert_eq!(same_value(&typed("1", "integer"), "<a>"), None);
    }
}
