//! SPARQL through the oxigraph crates: texts to algebra with the place of what is wrong, the values
//! of expressions, and queries on the kernels' own facts. No Python, no I/O.

pub mod dataset;
pub mod expression;
pub mod order;
pub mod query;
pub mod syntax;
pub mod term;

pub use spargebra;
