//! Solutions in an order that hangs on nothing but what they are.
//!
//! SPARQL leaves open how literals of different kinds compare, and what comes first where ORDER BY
//! says nothing. The evaluator then takes solutions as it finds them, which hangs on the order in
//! which facts arrived. Here every key is compared by its rank, and whatever LIMIT, OFFSET, SAMPLE,
//! GROUP_CONCAT or the reader of an ordered answer could tell is ordered by all variables. MIN and MAX
//! are the first and the last in the order of terms, which has all of them.

use ebbtide_kernel::rank::Ranked;
use oxrdf::{NamedNode, Term, Variable};
use spareval::AggregateFunctionAccumulator;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern, OrderExpression,
};

use crate::term::text;

/// The function that says how a term is ordered, by kind and value.
pub const RANK: &str = "urn:ebbtide:rank";
/// As `RANK`; terms of one kind and value are ordered by their texts.
pub const PLACE: &str = "urn:ebbtide:place";
/// The aggregates that stand for MIN and MAX.
pub const FIRST: &str = "urn:ebbtide:first";
/// See `FIRST`.
pub const LAST: &str = "urn:ebbtide:last";
/// What the names of our own variables begin with: the rows of tables, and keys.
const ROW: &str = "row_";

/// Put the solutions of a pattern, and of those within it, in order where that can be told.
pub fn settle(pattern: &mut GraphPattern) {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => {}
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right }
        | GraphPattern::LeftJoin { left, right, .. } => {
            settle(left);
            settle(right);
        }
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Group { inner, .. }
        | GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Service { inner, .. } => settle(inner),
    }
    if let GraphPattern::Group { aggregates, .. } = pattern {
        for (_, aggregate) in aggregates {
            if let AggregateExpression::FunctionCall { name, .. } = aggregate {
                let function = match name {
                    AggregateFunction::Min => FIRST,
                    AggregateFunction::Max => LAST,
                    _ => continue,
                };
                *name = AggregateFunction::Custom(NamedNode::new_unchecked(function));
            }
        }
    }
    match pattern {
        GraphPattern::OrderBy { inner, expression } => {
            let keys = std::mem::take(expression).into_iter().map(|key| match key {
                OrderExpression::Asc(key) => OrderExpression::Asc(called(RANK, key)),
                OrderExpression::Desc(key) => OrderExpression::Desc(called(RANK, key)),
            });
            let (keys, rest) = (keys.collect(), by_all(inner));
            *pattern = ordered(std::mem::take(inner), keys, rest);
        }
        GraphPattern::Slice { inner, .. } if !is_ordered(inner) => order_below(inner),
        GraphPattern::Group { inner, aggregates, .. } if !is_ordered(inner) => {
            if let Some(expression) = aggregates.iter().find_map(|(_, how)| shown(how)) {
                let keys = vec![OrderExpression::Asc(called(PLACE, expression))];
                let rest = by_all(inner);
                **inner = ordered(std::mem::take(inner), keys, rest);
            }
        }
        // It may leave out repetitions as it likes: that is, where it meets two in a row.
        GraphPattern::Reduced { inner } => {
            *pattern = GraphPattern::Distinct { inner: std::mem::take(inner) };
        }
        _ => {}
    }
}

/// The first or the last of some terms.
pub struct Extreme {
    is_last: bool,
    found: Option<(Ranked, Term)>,
}

impl Extreme {
    /// Of no terms so far.
    pub fn new(is_last: bool) -> Self {
        Self { is_last, found: None }
    }
}

impl AggregateFunctionAccumulator for Extreme {
    fn accumulate(&mut self, element: Term) {
        let ranked = Ranked::of(&text(&element), true);
        let is_better = match &self.found {
            Some((best, _)) => (ranked > *best) == self.is_last && ranked != *best,
            None => true,
        };
        if is_better {
            self.found = Some((ranked, element));
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.found.take().map(|(_, term)| term)
    }
}

/// Whether solutions come in an order that somebody asked for.
fn is_ordered(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::OrderBy { .. } => true,
        GraphPattern::Slice { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::Filter { inner, .. } => is_ordered(inner),
        _ => false,
    }
}

/// Order what is shown by what is shown, then by the rest.
fn order_below(pattern: &mut GraphPattern) {
    match pattern {
        GraphPattern::Distinct { inner } => order_below(inner),
        GraphPattern::Project { inner, variables } => {
            let mut keys: Vec<_> = variables.iter().filter(|name| !is_ours(name)).map(by).collect();
            let mut rest = keys.split_off(keys.len().min(1));
            rest.extend(by_all(inner));
            **inner = ordered(std::mem::take(inner), keys, rest);
        }
        _ => {
            let rest = by_all(pattern);
            *pattern = ordered(Box::new(std::mem::take(pattern)), Vec::new(), rest);
        }
    }
}

/// Ordered by keys, each worked out once for a solution, and where they are equal by the rest.
fn ordered(
    mut inner: Box<GraphPattern>,
    keys: Vec<OrderExpression>,
    rest: Vec<OrderExpression>,
) -> GraphPattern {
    let mut expression = Vec::new();
    for (number, key) in keys.into_iter().enumerate() {
        let variable = Variable::new_unchecked(format!("{ROW}key_{number}"));
        let bound = Expression::Variable(variable.clone());
        let key = match key {
            OrderExpression::Asc(key) => {
                expression.push(OrderExpression::Asc(bound));
                key
            }
            OrderExpression::Desc(key) => {
                expression.push(OrderExpression::Desc(bound));
                key
            }
        };
        inner = Box::new(GraphPattern::Extend { inner, variable, expression: key });
    }
    expression.extend(rest);
    GraphPattern::OrderBy { inner, expression }
}

/// By all variables, but for those that we made up.
fn by_all(pattern: &GraphPattern) -> Vec<OrderExpression> {
    let mut names = Vec::new();
    pattern.on_in_scope_variable(|name| {
        if !is_ours(name) {
            names.push(name.clone());
        }
    });
    names.sort_unstable();
    names.dedup();
    names.iter().map(by).collect()
}

fn is_ours(name: &Variable) -> bool {
    name.as_str().starts_with(ROW)
}

fn by(name: &Variable) -> OrderExpression {
    OrderExpression::Asc(called(PLACE, name.clone().into()))
}

fn called(function: &str, argument: Expression) -> Expression {
    let name = Function::Custom(NamedNode::new_unchecked(function));
    Expression::FunctionCall(name, vec![argument])
}

/// What an aggregate that shows some order is about.
fn shown(how: &AggregateExpression) -> Option<Expression> {
    match how {
        AggregateExpression::FunctionCall {
            name: AggregateFunction::GroupConcat { .. } | AggregateFunction::Sample,
            expr,
            ..
        } => Some(expr.clone()),
        _ => None,
    }
}
