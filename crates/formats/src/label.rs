//! Labels of blank nodes: local to their document, so that documents do not clash.
//!
//! A label `x` of the document `data.ttl` becomes `f<digest of the name>-x`; a node that the
//! document did not label gets a number, `f<digest>.7`. So the same document gives the same labels
//! every time, in every process, also when it is cut into pieces.
//!
//! In a stream, which is one document however many files it comes in, labels stay as they are.
//!
//! Labels that begin with `invented-` are the kernel's, for nodes that rules invent. No document has
//! them: such a label gets `given-` in front, and so does one that begins with `given-`, so that two
//! labels never become one.

use std::fmt::Write;

use hashbrown::HashMap;

/// The beginning of the labels of nodes that rules invent.
pub const INVENTED: &str = "invented-";
const GIVEN: &str = "given-";

/// How the labels of a document are written.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// `f<digest>` of the document; none: labels stay.
    scope: Option<String>,
    numbers: HashMap<String, usize>,
}

impl Labels {
    /// Labels that stay as they are, reserved ones aside.
    pub fn kept() -> Self {
        Self::default()
    }

    /// Labels of one document.
    pub fn of(document: &str) -> Self {
        Self { scope: Some(format!("f{:010x}", digest(document))), numbers: HashMap::new() }
    }

    /// Whether a label of a line may stand as it is.
    pub fn keeps(&self, label: &str) -> bool {
        self.scope.is_none() && !label.starts_with(INVENTED) && !label.starts_with(GIVEN)
    }

    /// Write `_:` and the new label.
    pub fn write(&self, label: &str, text: &mut String) {
        text.push_str("_:");
        if let Some(scope) = &self.scope {
            text.push_str(scope);
            text.push('-');
        } else if !self.keeps(label) {
            text.push_str(GIVEN);
        }
        text.push_str(label);
    }

    /// As `write`, for a label that may have been drawn at random by a parser: those are numbered.
    pub fn write_or_number(&mut self, label: &str, text: &mut String) {
        if !is_random(label) {
            return self.write(label, text);
        }
        let next = self.numbers.len();
        let number = *self.numbers.entry_ref(label).or_insert(next);
        // No label of a user's has a full stop right after the digest.
        let _ = write!(text, "_:{}.{number}", self.scope.as_deref().unwrap_or("f"));
    }
}

/// Whether a label looks like one of oxrdf's: 128 random bits in hexadecimal, a letter first.
pub fn is_random(label: &str) -> bool {
    (20..=32).contains(&label.len())
        && label.starts_with(|first: char| first.is_ascii_lowercase())
        && label.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// 40 bits of FNV-1a: the same everywhere, for ever.
fn digest(name: &str) -> u64 {
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    (hash >> 40) ^ (hash & 0xFF_FFFF_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(labels: &mut Labels, label: &str) -> String {
        let mut text = String::new();
        labels.write_or_number(label, &mut text);
        text
    }

    #[test]
    fn documents_do_not_clash() {
        let (mut a, mut b) = (Labels::of("a.ttl"), Labels::of("b.ttl"));
        assert_ne!(label(&mut a, "x"), label(&mut b, "x"));
        assert_eq!(label(&mut a, "x"), label(&mut Labels::of("a.ttl"), "x"));
        assert!(label(&mut a, "x").ends_with("-x"));
    }

    #[test]
    fn random_labels_are_numbered_in_order() {
        let mut labels = Labels::of("a.ttl");
        let (one, two) = ("a".repeat(32), "b".repeat(31));
        let first = label(&mut labels, &one);
        assert!(first.ends_with(".0"));
        assert!(label(&mut labels, &two).ends_with(".1"));
        assert_eq!(label(&mut labels, &one), first);
    }

    #[test]
    fn reserved_labels_are_given_away() {
        let mut kept = Labels::kept();
        assert_eq!(label(&mut kept, "x"), "_:x");
        assert_eq!(label(&mut kept, "invented-1-ab"), "_:given-invented-1-ab");
        assert_eq!(label(&mut kept, "given-invented-1-ab"), "_:given-given-invented-1-ab");
    }
}
