//! The bytes of IRIs, one by one and many at once.

/// Whether none of these bytes, those of so many texts in angle brackets, keeps a text from being an IRI as it is
/// identified. Seen of all at once it takes less time than of each.
pub fn are_plain_iris(bytes: &[u8], texts: usize) -> bool {
    let mut brackets = 0;
    for some in bytes.chunks(usize::from(u8::MAX)) {
        // Counts that fit a byte, so that many bytes are looked at by one instruction.
        let (mut odd, mut few) = (false, 0);
        for byte in some {
            odd |= is_odd(*byte);
            few += u8::from(is_bracket(*byte));
        }
        if odd {
            return false;
        }
        brackets += usize::from(few);
    }
    // As many as are around the texts: within them there are none.
    brackets == 2 * texts
}

#[inline(always)]
const fn is_bracket(byte: u8) -> bool {
    byte | 2 == b'>'
}

/// Whether a byte stands neither in an IRI nor around it.
#[inline(always)]
const fn is_odd(byte: u8) -> bool {
    let is_escape = byte | 2 == b'^';
    let is_brace = byte.wrapping_sub(b'{') <= b'}' - b'{';
    (byte <= b' ') | (byte == b'"') | (byte == b'`') | is_escape | is_brace
}

/// Whether a byte may stand in an IRI that is written without escapes. No branch: it is asked of many bytes at once.
#[inline(always)]
pub const fn is_in_iri(byte: u8) -> bool {
    !(is_odd(byte) | is_bracket(byte))
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
