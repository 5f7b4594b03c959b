//! Terms that rules invent: blank nodes that stand for a reason, and functors.
//!
//! Both are made of inputs, and are equal exactly if these are. A functor is a literal that can be
//! taken apart: its lexical form is `name/arity` and the text of each argument, a line each. Rules
//! that invent from what they invented end, because nothing is nested deeper than `MAX_DEPTH`.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use sha2::{Digest, Sha256};

use crate::value::{string_of, string_text};

/// How deep inventions may be nested.
const MAX_DEPTH: usize = 3;

/// How the text of a functor ends.
const FUNCTOR: &str = "^^<urn:ebbtide:functor>";

/// The blank node of a tuple of inputs.
pub fn invent(inputs: &[&str]) -> Option<String> {
    let depth = depth_from(inputs)?;
    let digest = Sha256::digest(inputs.join("\n"));
    let digits =
        digest[..16].iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    Some(format!("_:invented-{depth}-{digits}"))
}

/// The functor of a name and arguments.
pub fn functor(name: &str, arguments: &[&str]) -> Option<String> {
    depth_from(arguments)?;
    let mut lexical = format!("{}/{}", string_of(name)?, arguments.len());
    for argument in arguments {
        lexical.push('\n');
        lexical.push_str(argument);
    }
    Some(string_text(&lexical) + FUNCTOR)
}

/// An argument, counted from 0, of a functor that has this name and arity.
pub fn functor_argument(text: &str, kind: &str, position: usize) -> Option<String> {
    let (lexical, kind) = (functor_lexical(text)?, string_of(kind)?);
    let mut lines = lexical.split('\n');
    if lines.next() != Some(&kind) {
        return None;
    }
    lines.nth(position).filter(|line| TERM.is_match(line)).map(str::to_owned)
}

/// What is a term. Anybody may write a literal that looks like a functor.
static TERM: LazyLock<Regex> = LazyLock::new(|| {
    let code = r"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})";
    let iri = format!(r#"<(?:[^\x00-\x20<>"{{}}|^`\\]|{code})*>"#);
    let blank = r"_:[\w:](?:[\w:.\u{b7}-]*[\w:\u{b7}-])?";
    let string = format!(r#""(?:[^"\\\n\r]|\\[tbnrf"'\\]|{code})*""#);
    let kind = format!(r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^{iri}");
    Regex::new(&format!("^(?:{iri}|{blank}|{string}(?:{kind})?)$")).expect("a pattern")
});

/// Whether a text is that of a functor.
pub fn is_functor(text: &str) -> bool {
    functor_lexical(text).is_some()
}

fn functor_lexical(text: &str) -> Option<Cow<'_, str>> {
    if text.starts_with('"') && text.ends_with(FUNCTOR) { string_of(text) } else { None }
}

/// Whether a text is that of a term that rules invented.
pub fn is_invented(text: &str) -> bool {
    depth(text) > 0
}

/// The depth of what is invented from these inputs.
fn depth_from(inputs: &[&str]) -> Option<usize> {
    let depth = 1 + inputs.iter().map(|text| depth(text)).max().unwrap_or_default();
    (depth <= MAX_DEPTH).then_some(depth)
}

/// How deep rules nested to invent a term; 0 if none did.
fn depth(text: &str) -> usize {
    if let Some(lexical) = functor_lexical(text) {
        return 1 + lexical.split('\n').skip(1).map(depth).max().unwrap_or_default();
    }
    let parts = text.strip_prefix("_:invented-").and_then(|label| label.split_once('-'));
    let is_digest = |text: &str| {
        text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    match parts {
        Some((depth, digest)) if depth.len() == 1 && is_digest(digest) => {
            depth.parse().unwrap_or_default()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functors_can_be_taken_apart() {
        let all = functor("\"all\"", &["<p>", "\"a\\nb\""]).unwrap();
        assert!(is_functor(&all));
        assert_eq!(functor_argument(&all, "\"all/2\"", 1).unwrap(), "\"a\\nb\"");
        assert_eq!(functor_argument(&all, "\"all/2\"", 2), None);
        assert_eq!(functor_argument(&all, "\"some/2\"", 0), None);
        assert_eq!(functor_argument("\"f/1\\nx\"^^<urn:ebbtide:functor>", "\"f/1\"", 0), None);
    }

    #[test]
    fn invention_ends() {
        let first = invent(&["<a>"]).unwrap();
        let second = functor("\"f\"", &[&first]).unwrap();
        let third = invent(&[&second]).unwrap();
        assert!(third.starts_with("_:invented-3-"));
        assert_eq!(invent(&[&third]), None);
        assert_eq!(functor("\"f\"", &["<a>", &third]), None);
    }
}
