//! Lines of LARS streams whose atoms are plain: an instant, a TAB, `p(a,7). q.`
//!
//! Plain is a predicate and constants that begin with a small letter, and whole numbers: what sensors
//! say. Whatever else a line may hold is for the language's own reader; here it is only told apart.
//!
//! Invariant: what comes out is what that reader would have read.

use crate::instant::parse_instant;

const INTEGER: &str = "\"^^<http://www.w3.org/2001/XMLSchema#integer>";

/// Atoms in columns: the line each is on, its instant, its predicate and its terms' N-Triples texts,
/// one a line. A line without atoms says that time has come so far: it has no predicate.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Atoms {
    /// The number of the line, from 1.
    pub lines: Vec<i32>,
    /// When it happens.
    pub instants: Vec<i64>,
    /// The predicate.
    pub predicates: Vec<Option<String>>,
    /// Its terms.
    pub terms: Vec<Option<String>>,
    /// The lines that somebody else must read.
    pub others: Vec<i32>,
}

impl Atoms {
    /// The atoms of a text. Lines with a term of more than so many bytes are left to others.
    pub fn read(text: &str, longest_term: usize) -> Self {
        let mut atoms = Self::default();
        for (line, number) in text.lines().zip(1..) {
            if line.trim().is_empty() || line.starts_with('%') {
                continue;
            }
            let before = atoms.lines.len();
            if atoms.read_line(line, number, longest_term).is_none() {
                atoms.cut(before);
                atoms.others.push(number);
            }
        }
        atoms
    }

    fn read_line(&mut self, line: &str, number: i32, longest_term: usize) -> Option<()> {
        let (instant, rest) = line.split_once('\t')?;
        let at = parse_instant(instant.trim()).ok()?;
        let mut rest = rest.trim_start();
        if rest.is_empty() {
            self.push(number, at, None, None);
        }
        while !rest.is_empty() {
            let (predicate, after) = name(rest)?;
            rest = after;
            let mut terms = String::new();
            if let Some(inner) = rest.strip_prefix('(') {
                let (inner, after) = inner.split_once(')')?;
                rest = after;
                for (place, argument) in inner.split(',').enumerate() {
                    if place > 0 {
                        terms.push('\n');
                    }
                    let before = terms.len();
                    term(argument.trim(), &mut terms)?;
                    if terms.len() - before > longest_term {
                        return None;
                    }
                }
            }
            rest = rest.strip_prefix('.')?;
            let next = rest.trim_start();
            // After a full stop a digit would go on with a number.
            if next.len() == rest.len() && !rest.is_empty() && !begins_name(rest) {
                return None;
            }
            rest = next;
            self.push(number, at, Some(predicate.to_owned()), Some(terms));
        }
        Some(())
    }

    fn push(&mut self, line: i32, at: i64, predicate: Option<String>, terms: Option<String>) {
        self.lines.push(line);
        self.instants.push(at);
        self.predicates.push(predicate);
        self.terms.push(terms);
    }

    /// Forget what was read after the first so many.
    fn cut(&mut self, len: usize) {
        self.lines.truncate(len);
        self.instants.truncate(len);
        self.predicates.truncate(len);
        self.terms.truncate(len);
    }
}

fn begins_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
}

/// The name that a text begins with, and the rest.
fn name(text: &str) -> Option<(&str, &str)> {
    if !begins_name(text) {
        return None;
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    Some(text.split_at(end))
}

/// Write the N-Triples text of a constant or a whole number.
fn term(text: &str, into: &mut String) -> Option<()> {
    if let Some((constant, "")) = name(text) {
        // These are no constants.
        if matches!(constant, "true" | "false") {
            return None;
        }
        into.push('<');
        into.push_str(constant);
        into.push('>');
        return Some(());
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    into.push('"');
    into.push_str(text);
    into.push_str(INTEGER);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn plain_lines_are_columns() {
        let atoms = Atoms::read("41\tp(a,-7). q.\n% not this\n\n42\t\n43\tr( b_2 ).s(c).", 60);
        assert_eq!(atoms.lines, [1, 1, 4, 5, 5]);
        assert_eq!(atoms.instants, [41, 41, 42, 43, 43]);
        assert_eq!(atoms.predicates[..2], some(&["p", "q"]));
        let seven = "\"-7\"^^<http://www.w3.org/2001/XMLSchema#integer>";
        assert_eq!(atoms.terms[..2], some(&[&format!("<a>\n{seven}"), ""]));
        assert_eq!((&atoms.predicates[2], &atoms.terms[2]), (&None, &None));
        assert_eq!(atoms.others, [0; 0]);
    }

    #[test]
    fn other_lines_are_told_apart() {
        let others = [
            "41 p(a).",
            "41\tp(a)",
            "x\tp(a).",
            "1\tp(X).",
            "1\tp(a). q(true).",
            "1\tp(\"a\").",
            "1\tex:p(a).",
            "1\tp(1.5).",
            "1\tp().",
            "1\tp(a).5",
            "1\tp(abcdefgh).",
        ];
        for line in others {
            let atoms = Atoms::read(&format!("{line}\n2\tp(a)."), 8);
            assert_eq!((atoms.others, atoms.lines), (vec![1], vec![2]), "{line}");
        }
    }
}
