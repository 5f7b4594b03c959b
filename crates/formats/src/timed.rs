//! Timestamped graphs: a document in which each graph's name says when its facts happen.
//!
//! ```text
//! :g1 { :ann :isIn :train }                               two facts ...
//! :g1 prov:generatedAtTime "2026-03-01T10:00:00Z" .       ... of which the second dates the first
//! ```
//!
//! What the default graph says about a graph's name is about the graph, not a fact of the stream.
//! Invariant: nothing is lost. Facts wait until their graph has an instant; at the end, a graph
//! without one, and what stands outside every graph, is bad.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::instant::parse_instant;
use crate::place::BadLine;
use crate::reader::{Fact, Reader, Step};

/// The property that dates a graph unless another is named.
pub const GENERATED_AT: &str = "<http://www.w3.org/ns/prov#generatedAtTime>";

/// The terms of a fact, and the line that it ends on if the parser tells.
type Stated = ([Box<str>; 3], Option<u64>);

#[derive(Default)]
struct Graph {
    at: Option<i64>,
    /// Facts that wait for the instant.
    waiting: Vec<Stated>,
    /// Whether a fact is in it, or only its name was dated.
    is_graph: bool,
}

/// The timed facts of a document of graphs.
pub struct TimedGraphs {
    source: Arc<str>,
    quads: Box<Reader>,
    property: String,
    graphs: HashMap<String, Graph>,
    /// Statements of the default graph, by subject: the first, and how many.
    outside: HashMap<String, (Stated, usize)>,
    ready: VecDeque<(Stated, i64)>,
    bad: VecDeque<BadLine>,
    current: Option<(Stated, i64)>,
    ended: bool,
}

impl TimedGraphs {
    /// Read the graphs of a document, dated by a property.
    pub fn new(source: Arc<str>, quads: Reader, property: String) -> Self {
        Self {
            source,
            quads: Box::new(quads),
            property,
            graphs: HashMap::new(),
            outside: HashMap::new(),
            ready: VecDeque::new(),
            bad: VecDeque::new(),
            current: None,
            ended: false,
        }
    }

    /// Go to the next fact, or to what is wrong.
    pub fn advance(&mut self) -> Step {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                self.current = Some(ready);
                return Step::Fact;
            }
            if let Some(bad) = self.bad.pop_front() {
                return Step::Bad(bad);
            }
            if self.ended {
                return Step::End;
            }
            match self.quads.advance() {
                Step::Fact => self.take(),
                Step::Bad(bad) => self.bad.push_back(bad),
                Step::End => {
                    self.ended = true;
                    self.account();
                }
            }
        }
    }

    /// The fact at hand.
    pub fn fact(&self) -> Fact<'_> {
        let ((terms, line), at) = self.current.as_ref().expect("advance found a fact");
        Fact { terms: [&terms[0], &terms[1], &terms[2]], graph: None, at: Some(*at), line: *line }
    }

    fn take(&mut self) {
        let Self { source, quads, property, graphs, outside, ready, bad, .. } = self;
        let fact = quads.fact();
        let stated = || (fact.terms.map(Box::from), fact.line);
        let Some(name) = fact.graph else {
            if fact.terms[1] != property {
                outside.entry_ref(fact.terms[0]).or_insert_with(|| (stated(), 0)).1 += 1;
                return;
            }
            let graph = graphs.entry_ref(fact.terms[0]).or_default();
            match date(fact.terms[2]) {
                Ok(at) if graph.at.is_none_or(|known| known == at) => {
                    graph.at = Some(at);
                    ready.extend(graph.waiting.drain(..).map(|stated| (stated, at)));
                }
                Ok(_) => bad.push_back(wrong(
                    source,
                    fact.line,
                    format!("the graph {} has two instants", fact.terms[0]),
                )),
                Err(reason) => bad.push_back(wrong(source, fact.line, reason)),
            }
            return;
        };
        let graph = graphs.entry_ref(name).or_default();
        graph.is_graph = true;
        match graph.at {
            Some(at) => ready.push_back((stated(), at)),
            None => graph.waiting.push(stated()),
        }
    }

    /// At the end, name what has no instant.
    fn account(&mut self) {
        let Self { source, property, graphs, outside, bad, .. } = self;
        let mut found: Vec<(Option<u64>, String)> = Vec::new();
        for (name, graph) in graphs.iter().filter(|(_, graph)| !graph.waiting.is_empty()) {
            let count = graph.waiting.len();
            let reason = format!("the graph {name} of {count} facts has no {property}");
            found.push((graph.waiting[0].1, reason));
        }
        for (subject, ((terms, line), count)) in outside.iter() {
            if !graphs.get(subject).is_some_and(|graph| graph.is_graph) {
                let [s, p, o] = terms;
                let others =
                    if *count > 1 { format!(" and {} more", count - 1) } else { String::new() };
                let reason =
                    format!("outside every graph, so without an instant: {s} {p} {o}{others}");
                found.push((*line, reason));
            }
        }
        found.sort();
        bad.extend(found.into_iter().map(|(line, reason)| wrong(source, line, reason)));
    }
}

/// What is wrong with the facts of a line, or with the document if the parser tells no lines.
fn wrong(source: &Arc<str>, line: Option<u64>, reason: String) -> BadLine {
    BadLine::at(source, (line.unwrap_or(1), 1), reason)
}

/// The instant that a literal's text says.
fn date(text: &str) -> Result<i64, String> {
    let lexical = text.strip_prefix('"').and_then(|rest| rest.split('"').next());
    match lexical {
        Some(lexical) => parse_instant(lexical).map_err(|error| error.to_string()),
        None => Err(format!("not an instant: {text}")),
    }
}
