//! A text that is kept in place if it is short, so that most terms need no memory of their own.

/// Texts up to this long are kept in place.
const SHORT: usize = 22;

/// A text that does not change.
pub enum Text {
    /// The first so many bytes.
    Short(u8, [u8; SHORT]),
    /// Somewhere else.
    Long(Box<str>),
}

impl Text {
    /// A copy of a text.
    #[inline]
    pub fn new(text: &str) -> Self {
        if text.len() > SHORT {
            return Self::Long(text.into());
        }
        let mut bytes = [0; SHORT];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Self::Short(text.len() as u8, bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_stay_what_they_are() {
        for text in ["", "<a>", "<http://example/12345>", "<http://example/123456>", "\u{1f41f}"] {
            assert_eq!(Text::new(text).as_str(), text);
            assert_eq!(Text::new(text).bytes(), text.as_bytes());
        }
        assert_eq!(size_of::<Text>(), 24);
    }
}
