//! Budgets: how much a reasoner may hold and do. Beyond one a tick breaks off and says where.

use std::fmt;

use crate::ids::{FactId, RuleId};

/// Limits; none means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Facts that hold at once.
    pub facts: Option<usize>,
    /// Estimated bytes held.
    pub bytes: Option<usize>,
    /// Derivations in one tick.
    pub derivations: Option<usize>,
    /// On a hit, go on with what was derived and mark the answers incomplete, instead of an error.
    pub go_on: bool,
}

/// Why a tick broke off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// A budget was hit.
    Budget(BudgetExceeded),
    /// An external builtin failed; it knows why.
    Builtin,
}

/// A budget was hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetExceeded {
    /// Which one: facts, bytes or derivations.
    pub resource: &'static str,
    /// Its limit.
    pub limit: usize,
    /// The rule that was being derived, or none while statements were taken in.
    pub rule: Option<RuleId>,
    /// The fact at hand. It can be read until the next tick.
    pub fact: Option<FactId>,
    /// Both in words.
    pub place: String,
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, limit, place, .. } = self;
        write!(formatter, "the budget of {limit} {resource} was hit {place}")
    }
}

impl std::error::Error for BudgetExceeded {}
