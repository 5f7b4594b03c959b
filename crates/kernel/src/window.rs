//! Windows: from the instant of an event to the `until` of its fact.
//!
//! ```text
//! Sliding(w)      (t-w------t]      until = at + w
//! Tumbling(w)      (k*w----t]       until = end of the pane + 1
//! Landmark(s)   [s----------t]      until = FOREVER
//! Count(n)         the last n       until = FOREVER, while in the window
//! Session(g)    the run up to t     until = its last event + g, as long as it goes on
//! ```

use crate::instant::{FOREVER, Instant};

/// What a stream keeps in sight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Window {
    /// Event times in (t - range, t].
    Sliding {
        /// How long a fact stays.
        range: i64,
    },
    /// Event times in the pane of t, panes being (k * width, (k + 1) * width] + origin.
    Tumbling {
        /// The length of a pane.
        width: i64,
        /// Some boundary between panes.
        origin: Instant,
    },
    /// Event times from `start` on.
    Landmark {
        /// The first instant in sight.
        start: Instant,
    },
    /// The last `size` facts, of the stream or of each group of equal terms.
    Count {
        /// How many facts stay.
        size: usize,
        /// The argument positions whose terms make the group; none: the whole stream.
        group: Vec<usize>,
    },
    /// The events that came less than `gap` after one another, of the stream or of each group.
    Session {
        /// How long a session waits for its next event.
        gap: i64,
        /// As in a count window.
        group: Vec<usize>,
    },
}

impl Window {
    /// The `until` of a fact that happens at `at`; none if the window will never see it. For a
    /// count window or a session it is what holds if nothing comes after it.
    pub fn until(&self, at: Instant) -> Option<Instant> {
        match self {
            Self::Sliding { range } => Some(at.plus(*range)),
            Self::Tumbling { width, origin } => {
                let into = at.0.saturating_sub(origin.0).rem_euclid(*width);
                let rest = if into == 0 { 0 } else { width - into };
                Some(at.plus(rest).plus(1))
            }
            Self::Landmark { start } => (at >= *start).then_some(FOREVER),
            Self::Count { .. } => Some(FOREVER),
            Self::Session { gap, .. } => Some(at.plus(*gap)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_close_on_the_right() {
        let window = Window::Tumbling { width: 10, origin: Instant(0) };
        let until = [1, 10, 11, -9].map(|at| window.until(Instant(at)).unwrap().0);
        assert_eq!(until, [11, 11, 21, 1]);
    }

    #[test]
    fn a_landmark_does_not_see_the_past() {
        let window = Window::Landmark { start: Instant(5) };
        assert_eq!(window.until(Instant(4)), None);
        assert_eq!(window.until(Instant(5)), Some(FOREVER));
    }
}
