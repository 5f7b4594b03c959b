//! Operators: what a relation holds because of another one, beyond rules.
//!
//! An operator reads one relation and states facts of another, which no rule concludes and nobody
//! else states:
//!
//! - `Aggregate`: one fact for each group of the input, with a count, a sum, a least or greatest
//!   value, or an average. It reads what lower strata settled.
//! - `Narrow`: the input as a window shorter by a span would have it: each fact ends that much
//!   earlier. It reads what lower strata settled.
//! - `Held`: the output holds while the input held at every instant of the span before now.
//!
//! `Held` speaks of the past only, so rules may be recursive through it.
//!
//! Invariant: the cost of a tick follows the facts of the input that changed or fell due.

mod aggregate;
mod exact;
mod held;
mod narrow;

pub use aggregate::Function;
pub(crate) use aggregate::Grouping;
pub(crate) use held::Runs;
pub(crate) use narrow::Narrowing;

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
    /// The output ends `by` before the input.
    Narrow {
        /// The relation read.
        input: RelationId,
        /// The relation stated.
        output: RelationId,
        /// By how much a fact ends earlier.
        by: i64,
        /// The stratum before which the input is complete.
        stratum: usize,
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
            Self::Aggregate { stratum, .. } | Self::Narrow { stratum, .. } => *stratum,
            Self::Held { .. } => 0,
        }
    }

    /// The relation that it states.
    pub fn output(&self) -> RelationId {
        match self {
            Self::Aggregate { output, .. }
            | Self::Narrow { output, .. }
            | Self::Held { output, .. } => *output,
        }
    }

    /// Whether the operator reads what lower strata settled.
    pub(crate) fn reads_below(&self) -> bool {
        matches!(self, Self::Aggregate { .. } | Self::Narrow { .. })
    }

    /// Move an operator that reads what lower strata settled to the next one.
    pub(crate) fn lift(&mut self) {
        if let Self::Aggregate { stratum, .. } | Self::Narrow { stratum, .. } = self {
            *stratum += 1;
        }
    }
}
