//! A reader: one document, fact by fact.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::document::Document;
use crate::format::Format;
use crate::input::{Input, Progress};
use crate::json_place::JsonPlaces;
use crate::label::Labels;
use crate::lines::Lines;
use crate::place::{BadLine, io_reason};
use crate::statement::Syntax;
use crate::timed::{GENERATED_AT, TimedGraphs};

/// A fact as it was read: canonical texts, borrowed until the reader goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<'a> {
    /// Subject, predicate, object.
    pub terms: [&'a str; 3],
    /// The graph it is in; none for the default graph.
    pub graph: Option<&'a str>,
    /// When it happens, in a timed format.
    pub at: Option<i64>,
    /// The line that it ends on, counted from 1, if the parser tells.
    pub line: Option<u64>,
}

/// What a reader came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A fact, which it holds until it goes on.
    Fact,
    /// Something wrong. A document of lines goes on after it.
    Bad(BadLine),
    /// The end.
    End,
}

/// Which graphs of a document are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Graphs {
    /// All, as one.
    #[default]
    All,
    /// What is in no named graph.
    Default,
    /// The one of this name, a canonical text.
    Named(String),
}

/// How a document is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format; none: the source's name tells.
    pub format: Option<Format>,
    /// What relative IRIs are resolved against.
    pub base: Option<String>,
    /// Which graphs are read.
    pub graphs: Graphs,
    /// What scopes the labels of blank nodes; none, or a timed line format: labels stay.
    pub scope: Option<String>,
    /// Whether every fact has an instant: in a format of graphs, that of its graph.
    pub timed: bool,
    /// The property that dates a graph, a canonical text; none: prov:generatedAtTime.
    pub dated_by: Option<String>,
    /// Whether lines are asked for, also where that takes a second reading.
    pub lines: bool,
}

enum Kind {
    Lines(Box<Lines>),
    Document(Box<Document>),
    Timed(Box<TimedGraphs>),
}

/// The facts of one document.
pub struct Reader {
    kind: Kind,
    graphs: Graphs,
    progress: Progress,
}

impl Reader {
    /// Open a document. `source` is its name, for messages.
    ///
    /// # Errors
    /// When it cannot be read, or its format is not known or not fit for what is asked.
    pub fn open(input: Input, source: &str, options: Options) -> Result<Self, BadLine> {
        let source: Arc<str> = source.into();
        let wrong = |reason: String| BadLine::at(&source, (1, 1), reason);
        let format = options.format.or_else(|| Format::of_file(&source)).ok_or_else(|| {
            let names: Vec<&str> = Format::names().collect();
            wrong(format!(
                "the name does not tell the format; the formats are {}",
                names.join(", ")
            ))
        })?;
        let is_timed = format == Format::TimedNTriples;
        if options.timed != is_timed && !(options.timed && format.has_graphs()) {
            let fit = if options.timed {
                "has no instants; timed facts are read from tnt, trig, jsonld and nq"
            } else {
                "holds a stream; background is read from nt, nq, ttl, trig, rdf and jsonld"
            };
            return Err(wrong(format!("the format {} {fit}", format.name())));
        }
        // A stream is one document however many files it comes in.
        let scope = options.scope.as_deref().filter(|_| !is_timed);
        let labels = scope.map_or_else(Labels::kept, Labels::of);
        let places = if options.lines && format == Format::JsonLd {
            let (text, _) = input.clone().open().map_err(|error| wrong(io_reason(&error)))?;
            Some(JsonPlaces::of(text, options.base.as_deref()))
        } else {
            None
        };
        let (text, progress) = input.open().map_err(|error| wrong(io_reason(&error)))?;
        let lines = |syntax, labels, text| {
            Kind::Lines(Box::new(Lines::new(Arc::clone(&source), syntax, labels, text)))
        };
        let kind = match format {
            Format::NTriples => lines(Syntax::Triple, labels, text),
            Format::NQuads => lines(Syntax::Quad, labels, text),
            Format::TimedNTriples => lines(Syntax::Timed, labels, text),
            _ => {
                let base = options.base.as_deref();
                let source = Arc::clone(&source);
                let document = Document::new(source, format, labels, text, base, places)?;
                Kind::Document(Box::new(document))
            }
        };
        let mut reader = Self { kind, graphs: Graphs::All, progress };
        if options.timed && !is_timed {
            let progress = reader.progress.clone();
            let property = options.dated_by.unwrap_or_else(|| GENERATED_AT.to_owned());
            let kind = Kind::Timed(Box::new(TimedGraphs::new(source, reader, property)));
            reader = Self { kind, graphs: Graphs::All, progress };
        }
        reader.graphs = options.graphs;
        Ok(reader)
    }

    /// Go to the next fact, or to what is wrong.
    pub fn advance(&mut self) -> Step {
        loop {
            let step = match &mut self.kind {
                Kind::Lines(lines) => lines.advance(),
                Kind::Document(document) => document.advance(),
                Kind::Timed(graphs) => graphs.advance(),
            };
            if step != Step::Fact || self.is_wanted() {
                return step;
            }
        }
    }

    fn is_wanted(&self) -> bool {
        match &self.graphs {
            Graphs::All => true,
            Graphs::Default => self.fact().graph.is_none(),
            Graphs::Named(name) => self.fact().graph == Some(name),
        }
    }

    /// The fact at hand. Only after `advance` came to one.
    pub fn fact(&self) -> Fact<'_> {
        match &self.kind {
            Kind::Lines(lines) => lines.fact(),
            Kind::Document(document) => document.fact(),
            Kind::Timed(graphs) => graphs.fact(),
        }
    }

    /// The prefixes that the document declared, by name, as far as it was read.
    pub fn prefixes(&self) -> BTreeMap<String, String> {
        match &self.kind {
            Kind::Document(document) => document.prefixes().clone(),
            _ => BTreeMap::new(),
        }
    }

    /// How much of the input was taken.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}
