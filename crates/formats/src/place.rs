//! Places in a document, and what is wrong there.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A line, or a place in a document, that is no fact: where, why, and the line itself if there is
/// one. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The document.
    pub source: Arc<str>,
    /// The line.
    pub line: u64,
    /// The character in the line.
    pub column: u64,
    /// One sentence.
    pub reason: String,
    /// The line's text, as far as it is at hand.
    pub text: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.source, self.line, self.column, self.reason)
    }
}

impl std::error::Error for BadLine {}

impl BadLine {
    /// Something wrong at a place whose line is not at hand.
    pub fn at(source: &Arc<str>, (line, column): (u64, u64), reason: impl Into<String>) -> Self {
        let (source, reason) = (Arc::clone(source), reason.into());
        Self { source, line, column, reason, text: String::new() }
    }
}

/// What an I/O error means to a reader of a document.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    // The number says nothing that the sentence does not.
    let sentence = text.split(" (os error").next().unwrap_or(&text);
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            format!("the file is damaged: {sentence}")
        }
        io::ErrorKind::OutOfMemory => "a term or a line is longer than 16 MiB".to_owned(),
        _ => format!("cannot read the file: {sentence}"),
    }
}

/// How far a document was handed to its parser: shared between the two.
#[derive(Clone, Debug, Default)]
pub struct Position(Arc<[AtomicU64; 4]>);

impl Position {
    /// The line and column at which the last piece handed over begins.
    pub fn begin(&self) -> (u64, u64) {
        (self.get(0) + 1, self.get(1) + 1)
    }

    /// The line and column at which it ends.
    pub fn end(&self) -> (u64, u64) {
        (self.get(2) + 1, self.get(3) + 1)
    }

    /// Note the next piece.
    pub fn advance(&self, piece: &[u8]) {
        let (mut line, mut column) = (self.get(2), self.get(3));
        self.set(0, line);
        self.set(1, column);
        line += memchr::memchr_iter(b'\n', piece).count() as u64;
        let last_line = memchr::memrchr(b'\n', piece).map_or(piece, |end| {
            column = 0;
            &piece[end + 1..]
        });
        // Continuation bytes are no characters.
        column += last_line.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64;
        self.set(2, line);
        self.set(3, column);
    }

    fn get(&self, place: usize) -> u64 {
        self.0[place].load(Ordering::Relaxed)
    }

    fn set(&self, place: usize, value: u64) {
        self.0[place].store(value, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_begin_where_the_last_ended() {
        let position = Position::default();
        position.advance("é<a>\n  ".as_bytes());
        assert_eq!((position.begin(), position.end()), ((1, 1), (2, 3)));
        position.advance(b"<b");
        assert_eq!((position.begin(), position.end()), ((2, 3), (2, 5)));
    }
}
