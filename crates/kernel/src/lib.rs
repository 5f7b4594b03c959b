//! The Ebbtide kernel: facts with lifetimes, rules, and the materialisation they keep true.
//!
//! A fact, stated or derived, carries the instant at which it ceases to hold, so conclusions leave
//! by themselves as the window moves. Start with [`kernel::Kernel`]; `instant` has the algebra of
//! lifetimes, `relation` the facts, `plan` and `join` the rules, `maintain` what happens at a tick.

mod adopt;
pub mod agenda;
pub mod arrivals;
pub mod budget;
pub mod calendar;
pub mod counts;
pub mod datatype;
mod derivations;
mod endings;
pub mod explain;
pub mod external;
pub mod guard;
pub mod ids;
pub mod instant;
pub mod invent;
pub mod join;
pub mod kernel;
pub mod key;
pub mod maintain;
mod mirror;
pub mod operator;
mod places;
pub mod plan;
mod prefetch;
pub mod proof;
mod quiet;
pub mod rank;
mod recall;
pub mod relation;
pub mod rule;
pub mod sessions;
pub mod snapshot;
pub mod statements;
pub mod term;
mod text;
pub mod value;
mod walks;
pub mod window;
