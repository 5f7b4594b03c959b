//! One line: a statement of N-Triples or N-Quads, perhaps after an instant and a TAB.
//!
//! Shape: a scanned line is a list of places, one a term, where its canonical text stands: in the
//! line itself, which is nearly always so, or in a scratch text, if the line writes it otherwise
//! (escapes, `xsd:string`, capitals in a language tag, labels to rename).

use std::borrow::Cow;
use std::ops::Range;

use crate::instant::parse_instant;
use crate::iri::is_in_iri;
use crate::label::Labels;
use crate::text::{XSD_STRING, write_iri, write_quoted};

/// What the lines of a format are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Subject, predicate, object.
    Triple,
    /// ... and perhaps a graph.
    Quad,
    /// An instant, a TAB, a triple.
    Timed,
}

/// Why a line is no statement, and the byte where that shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A byte of the line.
    pub position: usize,
    /// One sentence.
    pub reason: Cow<'static, str>,
}

fn refuse<T>(position: usize, reason: impl Into<Cow<'static, str>>) -> Result<T, Refusal> {
    Err(Refusal { position, reason: reason.into() })
}

/// Where a term's canonical text stands.
#[derive(Clone, Debug)]
enum Place {
    Line(Range<usize>),
    Scratch(Range<usize>),
}

/// The last line scanned.
#[derive(Debug, Default)]
pub struct Statement {
    places: Vec<Place>,
    scratch: String,
    /// When it happens, if the line says so.
    pub at: Option<i64>,
}

const SUBJECT: &str = "expected a subject: an absolute IRI <...> or a blank node _:name";
const PREDICATE: &str = "expected a predicate: an absolute IRI <...>";
const OBJECT: &str = "expected an object: an absolute IRI <...>, a blank node _:name or a literal";
const GRAPH: &str =
    "expected a full stop, or a graph: an absolute IRI <...> or a blank node _:name";

impl Statement {
    /// Scan a line without its end; false if there is nothing in it but space and a comment.
    ///
    /// # Errors
    /// When it is no statement.
    pub fn scan(&mut self, line: &str, syntax: Syntax, labels: &Labels) -> Result<bool, Refusal> {
        self.places.clear();
        self.scratch.clear();
        self.at = None;
        let bytes = line.as_bytes();
        if is_rest(bytes, 0) {
            return Ok(false);
        }
        let mut position = 0;
        if syntax == Syntax::Timed {
            let Some(tab) = memchr::memchr(b'\t', bytes) else {
                return refuse(0, "expected an instant, a TAB and an N-Triples statement");
            };
            match parse_instant(&line[..tab]) {
                Ok(at) => self.at = Some(at),
                Err(error) => return refuse(0, error.to_string()),
            }
            position = tab + 1;
            if is_rest(bytes, position) {
                return refuse(position, "expected an N-Triples statement after the TAB");
            }
        }
        position = self.node(line, skip_space(bytes, position), labels, SUBJECT)?;
        position = self.iri(line, skip_space(bytes, position), PREDICATE)?;
        position = skip_space(bytes, position);
        position = match bytes.get(position) {
            Some(b'"') => self.literal(line, position)?,
            _ => self.node(line, position, labels, OBJECT)?,
        };
        position = skip_space(bytes, position);
        if syntax == Syntax::Quad && bytes.get(position) != Some(&b'.') {
            position = skip_space(bytes, self.node(line, position, labels, GRAPH)?);
        }
        if bytes.get(position) != Some(&b'.') {
            return refuse(position, "expected a full stop");
        }
        if !is_rest(bytes, position + 1) {
            return refuse(position + 1, "expected nothing after the full stop but a comment");
        }
        Ok(true)
    }

    /// Scan a text that is one term and nothing else; its canonical text, or none if it is no term.
    pub fn scan_term<'a>(&'a mut self, text: &'a str, labels: &Labels) -> Option<&'a str> {
        self.places.clear();
        self.scratch.clear();
        let end = match text.as_bytes().first() {
            // Lines have no ends within them.
            Some(b'"') if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() => {
                self.literal(text, 0)
            }
            _ => self.node(text, 0, labels, OBJECT),
        };
        (end.ok()? == text.len()).then(|| self.term(text, 0))
    }

    /// How many terms the line has.
    pub fn arity(&self) -> usize {
        self.places.len()
    }

    /// The canonical text of a term of the line.
    pub fn term<'a>(&'a self, line: &'a str, place: usize) -> &'a str {
        match &self.places[place] {
            Place::Line(range) => &line[range.clone()],
            Place::Scratch(range) => &self.scratch[range.clone()],
        }
    }

    /// An IRI or a blank node; the byte after it.
    fn node(
        &mut self,
        line: &str,
        start: usize,
        labels: &Labels,
        expected: &'static str,
    ) -> Result<usize, Refusal> {
        let Some(label) = line[start..].strip_prefix("_:") else {
            return self.iri(line, start, expected);
        };
        let length = label_length(label);
        if length == 0 {
            return refuse(start, expected);
        }
        let label = &label[..length];
        let end = start + 2 + length;
        if labels.keeps(label) {
            self.places.push(Place::Line(start..end));
        } else {
            self.rewrite(|scratch| labels.write(label, scratch));
        }
        Ok(end)
    }

    /// An IRI; the byte after it.
    fn iri(&mut self, line: &str, start: usize, expected: &'static str) -> Result<usize, Refusal> {
        let Some(iri) = iri_at(line.as_bytes(), start) else {
            return refuse(start, expected);
        };
        if iri.is_escaped {
            let plain = unescape_iri(&line[start..iri.end], start)?;
            self.rewrite(|scratch| write_iri(&plain, scratch));
        } else {
            self.places.push(Place::Line(start..iri.end));
        }
        Ok(iri.end)
    }

    /// A literal; the byte after it.
    fn literal(&mut self, line: &str, start: usize) -> Result<usize, Refusal> {
        let bytes = line.as_bytes();
        let Some(string) = string_at(bytes, start) else {
            return refuse(start, OBJECT);
        };
        let quoted = start..string.end;
        let mut end = string.end;
        let mut is_canonical = !string.is_escaped;
        let mut datatype = Cow::Borrowed("");
        let mut tag = "";
        if bytes.get(end) == Some(&b'@') {
            // As after a full stop: what does not belong to the tag is reported where it stands.
            end += tag_length(&bytes[end..]);
            tag = &line[string.end..end];
            is_canonical &= !tag.bytes().any(|byte| byte.is_ascii_uppercase());
        } else if bytes[end..].starts_with(b"^^")
            && let Some(iri) = iri_at(bytes, end + 2)
        {
            datatype = Cow::Borrowed(&line[end + 3..iri.end - 1]);
            if iri.is_escaped {
                datatype = Cow::Owned(unescape_iri(&line[end + 2..iri.end], start)?);
                is_canonical = false;
            }
            end = iri.end;
        }
        let is_plain = datatype == XSD_STRING;
        if is_canonical {
            self.places.push(Place::Line(start..if is_plain { quoted.end } else { end }));
            return Ok(end);
        }
        let lexical = &line[quoted.start + 1..quoted.end - 1];
        let lexical = unescape(lexical).or_else(|reason| refuse(start, reason))?;
        self.rewrite(|scratch| {
            write_quoted(&lexical, scratch);
            scratch.push_str(&tag.to_ascii_lowercase());
            if !is_plain && !datatype.is_empty() {
                scratch.push_str("^^");
                write_iri(&datatype, scratch);
            }
        });
        Ok(end)
    }

    fn rewrite(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.scratch.len();
        write(&mut self.scratch);
        self.places.push(Place::Scratch(start..self.scratch.len()));
    }
}

fn skip_space(bytes: &[u8], mut position: usize) -> usize {
    while matches!(bytes.get(position), Some(b' ' | b'\t')) {
        position += 1;
    }
    position
}

/// Whether there is nothing from here on but space and a comment.
fn is_rest(bytes: &[u8], position: usize) -> bool {
    matches!(bytes.get(skip_space(bytes, position)), None | Some(b'#'))
}

/// A token, and whether escapes occur in it.
struct Token {
    end: usize,
    is_escaped: bool,
}

/// The bytes that stand for themselves in an IRI.
const IN_IRI: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = is_in_iri(byte as u8);
        byte += 1;
    }
    table
};

/// An absolute IRI with its brackets.
fn iri_at(bytes: &[u8], start: usize) -> Option<Token> {
    if bytes.get(start) != Some(&b'<') || !bytes.get(start + 1)?.is_ascii_alphabetic() {
        return None;
    }
    let mut position = start + 2;
    while matches!(bytes.get(position)?, b'+' | b'-' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z')
    {
        position += 1;
    }
    if bytes[position] != b':' {
        return None;
    }
    let mut is_escaped = false;
    loop {
        while IN_IRI[usize::from(*bytes.get(position)?)] {
            position += 1;
        }
        match bytes[position] {
            b'>' => return Some(Token { end: position + 1, is_escaped }),
            b'\\' => {
                is_escaped = true;
                position += code_length(&bytes[position + 1..])? + 1;
            }
            _ => return None,
        }
    }
}

/// A quoted string with its quotes.
fn string_at(bytes: &[u8], start: usize) -> Option<Token> {
    let mut position = start + 1;
    let mut is_escaped = false;
    loop {
        position += memchr::memchr2(b'"', b'\\', bytes.get(position..)?)?;
        if bytes[position] == b'"' {
            return Some(Token { end: position + 1, is_escaped });
        }
        is_escaped = true;
        position += match bytes.get(position + 1)? {
            b't' | b'b' | b'n' | b'r' | b'f' | b'"' | b'\'' | b'\\' => 2,
            _ => code_length(&bytes[position + 1..])? + 1,
        };
    }
}

/// The length of `uXXXX` or `UXXXXXXXX`.
fn code_length(bytes: &[u8]) -> Option<usize> {
    let length = match bytes.first()? {
        b'u' => 5,
        b'U' => 9,
        _ => return None,
    };
    bytes.get(1..length)?.iter().all(u8::is_ascii_hexdigit).then_some(length)
}

/// The length of `@` and the language tag after it; 0 if there is none.
fn tag_length(bytes: &[u8]) -> usize {
    let run = |start: usize, is_in: fn(&u8) -> bool| {
        bytes[start..].iter().take_while(|byte| is_in(byte)).count()
    };
    let first = run(1, u8::is_ascii_alphabetic);
    if first == 0 {
        return 0;
    }
    let mut end = 1 + first;
    while bytes.get(end) == Some(&b'-') {
        let part = run(end + 1, u8::is_ascii_alphanumeric);
        if part == 0 {
            break;
        }
        end += 1 + part;
    }
    end
}

/// The length of the label that a text begins with; the last character is no full stop.
fn label_length(text: &str) -> usize {
    let mut end = 0;
    for (place, character) in text.char_indices() {
        let fits = if place == 0 {
            is_label_start(character)
        } else {
            is_label_start(character) || is_in_label(character)
        };
        match character {
            _ if fits => end = place + character.len_utf8(),
            '.' if place > 0 => {}
            _ => break,
        }
    }
    end
}

/// PN_CHARS_U of N-Triples, or a digit.
fn is_label_start(character: char) -> bool {
    matches!(character,
        'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | ':'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
        | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// What PN_CHARS has beyond that.
fn is_in_label(character: char) -> bool {
    matches!(character, '-' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// The characters that an escaped text stands for.
pub(crate) fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = memchr::memchr(b'\\', rest.as_bytes()) {
        plain.push_str(&rest[..place]);
        let escape = &rest[place..];
        let (character, length) = match escape.as_bytes()[1] {
            b't' => ('\t', 2),
            b'b' => ('\u{8}', 2),
            b'n' => ('\n', 2),
            b'r' => ('\r', 2),
            b'f' => ('\u{C}', 2),
            kind @ (b'u' | b'U') => {
                let length = if kind == b'u' { 6 } else { 10 };
                let code = u32::from_str_radix(&escape[2..length], 16).ok();
                let character = code
                    .and_then(char::from_u32)
                    .ok_or_else(|| format!("not a Unicode character: {}", &escape[..length]))?;
                (character, length)
            }
            other => (char::from(other), 2),
        };
        plain.push(character);
        rest = &escape[length..];
    }
    plain.push_str(rest);
    Ok(plain)
}

/// The IRI that an escaped one in brackets stands for. An escape must not smuggle in a character
/// that an IRI cannot have.
fn unescape_iri(text: &str, position: usize) -> Result<String, Refusal> {
    let plain = unescape(&text[1..text.len() - 1]).or_else(|reason| refuse(position, reason))?;
    if plain.bytes().all(|byte| IN_IRI[usize::from(byte)]) {
        return Ok(plain);
    }
    let start: String = text.chars().take(80).collect();
    refuse(position, format!("not an IRI: {start}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(line: &str, syntax: Syntax) -> Result<Vec<String>, Refusal> {
        let mut statement = Statement::default();
        statement.scan(line, syntax, &Labels::kept())?;
        Ok((0..statement.arity()).map(|place| statement.term(line, place).to_owned()).collect())
    }

    #[test]
    fn terms_are_canonical() {
        for (object, canonical) in [
            ("<http://e/\\u00e9>", "<http://e/é>"),
            ("_:x.y", "_:x.y"),
            ("_:invented-1", "_:given-invented-1"),
            ("\"a\\tb\\u0022\"", "\"a\tb\\\"\""),
            ("\"x\"^^<http://www.w3.org/2001/XMLSchema#string>", "\"x\""),
            ("\"\\\"\"^^<http://www.w3.org/2001/XMLSchema#\\u0073tring>", "\"\\\"\""),
            ("\"x\"^^<http://e/t>", "\"x\"^^<http://e/t>"),
            ("\"x\"@fi-FI", "\"x\"@fi-fi"),
        ] {
            let line = format!("<http://e/s> <http://e/p> {object} .");
            let expected = ["<http://e/s>", "<http://e/p>", canonical].map(str::to_owned);
            assert_eq!(scan(&line, Syntax::Triple), Ok(expected.to_vec()), "{object}");
            let mut alone = Statement::default();
            assert_eq!(alone.scan_term(object, &Labels::kept()), Some(canonical));
        }
        for text in ["\"x\"@", "\"x\"^^", "\"a\nb\"", "<a b>", "_:", "<a:b> ", "", "5"] {
            assert_eq!(Statement::default().scan_term(text, &Labels::kept()), None, "{text:?}");
        }
    }

    #[test]
    fn quads_may_name_a_graph() {
        let terms = scan("<a:s><a:p>_:o<a:g>.# x", Syntax::Quad).expect("a quad");
        assert_eq!(terms, ["<a:s>", "<a:p>", "_:o", "<a:g>"]);
        assert_eq!(scan("<a:s><a:p>_:o.", Syntax::Quad).expect("a triple").len(), 3);
        let refusal = scan("<a:s><a:p>_:o \"g\".", Syntax::Quad).expect_err("no graph");
        assert_eq!((refusal.position, &*refusal.reason), (14, GRAPH));
    }

    #[test]
    fn refusals_say_where() {
        for (line, position, reason) in [
            ("<a:s> <a:p> <a:o>", 17, "expected a full stop"),
            ("<a:s> <a:p> \"x\"@ .", 15, "expected a full stop"),
            ("<a:s> <a:p> \"x\"^^<t> .", 15, "expected a full stop"),
            ("<a:s> <a:p> \"x\\x\" .", 12, OBJECT),
            ("<a:s> <a:p> \"\\uD800\" .", 12, "not a Unicode character: \\uD800"),
            ("<a:s> <a:\\u0020> <a:o> .", 6, "not an IRI: <a:\\u0020>"),
            ("_:. <a:p> <a:o> .", 0, SUBJECT),
            ("<a:s", 0, SUBJECT),
        ] {
            let refusal = scan(line, Syntax::Triple).expect_err(line);
            assert_eq!((refusal.position, &*refusal.reason), (position, reason), "{line}");
        }
    }
}
