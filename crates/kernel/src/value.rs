//! The value a term denotes: what guards compare and compute with.
//!
//! Numbers are 64-bit integers, decimals of 18 places, doubles; strings; booleans; dates and
//! instants of time. An ill-typed literal, like a term of any other kind, has no value.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::str::FromStr;

use oxsdatatypes::{Date, DateTime, Decimal, Double};

use crate::datatype::{Digits, float};

/// The namespace of the datatypes of XML Schema.
pub(crate) const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";
/// The datatype of literals with a language.
pub(crate) const LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
const INTEGERS: [&str; 13] = [
    "integer",
    "int",
    "long",
    "short",
    "byte",
    "nonNegativeInteger",
    "positiveInteger",
    "nonPositiveInteger",
    "negativeInteger",
    "unsignedLong",
    "unsignedInt",
    "unsignedShort",
    "unsignedByte",
];

/// What a literal denotes.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// A whole number.
    Integer(i64),
    /// A decimal fraction.
    Decimal(Decimal),
    /// A floating-point number.
    Double(Double),
    /// A string without a language.
    String(Cow<'a, str>),
    /// True or false.
    Boolean(bool),
    /// An instant of time.
    DateTime(DateTime),
    /// A day.
    Date(Date),
}

/// What kind of term a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A resource with a global name.
    Iri,
    /// A resource without one.
    Blank,
    /// A string, with or without a language.
    Plain,
    /// A literal of another datatype.
    Typed,
}

impl Kind {
    /// The kind of a term.
    pub fn of(text: &str) -> Self {
        match text.as_bytes() {
            [b'"', .., b'"'] => Self::Plain,
            [b'"', ..] if is_plain(text) => Self::Plain,
            [b'"', ..] => Self::Typed,
            [b'_', ..] => Self::Blank,
            _ => Self::Iri,
        }
    }
}

/// The parts of a literal's text: escaped lexical form, language or datatype.
pub(crate) fn literal(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('"')?;
    let end = rest.rfind('"')?;
    Some((&rest[..end], &rest[end + 1..]))
}

/// Whether a text is that of an IRI.
pub fn is_iri(text: &str) -> bool {
    text.starts_with('<')
}

/// Whether a string can be an IRI: it has a scheme, and nothing that N-Triples forbids.
pub fn is_iri_value(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let is_of_scheme = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
    scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.chars().all(is_of_scheme)
        && text.chars().all(|letter| letter > ' ' && !"<>\"{}|^`\\".contains(letter))
}

fn is_plain(text: &str) -> bool {
    let datatype = datatype_of(text);
    datatype.is_some_and(|datatype| datatype == XSD_STRING || datatype == LANG_STRING)
}

/// The datatype of a literal.
pub fn datatype_of(text: &str) -> Option<&str> {
    match literal(text)?.1 {
        "" => Some(XSD_STRING),
        language if language.starts_with('@') => Some(LANG_STRING),
        datatype => datatype.strip_prefix("^^<")?.strip_suffix('>'),
    }
}

/// The string of a literal (its lexical form) or of an IRI.
pub fn string_of(text: &str) -> Option<Cow<'_, str>> {
    if is_iri(text) {
        return text.get(1..text.len() - 1).map(unescape);
    }
    literal(text).map(|(lexical, _)| unescape(lexical))
}

pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        let code = rest.next();
        let digits = match code {
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        plain.extend(match code {
            Some('t') => Some('\t'),
            Some('b') => Some('\u{8}'),
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('f') => Some('\u{c}'),
            Some('u' | 'U') => {
                let hex: String = rest.by_ref().take(digits).collect();
                u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32)
            }
            other => other,
        });
    }
    Cow::Owned(plain)
}

/// The text of a string literal.
pub fn string_text(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    text.push('"');
    for letter in value.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

/// The text of a literal of a datatype of XML Schema.
pub fn typed_text(lexical: impl std::fmt::Display, datatype: &str) -> String {
    format!("\"{lexical}\"^^<{XSD}{datatype}>")
}

/// The lexical form of a double: no exponent, and the fewest digits that read back as itself. Where
/// two such forms are equally near it is the even one.
pub fn double_lexical(value: Double) -> String {
    let number = f64::from(value);
    if !number.is_finite() || number == 0.0 {
        return value.to_string();
    }
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let shortest = format!("{number:e}");
    let places = digits(shortest.split('e').next().unwrap_or_default()).saturating_sub(1);
    let even = format!("{number:.places$e}");
    // Beside a power of two the even form may be nearer to the next double.
    let rounded = if even.parse() == Ok(number) { even } else { shortest };
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let sign = if number < 0.0 { "-" } else { "" };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let point = 1 + exponent;
    match usize::try_from(point) {
        Ok(point) if point >= digits.len() => format!("{sign}{digits:0<point$}"),
        Ok(point) if point > 0 => format!("{sign}{}.{}", &digits[..point], &digits[point..]),
        _ => format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
    }
}

/// How the text of an integer ends.
const INTEGER: &str = "\"^^<http://www.w3.org/2001/XMLSchema#integer>";

/// The whole number of an xsd:integer.
pub fn whole_number(text: &str) -> Option<i64> {
    text.strip_suffix(INTEGER)?.strip_prefix('"')?.parse().ok()
}

/// What stands in the column of a variable that a solution does not bind.
pub const UNBOUND: &str = "<urn:ebbtide:unbound>";

/// Whether a literal has a datatype of XML Schema.
pub fn is_of_xml_schema(text: &str) -> bool {
    let datatype = literal(text).and_then(|(_, kind)| kind.strip_prefix("^^<"));
    datatype.is_some_and(|datatype| datatype.starts_with(XSD))
}

/// The number of an xsd:float, which has fewer bits than the double that its `Value` is.
pub(crate) fn single(text: &str) -> Option<f32> {
    let (lexical, kind) = literal(text)?;
    let datatype = kind.strip_prefix("^^<")?.strip_suffix('>')?.strip_prefix(XSD)?;
    if datatype == "float" { float(lexical) } else { None }
}

/// The digits of a whole number or a decimal, which may be too many for a `Value`.
pub(crate) fn digits_of(text: &str) -> Option<Digits<'_>> {
    let (lexical, kind) = literal(text)?;
    let datatype = kind.strip_prefix("^^<")?.strip_suffix('>')?.strip_prefix(XSD)?;
    let is_whole = INTEGERS.contains(&datatype) && !lexical.contains('.');
    if is_whole || datatype == "decimal" { Digits::of(lexical) } else { None }
}

impl<'a> Value<'a> {
    /// The value of a term, if it has one.
    pub fn of(text: &'a str) -> Option<Self> {
        // Most values that are compared are plain integers.
        if text.ends_with(INTEGER) {
            return whole_number(text).map(Self::Integer);
        }
        let (lexical, kind) = literal(text)?;
        if kind.is_empty() {
            return Some(Self::String(unescape(lexical)));
        }
        let datatype = kind.strip_prefix("^^<")?.strip_suffix('>')?.strip_prefix(XSD)?;
        match datatype {
            "string" => Some(Self::String(unescape(lexical))),
            "decimal" => Decimal::from_str(lexical).ok().map(Self::Decimal),
            "double" | "float" => float::<f64>(lexical).map(|it| Self::Double(it.into())),
            "boolean" => match lexical {
                "true" | "1" => Some(Self::Boolean(true)),
                "false" | "0" => Some(Self::Boolean(false)),
                _ => None,
            },
            "dateTime" => DateTime::from_str(lexical).ok().map(Self::DateTime),
            "date" => Date::from_str(lexical).ok().map(Self::Date),
            _ if INTEGERS.contains(&datatype) => lexical.parse().ok().map(Self::Integer),
            _ => None,
        }
    }

    /// As a decimal, if it is one or a whole number.
    pub fn decimal(&self) -> Option<Decimal> {
        match self {
            Self::Integer(value) => Some(Decimal::from(*value)),
            Self::Decimal(value) => Some(*value),
            _ => None,
        }
    }

    /// As a double, if it is any number.
    pub fn double(&self) -> Option<Double> {
        match self {
            Self::Integer(value) => Some(Double::from(*value as f64)),
            Self::Decimal(value) => Some(nearest_double(*value)),
            Self::Double(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether two values are of one kind, so that `compare` speaks for them.
    pub fn is_like(&self, other: &Self) -> bool {
        use std::mem::discriminant;
        let is_number =
            |value: &Self| matches!(value, Self::Integer(_) | Self::Decimal(_) | Self::Double(_));
        (is_number(self) && is_number(other)) || discriminant(self) == discriminant(other)
    }

    /// How two values of one kind compare; none for other pairs and for NaN.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => Some(left.cmp(right)),
            (Self::String(left), Self::String(right)) => {
                Some(left.as_bytes().cmp(right.as_bytes()))
            }
            (Self::Boolean(left), Self::Boolean(right)) => Some(left.cmp(right)),
            (Self::DateTime(left), Self::DateTime(right)) => left.partial_cmp(right),
            (Self::Date(left), Self::Date(right)) => left.partial_cmp(right),
            _ => match (self.decimal(), other.decimal()) {
                (Some(left), Some(right)) => left.partial_cmp(&right),
                _ => self.double()?.partial_cmp(&other.double()?),
            },
        }
    }
}

/// The double that is nearest to a decimal. By its text: `Double::from` divides two doubles, each rounded, and rounds again.
pub(crate) fn nearest_double(decimal: Decimal) -> Double {
    decimal.to_string().parse().expect("the text of a decimal is that of a double")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iri_has_a_scheme_and_nothing_forbidden() {
        for text in ["http://e/a", "urn:x", "a+b-c.d:", "a:b:c"] {
            assert!(is_iri_value(text), "{text}");
        }
        for text in ["", "rel", "/a:b", "1a:b", ":a", "http://e/a b", "a:<b>"] {
            assert!(!is_iri_value(text), "{text}");
        }
    }

    #[test]
    fn doubles_have_the_fewest_digits() {
        let lexical = |number: f64| double_lexical(Double::from(number));
        assert_eq!(lexical(3_602_879_701_896_397.0 / 4.0), "900719925474099.2");
        assert_eq!(lexical(2.0_f64.powi(-24)), "0.00000005960464477539063");
        assert_eq!(
            [1e21, -0.5, 1.5e-7, 3.0, 0.0, f64::INFINITY].map(lexical),
            ["1000000000000000000000", "-0.5", "0.00000015", "3", "0", "INF"]
        );
    }
}
