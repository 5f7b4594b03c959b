//! Snapshots: a kernel as bytes, and back.
//!
//! Shape: magic, version, length and checksum of the payload, then the payload: the program's
//! fingerprint, the clock, the terms, the rows, the count windows, the sessions and the arrivals that wait.
//! Indexes, plans and buckets are made anew. Everything is little-endian.
//!
//! Invariant: a restored kernel gives the same answers, tick by tick, as the one that was saved.

use std::collections::VecDeque;
use std::fmt;

use hashbrown::HashSet;

use crate::arrivals::{Arrival, Says};
use crate::counts::Counted;
use crate::ids::{FactId, RelationId, RowId, StreamId, TermId};
use crate::instant::{Instant, NEVER};
use crate::kernel::Kernel;
use crate::sessions::Session;
use crate::term::Dictionary;

const MAGIC: &[u8; 8] = b"EBBTIDE\0";
const VERSION: u32 = 2;
const HEADER: usize = 8 + 4 + 8 + 4;

/// Why bytes are not a snapshot of this kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// Not a snapshot at all, or cut short, or changed.
    Damaged(&'static str),
    /// Written by another version.
    Version(u32),
    /// Of another program, or other windows.
    Foreign {
        /// The fingerprint in the snapshot.
        found: String,
        /// The kernel's own.
        expected: String,
    },
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(how) => write!(formatter, "the snapshot is damaged: {how}"),
            Self::Version(found) => {
                write!(formatter, "the snapshot is of version {found}, this is version {VERSION}")
            }
            Self::Foreign { found, expected } => write!(
                formatter,
                "the snapshot is of another program: its fingerprint is {found}, this one's {expected}"
            ),
        }
    }
}

impl std::error::Error for SnapshotError {}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn count(&mut self, value: usize) {
        self.u64(value as u64);
    }

    fn instant(&mut self, value: Instant) {
        self.0.extend_from_slice(&value.0.to_le_bytes());
    }

    fn text(&mut self, value: &str) {
        self.count(value.len());
        self.0.extend_from_slice(value.as_bytes());
    }

    fn fact(&mut self, fact: FactId) {
        self.u32(fact.relation.0);
        self.u32(fact.row.0);
    }
}

struct Reader<'a>(&'a [u8]);

const SHORT: SnapshotError = SnapshotError::Damaged("it ends too early");

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], SnapshotError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        self.bytes(N)?.try_into().map_err(|_| SHORT)
    }

    fn u32(&mut self) -> Result<u32, SnapshotError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, SnapshotError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn count(&mut self) -> Result<usize, SnapshotError> {
        usize::try_from(self.u64()?).map_err(|_| SHORT)
    }

    fn instant(&mut self) -> Result<Instant, SnapshotError> {
        Ok(Instant(i64::from_le_bytes(self.array()?)))
    }

    fn text(&mut self) -> Result<&'a str, SnapshotError> {
        let length = self.count()?;
        std::str::from_utf8(self.bytes(length)?).map_err(|_| SnapshotError::Damaged("bad text"))
    }
}

impl Kernel {
    /// The kernel as bytes. `fingerprint` names the program and the windows.
    pub fn snapshot(&self, fingerprint: &str) -> Vec<u8> {
        let mut payload = Writer::default();
        payload.text(fingerprint);
        payload.instant(self.tick.unwrap_or(NEVER));
        payload.u64(self.order);
        payload.u32(u32::from(self.broken));
        let terms: Vec<_> = self.dictionary.entries().collect();
        payload.count(terms.len());
        for (id, text, uses) in terms {
            payload.u32(id.0);
            payload.text(text);
            payload.u32(uses);
        }
        for relation in &self.relations {
            let rows: Vec<RowId> = relation.live().collect();
            payload.count(rows.len());
            for row in rows {
                payload.u32(row.0);
                relation.terms(row).for_each(|term| payload.u32(term.0));
                payload.instant(relation.until(row));
                payload.instant(relation.stated(row));
                payload.u64(relation.order(row));
            }
        }
        self.save_counts(&mut payload);
        self.save_sessions(&mut payload);
        self.save_runs(&mut payload);
        self.save_arrivals(&mut payload);
        let payload = payload.0;
        let mut snapshot = Writer(MAGIC.to_vec());
        snapshot.u32(VERSION);
        snapshot.count(payload.len());
        snapshot.u32(crc32fast::hash(&payload));
        snapshot.0.extend_from_slice(&payload);
        snapshot.0
    }

    fn save_counts(&self, payload: &mut Writer) {
        for window in self.count_windows.iter().flatten() {
            payload.count(window.groups.len());
            for entries in window.groups.values() {
                payload.count(entries.len());
                for (at, fact) in entries {
                    payload.instant(*at);
                    payload.fact(*fact);
                }
            }
        }
        payload.count(self.counted.len());
        for (fact, counted) in &self.counted {
            payload.fact(*fact);
            payload.count(counted.entries);
            payload.instant(counted.otherwise);
        }
    }

    fn save_sessions(&self, payload: &mut Writer) {
        for window in self.session_windows.iter().flatten() {
            payload.count(window.going_on(self.tick).count());
            for session in window.going_on(self.tick) {
                payload.instant(session.latest);
                payload.count(session.facts.len());
                session.facts.iter().for_each(|fact| payload.fact(*fact));
            }
        }
    }

    fn save_runs(&self, payload: &mut Writer) {
        for runs in &self.runs {
            payload.count(runs.since.len());
            for (fact, since) in &runs.since {
                payload.fact(*fact);
                payload.instant(*since);
            }
        }
    }

    fn save_arrivals(&self, payload: &mut Writer) {
        payload.count(self.arrivals.len());
        for batch in self.arrivals.batches() {
            for (arrival, terms) in batch.each(|relation| self.relations[relation.index()].arity())
            {
                payload.instant(arrival.at);
                payload.u32(arrival.relation.0);
                let (kind, detail) = match arrival.says {
                    Says::HoldsUntil(until) => (0, until.0),
                    Says::Counts(stream) => (1, i64::from(stream.0)),
                    Says::Retracted => (2, 0),
                    Says::HoldsExactly(until) => (3, until.0),
                    Says::Continues(stream) => (4, i64::from(stream.0)),
                };
                payload.u32(kind);
                payload.instant(Instant(detail));
                terms.iter().for_each(|term| payload.u32(term.0));
            }
        }
    }

    /// Fill a fresh kernel of the same program from a snapshot.
    ///
    /// # Errors
    /// When the bytes are not a whole snapshot of this version, program and windows. The kernel is
    /// then not to be used.
    pub fn restore(&mut self, snapshot: &[u8], fingerprint: &str) -> Result<(), SnapshotError> {
        let mut header = Reader(snapshot);
        if header.bytes(MAGIC.len()).ok() != Some(MAGIC.as_slice()) {
            return Err(SnapshotError::Damaged("it does not begin like one"));
        }
        let version = header.u32()?;
        if version != VERSION {
            return Err(SnapshotError::Version(version));
        }
        let (length, checksum) = (header.count()?, header.u32()?);
        let payload = &snapshot[HEADER..];
        if payload.len() != length || crc32fast::hash(payload) != checksum {
            return Err(SnapshotError::Damaged("its checksum does not fit"));
        }
        let mut payload = Reader(payload);
        let found = payload.text()?;
        if found != fingerprint {
            let (found, expected) = (found.to_owned(), fingerprint.to_owned());
            return Err(SnapshotError::Foreign { found, expected });
        }
        self.load(&mut payload)
    }

    fn load(&mut self, payload: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let tick = payload.instant()?;
        self.tick = (tick != NEVER).then_some(tick);
        self.order = payload.u64()?;
        self.broken = payload.u32()? != 0;
        let mut terms = Vec::new();
        for _ in 0..payload.count()? {
            terms.push((TermId(payload.u32()?), payload.text()?.into(), payload.u32()?));
        }
        self.dictionary = Dictionary::restore(terms);
        let mut rows_now = Vec::new();
        for position in 0..self.relations.len() {
            rows_now.push(self.load_rows(RelationId::at(position), payload)?);
        }
        self.load_counts(payload, &rows_now)?;
        self.load_sessions(payload, &rows_now)?;
        self.load_runs(payload, &rows_now)?;
        self.load_arrivals(payload)?;
        self.restore_groups();
        self.restore_coverings();
        self.restore_steps();
        self.replan();
        Ok(())
    }

    /// Rows get new ids; the result maps the old ones to them.
    fn load_rows(
        &mut self,
        id: RelationId,
        payload: &mut Reader<'_>,
    ) -> Result<RowsNow, SnapshotError> {
        let mut rows_now = RowsNow::new();
        for _ in 0..payload.count()? {
            let old = RowId(payload.u32()?);
            let terms = self.load_terms(id, payload)?;
            let (until, stated, order) = (payload.instant()?, payload.instant()?, payload.u64()?);
            let relation = &mut self.relations[id.index()];
            let (row, _) = relation.find_or_insert(&terms[..]);
            relation.offer(row, until);
            relation.settle(row, order);
            relation.set_stated(row, stated);
            rows_now.insert(old, row);
            let fact = FactId { relation: id, row };
            self.classify(fact);
            self.live.enter(&self.body, self.class_of(fact));
            self.note_end(fact);
        }
        Ok(rows_now)
    }

    fn load_terms(
        &self,
        id: RelationId,
        payload: &mut Reader<'_>,
    ) -> Result<Vec<TermId>, SnapshotError> {
        let arity = self.relations[id.index()].arity();
        (0..arity).map(|_| payload.u32().map(TermId)).collect()
    }

    fn load_counts(
        &mut self,
        payload: &mut Reader<'_>,
        rows_now: &[RowsNow],
    ) -> Result<(), SnapshotError> {
        let fact = |payload: &mut Reader<'_>| load_fact(payload, rows_now);
        for window in self.count_windows.iter_mut().flatten() {
            for _ in 0..payload.count()? {
                let mut entries = VecDeque::new();
                for _ in 0..payload.count()? {
                    entries.push_back((payload.instant()?, fact(payload)?));
                }
                let Some((_, first)) = entries.front() else {
                    continue;
                };
                let terms: Vec<TermId> =
                    self.relations[first.relation.index()].terms(first.row).collect();
                let key = window.key(&terms);
                window.groups.insert(key, entries);
            }
        }
        for _ in 0..payload.count()? {
            let fact = fact(payload)?;
            let counted = Counted { entries: payload.count()?, otherwise: payload.instant()? };
            self.counted.insert(fact, counted);
        }
        Ok(())
    }

    fn load_sessions(
        &mut self,
        payload: &mut Reader<'_>,
        rows_now: &[RowsNow],
    ) -> Result<(), SnapshotError> {
        for position in 0..self.session_windows.len() {
            if self.session_windows[position].is_none() {
                continue;
            }
            for _ in 0..payload.count()? {
                let latest = payload.instant()?;
                let facts: HashSet<FactId> = (0..payload.count()?)
                    .map(|_| load_fact(payload, rows_now))
                    .collect::<Result<_, _>>()?;
                let terms = facts.iter().next().map(|fact| self.terms_of(*fact));
                let window = self.session_windows[position].as_mut();
                if let (Some(window), Some(terms)) = (window, terms) {
                    window.resume(Session::of(latest, facts), &terms);
                }
            }
        }
        Ok(())
    }

    fn load_runs(
        &mut self,
        payload: &mut Reader<'_>,
        rows_now: &[RowsNow],
    ) -> Result<(), SnapshotError> {
        for runs in &mut self.runs {
            for _ in 0..payload.count()? {
                let fact = load_fact(payload, rows_now)?;
                runs.begin(fact, payload.instant()?);
            }
        }
        Ok(())
    }

    fn load_arrivals(&mut self, payload: &mut Reader<'_>) -> Result<(), SnapshotError> {
        for _ in 0..payload.count()? {
            let (at, relation) = (payload.instant()?, RelationId(payload.u32()?));
            let (kind, detail) = (payload.u32()?, payload.instant()?);
            let stream = || StreamId::at(usize::try_from(detail.0).unwrap_or_default());
            let says = match kind {
                0 => Says::HoldsUntil(detail),
                1 => Says::Counts(stream()),
                2 => Says::Retracted,
                4 => Says::Continues(stream()),
                _ => Says::HoldsExactly(detail),
            };
            let terms = self.load_terms(relation, payload)?;
            self.arrivals.batch(at).push(Arrival { at, relation, says }, &terms);
        }
        Ok(())
    }
}

/// The rows of one relation before a snapshot, and now.
type RowsNow = hashbrown::HashMap<RowId, RowId>;

fn load_fact(payload: &mut Reader<'_>, rows_now: &[RowsNow]) -> Result<FactId, SnapshotError> {
    let (relation, row) = (RelationId(payload.u32()?), RowId(payload.u32()?));
    let row = rows_now.get(relation.index()).and_then(|rows| rows.get(&row));
    let row = *row.ok_or(SnapshotError::Damaged("it names a fact that it does not hold"))?;
    Ok(FactId { relation, row })
}
