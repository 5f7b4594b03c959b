//! Instants as texts: milliseconds, or ISO 8601 (without a zone: UTC).

use std::fmt;

/// Events happen within this many milliseconds of the epoch, on either side.
const FURTHEST: i64 = 1 << 62;
const DAY: i64 = 86_400_000;

/// A text that is no instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAnInstant {
    /// Neither a number nor ISO 8601.
    Unreadable(String),
    /// Beyond what an instant can be.
    TooFar(String),
}

impl fmt::Display for NotAnInstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(text) => {
                let start: String = text.chars().take(40).collect();
                write!(f, "not an instant (milliseconds or ISO 8601): '{start}'")
            }
            Self::TooFar(text) => write!(f, "not an instant (beyond 2^62 milliseconds): {text}"),
        }
    }
}

impl std::error::Error for NotAnInstant {}

/// Read an instant.
///
/// # Errors
/// When it is none.
pub fn parse_instant(text: &str) -> Result<i64, NotAnInstant> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if (1..=19).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let count = text.parse().ok().filter(|count: &i64| count.unsigned_abs() <= FURTHEST as u64);
        return count.ok_or_else(|| NotAnInstant::TooFar(text.to_owned()));
    }
    iso(text).ok_or_else(|| NotAnInstant::Unreadable(text.to_owned()))
}

/// What is left of a text.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// A number of exactly so many digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (head, tail) = self.0.split_at_checked(digits)?;
        let number = head.iter().try_fold(0, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        });
        self.0 = tail;
        number
    }

    fn skip(&mut self, bytes: &[u8]) -> bool {
        let found = self.0.first().is_some_and(|first| bytes.contains(first));
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    /// Hours, minutes and seconds, as far as they are given; with colons or without.
    fn clock(&mut self) -> Option<[i64; 3]> {
        let mut clock = [self.number(2)?, 0, 0];
        let colons = self.0.first() == Some(&b':');
        for place in &mut clock[1..] {
            let more = if colons {
                self.skip(b":")
            } else {
                self.0.first().is_some_and(u8::is_ascii_digit)
            };
            if !more {
                break;
            }
            *place = self.number(2)?;
        }
        (clock[0] < 24 && clock[1] < 60 && clock[2] < 60).then_some(clock)
    }

    /// Milliseconds of a fraction of a second, rounded down.
    fn fraction(&mut self) -> Option<i64> {
        if !self.skip(b".,") {
            return Some(0);
        }
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (fraction, rest) = self.0.split_at(digits);
        self.0 = rest;
        let digit = |place: usize| fraction.get(place).map_or(0, |byte| i64::from(byte - b'0'));
        (digits > 0).then(|| digit(0) * 100 + digit(1) * 10 + digit(2))
    }
}

fn seconds([hours, minutes, seconds]: [i64; 3]) -> i64 {
    (hours * 60 + minutes) * 60 + seconds
}

/// `2026-03-01`, then perhaps `T10:30:05.25`, then perhaps `Z` or `+01:00`; `20260301T103005Z`.
fn iso(text: &str) -> Option<i64> {
    let mut rest = Rest(text.as_bytes());
    let year = rest.number(4)?;
    let dashes = rest.skip(b"-");
    let month = rest.number(2)?;
    if dashes && !rest.skip(b"-") {
        return None;
    }
    let day = rest.number(2)?;
    let mut instant = days(year, month, day)? * DAY;
    if rest.0.is_empty() {
        return Some(instant);
    }
    if !rest.skip(b"Tt ") {
        return None;
    }
    instant += seconds(rest.clock()?) * 1000 + rest.fraction()?;
    if rest.skip(b"Zz") {
        return rest.0.is_empty().then_some(instant);
    }
    let ahead = rest.0.first() == Some(&b'+');
    if rest.skip(b"+-") {
        let offset = seconds(rest.clock()?) * 1000;
        instant += if ahead { -offset } else { offset };
    }
    rest.0.is_empty().then_some(instant)
}

/// Days from 1970-01-01 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if year < 1 || !(1..=length).contains(&day) {
        return None;
    }
    // Years that begin in March have their leap day last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    Some(year * 365 + leaps + (153 * month + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_moments() {
        for (text, expected) in [
            ("1500", 1500),
            ("-7", -7),
            ("4611686018427387904", 1 << 62),
            ("1970-01-01", 0),
            ("1970-01-01T00:00:01.5Z", 1500),
            ("1969-12-31T23:59:59,9999", -1),
            ("2000-03-01T00:00", 951_868_800_000),
            ("20000301T000000Z", 951_868_800_000),
            ("2000-02-29 12:00:00+01:30", 951_820_200_000),
            ("0001-01-01T00", -62_135_596_800_000),
        ] {
            assert_eq!(parse_instant(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn neither() {
        for text in [
            "",
            "noon",
            "1_0",
            "+",
            "2000-02-30",
            "1900-02-29",
            "2000-13-01",
            "2000-1-1",
            "2000-01-01T",
            "2000-01-01T24:00",
            "2000-01-01T1:00",
            "2000-01-01T10:00:00.",
            "2000-01-01T10:00Zx",
            "0000-01-01",
            "2000-01-01T10:0000",
            "99999999999999999999",
        ] {
            assert!(matches!(parse_instant(text), Err(NotAnInstant::Unreadable(_))), "{text}");
        }
        let beyond = parse_instant("9223372036854775808");
        assert!(matches!(beyond, Err(NotAnInstant::TooFar(_))));
    }
}
