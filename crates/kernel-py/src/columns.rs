//! Columns of record batches as terms and instants.
//!
//! A string that repeats, in a run or in a dictionary, is interned once.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{
    Array, GenericStringArray, OffsetSizeTrait, RecordBatch, downcast_dictionary_array,
    downcast_integer_array,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, TimeUnit};
use ebbtide_formats::iri::{are_plain_iris, is_in_iri};
use ebbtide_formats::label::Labels;
use ebbtide_formats::statement::Statement;
use ebbtide_kernel::ids::TermId;
use ebbtide_kernel::instant::Instant;
use ebbtide_kernel::term::Dictionary;
use ebbtide_kernel::value::typed_text;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// No event is farther from the beginning of time.
const FARTHEST: u64 = 1 << 62;

fn column<'a>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a dyn Array> {
    let column = batch.column_by_name(name);
    column.map(AsRef::as_ref).ok_or_else(|| {
        let names: Vec<&str> =
            batch.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
        PyValueError::new_err(format!("no column {name:?}; the columns are {}", names.join(", ")))
    })
}

fn refuse_nulls(array: &dyn Array, name: &str) -> PyResult<()> {
    if array.null_count() == 0 {
        return Ok(());
    }
    let row = (0..array.len()).find(|row| array.is_null(*row)).unwrap_or_default();
    Err(PyValueError::new_err(format!(
        "column {name:?} is null in row {row}: a fact has no empty places"
    )))
}

/// A column of term texts: strings of any Arrow kind, dictionary-encoded or not.
pub fn terms(
    dictionary: &mut Dictionary,
    batch: &RecordBatch,
    name: &str,
) -> PyResult<Vec<TermId>> {
    let array = column(batch, name)?;
    strings(dictionary, array, name)
}

fn strings(dictionary: &mut Dictionary, array: &dyn Array, name: &str) -> PyResult<Vec<TermId>> {
    refuse_nulls(array, name)?;
    match array.data_type() {
        DataType::Utf8 => side_by_side(dictionary, array.as_string::<i32>(), name),
        DataType::LargeUtf8 => side_by_side(dictionary, array.as_string::<i64>(), name),
        DataType::Utf8View => {
            let texts = array.as_string_view();
            interned(dictionary, texts.iter().map(Option::unwrap_or_default), name, false)
        }
        DataType::Dictionary(_, _) => downcast_dictionary_array!(
            array => {
                let values = strings(dictionary, array.values().as_ref(), name)?;
                refuse_nulls(array.keys(), name)?;
                Ok(array.keys().values().iter().map(|key| values[key.as_usize()]).collect())
            },
            other => Err(not_a_string(name, other))
        ),
        other => Err(not_a_string(name, other)),
    }
}

/// The ids of texts that stand side by side, none of them null.
fn side_by_side<O: OffsetSizeTrait>(
    dictionary: &mut Dictionary,
    array: &GenericStringArray<O>,
    name: &str,
) -> PyResult<Vec<TermId>> {
    let texts = array.iter().map(Option::unwrap_or_default);
    // Of a slice of a column, only what it shows.
    let ends = array.value_offsets();
    let shown = ends[0].as_usize()..ends[array.len()].as_usize();
    let are_plain = are_plain_iris(&array.value_data()[shown], array.len());
    interned(dictionary, texts, name, are_plain)
}

/// The ids of texts, which must be those that identify terms: any other would be another term to the kernel.
fn interned<'t>(
    dictionary: &mut Dictionary,
    texts: impl ExactSizeIterator<Item = &'t str> + Clone,
    name: &str,
    are_plain: bool,
) -> PyResult<Vec<TermId>> {
    if are_plain && texts.clone().all(|text| iri_of(text).is_some()) {
        return Ok(dictionary.intern_all(texts));
    }
    let (mut scanned, labels) = (Statement::default(), Labels::kept());
    let mut is_odd = |text: &str| match (iri_of(text), text.as_bytes()) {
        // Constants of LARS programs are relative, so that a scheme is asked for elsewhere.
        (Some(iri), _) => !iri.iter().all(|byte| is_in_iri(*byte)),
        (None, [b'"' | b'_', ..]) => scanned.scan_term(text, &labels) != Some(text),
        _ => true,
    };
    let Some((row, text)) = texts.clone().enumerate().find(|(_, text)| is_odd(text)) else {
        return Ok(dictionary.intern_all(texts));
    };
    let instead = match scanned.scan_term(text, &labels) {
        Some(term) => format!("its one text is {term}"),
        None => "terms are written as in N-Triples, <http://...>, _:label or \"text\"".into(),
    };
    Err(PyValueError::new_err(format!("column {name:?} holds {text} in row {row}: {instead}")))
}

/// What stands between the angle brackets of a text.
#[inline]
fn iri_of(text: &str) -> Option<&[u8]> {
    match text.as_bytes() {
        [b'<', iri @ .., b'>'] => Some(iri),
        _ => None,
    }
}

/// A column of terms: their texts, or whole numbers of any Arrow kind.
pub fn values(
    dictionary: &mut Dictionary,
    batch: &RecordBatch,
    name: &str,
) -> PyResult<Vec<TermId>> {
    let array = column(batch, name)?;
    refuse_nulls(array, name)?;
    downcast_integer_array!(
        array => Ok(integers(dictionary, array.values())),
        _other => strings(dictionary, array, name)
    )
}

/// How many numbers are remembered while a column is read, a power of two.
const REMEMBERED: usize = 1 << 9;

fn integers<N>(dictionary: &mut Dictionary, numbers: &[N]) -> Vec<TermId>
where
    N: ArrowNativeType + Display,
{
    // Numbers repeat, and those of a column are often near each other.
    let mut known: Vec<Option<(N, TermId)>> = vec![None; REMEMBERED];
    let term = |number: &N| {
        let place = &mut known[number.as_usize() % REMEMBERED];
        match place {
            Some((same, term)) if same == number => *term,
            _ => place.insert((*number, integer(dictionary, number))).1,
        }
    };
    numbers.iter().map(term).collect()
}

/// A whole number as a term.
pub fn integer(dictionary: &mut Dictionary, number: impl Display) -> TermId {
    dictionary.intern(&typed_text(number, "integer"))
}

/// The texts of a column, with what is null.
pub fn texts<'a>(batch: &'a RecordBatch, name: &str) -> PyResult<Vec<Option<&'a str>>> {
    texts_of(column(batch, name)?, name)
}

fn texts_of<'a>(array: &'a dyn Array, name: &str) -> PyResult<Vec<Option<&'a str>>> {
    match array.data_type() {
        DataType::Utf8 => Ok(array.as_string::<i32>().iter().collect()),
        DataType::LargeUtf8 => Ok(array.as_string::<i64>().iter().collect()),
        DataType::Utf8View => Ok(array.as_string_view().iter().collect()),
        DataType::Dictionary(_, _) => downcast_dictionary_array!(
            array => {
                let values = texts_of(array.values().as_ref(), name)?;
                Ok(array.keys_iter().map(|key| key.and_then(|key| values[key])).collect())
            },
            other => Err(not_a_string(name, other))
        ),
        other => Err(not_a_string(name, other)),
    }
}

/// The texts of a column, those of a dictionary once each; none of a column of numbers.
pub fn different_texts<'a>(batch: &'a RecordBatch, name: &str) -> PyResult<Vec<Option<&'a str>>> {
    let array = column(batch, name)?;
    match array.data_type() {
        kind if kind.is_integer() => Ok(Vec::new()),
        DataType::Dictionary(_, _) => downcast_dictionary_array!(
            array => texts_of(array.values().as_ref(), name),
            other => Err(not_a_string(name, other))
        ),
        _ => texts_of(array, name),
    }
}

fn not_a_string(name: &str, kind: &DataType) -> PyErr {
    PyTypeError::new_err(format!("column {name:?} must hold the terms' texts, not {kind}"))
}

/// A column of instants: whole numbers of milliseconds, or timestamps.
pub fn instants(batch: &RecordBatch, name: &str) -> PyResult<Vec<Instant>> {
    let array = column(batch, name)?;
    refuse_nulls(array, name)?;
    let instants = |values: &[i64], scale: fn(i64) -> i64| {
        let instants: Vec<Instant> = values.iter().map(|value| Instant(scale(*value))).collect();
        let is_far = |at: &Instant| at.0.unsigned_abs() > FARTHEST;
        // Most often none is: to look at all of them takes less than to stop at the first.
        let any_far = instants.iter().fold(false, |any, at| any | is_far(at));
        match any_far.then(|| instants.iter().position(is_far)).flatten() {
            None => Ok(instants),
            Some(row) => Err(PyValueError::new_err(format!(
                "column {name:?} has an instant beyond 2^62 milliseconds in row {row}"
            ))),
        }
    };
    match array.data_type() {
        DataType::Int64 => instants(array.as_primitive::<Int64Type>().values(), |ms| ms),
        DataType::Timestamp(TimeUnit::Second, _) => {
            instants(array.as_primitive::<TimestampSecondType>().values(), |s| {
                s.saturating_mul(1000)
            })
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            instants(array.as_primitive::<TimestampMillisecondType>().values(), |ms| ms)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            instants(array.as_primitive::<TimestampMicrosecondType>().values(), |us| {
                us.div_euclid(1000)
            })
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            instants(array.as_primitive::<TimestampNanosecondType>().values(), |ns| {
                ns.div_euclid(1_000_000)
            })
        }
        other => Err(PyTypeError::new_err(format!(
            "column {name:?} must be a timestamp or 64-bit milliseconds, not {other}"
        ))),
    }
}
