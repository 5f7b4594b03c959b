//! A text that is kept in place if it is short, so that most terms need no memory of their own.

/// Texts up to this long are kept in place.
const SHORT: usize = 46;

/// A text that does not change.
pub enum Text {
    /// The first so many bytes.
    Short(u8, [u8; SHORT]),
    /// Somewhere else.
    Long(Box<str>),
}

impl Text {
    /// No text.
    pub const EMPTY: Self = Self::Short(0, [0; SHORT]);

    /// Become a copy of another text. A short one is written right there: to copy it once more would have to
    /// wait for its pieces.
    #[inline(always)]
    pub fn put(&mut self, text: &str) {
        if text.len() > SHORT {
            *self = Self::Long(text.into());
            return;
        }
        if let Self::Long(_) = self {
            *self = Self::EMPTY;
        }
        if let Self::Short(length, bytes) = self {
            *length = text.len() as u8;
            copy_short(text.as_bytes(), bytes);
        }
    }

    /// Become the empty text, which needs no memory of its own.
    #[inline]
    pub fn clear(&mut self) {
        match self {
            Self::Short(length, _) => *length = 0,
            Self::Long(_) => *self = Self::EMPTY,
        }
    }

    /// Put its bytes behind others.
    #[inline]
    pub fn append_to(&self, others: &mut Vec<u8>) {
        match self {
            Self::Short(length, bytes) => {
                // A copy of known size takes a few instructions; what is too much goes again.
                let end = others.len() + usize::from(*length);
                others.extend_from_slice(bytes);
                others.truncate(end);
            }
            Self::Long(text) => others.extend_from_slice(text.as_bytes()),
        }
    }

    /// How many bytes it has.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Short(length, _) => usize::from(*length),
            Self::Long(text) => text.len(),
        }
    }

    /// Its bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(length, bytes) => &bytes[..usize::from(*length)],
            Self::Long(text) => text.as_bytes(),
        }
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        match self {
            // It is checked again, which takes a few nanoseconds; it was a text, so it is one.
            Self::Short(..) => std::str::from_utf8(self.bytes()).unwrap_or_default(),
            Self::Long(text) => text,
        }
    }
}

/// Copy at most `SHORT` bytes by two pieces of known size that may overlap: much less than a copy of any
/// size takes.
#[inline]
fn copy_short(from: &[u8], to: &mut [u8; SHORT]) {
    let to = &mut to[..from.len()];
    let is_copied = copied::<32>(from, to)
        || copied::<16>(from, to)
        || copied::<8>(from, to)
        || copied::<4>(from, to);
    if !is_copied {
        to.iter_mut().zip(from).for_each(|(place, byte)| *place = *byte);
    }
}

/// Copy bytes as their first N and their last N, if there are as many.
#[inline]
fn copied<const N: usize>(from: &[u8], to: &mut [u8]) -> bool {
    let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) else {
        return false;
    };
    to.first_chunk_mut::<N>().into_iter().for_each(|place| *place = *first);
    to.last_chunk_mut::<N>().into_iter().for_each(|place| *place = *last);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Text {
        let mut kept = Text::EMPTY;
        kept.put(&"other".repeat(20));
        kept.put(text);
        kept
    }

    #[test]
    fn texts_of_any_length_stay_what_they_are() {
        for text in ["", "<a>", "<http://example/12345>", "\u{1f41f}"] {
            assert_eq!(kept(text).as_str(), text);
            assert_eq!(kept(text).bytes(), text.as_bytes());
        }
        assert_eq!(size_of::<Text>(), 48);
    }

    #[test]
    fn every_length_is_copied_whole() {
        let letters: String = ('A'..='z').collect();
        let mut all = Vec::new();
        for length in 0..=letters.len() {
            let text = kept(&letters[..length]);
            assert_eq!(text.as_str(), &letters[..length]);
            text.append_to(&mut all);
        }
        let expected: String = (0..=letters.len()).map(|length| &letters[..length]).collect();
        assert_eq!(all, expected.as_bytes());
    }
}
