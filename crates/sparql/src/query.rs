//! A query that is asked again and again, of the facts of kernels.
//!
//! The instant of a tick is the query's NOW, and `TIMESTAMP` tells when the triple it is given
//! happened. FROM clauses do not count: whoever asks says what the dataset is.

use std::sync::Arc;

use ebbtide_kernel::instant::{FOREVER, NEVER};
use ebbtide_kernel::rank::rank;
use hashbrown::HashMap;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use spareval::{ExpressionTerm, QueryEvaluator, QueryResults};
use spargebra::Query as Algebra;
use spargebra::algebra::{Expression, Function, GraphPattern, OrderExpression};

use crate::dataset::{Dataset, View};
use crate::order::{Extreme, FIRST, LAST, PLACE, RANK, settle};
use crate::syntax::{SyntaxError, parse_query};
use crate::term::{parse, text};

const NOW: &str = "urn:ebbtide:now";
/// The function that tells when a triple happened.
pub const TIMESTAMP: &str = "http://larkc.eu/csparql/sparql/jena/ext#timestamp";

/// A query that is ready to be asked.
pub struct Query {
    algebra: Algebra,
}

/// What a query answers. Terms are their texts.
pub enum Answers {
    /// The variables, and what each solution binds them to.
    Solutions(Vec<String>, Vec<Vec<Option<String>>>),
    /// Yes or no.
    Truth(bool),
    /// Triples that were constructed or describe something.
    Triples(Vec<[String; 3]>),
}

/// When triples happened, if in several views then the latest. Terms are as functions are given them.
pub type Instants = HashMap<[String; 3], i64>;

/// The text of a term as a function of a query is given it: of literals their values, in one form.
fn as_given(term: Term) -> String {
    text(&Term::from(ExpressionTerm::from(term)))
}

/// Add when the triples of a view happened, if they hold for `range` from then on.
pub fn add_instants(happened: &mut Instants, view: View<'_>, range: i64) {
    let dictionary = view.kernel.dictionary();
    let relation = view.kernel.relation(view.relation);
    let dated = relation.live().filter(|row| {
        let until = relation.until(*row);
        until > view.after && until != FOREVER && until != NEVER
    });
    for row in dated {
        let term = |column| {
            let text = dictionary.text(relation.term(row, column));
            match parse(text) {
                Some(term @ Term::Literal(_)) => as_given(term),
                _ => text.to_owned(),
            }
        };
        let at = relation.until(row).0 - range;
        let known = happened.entry([term(0), term(1), term(2)]).or_insert(at);
        *known = at.max(*known);
    }
}

impl Query {
    /// Read a query.
    pub fn parse(source: &str) -> Result<Self, SyntaxError> {
        let mut algebra = parse_query(source)?;
        let (Algebra::Select { dataset, pattern, .. }
        | Algebra::Construct { dataset, pattern, .. }
        | Algebra::Describe { dataset, pattern, .. }
        | Algebra::Ask { dataset, pattern, .. }) = &mut algebra;
        *dataset = None;
        settle(pattern);
        let now = NamedNode::new_unchecked(NOW);
        each_function(pattern, &mut |function| {
            if *function == Function::Now {
                *function = Function::Custom(now.clone());
            }
        });
        Ok(Self { algebra })
    }

    /// The answers at an instant, unless the dataset misses indexes.
    ///
    /// # Errors
    /// What the evaluation says: a service that is not there, a graph of its own kind.
    pub fn answers(
        &self,
        dataset: &Dataset<'_>,
        now: &str,
        instants: Instants,
    ) -> Result<Answers, String> {
        let now: Term = Literal::new_typed_literal(now, xsd::DATE_TIME).into();
        let instants = Arc::new(instants);
        let happened = move |terms: &[Term]| {
            let key = terms.iter().cloned().map(as_given).collect::<Vec<_>>();
            let key: [String; 3] = key.try_into().ok()?;
            Some(Literal::from(*instants.get(&key)?).into())
        };
        let evaluator = QueryEvaluator::new()
            .with_custom_function(NamedNode::new_unchecked(NOW), move |_| Some(now.clone()))
            .with_custom_function(NamedNode::new_unchecked(TIMESTAMP), happened)
            .with_custom_function(NamedNode::new_unchecked(RANK), |terms| ranked(terms, false))
            .with_custom_function(NamedNode::new_unchecked(PLACE), |terms| ranked(terms, true))
            .with_custom_aggregate_function(NamedNode::new_unchecked(FIRST), || {
                Box::new(Extreme::new(false))
            })
            .with_custom_aggregate_function(NamedNode::new_unchecked(LAST), || {
                Box::new(Extreme::new(true))
            });
        let results = evaluator.prepare(&self.algebra).execute(dataset);
        match results.map_err(|error| error.to_string())? {
            QueryResults::Boolean(truth) => Ok(Answers::Truth(truth)),
            QueryResults::Solutions(solutions) => {
                let names = solutions.variables().iter().map(|name| name.as_str().to_owned());
                let names: Vec<String> = names.collect();
                let mut rows = Vec::new();
                for solution in solutions {
                    let solution = solution.map_err(|error| error.to_string())?;
                    rows.push(
                        solution.values().iter().map(|term| term.as_ref().map(text)).collect(),
                    );
                }
                Ok(Answers::Solutions(names, rows))
            }
            QueryResults::Graph(triples) => {
                let mut found = Vec::new();
                for triple in triples {
                    let triple = triple.map_err(|error| error.to_string())?;
                    let (subject, predicate) = (triple.subject.into(), triple.predicate.into());
                    found.push([text(&subject), text(&predicate), text(&triple.object)]);
                }
                Ok(Answers::Triples(found))
            }
        }
    }
}

/// A string that is ordered as the term is.
fn ranked(terms: &[Term], by_text: bool) -> Option<Term> {
    let text = text(terms.first()?);
    let mut key = rank(&text);
    if by_text {
        key.push('\0');
        key.push_str(&text);
    }
    Some(Literal::new_simple_literal(key).into())
}

/// Look at every function that a pattern calls, nested patterns included.
fn each_function(pattern: &mut GraphPattern, look: &mut impl FnMut(&mut Function)) {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => {}
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            each_function(left, look);
            each_function(right, look);
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            each_function(left, look);
            each_function(right, look);
            expression.iter_mut().for_each(|inner| called(inner, look));
        }
        GraphPattern::Filter { expr, inner } => {
            each_function(inner, look);
            called(expr, look);
        }
        GraphPattern::Extend { inner, expression, .. } => {
            each_function(inner, look);
            called(expression, look);
        }
        GraphPattern::OrderBy { inner, expression } => {
            each_function(inner, look);
            for key in expression {
                let (OrderExpression::Asc(key) | OrderExpression::Desc(key)) = key;
                called(key, look);
            }
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            each_function(inner, look);
            for (_, aggregate) in aggregates {
                if let spargebra::algebra::AggregateExpression::FunctionCall { expr, .. } =
                    aggregate
                {
                    called(expr, look);
                }
            }
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Service { inner, .. } => each_function(inner, look),
    }
}

fn called(expression: &mut Expression, look: &mut impl FnMut(&mut Function)) {
    match expression {
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_) => {}
        Expression::Or(left, right)
        | Expression::And(left, right)
        | Expression::Equal(left, right)
        | Expression::SameTerm(left, right)
        | Expression::Greater(left, right)
        | Expression::GreaterOrEqual(left, right)
        | Expression::Less(left, right)
        | Expression::LessOrEqual(left, right)
        | Expression::Add(left, right)
        | Expression::Subtract(left, right)
        | Expression::Multiply(left, right)
        | Expression::Divide(left, right) => {
            called(left, look);
            called(right, look);
        }
        Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) | Expression::Not(inner) => {
            called(inner, look);
        }
        Expression::In(needle, others) => {
            called(needle, look);
            others.iter_mut().for_each(|other| called(other, look));
        }
        Expression::Exists(pattern) => each_function(pattern, look),
        Expression::If(condition, yes, no) => {
            called(condition, look);
            called(yes, look);
            called(no, look);
        }
        Expression::Coalesce(others) => others.iter_mut().for_each(|other| called(other, look)),
        Expression::FunctionCall(function, inputs) => {
            look(function);
            inputs.iter_mut().for_each(|input| called(input, look));
        }
    }
}
