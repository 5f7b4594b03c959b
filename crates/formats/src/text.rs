//! The canonical N-Triples text of a term: what identifies it, in Python's `Term.text`, in Arrow and
//! in the kernel.
//!
//! Only `\`, `"`, line feed and carriage return are escaped; `xsd:string` is left out; language tags
//! are in lower case, as RDF compares them.

use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Term};

use crate::label::Labels;
use crate::statement::unescape;

/// The datatype that is not written.
pub const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

/// Write a lexical form with its quotes.
pub fn write_quoted(lexical: &str, text: &mut String) {
    text.push('"');
    let mut rest = lexical;
    while let Some(place) = rest.find(['\\', '"', '\n', '\r']) {
        text.push_str(&rest[..place]);
        text.push_str(match rest.as_bytes()[place] {
            b'\\' => "\\\\",
            b'"' => "\\\"",
            b'\n' => "\\n",
            _ => "\\r",
        });
        rest = &rest[place + 1..];
    }
    text.push_str(rest);
    text.push('"');
}

/// Write an IRI.
pub fn write_iri(iri: &str, text: &mut String) {
    text.push('<');
    text.push_str(iri);
    text.push('>');
}

fn write_literal(literal: &Literal, text: &mut String) {
    write_quoted(literal.value(), text);
    if let Some(language) = literal.language() {
        text.push('@');
        text.push_str(&language.to_ascii_lowercase());
    } else if literal.datatype().as_str() != XSD_STRING {
        text.push_str("^^");
        write_iri(literal.datatype().as_str(), text);
    }
}

/// Write a subject.
pub fn write_subject(subject: &NamedOrBlankNode, labels: &mut Labels, text: &mut String) {
    match subject {
        NamedOrBlankNode::NamedNode(node) => write_iri(node.as_str(), text),
        NamedOrBlankNode::BlankNode(node) => labels.write_or_number(node.as_str(), text),
    }
}

/// Write an object.
pub fn write_object(object: &Term, labels: &mut Labels, text: &mut String) {
    match object {
        Term::NamedNode(node) => write_iri(node.as_str(), text),
        Term::BlankNode(node) => labels.write_or_number(node.as_str(), text),
        Term::Literal(literal) => write_literal(literal, text),
    }
}

/// Write a graph's name; nothing for the default graph.
pub fn write_graph(graph: &GraphName, labels: &mut Labels, text: &mut String) {
    match graph {
        GraphName::NamedNode(node) => write_iri(node.as_str(), text),
        GraphName::BlankNode(node) => labels.write_or_number(node.as_str(), text),
        GraphName::DefaultGraph => {}
    }
}

/// The term of a canonical text; none if it is no such text.
pub fn term_of(text: &str) -> Option<Term> {
    if let Some(iri) = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        return Some(NamedNode::new_unchecked(iri).into());
    }
    if let Some(label) = text.strip_prefix("_:") {
        return Some(BlankNode::new_unchecked(label).into());
    }
    let (lexical, kind) = text.strip_prefix('"')?.rsplit_once('"')?;
    let lexical = unescape(lexical).ok()?;
    let literal = if let Some(language) = kind.strip_prefix('@') {
        Literal::new_language_tagged_literal_unchecked(lexical, language)
    } else if let Some(datatype) = kind.strip_prefix("^^<").and_then(|rest| rest.strip_suffix('>'))
    {
        Literal::new_typed_literal(lexical, NamedNode::new_unchecked(datatype))
    } else {
        Literal::new_simple_literal(lexical)
    };
    Some(literal.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_survive_their_texts() {
        for text in
            ["<a:b>", "_:b.0", "\"\"", "\"a\\\\\\n\\\"\"@en", "\"\\\"^^<x>\"^^<a:t>", "\"@en\""]
        {
            let mut again = String::new();
            write_object(&term_of(text).expect(text), &mut Labels::kept(), &mut again);
            assert_eq!(again, text);
        }
    }

    #[test]
    fn only_what_must_be_is_escaped() {
        let mut text = String::new();
        write_quoted("a\tb\\c\"d\ne\rf\u{8}é", &mut text);
        assert_eq!(text, "\"a\tb\\\\c\\\"d\\ne\\rf\u{8}é\"");
    }
}
