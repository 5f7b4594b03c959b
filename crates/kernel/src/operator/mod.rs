//! Operators: what a relation holds because of another one, beyond rules.
//!
//! An operator reads one relation and states facts of another, which no rule concludes and nobody
//! else states:
//!
//! - `Aggregate`: one fact for each group of the input, with a count, a sum, a least or greatest
//!   value, or an average. It reads what lower strata settled.
//! - `Always`: the output holds while the input held at every tick of a span, this one included. It
//!   reads what lower strata settled.
//! - `AlwaysAt`: the output holds while the input has every time point of a window. It reads what
//!   lower strata settled.
//!
//! `steps` is about a relation that rules conclude: they leave out what adds nothing.
//!
//! Invariant: the cost of a tick follows the facts of the input that changed or fell due.

mod aggregate;
mod always;
mod always_at;
mod exact;
mod steps;

pub use aggregate::Function;
pub(crate) use aggregate::Grouping;
pub(crate) use always::Runs;
pub(crate) use always_at::Covering;
pub(crate) use steps::Steps;

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
    /// The output holds while the input held at every tick from `span` before up to this one.
    Always {
        /// The relation read.
        input: RelationId,
        /// The relation stated.
        output: RelationId,
        /// For how long.
        span: i64,
        /// The first instant of all: what held since then held throughout.
        start: Option<Instant>,
        /// The stratum before which the input is complete.
        stratum: usize,
    },
    /// The output holds while the input, whose first column is a time point, has every time point
    /// of a window.
    AlwaysAt {
        /// The relation read.
        input: RelationId,
        /// The relation stated: the columns after the first.
        output: RelationId,
        /// How many time points the window has at most.
        width: i64,
        /// How far they are apart.
        step: i64,
        /// The first time point of all.
        start: Instant,
        /// Where panes of the width begin, if the window tumbles.
        origin: Option<Instant>,
        /// The stratum before which the input is complete.
        stratum: usize,
    },
}

impl Operator {
    /// The stratum whose evaluation the operator precedes.
    pub fn stratum(&self) -> usize {
        match self {
            Self::Aggregate { stratum, .. }
            | Self::Always { stratum, .. }
            | Self::AlwaysAt { stratum, .. } => *stratum,
        }
    }

    /// The relation that it reads.
    pub fn input(&self) -> RelationId {
        match self {
            Self::Aggregate { input, .. }
            | Self::Always { input, .. }
            | Self::AlwaysAt { input, .. } => *input,
        }
    }

    /// The relation that it states.
    pub fn output(&self) -> RelationId {
        match self {
            Self::Aggregate { output, .. }
            | Self::Always { output, .. }
            | Self::AlwaysAt { output, .. } => *output,
        }
    }

    /// Move the operator to the next stratum.
    pub(crate) fn lift(&mut self) {
        match self {
            Self::Aggregate { stratum, .. }
            | Self::Always { stratum, .. }
            | Self::AlwaysAt { stratum, .. } => *stratum += 1,
        }
    }
}
