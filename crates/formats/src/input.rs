//! Where a document comes from: a file or bytes, plain or gzip'd, with or without a byte order mark.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::place::Position;

const BUFFER: usize = 128 * 1024;
const GZIP: [u8; 2] = [0x1F, 0x8B];
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The bytes of a document, to be.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file.
    Path(PathBuf),
    /// The document itself.
    Bytes(Vec<u8>),
}

/// Text on its way to a parser.
pub type Text = BufReader<Box<dyn Read + Send + Sync>>;

/// How many bytes of the input were taken, of how many.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    taken: Arc<AtomicU64>,
    size: u64,
}

impl Progress {
    /// Bytes taken so far, compressed ones if the input is.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Bytes in all; 0 if nobody knows.
    pub fn size(&self) -> u64 {
        self.size
    }
}

struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Input {
    /// Open the document: decompressed if its first bytes are gzip's, without a byte order mark.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(self) -> io::Result<(Text, Progress)> {
        let (raw, size): (Box<dyn Read + Send + Sync>, u64) = match self {
            Self::Path(path) => {
                let file = File::open(path)?;
                let size = file.metadata()?.len();
                (Box::new(file), size)
            }
            Self::Bytes(bytes) => {
                let size = bytes.len() as u64;
                (Box::new(io::Cursor::new(bytes)), size)
            }
        };
        let progress = Progress { taken: Arc::default(), size };
        let counted = Counted { inner: raw, taken: Arc::clone(&progress.taken) };
        let mut raw = BufReader::with_capacity(BUFFER, counted);
        let plain: Box<dyn Read + Send + Sync> = if raw.fill_buf()?.starts_with(&GZIP) {
            Box::new(MultiGzDecoder::new(raw))
        } else {
            Box::new(raw)
        };
        let mut text = BufReader::with_capacity(BUFFER, plain);
        if text.fill_buf()?.starts_with(&BYTE_ORDER_MARK) {
            text.consume(BYTE_ORDER_MARK.len());
        }
        Ok((text, progress))
    }
}

/// A tag that closes nothing, put behind an XML document: the parser does not mind tags that are
/// still open at the end of its input, but it minds this one.
pub const XML_END: &str = "</end-of-the-document>";

/// How a text is handed to its parser: the place of the last piece is where the parser is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// As large as may be.
    Any,
    /// At most a line.
    Lines,
    /// One tag of XML, or the characters before one.
    Tags,
}

/// Text that notes how far it was read.
pub struct Tracked {
    text: Text,
    position: Position,
    pieces: Pieces,
    /// What comes after the text.
    epilogue: &'static [u8],
}

impl Tracked {
    /// Track the reading of a text.
    pub fn new(text: Text, position: Position, pieces: Pieces) -> Self {
        Self { text, position, pieces, epilogue: b"" }
    }
}

impl Read for Tracked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let waiting = self.text.fill_buf()?;
        if waiting.is_empty() {
            return self.epilogue.read(buffer);
        }
        let mut length = waiting.len().min(buffer.len());
        if self.pieces == Pieces::Lines {
            length = memchr::memchr(b'\n', &waiting[..length]).map_or(length, |end| end + 1);
        }
        if self.pieces == Pieces::Tags {
            let piece = &waiting[..length];
            length = match piece[0] {
                b'<' => memchr::memchr(b'>', piece).map_or(length, |end| end + 1),
                _ => memchr::memchr(b'<', piece).unwrap_or(length),
            };
            // A document that breaks off within a tag is refused for that.
            match waiting[..length].trim_ascii_end().last() {
                Some(b'>') => self.epilogue = XML_END.as_bytes(),
                Some(_) => self.epilogue = b"",
                None => {}
            }
        }
        let piece = &waiting[..length];
        buffer[..length].copy_from_slice(piece);
        self.position.advance(piece);
        self.text.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_is_handed_over_tag_by_tag() {
        let (text, _) = Input::Bytes(b"\xEF\xBB\xBF<a>\n <b/>x</a>".to_vec()).open().expect("open");
        let position = Position::default();
        let mut tracked = Tracked::new(text, position.clone(), Pieces::Tags);
        let mut pieces = Vec::new();
        let mut buffer = [0; 100];
        loop {
            match tracked.read(&mut buffer).expect("read") {
                0 => break,
                length => pieces.push((
                    String::from_utf8_lossy(&buffer[..length]).into_owned(),
                    position.begin(),
                )),
            }
        }
        let expected = [
            ("<a>", (1, 1)),
            ("\n ", (1, 4)),
            ("<b/>", (2, 2)),
            ("x", (2, 6)),
            ("</a>", (2, 7)),
            (XML_END, (2, 7)),
        ];
        assert_eq!(pieces, expected.map(|(piece, place)| (piece.to_owned(), place)));
    }
}
