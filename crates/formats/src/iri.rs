//! The bytes of IRIs, one by one and many at once.

/// Whether none of these bytes, those of so many texts, can keep a text in angle brackets from being an IRI as it is
/// identified. Seen of all at once it takes less time than of each.
pub fn are_plain_iris(bytes: &[u8], texts: usize) -> bool {
    let (mut opened, mut closed) = (0, 0);
    for some in bytes.chunks(usize::from(u8::MAX)) {
        // Counts that fit a byte, so that many bytes are looked at by one instruction.
        let (mut odd, mut opening, mut closing) = (0, 0, 0);
        for byte in some {
            let brackets = (u8::from(*byte == b'<'), u8::from(*byte == b'>'));
            odd |= u8::from(!is_in_iri(*byte)) & !(brackets.0 | brackets.1);
            opening += brackets.0;
            closing += brackets.1;
        }
        if odd != 0 {
            return false;
        }
        opened += usize::from(opening);
        closed += usize::from(closing);
    }
    // As many as are around the texts: within them there are none.
    opened == texts && closed == texts
}

/// Whether a byte may stand in an IRI that is written without escapes. No branch: it is asked of many bytes at once.
#[inline(always)]
pub const fn is_in_iri(byte: u8) -> bool {
    let is_bracket = byte | 2 == b'>';
    let is_escape = byte | 2 == b'^';
    let is_brace = byte.wrapping_sub(b'{') <= b'}' - b'{';
    !((byte <= b' ') | (byte == b'"') | (byte == b'`') | is_bracket | is_escape | is_brace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_iris_are_told_from_others() {
        let odd = |byte: u8| byte <= b' ' || b"<>\"{}|^`\\".contains(&byte);
        (0..=u8::MAX).for_each(|byte| assert_eq!(is_in_iri(byte), !odd(byte), "{byte}"));
    }

    #[test]
    fn brackets_within_are_found_by_their_number() {
        let many = "<http://example/a>".repeat(100);
        assert!(are_plain_iris(many.as_bytes(), 100));
        assert!(!are_plain_iris(many.as_bytes(), 99), "one has two more");
        assert!(!are_plain_iris("<a><b c>".as_bytes(), 2));
        assert!(are_plain_iris(b"", 0));
    }
}
