//! What ticks answer, as record batches: the facts of some relations, in full or as changes.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use ebbtide_kernel::ids::{RelationId, RowId, TermId};
use ebbtide_kernel::instant::NEVER;
use ebbtide_kernel::kernel::Kernel as Core;

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
            mirror.enter(core, relation, row);
        }
        mirror
    }

    fn enter(&mut self, core: &Core, relation: RelationId, row: RowId) {
        if row.index() >= self.places.len() {
            self.places.resize(row.index() + 1, 0);
        }
        self.places[row.index()] = self.rows.len() as u32;
        self.rows.push(row);
        for (column, terms) in self.columns.iter_mut().enumerate() {
            terms.push(core.relation(relation).term(row, column));
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

/// The rows of one output relation.
struct Lines {
    relation: RelationId,
    points: Vec<i64>,
    cells: Vec<Vec<TermId>>,
    diffs: Vec<i8>,
    mirror: Mirror,
}

/// What some ticks answer. Meanwhile the dictionary is held, so that an id stands for its term
/// throughout.
pub struct Answers {
    lines: Vec<Lines>,
    /// For each relation of the program, its place among the lines.
    place: Vec<Option<usize>>,
    full: bool,
    /// Whether what holds is known, as it must be in full, and where there may be no answer.
    mirrored: bool,
    /// Whether the last time point had an answer.
    answered: bool,
}

impl Answers {
    /// Nothing yet. What holds is known if `mirrored`, from `mirrors` if there are any; `answered`
    /// says whether it was told.
    pub fn new(
        core: &mut Core,
        outputs: &[RelationId],
        (full, mirrored, answered): (bool, bool, bool),
        mirrors: Option<Vec<Mirror>>,
    ) -> Self {
        let mut mirrors = mirrors.map(Vec::into_iter);
        let mut place = vec![None; core.program().relations.len()];
        let lines = outputs.iter().enumerate().map(|(position, relation)| {
            place[relation.index()] = Some(position);
            let arity = core.relation(*relation).arity();
            let mirror = match mirrors.as_mut().and_then(Iterator::next) {
                Some(mirror) => mirror,
                None if mirrored => Mirror::of(core, *relation),
                None => Mirror::default(),
            };
            Lines {
                relation: *relation,
                points: Vec::new(),
                cells: vec![Vec::new(); arity],
                diffs: Vec::new(),
                mirror,
            }
        });
        let lines: Vec<Lines> = lines.collect();
        // What the last time point changed need not be read any more.
        core.dictionary_mut().sweep();
        core.dictionary_mut().hold(true);
        Self { lines, place, full, mirrored, answered }
    }

    /// Note what a tick changed, or in full what holds after it; nothing holds without an answer.
    pub fn note(&mut self, core: &Core, tick: i64, answered: bool) {
        let before = std::mem::replace(&mut self.answered, answered);
        if !self.full && before && !answered {
            self.tell_all(tick, -1);
        }
        let tells_changes = !self.full && before && answered;
        for (change, after) in core.changes() {
            let Some(place) = self.place[change.fact.relation.index()] else { continue };
            let (came, went) = (change.before == NEVER, after == NEVER);
            if came == went {
                continue;
            }
            let Lines { relation, points, cells, diffs, mirror } = &mut self.lines[place];
            let row = change.fact.row;
            if self.mirrored {
                if came {
                    mirror.enter(core, *relation, row);
                } else {
                    mirror.leave(row);
                }
            }
            if tells_changes {
                points.push(tick);
                diffs.push(if came { 1 } else { -1 });
                for (column, cells) in cells.iter_mut().enumerate() {
                    cells.push(core.relation(*relation).term(row, column));
                }
            }
        }
        if answered && (self.full || !before) {
            self.tell_all(tick, 1);
        }
    }

    /// Tell all that is known to hold.
    fn tell_all(&mut self, tick: i64, diff: i8) {
        for Lines { points, cells, diffs, mirror, .. } in &mut self.lines {
            points.resize(points.len() + mirror.rows.len(), tick);
            if !self.full {
                diffs.resize(points.len(), diff);
            }
            for (cells, terms) in cells.iter_mut().zip(&mirror.columns) {
                cells.extend_from_slice(terms);
            }
        }
    }

    /// A table for each relation: t, c0, c1, ..., and diff for changes.
    pub fn tables(&mut self, core: &Core) -> Result<Vec<Table>, ArrowError> {
        let mut codes = Codes::default();
        let coded: Vec<Vec<Vec<i32>>> = self
            .lines
            .iter_mut()
            .map(|lines| lines.cells.iter_mut().map(|cells| codes.of(cells)).collect())
            .collect();
        let texts = codes.values.iter().map(|term| core.dictionary().text(*term));
        let values: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let table = |(lines, coded): (&mut Lines, Vec<Vec<i32>>)| {
            let mut fields = vec![Field::new("t", DataType::Int64, false)];
            let points = std::mem::take(&mut lines.points);
            let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(points))];
            for (column, cells) in coded.into_iter().enumerate() {
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
        self.lines.iter_mut().zip(coded).map(table).collect()
    }

    /// Let go of the terms; what holds.
    pub fn release(self, core: &mut Core) -> Vec<Mirror> {
        core.dictionary_mut().hold(false);
        self.lines.into_iter().map(|lines| lines.mirror).collect()
    }
}

/// Terms as places in a list of values.
#[derive(Default)]
struct Codes {
    /// For each term, one more than its place; 0 for none.
    places: Vec<i32>,
    values: Vec<TermId>,
}

impl Codes {
    fn of(&mut self, terms: &mut Vec<TermId>) -> Vec<i32> {
        let Self { places, values } = self;
        let code = |term: TermId| {
            if term.index() >= places.len() {
                places.resize(term.index() + 1, 0);
            }
            let place = &mut places[term.index()];
            if *place == 0 {
                values.push(term);
                *place = values.len() as i32;
            }
            *place - 1
        };
        std::mem::take(terms).into_iter().map(code).collect()
    }
}
