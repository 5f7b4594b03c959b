//! Operators: what a relation holds because of another one, beyond rules.
//!
//! An operator reads one relation and states facts of another, which no rule concludes and nobody
//! else states:
//!
//! - `Aggregate`: one fact for each group of the input, with a count, a sum, a least or greatest
//!   value, or an average. It reads what lower strata settled.
//! - `Echo`: the output holds for a span beyond the input: what held at some instant of the span that
//!   ends now. A rule concludes the output from the input; the operator states what is over.
//! - `Held`: the output holds while the input held at every instant of the span before now.
//!
//! `Echo` and `Held` speak of the past only, so rules may be recursive through them.
//!
//! Invariant: the cost of a tick follows the facts of the input that changed or fell due.

mod aggregate;
mod exact;
mod past;

pub use aggregate::Function;
pub(crate) use aggregate::Grouping;
pub(crate) use past::Runs;

use crate::ids::RelationId;
use crate::instant::Instant;

/// What is stated because of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `output(group..., f(value))` for each group of the input.
    Aggregate {
        /// What is computed.
        function: Function,
        /// The relation read.
        input: RelationId,
        /// The relation stated.
        output: RelationId,
        /// The columns that make a group.
        group: Vec<usize>,
        /// The column whose values count; facts are counted without one.
        value: Option<usize>,
        /// The stratum before which the groups are complete.
        stratum: usize,
    },
    /// The output holds for `span` after the input.
    Echo {
        /// The relation read.
        input: RelationId,
        /// The relation stated.
        output: RelationId,
        /// For how long.
        span: i64,
    },
    /// The output holds while the input held throughout the `span` before.
    Held {
        /// The relation read.
        input: RelationId,
        /// The relation stated.
        output: RelationId,
        /// For how long.
        span: i64,
        /// The first instant of all: what held since then held throughout.
        start: Option<Instant>,
    },
}

impl Operator {
    /// The stratum whose evaluation the operator precedes.
    pub fn stratum(&self) -> usize {
        match self {
            Self::Aggregate { stratum, .. } => *stratum,
            Self::Echo { .. } | Self::Held { .. } => 0,
        }
    }

    /// Move an aggregate to the next stratum.
    pub(crate) fn lift(&mut self) {
        if let Self::Aggregate { stratum, .. } = self {
            *stratum += 1;
        }
    }
}
