//! Texts to algebra, and what is wrong with a text that has none.
//!
//! The parser descends recursively, and a chain of operators is as deep as it is long once it is
//! algebra: callers limit the nesting of brackets and the number of operators of a text.

use spargebra::{Query, SparqlParser, SparqlSyntaxError, Update};

/// A text that is not SPARQL: what the parser says, and how far it looked.
///
/// It looks ahead by as many characters as the keywords that it tries are long, so the place may lie
/// beyond the culprit. Lines and columns count from 1, in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What it expected at that place.
    pub message: String,
    /// Line and column, if it tells.
    pub place: Option<(usize, usize)>,
}

impl From<SparqlSyntaxError> for SyntaxError {
    /// The parser tells its place only in its message: `error at 1:8: expected ...`.
    fn from(error: SparqlSyntaxError) -> Self {
        let text = error.to_string();
        let located = text.strip_prefix("error at ").and_then(|rest| {
            let (place, message) = rest.split_once(": ")?;
            let (line, column) = place.split_once(':')?;
            Some((message.to_owned(), (line.parse().ok()?, column.parse().ok()?)))
        });
        match located {
            Some((message, place)) => Self { message, place: Some(place) },
            None => Self { message: text, place: None },
        }
    }
}

/// The algebra of a query.
pub fn parse_query(text: &str) -> Result<Query, SyntaxError> {
    Ok(SparqlParser::new().parse_query(text)?)
}

/// The operations of an update.
pub fn parse_update(text: &str) -> Result<Update, SyntaxError> {
    Ok(SparqlParser::new().parse_update(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_a_place() {
        let error = parse_query("ASK\n{ ?s ?p 'é'").unwrap_err();
        assert_eq!(error.place, Some((2, 12)));
        assert!(error.message.starts_with("expected one of"), "{}", error.message);
    }

    #[test]
    fn updates_are_lists_of_operations() {
        let text = "INSERT DATA { <s:a> <s:b> 1 } ; DELETE WHERE { ?s ?p 1 }";
        assert_eq!(parse_update(text).unwrap().operations.len(), 2);
    }
}
