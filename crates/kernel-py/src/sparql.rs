//! SPARQL as Python sees it: algebra as plain nested tuples, and the values of expressions.
//!
//! A node is a tuple whose first item names it; `_kernel.pyi` has the shapes. Terms, variables and
//! blank nodes are texts: `<iri>`, `"literal"`, `?variable`, `_:blank`. Chains of joins, unions,
//! conjunctions, disjunctions and paths are one node with many items, so that only brackets nest.

use ebbtide_sparql::expression::Expression as Evaluator;
use ebbtide_sparql::spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, GraphPattern, OrderExpression,
    PropertyPathExpression, QueryDataset,
};
use ebbtide_sparql::spargebra::term::{GraphName, GraphNamePattern, TriplePattern};
use ebbtide_sparql::spargebra::{GraphUpdateOperation, Query};
use ebbtide_sparql::syntax::{SyntaxError, parse_query, parse_update};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Deeper algebra is refused: Python's own recursion has a limit too.
const MAX_DEPTH: usize = 200;

type Node<'py> = PyResult<Bound<'py, PyAny>>;

pub(crate) fn refused(error: SyntaxError) -> PyErr {
    crate::SparqlSyntaxError::new_err((error.message, error.place))
}

/// The algebra of a query.
#[pyfunction]
pub fn sparql_query<'py>(py: Python<'py>, text: &str) -> Node<'py> {
    let query = parse_query(text).map_err(refused)?;
    let writer = Writer { py, depth: 0 };
    let (kind, dataset, pattern) = match &query {
        Query::Select { dataset, pattern, .. } => ("select", dataset, pattern),
        Query::Construct { template, dataset, pattern, .. } => {
            let template = writer.all(template, |triple| writer.triple(triple))?;
            let (dataset, pattern) = (writer.dataset(dataset)?, writer.pattern(pattern)?);
            return writer.node("construct", [dataset, pattern, template]);
        }
        Query::Describe { dataset, pattern, .. } => ("describe", dataset, pattern),
        Query::Ask { dataset, pattern, .. } => ("ask", dataset, pattern),
    };
    writer.node(kind, [writer.dataset(dataset)?, writer.pattern(pattern)?])
}

/// The operations of an update.
#[pyfunction]
pub fn sparql_update<'py>(py: Python<'py>, text: &str) -> Node<'py> {
    let update = parse_update(text).map_err(refused)?;
    let writer = Writer { py, depth: 0 };
    writer.all(&update.operations, |operation| writer.operation(operation))
}

/// Whether an expression over the terms `?1`, `?2`, ... holds.
#[pyfunction]
pub fn sparql_holds(text: &str, terms: Vec<String>) -> PyResult<bool> {
    let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
    Ok(Evaluator::parse(text).map_err(refused)?.holds(&terms))
}

/// The term that an expression over the terms `?1`, `?2`, ... yields, if it yields one.
#[pyfunction]
pub fn sparql_value(text: &str, terms: Vec<String>) -> PyResult<Option<String>> {
    let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
    Ok(Evaluator::parse(text).map_err(refused)?.value(&terms))
}

/// Writes algebra down, `depth` nodes below the root.
#[derive(Clone, Copy)]
struct Writer<'py> {
    py: Python<'py>,
    depth: usize,
}

impl<'py> Writer<'py> {
    fn below(self) -> PyResult<Self> {
        if self.depth == MAX_DEPTH {
            return Err(PyRecursionError::new_err("the algebra is nested too deeply"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    fn any<T: IntoPyObjectExt<'py>>(self, value: T) -> Node<'py> {
        value.into_bound_py_any(self.py)
    }

    fn text(self, value: impl std::fmt::Display) -> Node<'py> {
        self.any(value.to_string())
    }

    fn node(self, name: &str, items: impl IntoIterator<Item = Bound<'py, PyAny>>) -> Node<'py> {
        let mut parts = vec![self.any(name)?];
        parts.extend(items);
        Ok(PyTuple::new(self.py, parts)?.into_any())
    }

    fn all<T>(self, items: &[T], write: impl Fn(&T) -> Node<'py>) -> Node<'py> {
        let written = items.iter().map(write).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(self.py, written)?.into_any())
    }

    fn texts<T: std::fmt::Display>(self, items: &[T]) -> Node<'py> {
        self.all(items, |item| self.text(item))
    }

    fn dataset(self, dataset: &Option<QueryDataset>) -> Node<'py> {
        match dataset {
            None => self.any(self.py.None()),
            Some(QueryDataset { default, named }) => {
                let named = named.as_ref().map(|named| self.texts(named)).transpose()?;
                self.any((self.texts(default)?, named))
            }
        }
    }

    fn triple(self, triple: &TriplePattern) -> Node<'py> {
        let TriplePattern { subject, predicate, object } = triple;
        self.any((self.text(subject)?, self.text(predicate)?, self.text(object)?))
    }

    fn operation(self, operation: &GraphUpdateOperation) -> Node<'py> {
        match operation {
            GraphUpdateOperation::InsertData { data } => {
                let quads = self.all(data, |quad| {
                    let graph = match &quad.graph_name {
                        GraphName::NamedNode(name) => Some(name.to_string()),
                        GraphName::DefaultGraph => None,
                    };
                    let (s, p) = (self.text(&quad.subject)?, self.text(&quad.predicate)?);
                    self.any((s, p, self.text(&quad.object)?, graph))
                })?;
                self.node("insert_data", [quads])
            }
            GraphUpdateOperation::DeleteInsert { delete, insert, using, pattern } => {
                let insert = self.all(insert, |quad| {
                    let graph = match &quad.graph_name {
                        GraphNamePattern::DefaultGraph => None,
                        name => Some(name.to_string()),
                    };
                    let (s, p) = (self.text(&quad.subject)?, self.text(&quad.predicate)?);
                    self.any((s, p, self.text(&quad.object)?, graph))
                })?;
                let deletes = self.any(!delete.is_empty())?;
                let (using, pattern) = (self.dataset(using)?, self.pattern(pattern)?);
                self.node("insert", [using, pattern, insert, deletes])
            }
            GraphUpdateOperation::DeleteData { .. } => self.node("delete_data", []),
            GraphUpdateOperation::Load { .. } => self.node("load", []),
            GraphUpdateOperation::Clear { .. } => self.node("clear", []),
            GraphUpdateOperation::Create { .. } => self.node("create", []),
            GraphUpdateOperation::Drop { .. } => self.node("drop", []),
        }
    }

    fn pattern(self, pattern: &GraphPattern) -> Node<'py> {
        let below = self.below()?;
        let write = |pattern: &GraphPattern| below.pattern(pattern);
        match pattern {
            GraphPattern::Bgp { patterns } => {
                self.node("bgp", [self.all(patterns, |triple| self.triple(triple))?])
            }
            GraphPattern::Path { subject, path, object } => {
                self.node("path", [self.text(subject)?, below.path(path)?, self.text(object)?])
            }
            GraphPattern::Join { .. } => {
                let parts = chain(pattern, |pattern| match pattern {
                    GraphPattern::Join { left, right } => Some((left, right)),
                    _ => None,
                });
                self.node("join", each(parts, write)?)
            }
            GraphPattern::Union { .. } => {
                let parts = chain(pattern, |pattern| match pattern {
                    GraphPattern::Union { left, right } => Some((left, right)),
                    _ => None,
                });
                self.node("union", each(parts, write)?)
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                let condition = match expression {
                    Some(expression) => below.expression(expression)?,
                    None => self.any(self.py.None())?,
                };
                self.node("left_join", [write(left)?, write(right)?, condition])
            }
            GraphPattern::Minus { left, right } => {
                self.node("minus", [write(left)?, write(right)?])
            }
            GraphPattern::Filter { expr, inner } => {
                self.node("filter", [write(inner)?, below.expression(expr)?])
            }
            GraphPattern::Extend { inner, variable, expression } => {
                let expression = below.expression(expression)?;
                self.node("extend", [write(inner)?, self.text(variable)?, expression])
            }
            GraphPattern::Graph { name, inner } => {
                self.node("graph", [write(inner)?, self.text(name)?])
            }
            GraphPattern::Values { variables, bindings } => {
                let rows = self.all(bindings, |row| {
                    self.all(row, |term| match term {
                        Some(term) => self.text(term),
                        None => self.any(self.py.None()),
                    })
                })?;
                self.node("values", [self.texts(variables)?, rows])
            }
            GraphPattern::Project { inner, variables } => {
                self.node("project", [write(inner)?, self.texts(variables)?])
            }
            GraphPattern::Distinct { inner } => self.node("distinct", [write(inner)?]),
            GraphPattern::Reduced { inner } => self.node("reduced", [write(inner)?]),
            GraphPattern::OrderBy { inner, expression } => {
                let keys = self.all(expression, |key| match key {
                    OrderExpression::Asc(key) => self.any(("asc", below.expression(key)?)),
                    OrderExpression::Desc(key) => self.any(("desc", below.expression(key)?)),
                })?;
                self.node("order_by", [write(inner)?, keys])
            }
            GraphPattern::Slice { inner, start, length } => {
                self.node("slice", [write(inner)?, self.any(*start)?, self.any(*length)?])
            }
            GraphPattern::Group { inner, variables, aggregates } => {
                let aggregates = self.all(aggregates, |(variable, aggregate)| {
                    self.any((self.text(variable)?, below.aggregate(aggregate)?))
                })?;
                self.node("group", [write(inner)?, self.texts(variables)?, aggregates])
            }
            GraphPattern::Service { name, inner, silent } => {
                self.node("service", [write(inner)?, self.text(name)?, self.any(*silent)?])
            }
        }
    }

    fn aggregate(self, aggregate: &AggregateExpression) -> Node<'py> {
        match aggregate {
            AggregateExpression::CountSolutions { distinct } => {
                self.any(("COUNT", *distinct, self.py.None(), self.py.None()))
            }
            AggregateExpression::FunctionCall { name, expr, distinct } => {
                let separator = match name {
                    AggregateFunction::GroupConcat { separator } => separator.clone(),
                    _ => None,
                };
                let name = name.to_string();
                self.any((name, *distinct, self.expression(expr)?, separator))
            }
        }
    }

    fn path(self, path: &PropertyPathExpression) -> Node<'py> {
        use PropertyPathExpression as Path;
        let below = self.below()?;
        let write = |path: &Path| below.path(path);
        match path {
            Path::NamedNode(name) => self.text(name),
            Path::Reverse(inner) => self.node("^", [write(inner)?]),
            Path::Sequence(..) => {
                let parts = chain(path, |path| match path {
                    Path::Sequence(left, right) => Some((left, right)),
                    _ => None,
                });
                self.node("/", each(parts, write)?)
            }
            Path::Alternative(..) => {
                let parts = chain(path, |path| match path {
                    Path::Alternative(left, right) => Some((left, right)),
                    _ => None,
                });
                self.node("|", each(parts, write)?)
            }
            Path::ZeroOrMore(inner) => self.node("*", [write(inner)?]),
            Path::OneOrMore(inner) => self.node("+", [write(inner)?]),
            Path::ZeroOrOne(inner) => self.node("?", [write(inner)?]),
            Path::NegatedPropertySet(names) => self
                .node("!", names.iter().map(|name| self.text(name)).collect::<PyResult<Vec<_>>>()?),
        }
    }

    fn expression(self, expression: &Expression) -> Node<'py> {
        let below = self.below()?;
        let write = |expression: &Expression| below.expression(expression);
        let pair = |name, left, right| self.node(name, [write(left)?, write(right)?]);
        match expression {
            Expression::NamedNode(term) => self.text(term),
            Expression::Literal(term) => self.text(term),
            Expression::Variable(variable) => self.text(variable),
            Expression::Or(..) => {
                let parts = chain(expression, |expression| match expression {
                    Expression::Or(left, right) => Some((left, right)),
                    _ => None,
                });
                self.node("||", each(parts, write)?)
            }
            Expression::And(..) => {
                let parts = chain(expression, |expression| match expression {
                    Expression::And(left, right) => Some((left, right)),
                    _ => None,
                });
                self.node("&&", each(parts, write)?)
            }
            Expression::Equal(left, right) => pair("=", left, right),
            Expression::SameTerm(left, right) => pair("sameTerm", left, right),
            Expression::Greater(left, right) => pair(">", left, right),
            Expression::GreaterOrEqual(left, right) => pair(">=", left, right),
            Expression::Less(left, right) => pair("<", left, right),
            Expression::LessOrEqual(left, right) => pair("<=", left, right),
            Expression::Add(left, right) => pair("+", left, right),
            Expression::Subtract(left, right) => pair("-", left, right),
            Expression::Multiply(left, right) => pair("*", left, right),
            Expression::Divide(left, right) => pair("/", left, right),
            Expression::UnaryPlus(inner) => self.node("+", [write(inner)?]),
            Expression::UnaryMinus(inner) => self.node("-", [write(inner)?]),
            Expression::Not(inner) => self.node("!", [write(inner)?]),
            Expression::In(needle, others) => {
                self.node("IN", each([needle.as_ref()].into_iter().chain(others), write)?)
            }
            Expression::Exists(pattern) => self.node("EXISTS", [below.pattern(pattern)?]),
            Expression::Bound(variable) => self.node("BOUND", [self.text(variable)?]),
            Expression::If(condition, yes, no) => {
                self.node("IF", [write(condition)?, write(yes)?, write(no)?])
            }
            Expression::Coalesce(others) => self.node("COALESCE", each(others, write)?),
            Expression::FunctionCall(name, inputs) => {
                self.node(&name.to_string(), each(inputs, write)?)
            }
        }
    }
}

fn each<'a, 'py, T: 'a>(
    items: impl IntoIterator<Item = &'a T>,
    write: impl Fn(&T) -> Node<'py>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    items.into_iter().map(write).collect()
}

/// The members of a chain of one operator, from left to right. The parser nests on either side.
fn chain<'a, T>(
    root: &'a T,
    split: impl Fn(&'a T) -> Option<(&'a Box<T>, &'a Box<T>)>,
) -> Vec<&'a T> {
    let (mut members, mut waiting) = (Vec::new(), vec![root]);
    while let Some(node) = waiting.pop() {
        match split(node) {
            Some((left, right)) => waiting.extend([right.as_ref(), left.as_ref()]),
            None => members.push(node),
        }
    }
    members
}
