r"""Streams of LARS atoms to columns, on the executors.

In: documents of lines `instant TAB atoms`. Out: rows as `stages.parse` makes them, an atom each, in
columns that are a triple's elsewhere:

    p    the predicate's name; null for a line without atoms, which says that time has come so far
    o    the N-Triples texts of its terms, one a line
    s    null: that is how a row of a triple is told from it

Lines of plain atoms are read by the kernel's formats, a column at a time, others by the language.

Invariant: no line is lost. A line is taken whole, or is a bad line that says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from ebbtide._kernel import read_atoms
from ebbtide.languages.lars import LarsProgram
from ebbtide.languages.lars.stream import parse_stream
from ebbtide.pipeline.stages.canonical import seeing
from ebbtide.pipeline.stages.parcels import Parse
from ebbtide.pipeline.stages.parse import (
    GZIP,
    SHOWN,
    as_error,
    bad_lines,
    error_type,
    plain,
    rows_of,
)
from ebbtide.pipeline.stages.years import NO_YEAR, in_no_year
from ebbtide.program import TRIPLE, Fact, ProgramError
from ebbtide.terms import Term, parse_term

#: Rows of atoms, each with the place of the row that it was in.
PLACED: Final = (
    "stream string, source string, line int, t long, s string, p string, o string, "
    "error struct<reason: string, text: string>"
)
_TOO_LONG: Final = "a term is longer than {} bytes"


def parse_atom_document(
    name: str, content: bytes, prefixes: Mapping[str, str], longest_term: int
) -> Iterator[Any]:
    """What one document holds, in record batches: plain lines first, then the others."""
    import pyarrow as pa

    data = plain(content)
    if data.startswith(GZIP):
        yield bad_lines(name, [as_error("it cannot be read: it is gzip'd, and damaged")])
        return
    text, bad = _decoded(data)
    if bad:
        yield bad_lines(name, bad)
    atoms, others = read_atoms(text, longest_term)
    if len(atoms):
        plain_ones = pa.table(atoms)
        nothing = pa.nulls(len(atoms))
        columns = [plain_ones["line"], plain_ones["t"], nothing, plain_ones["p"], plain_ones["o"]]
        yield from rows_of(pa.repeat(name, len(atoms)), columns, nothing)
    if others:
        lines = text.split("\n")
        some = [(number, lines[number - 1].removesuffix("\r")) for number in others]
        yield from _read_others(name, some, LarsProgram((), prefixes=dict(prefixes)), longest_term)


def _decoded(data: bytes) -> tuple[str, list[dict[str, Any]]]:
    """A text, without what stands in lines that are not UTF-8, and what is wrong with them."""
    try:
        return data.decode(), []
    except UnicodeDecodeError:
        lines, bad = data.split(b"\n"), []
    for place, line in enumerate(lines):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            column = len(line[: error.start].decode()) + 1
            found = {"line": place + 1, "column": column, "reason": "the line is not UTF-8"}
            text = line.removesuffix(b"\r").decode(errors="replace")
            bad.append({**found, "text": text[:SHOWN]})
            lines[place] = b""
    return b"\n".join(lines).decode(), bad


def row_parser(
    prefixes: Mapping[str, str], longest_term: int, *, fail: bool, dated: bool = False
) -> Parse:
    """The work of one task: rows of stream, source, line, t and atoms, to `PLACED` rows.

    If there are s, p and o, too, a row that has them is a triple. With `fail` a row whose atoms are
    none ends the query; else it has an error. Of `dated` rows t was a timestamp.
    """

    def parse(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        for batch in batches:
            if "s" in batch.schema.names:
                is_triple = pc.is_valid(batch.column("s"))
                yield _triples(batch.filter(is_triple), longest_term, fail, dated)
                batch = batch.filter(pc.invert(is_triple))
            if dated and pc.any(of_no_year := in_no_year(batch.column("t"))).as_py():
                yield _of_no_year(batch.filter(of_no_year), fail)
                batch = batch.filter(pc.invert(of_no_year))
            # Spark lets texts be any bytes.
            atoms = batch.column("atoms").cast(pa.binary()).to_pylist()
            lines = (
                f"{t}\t".encode() + b" ".join((some or b"").splitlines())
                for t, some in zip(batch.column("t").to_pylist(), atoms, strict=True)
            )
            for some in parse_atom_document("", b"\n".join(lines), prefixes, longest_term):
                yield _placed(some, batch, fail)

    return parse


def _of_no_year(batch: Any, fail: bool) -> Any:
    """Rows of atoms whose time is none."""
    import pyarrow as pa

    count = len(batch)
    if fail:
        raise ValueError(f"{NO_YEAR}: {batch.column('atoms')[0]}")
    reason = pa.repeat(NO_YEAR, count)
    error = pa.StructArray.from_arrays([reason, batch.column("atoms")], ["reason", "text"])
    places = [batch.column(name) for name in ("stream", "source", "line")]
    texts = [pa.nulls(count, pa.string())] * 3
    names = ["stream", "source", "line", "t", "s", "p", "o", "error"]
    return pa.record_batch([*places, pa.nulls(count, pa.int64()), *texts, error], names)


def _triples(batch: Any, longest_term: int, fail: bool, dated: bool) -> Any:
    import pyarrow as pa

    names = ["stream", "source", "line", "t", "s", "p", "o"]
    nothing = pa.nulls(len(batch), error_type())
    rows = pa.record_batch([*map(batch.column, names), nothing], [*names, "error"])
    (seen,) = seeing(longest_term, fail=fail, relative=True, dated=dated)([rows])
    error = _errors(seen.column("error"), fail)
    return pa.record_batch([*map(seen.column, names), error], [*names, "error"])


def _errors(errors: Any, fail: bool) -> Any:
    """Reason and text of what is wrong; with `fail` that ends the query."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if fail and errors.null_count < len(errors):
        error = errors.drop_null()[0].as_py()
        raise ValueError(f"{error['reason']}: {error['text']}")
    wrong = [pc.struct_field(errors, name) for name in ("reason", "text")]
    return pa.StructArray.from_arrays(wrong, ["reason", "text"], mask=pc.is_null(errors))


def _placed(parsed: Any, batch: Any, fail: bool) -> Any:
    """What was parsed of the rows of a batch, with the places of those rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    errors = parsed.column("error")
    error = _errors(errors, fail)
    numbers = pc.coalesce(parsed.column("line"), pc.struct_field(errors, "line"))
    rows = batch.take(pc.subtract(numbers, 1))
    places = [rows.column(name) for name in ("stream", "source", "line")]
    facts = [parsed.column(name) for name in ("t", "s", "p", "o")]
    names = ["stream", "source", "line", "t", "s", "p", "o", "error"]
    return pa.record_batch([*places, *facts, error], names)


def _read_others(
    name: str, lines: Sequence[tuple[int, str]], known: LarsProgram, longest_term: int
) -> Iterator[Any]:
    """What lines hold that are not plain, or what is wrong with them."""
    rows: list[tuple[int, int, str | None, str | None]] = []
    bad: list[dict[str, Any]] = []
    for number, line in lines:
        try:
            found = list(_rows(line, known, longest_term))
        except ProgramError as error:
            place = {"line": number, "column": error.origin.column}
            bad.append({**place, "reason": error.message, "text": line[:1_000]})
        except ValueError as error:
            bad.append({"line": number, "column": 1, "reason": str(error), "text": line[:1_000]})
        else:
            rows += [(number, *each) for each in found]
    yield from _batches(name, rows)
    if bad:
        yield bad_lines(name, bad)


def _rows(
    line: str, known: LarsProgram, longest_term: int
) -> Iterator[tuple[int, str | None, str | None]]:
    for at, facts in parse_stream([line], "", known):
        if not facts:
            yield at, None, None
        for fact in facts:
            texts = [term.text for term in fact.terms]
            if any(len(text.encode()) > longest_term for text in texts):
                raise ValueError(_TOO_LONG.format(longest_term))
            yield at, fact.relation, "\n".join(texts)


def _batches(name: str, rows: Sequence[tuple[int, int, str | None, str | None]]) -> Iterator[Any]:
    import pyarrow as pa

    if rows:
        lines, instants, predicates, terms = map(pa.array, zip(*rows, strict=True))
        nothing = pa.nulls(len(rows))
        columns = [lines, instants, nothing, predicates, terms]
        yield from rows_of(pa.repeat(name, len(rows)), columns, nothing)


def atoms_of(rows: Any) -> Iterator[tuple[str, list[str], Any]]:
    """Rows of atoms and triples in columns: the predicate, the names of its columns, the rows.

    Rows of one predicate and one number of arguments come together.
    """
    import pyarrow.compute as pc

    is_triple = pc.is_valid(rows["s"])
    if (triples := rows.filter(is_triple)).num_rows:
        yield TRIPLE, ["s", "p", "o"], triples
    atoms = rows.filter(pc.and_(pc.invert(is_triple), pc.is_valid(rows["p"])))
    for predicate in pc.unique(atoms["p"]).to_pylist():
        mine = atoms.filter(pc.equal(atoms["p"], predicate)).combine_chunks()
        terms = pc.split_pattern(mine["o"], "\n")
        arities = pc.if_else(pc.equal(mine["o"], ""), 0, pc.list_value_length(terms))
        for arity in pc.unique(arities).to_pylist():
            of_arity = pc.equal(arities, arity)
            table, parts = mine.filter(of_arity), terms.filter(of_arity)
            names = [f"c{place}" for place in range(arity)]
            for place, name in enumerate(names):
                table = table.append_column(name, pc.list_element(parts, place))
            yield predicate, names, table


def fact_of(s: str | None, p: str | None, o: str | None) -> Fact | None:
    r"""The atom of a row, or the triple; None of a row that only tells the time.

    >>> str(fact_of(None, "q", "<a>\n<b>")), str(fact_of(None, "alarm", ""))
    ('q(<a>, <b>)', 'alarm()')
    """
    if p is None:
        return None
    if s is not None:
        assert o is not None
        return Fact(TRIPLE, (_term(s), _term(p), _term(o)))
    return Fact(p, tuple(map(_term, o.split("\n"))) if o else ())


@lru_cache(maxsize=65_536)
def _term(text: str) -> Term:
    return parse_term(text)
