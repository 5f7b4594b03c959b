//! Documents whose lines stand for themselves: N-Triples, N-Quads and timed N-Triples.
//!
//! Invariant: every line becomes a fact or a `BadLine`, or it is blank or a comment; a bad line does
//! not touch the next. One buffer holds the line at hand and what was read after it.

use std::io::{self, Read};
use std::sync::Arc;

use crate::input::Text;
use crate::label::Labels;
use crate::place::{BadLine, io_reason};
use crate::reader::{Fact, Step};
use crate::statement::{Statement, Syntax};

/// Longer lines are refused, so that memory stays bounded.
pub const MAX_LINE: usize = 1 << 24;
/// How much of such a line is kept.
const KEPT: usize = 200;
const BLOCK: usize = 128 * 1024;

/// The facts of a document of lines.
pub struct Lines {
    source: Arc<str>,
    syntax: Syntax,
    labels: Labels,
    text: Text,
    buffer: Vec<u8>,
    /// The buffer's bytes that were read and not yet scanned.
    start: usize,
    filled: usize,
    /// The line at hand, in the buffer.
    line: std::ops::Range<usize>,
    number: u64,
    statement: Statement,
    /// The last line ended with a carriage return: a line feed after it belongs to that end.
    after_return: bool,
    at_end: bool,
}

impl Lines {
    /// Read lines.
    pub fn new(source: Arc<str>, syntax: Syntax, labels: Labels, text: Text) -> Self {
        Self {
            source,
            syntax,
            labels,
            text,
            buffer: vec![0; BLOCK],
            start: 0,
            filled: 0,
            line: 0..0,
            number: 0,
            statement: Statement::default(),
            after_return: false,
            at_end: false,
        }
    }

    /// Go to the next fact or bad line.
    pub fn advance(&mut self) -> Step {
        loop {
            match self.next_line() {
                Ok(true) => {}
                Ok(false) => return Step::End,
                Err(bad) => return Step::Bad(bad),
            }
            let Ok(line) = std::str::from_utf8(&self.buffer[self.line.clone()]) else {
                return Step::Bad(self.not_utf8());
            };
            match self.statement.scan(line, self.syntax, &self.labels) {
                Ok(true) => return Step::Fact,
                Ok(false) => {}
                Err(refusal) => {
                    let column = line[..refusal.position].chars().count() as u64 + 1;
                    let (line, reason) = (line.to_owned(), refusal.reason.into_owned());
                    return Step::Bad(self.bad(column, reason, line));
                }
            }
        }
    }

    /// The fact at hand.
    pub fn fact(&self) -> Fact<'_> {
        // It was found to be UTF-8 when it was scanned; asking again costs less than it seems.
        let line = std::str::from_utf8(&self.buffer[self.line.clone()]).unwrap_or_default();
        let term = |place| self.statement.term(line, place);
        Fact {
            terms: [term(0), term(1), term(2)],
            graph: (self.statement.arity() == 4).then(|| term(3)),
            at: self.statement.at,
            line: Some(self.number),
        }
    }

    /// Find the next line; false at the end.
    fn next_line(&mut self) -> Result<bool, BadLine> {
        let mut searched = 0;
        loop {
            let waiting = &self.buffer[self.start..self.filled];
            if self.after_return && !waiting.is_empty() {
                self.after_return = false;
                if waiting[0] == b'\n' {
                    self.start += 1;
                    continue;
                }
            }
            if let Some(end) = memchr::memchr2(b'\n', b'\r', &waiting[searched..]) {
                let end = self.start + searched + end;
                self.after_return = self.buffer[end] == b'\r';
                return self.take_line(end, end + 1);
            }
            searched = waiting.len();
            if self.at_end {
                let rest = self.start..self.filled;
                return if rest.is_empty() {
                    Ok(false)
                } else {
                    self.take_line(rest.end, rest.end)
                };
            }
            if searched > MAX_LINE {
                return Err(self.too_long());
            }
            if let Err(error) = self.fill() {
                self.at_end = true;
                self.start = self.filled;
                return Err(BadLine::at(&self.source, (self.number + 1, 1), io_reason(&error)));
            }
        }
    }

    fn take_line(&mut self, end: usize, next: usize) -> Result<bool, BadLine> {
        self.line = self.start..end;
        self.start = next;
        self.number += 1;
        if self.line.len() > MAX_LINE {
            return Err(self.refuse_long(self.line.clone()));
        }
        Ok(true)
    }

    /// Read a block behind what waits.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.start = 0;
        if self.buffer.len() < self.filled + BLOCK {
            self.buffer.resize((self.filled + BLOCK).max(self.filled * 2), 0);
        }
        let count = loop {
            match self.text.read(&mut self.buffer[self.filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.filled += count;
        self.at_end = count == 0;
        Ok(())
    }

    /// Forget a line that is too long as it comes in, up to its end.
    fn too_long(&mut self) -> BadLine {
        self.number += 1;
        let bad = self.refuse_long(self.start..self.filled);
        loop {
            self.start = self.filled;
            if self.fill().is_err() || self.at_end {
                self.at_end = true;
                return bad;
            }
            if let Some(end) = memchr::memchr2(b'\n', b'\r', &self.buffer[..self.filled]) {
                self.after_return = self.buffer[end] == b'\r';
                self.start = end + 1;
                return bad;
            }
        }
    }

    fn refuse_long(&self, line: std::ops::Range<usize>) -> BadLine {
        let kept = String::from_utf8_lossy(&self.buffer[line.start..line.start + KEPT]);
        self.bad(1, format!("the line is longer than {MAX_LINE} bytes"), kept.into_owned())
    }

    fn not_utf8(&self) -> BadLine {
        let line = &self.buffer[self.line.clone()];
        let good = line.utf8_chunks().next().map_or(0, |chunk| chunk.valid().chars().count());
        let text = String::from_utf8_lossy(line).into_owned();
        self.bad(good as u64 + 1, "the line is not UTF-8".to_owned(), text)
    }

    fn bad(&self, column: u64, reason: String, text: String) -> BadLine {
        BadLine { source: Arc::clone(&self.source), line: self.number, column, reason, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;

    fn read(bytes: &[u8]) -> Vec<Result<String, (u64, u64)>> {
        let (text, _) = Input::Bytes(bytes.to_vec()).open().expect("open");
        let mut lines = Lines::new("f".into(), Syntax::Triple, Labels::kept(), text);
        let mut found = Vec::new();
        loop {
            match lines.advance() {
                Step::Fact => found.push(Ok(lines.fact().terms[2].to_owned())),
                Step::Bad(bad) => found.push(Err((bad.line, bad.column))),
                Step::End => return found,
            }
        }
    }

    #[test]
    fn any_line_end_will_do() {
        let text =
            b"\xEF\xBB\xBF<a:s> <a:p> _:1 .\r\n\r\n<a:s> <a:p> _:2 .\r<a:s> .\n<a:s> <a:p> _:3.";
        let (one, two, three) = ("_:1".to_owned(), "_:2".to_owned(), "_:3".to_owned());
        assert_eq!(read(text), [Ok(one), Ok(two), Err((4, 7)), Ok(three)]);
    }

    #[test]
    fn lines_cross_blocks() {
        let long = "x".repeat(BLOCK * 2);
        let text = format!("<a:s> <a:p> \"{long}\" .\n").repeat(3) + "<a:s> <a:p> _:o .";
        let found = read(text.as_bytes());
        assert_eq!(found.len(), 4);
        assert_eq!(found[1], Ok(format!("\"{long}\"")));
        assert_eq!(found[3], Ok("_:o".to_owned()));
    }

    #[test]
    fn endless_lines_are_skipped() {
        let mut text = vec![b'x'; MAX_LINE * 2];
        text.extend(b"\n<a:s> <a:p> _:o .\n");
        assert_eq!(read(&text), [Err((1, 1)), Ok("_:o".to_owned())]);
        text.truncate(MAX_LINE + 1);
        text.extend(b"\r\n<a:s> <a:p> _:o .\n");
        assert_eq!(read(&text), [Err((1, 1)), Ok("_:o".to_owned())]);
    }

    #[test]
    fn bytes_that_are_not_utf8_have_their_column() {
        assert_eq!(read(b"\xC3\xA9\xFF\n_:s <a:p> _:o ."), [Err((1, 2)), Ok("_:o".to_owned())]);
    }
}
