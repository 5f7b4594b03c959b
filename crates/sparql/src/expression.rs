//! The value of a SPARQL expression over given terms.
//!
//! The variables of an expression are its inputs by number: `?1 < ?2 + 3`. A term goes in and comes
//! out as its N-Triples text. What has no value (an error of SPARQL) is none, and does not hold.
//!
//! An evaluator gives back values, in one form; but `?1`, `COALESCE` and `IF` choose a term, and it is
//! that one. So `STR` and `DATATYPE` of what is chosen, and `sameTerm` of two such, are worked out
//! beforehand, from the terms as they are written: to the evaluator they are variables of ours.

use std::str::FromStr;

use oxrdf::{Literal, Term, Variable};
use spareval::QueryEvaluator;
use spargebra::Query;
use spargebra::algebra::Function;
use sparopt::algebra::{Expression as Algebra, GraphPattern};

use crate::syntax::{SyntaxError, parse_query};
use crate::term::text;

/// What is said of terms as they are written.
enum Said {
    /// The lexical form, or the IRI.
    Str(Algebra),
    /// The datatype.
    Datatype(Algebra),
    /// Whether both are one term.
    Same(Algebra, Algebra),
}

/// An expression that is ready to be evaluated.
pub struct Expression {
    algebra: Algebra,
    /// What is known beforehand, by the number of our variable; a later one may need earlier ones.
    said: Vec<Said>,
    evaluator: QueryEvaluator,
}

/// Variables, and the terms that they are bound to.
type Bound = (Vec<Variable>, Vec<Term>);

impl Expression {
    /// Read an expression.
    pub fn parse(source: &str) -> Result<Self, SyntaxError> {
        let query = parse_query(&format!("SELECT (({source}) AS ?value) {{}}"))?;
        match algebra(&query) {
            Some(mut algebra) => {
                let mut said = Vec::new();
                foresee(&mut algebra, &mut said);
                Ok(Self { algebra, said, evaluator: QueryEvaluator::new() })
            }
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
        self.is_true(&self.algebra, &self.bind(inputs)) == Some(true)
    }

    /// The term that the expression yields, if it yields one.
    pub fn value(&self, inputs: &[&str]) -> Option<String> {
        self.chosen(&self.algebra, &self.bind(inputs)).map(|term| text(&term))
    }

    fn is_true(&self, part: &Algebra, (variables, terms): &Bound) -> Option<bool> {
        let bound = variables.iter().zip(terms.iter().cloned());
        self.evaluator.evaluate_effective_boolean_value_expression(part, bound)
    }

    /// The term that a part of it yields: an input itself, where one is chosen.
    fn chosen(&self, part: &Algebra, bound: &Bound) -> Option<Term> {
        let (variables, terms) = bound;
        match part {
            Algebra::Variable(variable) => {
                variables.iter().position(|name| name == variable).map(|place| terms[place].clone())
            }
            Algebra::Literal(literal) => Some(literal.clone().into()),
            Algebra::Coalesce(parts) => parts.iter().find_map(|part| self.chosen(part, bound)),
            Algebra::If(condition, then, otherwise) => {
                let holds = self.is_true(condition, bound)?;
                self.chosen(if holds { then } else { otherwise }, bound)
            }
            _ => self
                .evaluator
                .evaluate_expression(part, variables.iter().zip(terms.iter().cloned())),
        }
    }

    /// The inputs by number, and what is said of them. A term that oxrdf cannot read is left
    /// unbound, so that nothing holds of it.
    fn bind(&self, inputs: &[&str]) -> Bound {
        let numbered = (1..).zip(inputs);
        let mut bound: Bound = numbered
            .filter_map(|(number, text)| {
                let variable = Variable::new_unchecked(number.to_string());
                Some((variable, Term::from_str(text).ok()?))
            })
            .unzip();
        for (number, said) in self.said.iter().enumerate() {
            if let Some(term) = self.told(said, &bound) {
                bound.0.push(said_variable(number));
                bound.1.push(term);
            }
        }
        bound
    }

    fn told(&self, said: &Said, bound: &Bound) -> Option<Term> {
        match said {
            Said::Str(part) => match self.chosen(part, bound)? {
                Term::NamedNode(name) => Some(Literal::from(name.into_string()).into()),
                Term::Literal(literal) => Some(Literal::from(literal.value()).into()),
                Term::BlankNode(_) => None,
            },
            Said::Datatype(part) => match self.chosen(part, bound)? {
                Term::Literal(literal) => Some(literal.datatype().into_owned().into()),
                Term::NamedNode(_) | Term::BlankNode(_) => None,
            },
            Said::Same(left, right) => {
                let same = self.chosen(left, bound)? == self.chosen(right, bound)?;
                Some(Literal::from(same).into())
            }
        }
    }
}

fn said_variable(number: usize) -> Variable {
    Variable::new_unchecked(format!("said_{number}"))
}

/// Put variables where the terms themselves count, and note what these are.
fn foresee(part: &mut Algebra, said: &mut Vec<Said>) {
    match part {
        Algebra::NamedNode(_)
        | Algebra::Literal(_)
        | Algebra::Variable(_)
        | Algebra::Bound(_)
        | Algebra::Exists(_) => {}
        Algebra::Or(parts) | Algebra::And(parts) | Algebra::Coalesce(parts) => {
            parts.iter_mut().for_each(|part| foresee(part, said));
        }
        Algebra::FunctionCall(_, parts) => {
            parts.iter_mut().for_each(|part| foresee(part, said));
        }
        Algebra::Equal(left, right)
        | Algebra::SameTerm(left, right)
        | Algebra::Greater(left, right)
        | Algebra::GreaterOrEqual(left, right)
        | Algebra::Less(left, right)
        | Algebra::LessOrEqual(left, right)
        | Algebra::Add(left, right)
        | Algebra::Subtract(left, right)
        | Algebra::Multiply(left, right)
        | Algebra::Divide(left, right) => {
            foresee(left, said);
            foresee(right, said);
        }
        Algebra::UnaryPlus(inner) | Algebra::UnaryMinus(inner) | Algebra::Not(inner) => {
            foresee(inner, said);
        }
        Algebra::If(condition, then, otherwise) => {
            foresee(condition, said);
            foresee(then, said);
            foresee(otherwise, said);
        }
    }
    let known = match part {
        Algebra::FunctionCall(function @ (Function::Str | Function::Datatype), inputs)
            if is_choice(&inputs[0]) =>
        {
            let input = inputs[0].clone();
            if *function == Function::Str { Said::Str(input) } else { Said::Datatype(input) }
        }
        Algebra::SameTerm(left, right) if is_choice(left) && is_choice(right) => {
            Said::Same((**left).clone(), (**right).clone())
        }
        _ => return,
    };
    *part = Algebra::Variable(said_variable(said.len()));
    said.push(known);
}

/// Whether a part yields a term that is there already, and does not work out a value.
fn is_choice(part: &Algebra) -> bool {
    match part {
        Algebra::Variable(_) | Algebra::NamedNode(_) | Algebra::Literal(_) => true,
        Algebra::Coalesce(parts) => parts.iter().any(is_choice),
        Algebra::If(_, then, otherwise) => is_choice(then) || is_choice(otherwise),
        _ => false,
    }
}

fn algebra(query: &Query) -> Option<Algebra> {
    let Query::Select { pattern, .. } = query else { return None };
    let GraphPattern::Project { inner, .. } = GraphPattern::from(pattern) else { return None };
    let GraphPattern::Extend { inner, expression, .. } = *inner else { return None };
    inner.is_empty_singleton().then_some(expression)
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
    fn what_is_written_counts_for_str_datatype_and_same_term() {
        let value = |text: &str, inputs: &[&str]| Expression::parse(text).unwrap().value(inputs);
        let int = "\"02\"^^<http://www.w3.org/2001/XMLSchema#int>";
        assert_eq!(value("STR(?1)", &[int]).as_deref(), Some("\"02\""));
        assert_eq!(value("STRLEN(STR(COALESCE(?2, ?1))) * 1", &[int]).as_deref(), Some(TWO));
        assert_eq!(value("STR(?1 + 0)", &[int]).as_deref(), Some("\"2\""));
        assert_eq!(value("STR(?1)", &["_:b"]), None);
        let datatype = "<http://www.w3.org/2001/XMLSchema#int>";
        assert_eq!(value("DATATYPE(?1)", &[int]).as_deref(), Some(datatype));
        assert_eq!(value("DATATYPE(?1)", &[datatype]), None);
        assert!(holds("?1 = ?2 && !sameTerm(?1, ?2) && sameTerm(?1, ?1)", &[int, TWO]));
        assert!(holds("IF(STR(?1) = '02', DATATYPE(?1) != DATATYPE(?2), false)", &[int, TWO]));
        assert!(!holds("sameTerm(?1, ?3) || !sameTerm(?1, ?3)", &[int, TWO]));
    }

    #[test]
    fn an_expression_is_nothing_else() {
        for text in ["", "1) AS ?x) (2", "?1 < ", "1 AS ?x", "COUNT(?1)"] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }
}
