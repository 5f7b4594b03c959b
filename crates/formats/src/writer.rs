//! Facts to a document: N-Triples and N-Quads as they are, the other formats through oxigraph's
//! crates.
//!
//! Facts of one graph, and of one subject in it, should come together: Turtle, TriG and RDF/XML then
//! write the graph and the subject once.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use oxjsonld::{JsonLdSerializer, WriterJsonLdSerializer};
use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term, Triple};
use oxrdfxml::{RdfXmlSerializer, WriterRdfXmlSerializer};
use oxttl::trig::{TriGSerializer, WriterTriGSerializer};

use crate::format::Format;
use crate::text::term_of;

/// Why a fact cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable(String);

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unwritable {}

impl From<io::Error> for Unwritable {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Bytes that were written and not yet taken. The serializer has one end, the writer the other.
#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Bytes {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Serializer {
    Lines,
    // Turtle is TriG without graphs.
    TriG(Box<WriterTriGSerializer<Bytes>>),
    RdfXml(Box<WriterRdfXmlSerializer<Bytes>>),
    JsonLd(Box<WriterJsonLdSerializer<Bytes>>),
}

/// A document on its way out.
pub struct Writer {
    format: Format,
    serializer: Serializer,
    bytes: Bytes,
}

impl Writer {
    /// Begin a document.
    ///
    /// # Errors
    /// When the format is none of facts without instants, or a prefix is no IRI.
    pub fn new(format: Format, prefixes: &BTreeMap<String, String>) -> Result<Self, Unwritable> {
        let bytes = Bytes::default();
        let serializer = match format {
            Format::NTriples | Format::NQuads => Serializer::Lines,
            Format::Turtle | Format::TriG => {
                let serializer = prefixed(TriGSerializer::new(), prefixes, |s, name, iri| {
                    s.with_prefix(name, iri)
                })?;
                Serializer::TriG(Box::new(serializer.for_writer(bytes.clone())))
            }
            Format::RdfXml => {
                let serializer = prefixed(RdfXmlSerializer::new(), prefixes, |s, name, iri| {
                    s.with_prefix(name, iri)
                })?;
                Serializer::RdfXml(Box::new(serializer.for_writer(bytes.clone())))
            }
            Format::JsonLd => {
                let serializer = prefixed(JsonLdSerializer::new(), prefixes, |s, name, iri| {
                    s.with_prefix(name, iri)
                })?;
                Serializer::JsonLd(Box::new(serializer.for_writer(bytes.clone())))
            }
            Format::TimedNTriples => {
                return Err(Unwritable("timed facts have a writer of their own".to_owned()));
            }
        };
        Ok(Self { format, serializer, bytes })
    }

    /// Write a fact, of canonical texts, in a graph or in none.
    ///
    /// # Errors
    /// When the format cannot say it.
    pub fn write(&mut self, terms: [&str; 3], graph: Option<&str>) -> Result<(), Unwritable> {
        if graph.is_some() && !self.format.has_graphs() {
            let format = self.format.name();
            return Err(Unwritable(format!("the format {format} has no named graphs")));
        }
        let [subject, predicate, object] = terms;
        if let Serializer::Lines = self.serializer {
            for text in [subject, predicate, object].into_iter().chain(graph) {
                self.bytes.write_all(text.as_bytes())?;
                self.bytes.write_all(b" ")?;
            }
            self.bytes.write_all(b".\n")?;
            return Ok(());
        }
        let wrong = || Unwritable(format!("not a triple of RDF: {subject} {predicate} {object}"));
        let subject = match self.term(subject)? {
            Term::NamedNode(node) => NamedOrBlankNode::from(node),
            Term::BlankNode(node) => node.into(),
            Term::Literal(_) => return Err(wrong()),
        };
        let Term::NamedNode(predicate) = self.term(predicate)? else {
            return Err(wrong());
        };
        let object = self.term(object)?;
        let graph_name = match graph.map(|graph| self.term(graph)).transpose()? {
            None => GraphName::DefaultGraph,
            Some(Term::NamedNode(node)) => node.into(),
            Some(Term::BlankNode(node)) => node.into(),
            Some(Term::Literal(_)) => return Err(wrong()),
        };
        let quad = Quad { subject, predicate, object, graph_name };
        match &mut self.serializer {
            Serializer::Lines => {}
            Serializer::TriG(serializer) => serializer.serialize_quad(&quad)?,
            Serializer::RdfXml(serializer) => serializer.serialize_triple(&Triple::from(quad))?,
            Serializer::JsonLd(serializer) => serializer.serialize_quad(&quad)?,
        }
        Ok(())
    }

    /// A term as the format can say it.
    fn term(&self, text: &str) -> Result<Term, Unwritable> {
        let term = term_of(text).ok_or_else(|| Unwritable(format!("not a term: {text}")))?;
        match &term {
            Term::BlankNode(node) if node.as_str().contains(':') => Err(Unwritable(format!(
                "only N-Triples and N-Quads have labels with colons: {text}"
            ))),
            // In XML, a label begins with a letter.
            Term::BlankNode(node) if self.format == Format::RdfXml => {
                Ok(BlankNode::new_unchecked(format!("b{}", node.as_str())).into())
            }
            Term::Literal(literal) if self.format == Format::RdfXml => {
                match literal.value().chars().find(|character| !is_in_xml(*character)) {
                    None => Ok(term),
                    Some(character) => Err(Unwritable(format!(
                        "XML cannot hold the character U+{:04X}: {text}",
                        u32::from(character)
                    ))),
                }
            }
            _ => Ok(term),
        }
    }

    /// The bytes since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.bytes.take()
    }

    /// End the document; its last bytes.
    ///
    /// # Errors
    /// Never, unless the memory does.
    pub fn finish(self) -> Result<Vec<u8>, Unwritable> {
        match self.serializer {
            Serializer::Lines => {}
            Serializer::TriG(serializer) => drop(serializer.finish()?),
            Serializer::RdfXml(serializer) => drop(serializer.finish()?),
            Serializer::JsonLd(serializer) => drop(serializer.finish()?),
        }
        Ok(self.bytes.take())
    }
}

/// A serializer that knows the prefixes, each taken by `with`.
fn prefixed<S, E: fmt::Display>(
    serializer: S,
    prefixes: &BTreeMap<String, String>,
    with: impl Fn(S, &str, &str) -> Result<S, E>,
) -> Result<S, Unwritable> {
    prefixes.iter().try_fold(serializer, |serializer, (name, iri)| {
        with(serializer, name, iri)
            .map_err(|error| Unwritable(format!("the prefix {name} stands for no IRI: {error}")))
    })
}

/// The characters of XML 1.0.
fn is_in_xml(character: char) -> bool {
    matches!(character,
        '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: Format, graph: Option<&str>) -> Result<String, Unwritable> {
        let prefixes = BTreeMap::from([("e".to_owned(), "http://e/".to_owned())]);
        let mut writer = Writer::new(format, &prefixes)?;
        for object in ["<http://e/b>", "_:b", "\"7\""] {
            writer.write(["<http://e/a>", "<http://e/p>", object], graph)?;
        }
        let bytes = [writer.take(), writer.finish()?].concat();
        Ok(String::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn subjects_are_written_once() {
        assert_eq!(
            written(Format::Turtle, None).expect("turtle"),
            "@prefix e: <http://e/> .\ne:a e:p e:b , _:b , \"7\" .\n"
        );
        assert!(written(Format::TriG, Some("<http://e/g>")).expect("trig").contains("e:g {"));
        assert!(written(Format::RdfXml, None).expect("xml").contains("rdf:nodeID=\"bb\""));
    }

    #[test]
    fn graphs_need_a_format_that_has_them() {
        let error = written(Format::Turtle, Some("<http://e/g>")).expect_err("no graphs");
        assert_eq!(error.to_string(), "the format ttl has no named graphs");
        let line = written(Format::NQuads, Some("<http://e/g>")).expect("quads");
        assert!(line.starts_with("<http://e/a> <http://e/p> <http://e/b> <http://e/g> .\n"));
    }
}
