//! Programs and windows as Python hands them over: plain tuples.

use ebbtide_kernel::external::Externals;
use ebbtide_kernel::guard::Builtin;
use ebbtide_kernel::ids::{ExternalId, RelationId};
use ebbtide_kernel::instant::Instant;
use ebbtide_kernel::operator::{Function, Operator};
use ebbtide_kernel::rule::{Argument, Atom, Declaration, Guard, Program, Rule, Spanned};
use ebbtide_kernel::window::Window;
use ebbtide_sparql::expression::Expression;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::builtin::{PythonBuiltin, Raised, SparqlBuiltin};

/// A variable's number, or a term's text.
#[derive(FromPyObject)]
pub enum ArgumentTuple {
    Variable(u32),
    Term(String),
}

/// The relation's position, and the arguments.
pub type AtomTuple = (usize, Vec<ArgumentTuple>);
/// A builtin's name; or of one written in Python: its name, whether it is a function, and what to call.
#[derive(FromPyObject)]
pub enum BuiltinTuple {
    Known(String),
    Python((String, bool, Py<PyAny>)),
}

/// The builtin, and the arguments.
pub type GuardTuple = (BuiltinTuple, Vec<ArgumentTuple>);
/// Name, stratum, heads, positives, negations, guards.
pub type RuleTuple =
    (String, usize, Vec<AtomTuple>, Vec<AtomTuple>, Vec<AtomTuple>, Vec<GuardTuple>);

/// How many time points a window has, how far apart, since when, and where its panes begin.
type TimePoints = (i64, i64, i64, Option<i64>);

/// `("aggregate", function, input, output, group, value, stratum)`,
/// `("always", input, output, span, start, stratum)`,
/// `("always_at", input, output, (width, step, start, origin), stratum)`, `("spanned", pairs, steps)`.
#[derive(FromPyObject)]
pub enum OperatorTuple {
    Aggregate((String, String, usize, usize, Vec<usize>, Option<usize>, usize)),
    Always((String, usize, usize, i64, Option<i64>, usize)),
    AlwaysAt((String, usize, usize, TimePoints, usize)),
    Spanned((String, usize, usize)),
}

/// `("sliding", range)`, `("tumbling", width, origin)`, `("landmark", start)`, `("count", n, group)`,
/// `("session", gap, group)`.
#[derive(FromPyObject)]
pub enum WindowTuple {
    Grouped((String, i64, Vec<usize>)),
    Tumbling((String, i64, i64)),
    Plain((String, i64)),
}

fn arguments(tuples: Vec<ArgumentTuple>) -> Vec<Argument<String>> {
    let argument = |tuple| match tuple {
        ArgumentTuple::Variable(variable) => Argument::Variable(variable),
        ArgumentTuple::Term(text) => Argument::Term(text),
    };
    tuples.into_iter().map(argument).collect()
}

fn atoms(tuples: Vec<AtomTuple>) -> Vec<Atom<String>> {
    let atom = |(relation, tuple)| Atom {
        relation: RelationId::at(relation),
        arguments: arguments(tuple),
    };
    tuples.into_iter().map(atom).collect()
}

/// The expression of a builtin that has one as its first argument, and the other arguments.
fn expression(name: &str, tuple: &mut Vec<ArgumentTuple>) -> PyResult<SparqlBuiltin> {
    let text = match tuple.drain(..1).next() {
        Some(ArgumentTuple::Term(text)) => text,
        _ => return Err(PyValueError::new_err(format!("{name} needs an expression"))),
    };
    match Expression::of_literal(&text) {
        Ok(expression) => Ok(SparqlBuiltin { name: format!("{name} {text}"), expression }),
        Err(error) => Err(PyValueError::new_err(format!("{name} {text}: {}", error.message))),
    }
}

/// The program that the tuples describe, and its builtins that the kernel does not know.
pub fn program(
    relations: Vec<(String, usize)>,
    rules: Vec<RuleTuple>,
    operators: Vec<OperatorTuple>,
    raised: &Raised,
) -> PyResult<(Program<String>, Externals)> {
    let mut externals = Externals::new();
    let relations =
        relations.into_iter().map(|(name, arity)| Declaration { name, arity }).collect();
    let mut rule = |(name, stratum, heads, positives, negations, guards): RuleTuple| {
        let guards = guards.into_iter().map(|(builtin, mut tuple)| {
            let id = ExternalId::at(externals.len());
            let builtin = match builtin {
                BuiltinTuple::Known(name) if name == "sparqlFilter" || name == "sparqlBind" => {
                    externals.push(Box::new(expression(&name, &mut tuple)?));
                    Builtin::External(id, name == "sparqlBind")
                }
                BuiltinTuple::Known(name) => Builtin::named(&name)
                    .ok_or_else(|| PyValueError::new_err(format!("unknown builtin {name}")))?,
                BuiltinTuple::Python((name, is_function, function)) => {
                    let raised = raised.clone();
                    externals.push(Box::new(PythonBuiltin { name, function, raised }));
                    Builtin::External(id, is_function)
                }
            };
            Ok(Guard { builtin, arguments: arguments(tuple) })
        });
        Ok(Rule {
            name,
            stratum,
            heads: atoms(heads),
            positives: atoms(positives),
            negations: atoms(negations),
            guards: guards.collect::<PyResult<_>>()?,
        })
    };
    let rules = rules.into_iter().map(&mut rule).collect::<PyResult<_>>()?;
    let spanned = operators.iter().find_map(|tuple| match tuple {
        OperatorTuple::Spanned((_, pairs, steps)) => {
            Some(Spanned { pairs: RelationId::at(*pairs), steps: RelationId::at(*steps) })
        }
        _ => None,
    });
    let operators = operators.into_iter().filter_map(|tuple| operator(tuple).transpose());
    let operators = operators.collect::<PyResult<_>>()?;
    Ok((Program { relations, rules, operators, spanned }, externals))
}

fn operator(tuple: OperatorTuple) -> PyResult<Option<Operator>> {
    Ok(Some(match tuple {
        OperatorTuple::Spanned(_) => return Ok(None),
        OperatorTuple::Aggregate((_, function, input, output, group, value, stratum)) => {
            let function = Function::named(&function).ok_or_else(|| {
                PyValueError::new_err(format!("unknown aggregate function {function}"))
            })?;
            let (input, output) = (RelationId::at(input), RelationId::at(output));
            Operator::Aggregate { function, input, output, group, value, stratum }
        }
        OperatorTuple::Always((_, input, output, span, start, stratum)) => {
            let (input, output) = (RelationId::at(input), RelationId::at(output));
            Operator::Always { input, output, span, start: start.map(Instant), stratum }
        }
        OperatorTuple::AlwaysAt((_, input, output, window, stratum)) => {
            let (width, step, start, origin) = window;
            let (input, output) = (RelationId::at(input), RelationId::at(output));
            let (start, origin) = (Instant(start), origin.map(Instant));
            Operator::AlwaysAt { input, output, width, step, start, origin, stratum }
        }
    }))
}

/// The window that a tuple describes.
pub fn window(tuple: WindowTuple) -> PyResult<Window> {
    match tuple {
        WindowTuple::Grouped((kind, value, group)) if kind == "session" => {
            Ok(Window::Session { gap: value, group })
        }
        WindowTuple::Grouped((_, size, group)) => {
            Ok(Window::Count { size: usize::try_from(size)?, group })
        }
        WindowTuple::Tumbling((_, width, origin)) => {
            Ok(Window::Tumbling { width, origin: Instant(origin) })
        }
        WindowTuple::Plain((kind, value)) => match kind.as_str() {
            "sliding" => Ok(Window::Sliding { range: value }),
            "landmark" => Ok(Window::Landmark { start: Instant(value) }),
            _ => Err(PyValueError::new_err(format!("unknown window {kind}"))),
        },
    }
}
