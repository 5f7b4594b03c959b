//! What ticks answer, as record batches: the facts of some relations, in full or as changes.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use ebbtide_kernel::ids::{RelationId, RowId, TermId};
use ebbtide_kernel::instant::{Instant, NEVER};
use ebbtide_kernel::kernel::{Change, Kernel as Core};
use ebbtide_kernel::key::hash_terms;
use ebbtide_kernel::relation::Relation;
use hashbrown::HashTable;

use crate::table::Table;

/// The facts of one output relation that hold, side by side: what a full answer copies.
#[derive(Default)]
pub struct Mirror {
    rows: Vec<RowId>,
    columns: Vec<Vec<TermId>>,
    /// For each row of the relation, its place here.
    places: Vec<u32>,
}

impl Mirror {
    fn of(core: &Core, relation: RelationId) -> Self {
        let columns = vec![Vec::new(); core.relation(relation).arity()];
        let mut mirror = Self { columns, ..Self::default() };
        for row in core.relation(relation).live() {
            mirror.enter(core.relation(relation), row);
        }
        mirror
    }

    fn enter(&mut self, relation: &Relation, row: RowId) {
        if row.index() >= self.places.len() {
            self.places.resize(row.index() + 1, 0);
        }
        self.places[row.index()] = self.rows.len() as u32;
        self.rows.push(row);
        for (column, terms) in self.columns.iter_mut().enumerate() {
            terms.push(relation.term(row, column));
        }
    }

    /// Follow what a tick touched.
    fn follow(&mut self, relation: &Relation, touched: &[Change]) {
        for change in touched {
            match came_or_went(*change, relation.until(change.fact.row)) {
                1 => self.enter(relation, change.fact.row),
                -1 => self.leave(change.fact.row),
                _ => {}
            }
        }
    }

    fn leave(&mut self, row: RowId) {
        let place = self.places[row.index()] as usize;
        self.rows.swap_remove(place);
        if let Some(moved) = self.rows.get(place) {
            self.places[moved.index()] = place as u32;
        }
        for terms in &mut self.columns {
            terms.swap_remove(place);
        }
    }
}

/// Whether a fact that was touched came to hold (1), ceased to (-1), or neither.
#[inline(always)]
fn came_or_went(change: Change, until: Instant) -> i8 {
    i8::from(change.before == NEVER) - i8::from(until == NEVER)
}

/// The facts of one output relation for the present, their terms one after the other: what holds
/// for one time point only, of a relation with the time point in front.
#[derive(Default)]
pub struct Present {
    arity: usize,
    count: usize,
    terms: Vec<TermId>,
}

impl Present {
    fn of(core: &Core, relation: RelationId, point: i64) -> Self {
        let rows = core.relation(relation);
        let mut present = Self { arity: rows.arity() - 1, ..Self::default() };
        for row in rows.live() {
            present.enter(core, rows, row, point);
        }
        present
    }

    /// Take a fact in if it is about a time point.
    #[inline]
    fn enter(&mut self, core: &Core, relation: &Relation, row: RowId, point: i64) {
        if core.dictionary().whole_number(relation.term(row, 0)) == Some(point) {
            self.count += 1;
            self.terms.extend((1..=self.arity).map(|column| relation.term(row, column)));
        }
    }

    /// Take in those facts about a time point that came to hold at it.
    fn enter_all(&mut self, core: &Core, relation: &Relation, touched: &[Change], point: i64) {
        let came = touched.iter().filter(|change| change.before == NEVER);
        for row in came.map(|change| change.fact.row) {
            if relation.until(row) != NEVER {
                self.enter(core, relation, row, point);
            }
        }
    }

    fn clear(&mut self) {
        self.count = 0;
        self.terms.clear();
    }

    fn row(&self, row: usize) -> &[TermId] {
        &self.terms[row * self.arity..(row + 1) * self.arity]
    }

    fn rows(&self) -> impl Iterator<Item = &[TermId]> {
        (0..self.count).map(|row| self.row(row))
    }
}

/// What is known of the facts of one output relation that hold.
pub enum Held {
    /// All of them, or nothing if nobody asks.
    Always(Mirror),
    /// Those of the last time point.
    Now(Present),
}

/// A relation that answers, and whether it has the time point in front.
#[derive(Clone, Copy)]
pub struct Output {
    pub relation: RelationId,
    pub stamped: bool,
    /// How many rows to make room for: the next answer has perhaps as many as the last one, or some more.
    pub rows: usize,
}

/// How to answer: in full or with changes, whether all that holds must be known for it, whether
/// there was an answer at the last time point, and which that was.
#[derive(Clone, Copy)]
pub struct How {
    pub full: bool,
    pub mirrored: bool,
    pub answered: bool,
    pub last: i64,
}

/// The rows of one output relation: the time points, the ids of the terms column by column, and whether they came.
struct Lines {
    points: Vec<i64>,
    cells: Vec<Vec<i32>>,
    diffs: Vec<i8>,
    held: Held,
    /// For a relation with the time point in front, the facts of the time point before.
    before: Present,
    /// Those among them that do not hold any more, while that is found out.
    gone: HashTable<usize>,
}

impl Lines {
    fn new(core: &Core, output: Output, how: How, held: Option<Held>) -> Self {
        let Output { relation, stamped, rows } = output;
        let held = held.unwrap_or_else(|| {
            if stamped {
                Held::Now(Present::of(core, relation, how.last))
            } else if how.mirrored {
                Held::Always(Mirror::of(core, relation))
            } else {
                Held::Always(Mirror::default())
            }
        });
        let arity = core.relation(relation).arity() - usize::from(stamped);
        Self {
            points: Vec::with_capacity(rows),
            cells: (0..arity).map(|_| Vec::with_capacity(rows)).collect(),
            diffs: Vec::with_capacity(rows),
            held,
            before: Present { arity, ..Present::default() },
            gone: HashTable::new(),
        }
    }

    /// Tell what came and went.
    fn tell_changed(&mut self, relation: &Relation, touched: &[Change], tick: i64) {
        match self.cells.len() {
            1 => self.tell_packed::<1>(relation, touched),
            2 => self.tell_packed::<2>(relation, touched),
            3 => self.tell_packed::<3>(relation, touched),
            4 => self.tell_packed::<4>(relation, touched),
            _ => self.tell_by_column(relation, touched),
        }
        self.points.resize(self.diffs.len(), tick);
    }

    /// Tell what came and went of a relation of so few columns that a look at a row tells all of it.
    #[inline(never)]
    fn tell_packed<const COLUMNS: usize>(&mut self, relation: &Relation, touched: &[Change]) {
        let Self { cells, diffs, .. } = self;
        let Ok(cells): Result<&mut [Vec<i32>; COLUMNS], _> = cells.as_mut_slice().try_into() else {
            return;
        };
        let (before, most) = (diffs.len(), diffs.len() + touched.len());
        diffs.resize(most, 0);
        cells.iter_mut().for_each(|cells| cells.resize(most, 0));
        let mut to = before;
        let mut places = cells.each_mut().map(|cells| &mut cells[..most]);
        for change in touched {
            let (until, terms) = relation.glance(change.fact.row);
            let diff = came_or_went(*change, until);
            diffs[to] = diff;
            for (cells, term) in places.iter_mut().zip(terms.words()) {
                cells[to] = term as i32;
            }
            // What neither came nor went is written over: most did, so that nothing is guessed wrongly.
            to += usize::from(diff != 0);
        }
        diffs.truncate(to);
        cells.iter_mut().for_each(|cells| cells.truncate(to));
    }

    #[cold]
    fn tell_by_column(&mut self, relation: &Relation, touched: &[Change]) {
        for change in touched {
            let diff = came_or_went(*change, relation.until(change.fact.row));
            if diff != 0 {
                self.diffs.push(diff);
                let terms = relation.terms(change.fact.row);
                self.cells.iter_mut().zip(terms).for_each(|(cells, term)| cells.push(cell(term)));
            }
        }
    }

    /// Tell all that is known to hold.
    fn tell_all(&mut self, tick: i64, diff: i8) {
        let Self { points, cells, diffs, held, .. } = self;
        match held {
            Held::Always(mirror) => {
                points.resize(points.len() + mirror.rows.len(), tick);
                for (cells, terms) in cells.iter_mut().zip(&mirror.columns) {
                    cells.extend(terms.iter().copied().map(cell));
                }
            }
            Held::Now(present) => {
                points.resize(points.len() + present.count, tick);
                for (column, cells) in cells.iter_mut().enumerate() {
                    cells.extend(present.rows().map(|row| cell(row[column])));
                }
            }
        }
        diffs.resize(points.len(), diff);
    }

    /// Tell how the present differs from the time point before.
    fn tell_difference(&mut self, tick: i64) {
        let Self { points, cells, diffs, held: Held::Now(present), before, gone } = self else {
            return;
        };
        let mut tell = |row: &[TermId], diff: i8| {
            points.push(tick);
            diffs.push(diff);
            cells.iter_mut().zip(row).for_each(|(cells, term)| cells.push(cell(*term)));
        };
        let hash = |row: &[TermId]| hash_terms(row.iter().copied());
        for (number, row) in before.rows().enumerate() {
            gone.insert_unique(hash(row), number, |number| hash(before.row(*number)));
        }
        for row in present.rows() {
            match gone.find_entry(hash(row), |number| before.row(*number) == row) {
                Ok(same) => drop(same.remove()),
                Err(_) => tell(row, 1),
            }
        }
        gone.drain().for_each(|number| tell(before.row(number), -1));
    }
}

/// A term as it stands in a column: its id, which is below 2^31.
#[inline(always)]
fn cell(term: TermId) -> i32 {
    term.0 as i32
}

/// What some ticks answer. Meanwhile the dictionary is held, so that an id stands for its term
/// throughout.
pub struct Answers {
    lines: Vec<Lines>,
    codes: Codes,
    /// For each relation of the program, its place among the lines.
    place: Vec<Option<usize>>,
    full: bool,
    mirrored: bool,
    /// Whether the last time point had an answer.
    answered: bool,
}

impl Answers {
    /// Nothing yet. What holds is taken from `held` if it is known.
    pub fn new(
        core: &mut Core,
        outputs: &[Output],
        how: How,
        held: Option<Vec<Option<Held>>>,
        codes: Codes,
    ) -> Self {
        let mut held = held.map(Vec::into_iter);
        let mut place = vec![None; core.program().relations.len()];
        let mut lines = Vec::with_capacity(outputs.len());
        for output in outputs {
            place[output.relation.index()] = Some(lines.len());
            let held = held.as_mut().and_then(Iterator::next).flatten();
            lines.push(Lines::new(core, *output, how, held));
        }
        // Terms that came since the last answer are listed as idle. They stay so: what is let go of meanwhile is on the
        // list already, and all of it is looked at once, when this is told.
        core.dictionary_mut().hold(true);
        let How { full, mirrored, answered, .. } = how;
        Self { lines, codes, place, full, mirrored, answered }
    }

    /// Note what a tick changed, or in full what holds after it; nothing holds without an answer.
    pub fn note(&mut self, core: &Core, tick: i64, answered: bool) {
        let before = std::mem::replace(&mut self.answered, answered);
        let all = &mut self.lines;
        if !self.full && before && !answered {
            all.iter_mut().for_each(|lines| lines.tell_all(tick, -1));
        }
        for lines in all.iter_mut() {
            if let Held::Now(present) = &mut lines.held {
                std::mem::swap(present, &mut lines.before);
                present.clear();
            }
        }
        let tells_changes = !self.full && before && answered;
        for (id, relation, touched) in core.touched() {
            let Some(place) = self.place[id.index()] else { continue };
            let lines = &mut all[place];
            match &mut lines.held {
                Held::Now(present) => {
                    present.enter_all(core, relation, touched, tick);
                    continue;
                }
                Held::Always(mirror) if self.mirrored => mirror.follow(relation, touched),
                Held::Always(_) => {}
            }
            if tells_changes {
                lines.tell_changed(relation, touched, tick);
            }
        }
        for lines in all.iter_mut() {
            if tells_changes {
                lines.tell_difference(tick);
            } else if answered {
                lines.tell_all(tick, 1);
            }
        }
    }

    /// Note that some time points say what the one before them says, which had an answer.
    pub fn note_again(&mut self, ticks: impl Iterator<Item = i64>) {
        for tick in ticks.take_while(|_| self.full) {
            self.lines.iter_mut().for_each(|lines| lines.tell_all(tick, 1));
        }
    }

    /// A table for each relation: t, c0, c1, ..., and diff for changes.
    pub fn tables(&mut self, core: &Core) -> Result<Vec<Table>, ArrowError> {
        let values: ArrayRef = Arc::new(self.values(core)?);
        let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let table = |lines: &mut Lines| {
            let mut fields = vec![Field::new("t", DataType::Int64, false)];
            let points = std::mem::take(&mut lines.points);
            let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(points))];
            for (column, cells) in lines.cells.drain(..).enumerate() {
                fields.push(Field::new(format!("c{column}"), kind.clone(), false));
                let keys = Int32Array::from(cells);
                let array = DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(&values))?;
                arrays.push(Arc::new(array));
            }
            if !self.full {
                fields.push(Field::new("diff", DataType::Int8, false));
                arrays.push(Arc::new(Int8Array::from(std::mem::take(&mut lines.diffs))));
            }
            let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?;
            Ok(Table::single(batch))
        };
        self.lines.iter_mut().map(table).collect()
    }

    /// The texts that the cells are places of. Where ids are no more than cells these are places as they are, among
    /// the texts of all terms, whoever uses them; else the terms of the cells get places of their own.
    fn values(&mut self, core: &Core) -> Result<StringArray, ArrowError> {
        let ids = core.dictionary().ids_below();
        let cells = || self.lines.iter().flat_map(|lines| &lines.cells);
        if ids <= cells().map(Vec::len).sum() {
            return texts(core, (0..ids).map(TermId::at));
        }
        self.codes.make_room(ids);
        let Self { lines, codes, .. } = self;
        lines.iter_mut().flat_map(|lines| &mut lines.cells).for_each(|cells| codes.place(cells));
        texts(core, codes.terms().iter().copied())
    }

    /// Let go of the terms; what holds, as far as it is known, and the codes to use again.
    pub fn release(mut self, core: &mut Core) -> (Vec<Option<Held>>, Codes) {
        core.dictionary_mut().hold(false);
        self.codes.clear();
        let is_known = |held: &Held| self.mirrored || matches!(held, Held::Now(_));
        let held = self.lines.into_iter().map(|lines| Some(lines.held).filter(is_known));
        (held.collect(), self.codes)
    }
}

/// Terms as places in a list of them.
#[derive(Default)]
pub struct Codes {
    /// For each term its place, or `NO_PLACE`.
    places: Vec<i32>,
    /// The terms by their places. There is room for all.
    terms: Vec<TermId>,
    /// How many have a place.
    known: usize,
}

/// Stands for the place of a term that has none.
const NO_PLACE: i32 = -1;

impl Codes {
    /// Let the places of terms stand for them. Nothing is called meanwhile: what it needs stays in registers.
    #[inline(never)]
    fn place(&mut self, cells: &mut [i32]) {
        let (places, terms) = (&mut self.places[..], &mut self.terms[..]);
        let mut known = self.known;
        for cell in cells {
            let place = &mut places[*cell as usize];
            if *place == NO_PLACE {
                *place = known as i32;
                terms[known] = TermId(*cell as u32);
                known += 1;
            }
            *cell = *place;
        }
        self.known = known;
    }

    /// The terms that have places.
    fn terms(&self) -> &[TermId] {
        &self.terms[..self.known]
    }

    /// Have room for the places of so many terms.
    fn make_room(&mut self, terms: usize) {
        if terms > self.places.len() {
            self.places.resize(2 * terms, NO_PLACE);
            self.terms.resize(2 * terms, TermId(0));
        }
    }

    /// Forget all places.
    fn clear(&mut self) {
        for term in &self.terms[..self.known] {
            self.places[term.index()] = NO_PLACE;
        }
        self.known = 0;
    }
}

/// The texts of terms, none of an id that is not in use. They are copied as bytes and checked all at once.
fn texts(
    core: &Core,
    terms: impl ExactSizeIterator<Item = TermId>,
) -> Result<StringArray, ArrowError> {
    let mut bytes = Vec::with_capacity(32 * terms.len());
    let mut ends = Vec::with_capacity(terms.len() + 1);
    ends.push(0);
    ends.extend(terms.map(|term| {
        core.dictionary().append_utf8(term, &mut bytes);
        bytes.len() as i32
    }));
    if i32::try_from(bytes.len()).is_err() {
        return Err(ArrowError::OffsetOverflowError(bytes.len()));
    }
    StringArray::try_new(OffsetBuffer::new(ends.into()), Buffer::from_vec(bytes), None)
}
