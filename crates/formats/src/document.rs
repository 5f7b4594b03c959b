//! Documents that are read as a whole: Turtle, TriG, RDF/XML and JSON-LD, through oxigraph's crates.
//!
//! A document ends at the first thing that is wrong in it: what follows cannot be understood.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use oxiri::IriParseError;
use oxjsonld::{JsonLdParseError, JsonLdParser, ReaderJsonLdParser};
use oxrdf::{Quad, Triple};
use oxrdfxml::{RdfXmlParseError, RdfXmlParser, ReaderRdfXmlParser};
use oxttl::trig::ReaderTriGParser;
use oxttl::turtle::ReaderTurtleParser;
use oxttl::{TriGParser, TurtleParseError, TurtleParser};

use crate::format::Format;
use crate::input::{Pieces, Text, Tracked, XML_END};
use crate::json_place::JsonPlaces;
use crate::label::Labels;
use crate::place::{BadLine, Position, io_reason};
use crate::reader::{Fact, Step};
use crate::text::{write_graph, write_iri, write_object, write_subject};

/// oxigraph's parsers, behind one `next`.
enum Parser {
    Turtle(Box<ReaderTurtleParser<Tracked>>),
    TriG(Box<ReaderTriGParser<Tracked>>),
    RdfXml(Box<ReaderRdfXmlParser<Tracked>>),
    JsonLd(Box<ReaderJsonLdParser<Tracked>>),
}

/// Where something is wrong, as far as the parser tells.
enum Place {
    /// At a line and column.
    At(u64, u64),
    /// Where its reading stands.
    Here,
    /// Somewhere in the document.
    Somewhere,
}

/// What went wrong, and where.
pub struct Problem {
    place: Place,
    /// One sentence.
    pub reason: String,
}

impl From<TurtleParseError> for Problem {
    fn from(error: TurtleParseError) -> Self {
        match error {
            TurtleParseError::Io(error) => error.into(),
            TurtleParseError::Syntax(error) => {
                let start = error.location().start;
                let place = Place::At(start.line + 1, start.column + 1);
                Self { place, reason: sentence(error.message()) }
            }
        }
    }
}

impl From<RdfXmlParseError> for Problem {
    fn from(error: RdfXmlParseError) -> Self {
        match error {
            RdfXmlParseError::Io(error) => error.into(),
            RdfXmlParseError::Syntax(error) => {
                Self { place: Place::Here, reason: sentence(&error.to_string()) }
            }
        }
    }
}

impl From<JsonLdParseError> for Problem {
    fn from(error: JsonLdParseError) -> Self {
        match error {
            JsonLdParseError::Io(error) => error.into(),
            JsonLdParseError::Syntax(error) => {
                // What is wrong with the meaning of a document has no place in it.
                let start = error.location().map(|location| location.start);
                let place = start
                    .map_or(Place::Somewhere, |start| Place::At(start.line + 1, start.column + 1));
                Self { place, reason: sentence(&json_reason(&error.to_string())) }
            }
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self { place: Place::Here, reason: io_reason(&error) }
    }
}

/// The parser puts the place into the message, too.
fn json_reason(message: &str) -> String {
    match message.strip_prefix("Parser error ").and_then(|rest| rest.split_once(": ")) {
        Some((_, reason)) => reason.to_owned(),
        None => message.to_owned(),
    }
}

/// A message that goes on after a colon: a small letter first, no full stop, one line.
fn sentence(message: &str) -> String {
    match message {
        "Unexpected end" => return "unexpected end of the document".to_owned(),
        "No LoadDocumentCallback has been set to load remote contexts" => {
            return "remote contexts are not fetched; write the @context into the document"
                .to_owned();
        }
        _ => {}
    }
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = message.strip_suffix('.').unwrap_or(&message);
    let mut characters = message.chars();
    match (characters.next(), characters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(message.chars().skip(1)).collect()
        }
        _ => message.to_owned(),
    }
}

fn triple<E: Into<Problem>>(found: Result<Triple, E>) -> Result<Quad, Problem> {
    found.map(|triple| triple.in_graph(oxrdf::GraphName::DefaultGraph)).map_err(Into::into)
}

/// Whether the tag behind an XML document was met with every other tag closed.
fn is_end(found: &Result<Quad, Problem>) -> bool {
    let unmatched = |problem: &Problem| {
        problem.reason.contains(XML_END) && problem.reason.contains("does not match any open tag")
    };
    found.as_ref().err().is_some_and(unmatched)
}

impl Parser {
    fn new(format: Format, text: Tracked, base: Option<&str>) -> Result<Self, IriParseError> {
        Ok(match format {
            Format::TriG => {
                let mut parser = TriGParser::new();
                if let Some(base) = base {
                    parser = parser.with_base_iri(base)?;
                }
                Self::TriG(Box::new(parser.for_reader(text)))
            }
            Format::RdfXml => {
                let mut parser = RdfXmlParser::new();
                if let Some(base) = base {
                    parser = parser.with_base_iri(base)?;
                }
                Self::RdfXml(Box::new(parser.for_reader(text)))
            }
            Format::JsonLd => {
                let mut parser = JsonLdParser::new();
                if let Some(base) = base {
                    parser = parser.with_base_iri(base)?;
                }
                Self::JsonLd(Box::new(parser.for_reader(text)))
            }
            _ => {
                let mut parser = TurtleParser::new();
                if let Some(base) = base {
                    parser = parser.with_base_iri(base)?;
                }
                Self::Turtle(Box::new(parser.for_reader(text)))
            }
        })
    }

    /// The prefixes that are declared here.
    fn prefixes(&self) -> Vec<(String, String)> {
        fn owned<'a>(prefixes: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
            prefixes.map(|(name, iri)| (name.to_owned(), iri.to_owned())).collect()
        }
        match self {
            Self::Turtle(parser) => owned(parser.prefixes()),
            Self::TriG(parser) => owned(parser.prefixes()),
            Self::RdfXml(parser) => owned(parser.prefixes()),
            Self::JsonLd(parser) => owned(parser.prefixes()),
        }
    }

    fn next(&mut self) -> Option<Result<Quad, Problem>> {
        match self {
            Self::Turtle(parser) => parser.next().map(triple),
            Self::TriG(parser) => parser.next().map(|found| found.map_err(Into::into)),
            Self::RdfXml(parser) => parser.next().map(triple).filter(|found| !is_end(found)),
            Self::JsonLd(parser) => parser.next().map(|found| found.map_err(Into::into)),
        }
    }
}

/// The facts of a document.
pub struct Document {
    source: Arc<str>,
    labels: Labels,
    parser: Parser,
    position: Position,
    /// Whether facts come out as soon as their last line goes in.
    tells_lines: bool,
    /// Where the facts of a format are whose parser does not tell.
    places: Option<JsonPlaces>,
    line: Option<u64>,
    /// The texts of the fact at hand, one after the other, and where each ends.
    text: String,
    ends: [usize; 4],
    prefixes: BTreeMap<String, String>,
    ended: bool,
}

impl Document {
    /// Read a document. Relative IRIs are resolved against `base`. `places` are those of a
    /// document in JSON-LD, if they are known.
    ///
    /// # Errors
    /// When the base is no IRI.
    pub fn new(
        source: Arc<str>,
        format: Format,
        labels: Labels,
        text: Text,
        base: Option<&str>,
        places: Option<JsonPlaces>,
    ) -> Result<Self, BadLine> {
        let position = Position::default();
        let pieces = match format {
            Format::RdfXml => Pieces::Tags,
            Format::TriG => Pieces::Lines,
            _ => Pieces::Any,
        };
        let tells_lines = pieces == Pieces::Lines;
        let text = Tracked::new(text, position.clone(), pieces);
        let parser = Parser::new(format, text, base).map_err(|error| {
            let base = base.unwrap_or_default();
            BadLine::at(
                &source,
                (1, 1),
                format!("the base is not an absolute IRI: {base}: {error}"),
            )
        })?;
        let (text, ends, prefixes) = (String::new(), [0; 4], BTreeMap::new());
        Ok(Self {
            source,
            labels,
            parser,
            position,
            tells_lines,
            places,
            line: None,
            text,
            ends,
            prefixes,
            ended: false,
        })
    }

    /// The prefixes that were met, by name.
    pub fn prefixes(&self) -> &BTreeMap<String, String> {
        &self.prefixes
    }

    /// Go to the next fact, or to what is wrong.
    pub fn advance(&mut self) -> Step {
        if self.ended {
            return Step::End;
        }
        match self.parser.next() {
            Some(Ok(quad)) => {
                if self.text.is_empty() {
                    // At the end of XML no tag is open, and tags declare the prefixes.
                    self.prefixes.extend(self.parser.prefixes());
                }
                self.write(&quad);
                Step::Fact
            }
            Some(Err(Problem { place, reason })) => {
                self.ended = true;
                let place = match place {
                    Place::At(line, column) => (line, column),
                    Place::Here => self.position.begin(),
                    Place::Somewhere => {
                        let line = self.places.as_ref().and_then(|all| all.of_fault(&reason));
                        (line.unwrap_or(1), 1)
                    }
                };
                Step::Bad(BadLine::at(&self.source, place, reason))
            }
            None => {
                self.ended = true;
                self.prefixes.extend(self.parser.prefixes());
                Step::End
            }
        }
    }

    fn write(&mut self, quad: &Quad) {
        self.line = match &mut self.places {
            Some(places) => places.of_fact(quad),
            None => self.tells_lines.then(|| self.position.begin().0),
        };
        let Self { labels, text, ends, .. } = self;
        text.clear();
        write_subject(&quad.subject, labels, text);
        ends[0] = text.len();
        write_iri(quad.predicate.as_str(), text);
        ends[1] = text.len();
        write_object(&quad.object, labels, text);
        ends[2] = text.len();
        write_graph(&quad.graph_name, labels, text);
        ends[3] = text.len();
    }

    /// The fact at hand.
    pub fn fact(&self) -> Fact<'_> {
        let [subject, predicate, object, graph] = self.ends;
        let text = |range: Range<usize>| &self.text[range];
        Fact {
            terms: [text(0..subject), text(subject..predicate), text(predicate..object)],
            graph: (object < graph).then(|| text(object..graph)),
            at: None,
            line: self.line,
        }
    }
}
