//! Terms as the house writes them: N-Triples, with no escape that is not needed.

use oxrdf::Term;

/// The text of a term, which is its identity.
pub fn text(term: &Term) -> String {
    let Term::Literal(literal) = term else { return term.to_string() };
    let mut text = String::with_capacity(literal.value().len() + 2);
    text.push('"');
    for letter in literal.value().chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            other => text.push(other),
        }
    }
    text.push('"');
    if let Some(language) = literal.language() {
        text.push('@');
        text.push_str(language);
    } else if literal.datatype() != oxrdf::vocab::xsd::STRING {
        text.push_str("^^");
        text.push_str(&literal.datatype().to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use oxrdf::Literal;

    use super::*;

    #[test]
    fn only_what_must_be_is_escaped() {
        let literal = |value: &str| text(&Literal::from(value).into());
        assert_eq!(literal("tab\t, line\n, \"quoted\""), "\"tab\t, line\\n, \\\"quoted\\\"\"");
        assert_eq!(text(&Literal::from(7).into()), Literal::from(7).to_string());
    }
}
