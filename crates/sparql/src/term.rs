//! Terms as the house writes them: N-Triples, with no escape that is not needed.

use oxrdf::{BlankNode, Literal, NamedNode, Term};

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

/// The term of a text that `text` wrote, or the readers; none if it is neither.
pub fn parse(text: &str) -> Option<Term> {
    if let Some(rest) = text.strip_prefix('<') {
        return Some(NamedNode::new_unchecked(rest.strip_suffix('>')?).into());
    }
    if let Some(label) = text.strip_prefix("_:") {
        return Some(BlankNode::new_unchecked(label).into());
    }
    let (quoted, suffix) = text.strip_prefix('"')?.rsplit_once('"')?;
    let value = if quoted.contains('\\') { unescape(quoted)? } else { quoted.to_owned() };
    if suffix.is_empty() {
        return Some(Literal::new_simple_literal(value).into());
    }
    if let Some(language) = suffix.strip_prefix('@') {
        return Some(Literal::new_language_tagged_literal_unchecked(value, language).into());
    }
    let datatype = suffix.strip_prefix("^^<")?.strip_suffix('>')?;
    Some(Literal::new_typed_literal(value, NamedNode::new_unchecked(datatype)).into())
}

fn unescape(quoted: &str) -> Option<String> {
    let mut letters = quoted.chars();
    let mut value = String::with_capacity(quoted.len());
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            value.push(letter);
            continue;
        }
        value.push(match letters.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            kind @ ('u' | 'U') => {
                let digits: String =
                    letters.by_ref().take(if kind == 'u' { 4 } else { 8 }).collect();
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
            }
            other => other,
        });
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for written in ["<a:b>", "_:b", "\"a \\\"b\\\\ \\n\"", "\"x\"@en", "\"7\"^^<a:t>"] {
            assert_eq!(text(&parse(written).unwrap()), written);
        }
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn only_what_must_be_is_escaped() {
        let literal = |value: &str| text(&Literal::from(value).into());
        assert_eq!(literal("tab\t, line\n, \"quoted\""), "\"tab\t, line\\n, \\\"quoted\\\"\"");
        assert_eq!(text(&Literal::from(7).into()), Literal::from(7).to_string());
    }
}
