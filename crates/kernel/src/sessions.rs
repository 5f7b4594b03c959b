//! Session windows: events that came less than a gap after one another, of a stream or of each group.
//!
//! Shape: per group, the instant of its latest event, and the facts. All of them are stated until that
//! instant and the gap, so every event that continues a session renews what is in it.
//!
//! Invariant: no session is empty. The facts of a session that goes on have rows; those of one that is
//! over may have none any more, and are never looked at.

use hashbrown::{HashMap, HashSet};

use crate::counts::group_key;
use crate::ids::{FactId, TermId};
use crate::instant::Instant;

/// The terms that the facts of a session have in common.
type Group = Vec<Option<TermId>>;

/// How many sessions are too few to look for those that are over.
const ROOM: usize = 64;

/// One session.
#[derive(Clone, Debug)]
pub struct Session {
    /// When its latest event happened.
    pub latest: Instant,
    /// What was stated in it.
    pub facts: HashSet<FactId>,
    /// Whether an event continued it in this tick.
    continued: bool,
}

impl Session {
    /// A session as it was before this tick.
    pub fn of(latest: Instant, facts: HashSet<FactId>) -> Self {
        Self { latest, facts, continued: false }
    }
}

/// The sessions of one stream.
pub struct SessionWindow {
    /// How long a session waits for its next event.
    pub gap: i64,
    group: Vec<usize>,
    sessions: HashMap<Group, Session>,
    /// The groups whose sessions were continued in this tick.
    continued: Vec<Group>,
    /// How many sessions there may be before those that are over are forgotten.
    room: usize,
}

impl SessionWindow {
    /// An empty window.
    pub fn new(gap: i64, group: Vec<usize>) -> Self {
        Self { gap, group, sessions: HashMap::new(), continued: Vec::new(), room: ROOM }
    }

    /// Enter a fact: it continues the session of its group, or begins one. Facts come in order.
    pub fn enter(&mut self, at: Instant, fact: FactId, terms: &[TermId]) {
        let key = group_key(&self.group, terms);
        let fresh = || Session::of(at, HashSet::new());
        let session = self.sessions.entry_ref(&key).or_insert_with(fresh);
        if at >= session.latest.plus(self.gap) {
            session.facts.clear();
        }
        session.latest = at;
        session.facts.insert(fact);
        if !std::mem::replace(&mut session.continued, true) {
            self.continued.push(key);
        }
    }

    /// Take out a fact. A session without facts is over.
    pub fn take_out(&mut self, fact: FactId, terms: &[TermId]) {
        let key = group_key(&self.group, terms);
        if let Some(session) = self.sessions.get_mut(&key) {
            session.facts.remove(&fact);
            if session.facts.is_empty() {
                self.sessions.remove(&key);
            }
        }
    }

    /// The facts of the sessions that events of this tick continued, and until when each holds.
    pub fn take_continued(&mut self, tick: Instant) -> Vec<(FactId, Instant)> {
        let gap = self.gap;
        let mut renewed = Vec::new();
        for key in std::mem::take(&mut self.continued) {
            let Some(session) = self.sessions.get_mut(&key) else { continue };
            session.continued = false;
            let until = session.latest.plus(gap);
            if until > tick {
                renewed.extend(session.facts.iter().map(|fact| (*fact, until)));
            }
        }
        if self.sessions.len() > self.room {
            self.sessions.retain(|_, session| session.latest.plus(gap) > tick);
            self.room = 2 * self.sessions.len() + ROOM;
        }
        // In the order of rows, so that ticks do not differ from run to run.
        renewed.sort_unstable_by_key(|(fact, _)| (fact.relation, fact.row));
        renewed
    }

    /// The sessions that go on after a tick.
    pub fn going_on(&self, tick: Option<Instant>) -> impl Iterator<Item = &Session> {
        let over =
            move |session: &&Session| tick.is_none_or(|tick| session.latest.plus(self.gap) > tick);
        self.sessions.values().filter(over)
    }

    /// Put in a session that goes on; `terms` are those of one of its facts.
    pub fn resume(&mut self, session: Session, terms: &[TermId]) {
        self.sessions.insert(group_key(&self.group, terms), session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{RelationId, RowId};

    fn fact(row: u32) -> FactId {
        FactId { relation: RelationId(0), row: RowId(row) }
    }

    #[test]
    fn an_event_renews_its_session_and_no_other() {
        let mut window = SessionWindow::new(10, vec![0]);
        window.enter(Instant(1), fact(0), &[TermId(0)]);
        window.enter(Instant(2), fact(1), &[TermId(1)]);
        window.enter(Instant(9), fact(2), &[TermId(0)]);
        let until = |row, until| (fact(row), Instant(until));
        assert_eq!(window.take_continued(Instant(9)), [until(0, 19), until(1, 12), until(2, 19)]);
        window.enter(Instant(12), fact(3), &[TermId(1)]);
        assert_eq!(window.take_continued(Instant(12)), [until(3, 22)]);
    }

    #[test]
    fn a_session_without_facts_is_over() {
        let mut window = SessionWindow::new(10, vec![]);
        window.enter(Instant(1), fact(0), &[]);
        window.take_out(fact(0), &[]);
        assert_eq!(window.going_on(None).count(), 0);
    }
}
