//! SPARQL through the oxigraph crates: texts to algebra with the place of what is wrong, and the
//! values of expressions. No Python, no I/O.

pub mod expression;
pub mod syntax;
pub mod term;

pub use spargebra;
