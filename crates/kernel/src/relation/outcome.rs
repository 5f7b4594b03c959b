//! What became of a row: what is told of it when its fact is settled, stated, ended or buried.

use crate::ids::{ClassId, RowId};
use crate::instant::Instant;
use crate::relation::Cleared;

/// What a row was when its fact was settled, and until when it holds now.
pub struct Settled {
    /// Until when the fact held before.
    pub before: Instant,
    /// Until when it holds now.
    pub until: Instant,
    /// Whether it was marked as changed already.
    pub is_told: bool,
    /// The body conditions that it matches.
    pub class: ClassId,
}

/// What settling a fact at once did to its row.
pub struct Landed {
    /// The row.
    pub row: RowId,
    /// Until when the fact held before.
    pub before: Instant,
    /// Whether it holds longer than before.
    pub is_longer: bool,
    /// Whether the row was made. It has no class then.
    pub is_made: bool,
    /// Whether it was marked as changed already.
    pub is_told: bool,
    /// The body conditions that it matches.
    pub class: ClassId,
}

/// What stating a fact did to its row.
pub struct Stated {
    /// The row.
    pub row: RowId,
    /// Until when the fact held before.
    pub before: Instant,
    /// Whether the row is marked as changed already, or did not change.
    pub is_told: bool,
    /// Whether no statement carried the fact before.
    pub is_first: bool,
}

/// What a row was when its fact ended.
pub struct Ended {
    /// Whether it was marked as changed already.
    pub is_told: bool,
    /// Whether statements carried it.
    pub is_stated: bool,
    /// The body conditions that it matches.
    pub class: ClassId,
}

/// What a row was whose fact was to end for good.
pub enum Lapse {
    /// The fact ended, and its row is to be given up.
    Gone {
        /// Until when it held.
        before: Instant,
        /// Whether statements carried it.
        is_stated: bool,
        /// The body conditions that it matches.
        class: ClassId,
        /// Its row, which holds nothing any more.
        was: Cleared,
    },
    /// It had ended before.
    Over,
    /// It holds longer than that.
    Renewed(Instant),
}

/// What became of a row at the end of a tick.
pub struct Buried {
    /// Whether its fact holds.
    pub holds: bool,
    /// Whether the row is to be forgotten. Its terms can be read until the next one is made.
    pub is_gone: bool,
}
