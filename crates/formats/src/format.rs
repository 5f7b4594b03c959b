//! The formats, and the names that users know them by.

/// A format of RDF, or of timed facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// N-Triples.
    NTriples,
    /// N-Quads.
    NQuads,
    /// An instant, a TAB and an N-Triples statement a line.
    TimedNTriples,
    /// Turtle.
    Turtle,
    /// TriG.
    TriG,
    /// RDF/XML.
    RdfXml,
    /// JSON-LD.
    JsonLd,
}

/// Each format by its suffixes, the first of which is its name, and by other tools' names for it.
const NAMES: [(Format, &[&str]); 7] = [
    (Format::NTriples, &["nt", "ntriples", "n-triples"]),
    (Format::NQuads, &["nq", "nquads", "n-quads"]),
    (Format::TimedNTriples, &["tnt"]),
    // Files called .n3 hold Turtle nearly always; what only N3 has is refused with its place.
    (Format::Turtle, &["ttl", "turtle", "n3"]),
    (Format::TriG, &["trig"]),
    (Format::RdfXml, &["rdf", "owl", "xml", "rdf/xml"]),
    (Format::JsonLd, &["jsonld", "json", "json-ld"]),
];

impl Format {
    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        NAMES.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(format, _)| *format)
    }

    /// The format that a file's name tells, `.gz` aside.
    pub fn of_file(name: &str) -> Option<Self> {
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let (_, suffix) = name.rsplit('/').next()?.rsplit_once('.')?;
        Self::named(suffix)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(format, _)| *format == self).map_or("", |(_, names)| names[0])
    }

    /// The names of all formats.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, names)| names[0])
    }

    /// Whether each line stands for itself.
    pub fn has_lines(self) -> bool {
        matches!(self, Self::NTriples | Self::NQuads | Self::TimedNTriples)
    }

    /// Whether facts can be in named graphs.
    pub fn has_graphs(self) -> bool {
        matches!(self, Self::NQuads | Self::TriG | Self::JsonLd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        assert_eq!(Format::of_file("a/b.c/univ.ttl.gz"), Some(Format::Turtle));
        assert_eq!(Format::of_file("x.OWL"), Some(Format::RdfXml));
        assert_eq!(Format::of_file("a.ttl/readme"), None);
        assert_eq!(Format::of_file("x.csv"), None);
        for name in Format::names() {
            assert_eq!(Format::named(name).map(Format::name), Some(name));
        }
    }
}
