"""Rows that Spark has made into facts, seen to be facts, on the executors, in Rust.

In: rows as `stages.parse` gives them, whose texts were put together by templates or by somebody
else. Out: the same, with the one text of each term that identifies it; whoever takes them need not
look again. A row that is no triple, or has a term that is too long, has an error.

    "x"^^<http://www.w3.org/2001/XMLSchema#string>   ─►  "x"
    "x"@EN                                           ─►  "x"@en
    <http://example/a b>                             ─►  error: not an IRI
    <a>                                              ─►  error: relative; a constant for LARS
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from ebbtide.pipeline.stages.parcels import Parse
from ebbtide.pipeline.stages.parse import SHOWN, Documents, as_error, parsed, task
from ebbtide.pipeline.stages.years import NO_INSTANT, NO_YEAR, in_no_year, out_of_range
from ebbtide.terms.formats import TERM_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NO_FACT: Final = "it needs three N-Triples terms, such as <http://example/Ada>"
NO_TIME: Final = "it needs t: a number of milliseconds, or a timestamp"


def canonical_rows(
    rows: DataFrame,
    documents: Documents,
    *,
    fail: bool = False,
    foreign: bool = False,
    dated: bool = False,
) -> DataFrame:
    """Rows seen to be facts, as a step of its own; in parcels, if whoever takes them wants that."""
    see = seeing(
        documents.longest_term,
        fail=fail,
        relative=documents.relative,
        foreign=foreign,
        dated=dated,
    )
    if documents.parcels:
        return parsed(rows, see, parcels=True)
    return rows.mapInArrow(task(see), rows.schema)


def seeing(
    longest_term: int,
    *,
    fail: bool = False,
    relative: bool = False,
    foreign: bool = False,
    dated: bool = False,
) -> Parse:
    """Record batches of rows to the same, seen to be facts.

    With `fail` a row that is none ends the query; then rows need no column for errors. With
    `relative` IRIs need no scheme. `foreign` rows may lack t, and whoever made them may not know
    how terms are written: where a text is like none, they are told. Of `dated` rows t was a
    timestamp, and must be of a year that there is.
    """

    def see(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield _seen(batch, longest_term, fail, relative, foreign, dated)

    return see


def _seen(
    batch: Any, longest_term: int, fail: bool, relative: bool, foreign: bool, dated: bool
) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    from ebbtide.reasoner.intake import canonical

    if "error" in batch.schema.names and batch.column("error").null_count < batch.num_rows:
        is_fact = pc.is_null(batch.column("error"))
        facts = _seen(batch.filter(is_fact), longest_term, fail, relative, foreign, dated)
        both = pa.Table.from_batches([facts, batch.filter(pc.invert(is_fact))])
        return both.combine_chunks().to_batches()[0]
    texts = pa.record_batch([batch.column(name) for name in TERM_COLUMNS], TERM_COLUMNS)
    texts, wrong = canonical(texts, relative=relative)
    lengths = [pc.binary_length(column) for column in texts.columns]
    is_long = pc.greater(pc.max_element_wise(*lengths), longest_term)
    too_long = pc.indices_nonzero(is_long).to_pylist()
    reasons = {row: each.reason for row, each in wrong.items()}
    reasons |= dict.fromkeys(too_long, f"a term is longer than {longest_term} bytes")
    times = batch.column("t")
    is_none, why = (in_no_year, NO_YEAR) if dated else (out_of_range, NO_INSTANT)
    reasons |= dict.fromkeys(pc.indices_nonzero(is_none(times)).to_pylist(), why)
    if foreign and times.null_count:
        reasons |= dict.fromkeys(pc.indices_nonzero(pc.is_null(times)).to_pylist(), NO_TIME)
    if foreign and reasons:
        reasons |= dict.fromkeys(_unlike_facts(batch), NO_FACT)
    for name, column in zip(TERM_COLUMNS, texts.columns, strict=True):
        batch = _with(batch, name, column)
    if reasons and fail:
        row = min(reasons)
        raise ValueError(f"no fact: {reasons[row]}: {_text(batch, row)}")
    return _with_errors(batch, reasons) if reasons else batch


def _unlike_facts(batch: Any) -> Any:
    """The numbers of the rows that lack a term, or have a text that is not like one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    are_like = pa.repeat(True, batch.num_rows)
    for name in TERM_COLUMNS:
        text = batch.column(name)
        is_iri = pc.and_(pc.starts_with(text, "<"), pc.ends_with(text, ">"))
        is_other = pc.or_(pc.starts_with(text, "_:"), pc.starts_with(text, '"'))
        are_like = pc.and_(are_like, pc.or_(is_iri, is_other).fill_null(False))
    return pc.indices_nonzero(pc.invert(are_like)).to_pylist()


def _with(batch: Any, name: str, column: Any) -> Any:
    place = batch.schema.get_field_index(name)
    return batch.set_column(place, batch.schema.field(place), column)


def _with_errors(batch: Any, reasons: dict[int, str]) -> Any:
    """A batch some of whose rows are no facts, each with its reason."""
    import pyarrow as pa
    import pyarrow.compute as pc

    errors: list[Any] = [None] * batch.num_rows
    for row, reason in reasons.items():
        line = batch.column("line")[row].as_py()
        errors[row] = {**as_error(reason), "line": line, "text": _text(batch, row)}
    error = pa.array(errors, batch.schema.field("error").type)
    for name in ("t", *TERM_COLUMNS):
        column = batch.column(name)
        batch = _with(batch, name, pc.if_else(pc.is_null(error), column, None))
    return _with(batch, "error", error)


def _text(batch: Any, row: int) -> str:
    texts = (batch.column(name)[row].as_py() for name in TERM_COLUMNS)
    return " ".join("null" if text is None else text for text in texts)[:SHOWN]
