//! Typed ids: no bare integer passes between functions.

macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of the thing at `position` of its vector.
            ///
            /// # Panics
            /// When there are more than 2^32 of them.
            pub fn at(position: usize) -> Self {
                Self(u32::try_from(position).expect("more than 2^32 ids"))
            }

            /// The position in the vector that the id counts.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

define_id!(
    /// A term in the dictionary. Given back when the last fact that uses it is gone.
    TermId
);
define_id!(
    /// A relation of the program.
    RelationId
);
define_id!(
    /// A rule, in the order the program lists them.
    RuleId
);
define_id!(
    /// A builtin that the kernel does not know, by the guard that asks it.
    ExternalId
);
define_id!(
    /// A row of one relation. Reused after its fact is gone.
    RowId
);
define_id!(
    /// A stream, each with its window.
    StreamId
);
define_id!(
    /// An atom's pattern of constants and repetitions, shared by all the rules that ask it.
    ConditionId
);
define_id!(
    /// A set of conditions that some fact matches.
    ClassId
);
define_id!(
    /// A hash index of one relation.
    IndexId
);
define_id!(
    /// A variable's place while a rule is joined, numbered in the order of binding.
    Slot
);

/// A fact held in memory: which relation, which row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FactId {
    /// The relation.
    pub relation: RelationId,
    /// The row of that relation.
    pub row: RowId,
}
