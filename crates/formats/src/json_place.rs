//! Where in a document of JSON-LD its facts and its faults are.
//!
//! The parser keeps an object until it ends, since its `@context` may come last, and so tells no
//! lines. Told that a document is a stream (Streaming JSON-LD), it hands out everything at once, but
//! may misunderstand a document that is none. So a document is read twice:
//!
//! ```text
//! as a stream     line by line     the line of each fact and of each fault, right or wrong
//! as it is        Document         the facts, each with the line that its equal had
//! ```
//!
//! Invariant: a line is of the very fact. What was not understood as a stream has none.

use std::collections::VecDeque;

use hashbrown::HashMap;
use oxjsonld::{JsonLdParser, JsonLdProfile};
use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term};

use crate::document::Problem;
use crate::input::{Pieces, Text, Tracked};
use crate::label::is_random;
use crate::place::Position;

/// The lines of a document's facts, each as often as it is said, and of its faults.
#[derive(Default)]
pub struct JsonPlaces {
    facts: HashMap<Quad, VecDeque<u64>>,
    faults: HashMap<String, u64>,
}

impl JsonPlaces {
    /// Read a document for its places alone.
    pub fn of(text: Text, base: Option<&str>) -> Self {
        let mut places = Self::default();
        let position = Position::default();
        let parser = JsonLdParser::new().with_profile(JsonLdProfile::Streaming);
        let parser = match base {
            None => Ok(parser),
            Some(base) => parser.with_base_iri(base),
        };
        // A base that is none is told by who reads the facts.
        let Ok(parser) = parser else { return places };
        for found in parser.for_reader(Tracked::new(text, position.clone(), Pieces::Lines)) {
            let (line, _) = position.begin();
            match found.map_err(Problem::from) {
                Ok(quad) => places.facts.entry(nameless(quad)).or_default().push_back(line),
                Err(fault) => {
                    places.faults.entry(fault.reason).or_insert(line);
                }
            }
        }
        places
    }

    /// The line that a fact ends on. One that is said twice is asked for twice.
    pub fn of_fact(&mut self, quad: &Quad) -> Option<u64> {
        self.facts.get_mut(&nameless(quad.clone()))?.pop_front()
    }

    /// The line at which a fault was seen first.
    pub fn of_fault(&self, reason: &str) -> Option<u64> {
        self.faults.get(reason).copied()
    }
}

/// A fact in which nodes without a label are all the same: every reading gives them others.
fn nameless(quad: Quad) -> Quad {
    let Quad { subject, predicate, object, graph_name } = quad;
    let subject = match subject {
        NamedOrBlankNode::BlankNode(node) => nobody(node).into(),
        subject @ NamedOrBlankNode::NamedNode(_) => subject,
    };
    let object = match object {
        Term::BlankNode(node) => nobody(node).into(),
        object => object,
    };
    let graph_name = match graph_name {
        GraphName::BlankNode(node) => nobody(node).into(),
        graph_name => graph_name,
    };
    Quad { subject, predicate, object, graph_name }
}

fn nobody(node: BlankNode) -> BlankNode {
    if is_random(node.as_str()) { BlankNode::new_from_unique_id(0) } else { node }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};

    use super::*;

    fn places(document: &str) -> JsonPlaces {
        let bytes = document.as_bytes().to_vec();
        let text: Box<dyn Read + Send + Sync> = Box::new(io::Cursor::new(bytes));
        JsonPlaces::of(BufReader::new(text), None)
    }

    fn lines(document: &str) -> Vec<Option<u64>> {
        let mut places = places(document);
        JsonLdParser::new()
            .for_reader(document.as_bytes())
            .map(|quad| places.of_fact(&quad.expect("a good document")))
            .collect()
    }

    #[test]
    fn a_fact_has_the_line_it_ends_on() {
        let document = "{\"@id\": \"a:s\",\n \"a:p\": [1,\n  1],\n \"a:q\": {\n \"a:r\": 2}}";
        assert_eq!(lines(document), [Some(2), Some(3), Some(5), Some(5)]);
    }

    #[test]
    fn what_is_no_stream_may_have_no_lines() {
        let document = "{\"@id\": \"a:s\",\n \"p\": 1,\n \"a:q\": 1,\n\
            \"@context\": {\"p\": \"a:p\"}}";
        assert_eq!(lines(document), [None, Some(3)]);
    }

    #[test]
    fn a_fault_has_a_line() {
        let found = places("{\"@id\": \"a:s\",\n \"a:p\": {\"@value\": {}}}");
        assert_eq!(found.faults.values().collect::<Vec<_>>(), [&2]);
    }
}
