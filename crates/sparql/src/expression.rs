//! The value of a SPARQL expression over given terms.
//!
//! The variables of an expression are its inputs by number: `?1 < ?2 + 3`. A term goes in and comes
//! out as its N-Triples text. What has no value (an error of SPARQL) is none, and does not hold.
//!
//! An evaluator gives back values, in one form; but `?1`, `COALESCE` and `IF` choose a term, and it is that one.

use std::str::FromStr;

use oxrdf::{Term, Variable};
use spareval::QueryEvaluator;
use spargebra::Query;
use sparopt::algebra::{Expression as Algebra, GraphPattern};

use crate::syntax::{SyntaxError, parse_query};
use crate::term::text;

/// An expression that is ready to be evaluated.
pub struct Expression {
    algebra: Algebra,
    evaluator: QueryEvaluator,
}

impl Expression {
    /// Read an expression.
    pub fn parse(source: &str) -> Result<Self, SyntaxError> {
        let query = parse_query(&format!("SELECT (({source}) AS ?value) {{}}"))?;
        match algebra(&query) {
            Some(algebra) => Ok(Self { algebra, evaluator: QueryEvaluator::new() }),
            None => Err(SyntaxError { message: "expected one expression".to_owned(), place: None }),
        }
    }

    /// Read an expression from the text of a string literal.
    pub fn of_literal(text: &str) -> Result<Self, SyntaxError> {
        match Term::from_str(text) {
            Ok(Term::Literal(literal)) => Self::parse(literal.value()),
            _ => Err(SyntaxError { message: "expected a string".to_owned(), place: None }),
        }
    }

    /// Whether the expression is true: its effective boolean value, if it has one.
    pub fn holds(&self, inputs: &[&str]) -> bool {
        let (variables, terms) = bind(inputs);
        self.evaluator
            .evaluate_effective_boolean_value_expression(&self.algebra, variables.iter().zip(terms))
            == Some(true)
    }

    /// The term that the expression yields, if it yields one.
    pub fn value(&self, inputs: &[&str]) -> Option<String> {
        self.chosen(&self.algebra, inputs)
    }

    /// The term that a part of it yields: an input itself, where one is chosen.
    fn chosen(&self, part: &Algebra, inputs: &[&str]) -> Option<String> {
        match part {
            Algebra::Variable(variable) => {
                let number: usize = variable.as_str().parse().ok()?;
                let input = *inputs.get(number.checked_sub(1)?)?;
                Term::from_str(input).ok().map(|_| input.to_owned())
            }
            Algebra::Coalesce(parts) => parts.iter().find_map(|part| self.chosen(part, inputs)),
            Algebra::If(condition, then, otherwise) => {
                let (variables, terms) = bind(inputs);
                let holds = self.evaluator.evaluate_effective_boolean_value_expression(
                    condition,
                    variables.iter().zip(terms),
                )?;
                self.chosen(if holds { then } else { otherwise }, inputs)
            }
            _ => {
                let (variables, terms) = bind(inputs);
                let value = self.evaluator.evaluate_expression(part, variables.iter().zip(terms));
                value.map(|term| text(&term))
            }
        }
    }
}

fn algebra(query: &Query) -> Option<Algebra> {
    let Query::Select { pattern, .. } = query else { return None };
    let GraphPattern::Project { inner, .. } = GraphPattern::from(pattern) else { return None };
    let GraphPattern::Extend { inner, expression, .. } = *inner else { return None };
    inner.is_empty_singleton().then_some(expression)
}

/// A term that oxrdf cannot read is left unbound, so that nothing holds of it.
fn bind(inputs: &[&str]) -> (Vec<Variable>, Vec<Term>) {
    let numbered = (1..).zip(inputs);
    numbered
        .filter_map(|(number, text)| {
            let variable = Variable::new_unchecked(number.to_string());
            Some((variable, Term::from_str(text).ok()?))
        })
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "\"2\"^^<http://www.w3.org/2001/XMLSchema#integer>";

    fn holds(text: &str, inputs: &[&str]) -> bool {
        Expression::parse(text).unwrap().holds(inputs)
    }

    #[test]
    fn errors_do_not_hold_and_neither_does_their_negation() {
        assert!(holds("?1 < 3", &[TWO]));
        assert!(!holds("?1 < 3", &["<http://e/a>"]));
        assert!(!holds("!(?1 < 3)", &["<http://e/a>"]));
        assert!(holds("?1 < 3 || true", &["<http://e/a>"]));
    }

    #[test]
    fn values_are_terms() {
        let value = |text: &str, inputs: &[&str]| Expression::parse(text).unwrap().value(inputs);
        assert_eq!(value("?1 * 1", &[TWO]).unwrap(), TWO);
        assert_eq!(value("STR(?1)", &["<http://e/a>"]).unwrap(), "\"http://e/a\"");
        assert_eq!(value("?1 + 1", &["\"a\"@en"]), None);
        assert_eq!(value("COALESCE(?2, ?1)", &["_:b"]).unwrap(), "_:b");
    }

    #[test]
    fn what_is_chosen_stays_as_it_is_written() {
        let value = |text: &str, inputs: &[&str]| Expression::parse(text).unwrap().value(inputs);
        let int = "\"02\"^^<http://www.w3.org/2001/XMLSchema#int>";
        for text in ["?1", "COALESCE(?2, ?1)", "COALESCE(?1 + <a:b>, ?1, 0)", "IF(?1 = 2, ?1, 0)"] {
            assert_eq!(value(text, &[int]).as_deref(), Some(int), "{text}");
        }
        assert_eq!(value("IF(?1 = 3, ?1, ?1 * 1)", &[int]).as_deref(), Some(TWO));
        assert_eq!(value("IF(?2, ?1, ?1)", &[int]), None);
        assert_eq!(value("COALESCE(?2)", &[int]), None);
    }

    #[test]
    fn an_expression_is_nothing_else() {
        for text in ["", "1) AS ?x) (2", "?1 < ", "1 AS ?x", "COUNT(?1)"] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }
}
