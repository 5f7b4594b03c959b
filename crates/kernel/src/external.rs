//! Builtins that the kernel does not know: whoever makes it brings them.
//!
//! A guard has one of its own, so that a failure tells which guard of which rule it was. They must be
//! deterministic: the kernel asks when and as often as it likes, and keeps what was answered.

/// A test or a function over terms, which come and go as their texts.
pub trait External: Send + Sync {
    /// What explanations call it.
    fn name(&self) -> &str;

    /// Whether the test holds.
    ///
    /// # Errors
    /// When it cannot tell. The tick stops.
    fn test(&self, terms: &[&str]) -> Result<bool, Failed>;

    /// What the function yields; none where its arguments have no meaning for it.
    ///
    /// # Errors
    /// When it cannot tell. The tick stops.
    fn compute(&self, terms: &[&str]) -> Result<Option<String>, Failed>;
}

/// The external builtins of a program, by `ExternalId`.
pub type Externals = Vec<Box<dyn External>>;

/// An external builtin could not tell. It keeps the reason to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;
