"""What users hand in, made into programs, facts and batches.

rules     names, a path, a rule text, a Program, or rules    -> Program
a fact    a Fact, or (s, p, o) of anything `to_term` takes   -> Fact
columns   anything with __arrow_c_stream__, columns t s p o  -> record batches (int64, 3 x utf8)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Final, NamedTuple, TypeAlias

from ebbtide._kernel import Table
from ebbtide.program import TRIPLE, Atom, Fact, Program, Rule, Variable
from ebbtide.program.wording import did_you_mean
from ebbtide.terms import IRI, Literal, TermError, absolute, parse_term, to_term
from ebbtide.terms.formats import TERM_COLUMNS, BadLine, FormatError
from ebbtide.time import InstantError

Rules: TypeAlias = str | PathLike[str] | Program | Iterable[Rule]
FactLike: TypeAlias = Fact | tuple[Any, Any, Any]
PatternLike: TypeAlias = Atom | tuple[Any, Any, Any]

TIME_COLUMN: Final = "t"

_SPARQL: Final = re.compile(r"\b(?:INSERT|DATA|CONSTRUCT|WHERE|ASK)\s*\{", re.IGNORECASE)


def as_program(rules: Rules) -> Program:
    """The program that a user means: by names of regimes and files, a text, a program or rules.

    >>> len(as_program("rdfs-sparkwave").rules)
    7
    """
    match rules:
        case Program():
            return rules
        case str() if _SPARQL.search(rules):
            from ebbtide.languages.sparql_rules import parse_sparql_rules

            return parse_sparql_rules(rules).joined()
        case str() if "->" in rules:
            from ebbtide.languages.jena import parse_rules

            return parse_rules(rules)
        case str():
            from ebbtide.regimes import load

            return load(rules)
        case PathLike():
            from ebbtide.regimes import load_file

            return load_file(rules)
    return Program(rules)


def as_fact(value: FactLike) -> Fact:
    """The fact that a user means.

    >>> print(as_fact(("<http://e/a>", "<http://e/speed>", 7)))
    triple(<http://e/a>, <http://e/speed>, "7"^^<http://www.w3.org/2001/XMLSchema#integer>)
    """
    if isinstance(value, Fact):
        return value
    if not isinstance(value, tuple) or len(value) != 3:
        is_many = isinstance(value, Iterable) and not isinstance(value, str | tuple)
        many = "; add_all and push_all take many" if is_many else ""
        raise TermError(
            f"not a fact (a Fact or a tuple of subject, predicate, object): {value!r}{many}"
        )
    subject, predicate, object_ = (absolute(to_term(each)) for each in value)
    if isinstance(subject, Literal):
        raise TermError(f"a subject is an IRI or a blank node, not {subject}; write '<http://...>'")
    if not isinstance(predicate, IRI):
        raise TermError(f"a predicate is an IRI, not {predicate}; write '<http://...>'")
    return Fact(TRIPLE, (subject, predicate, object_))


def as_pattern(value: PatternLike) -> Atom:
    """The pattern that a user means; None matches everything.

    >>> print(as_pattern((None, "<http://e/speed>", None)))
    triple(?*0, <http://e/speed>, ?*2)
    """
    if isinstance(value, Atom):
        return value
    if not isinstance(value, tuple) or len(value) != 3:
        raise TermError(f"not a pattern (an Atom, or a tuple of three terms or None): {value!r}")
    return Atom(
        TRIPLE,
        tuple(
            Variable(f"*{place}") if each is None else to_term(each)
            for place, each in enumerate(value)
        ),
    )


def check_relation(fact: Fact, program: Program) -> Fact:
    """The fact, if the program has its relation."""
    arity = program.relations.get(fact.relation)
    if arity is None:
        hint = did_you_mean(fact.relation, program.relations)
        raise ValueError(f"the program has no relation {fact.relation}{hint}")
    if arity != len(fact.terms):
        raise ValueError(f"the relation {fact.relation} has {arity} arguments, not as in {fact}")
    return fact


def timed_facts(items: Iterable[Any]) -> Iterator[tuple[FactLike, Any]]:
    """Pairs of a fact and its instant; a bad line among them is raised."""
    for item in items:
        if isinstance(item, BadLine):
            raise FormatError(item)
        if not isinstance(item, tuple | list) or len(item) != 2:
            raise ValueError(f"not a pair of a fact and its instant: {item!r}")
        fact, at = item
        yield fact, at


def is_columnar(items: object) -> bool:
    """Whether the items are a table: pyarrow, polars, pandas or any other Arrow producer."""
    return hasattr(items, "__arrow_c_stream__")


def record_batches(
    items: Any, names: Sequence[str] = (TIME_COLUMN, *TERM_COLUMNS), *, is_timed: bool = True
) -> Iterator[Any]:
    """The table as record batches: instants (int64 milliseconds) if it has any, then terms."""
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError("columns of facts need pyarrow: pip install pyarrow") from None
    reader = pa.RecordBatchReader.from_stream(items)
    if missing := [name for name in names if name not in reader.schema.names]:
        raise ValueError(
            f"a table of facts has the columns {', '.join(names)}; this one lacks "
            f"{', '.join(missing)}"
        )
    first_row = 0
    for batch in reader:
        columns = [batch.column(name) for name in names]
        for name, column in zip(names, columns, strict=True):
            if column.null_count:
                row = first_row + column.is_null().index(True).as_py()
                raise ValueError(f"row {row} has no {name}")
        first_row += batch.num_rows
        instants = [_milliseconds(columns[0])] if is_timed else []
        terms = [
            column if pa.types.is_integer(column.type) else column.cast(pa.string())
            for column in columns[len(instants) :]
        ]
        yield pa.record_batch([*instants, *terms], names=list(names))


#: How the texts of terms begin, by their place in a triple.
_BEGINNINGS: Final = {"s": ("<", "_:"), "p": ("<",), "o": ("<", '"', "_:")}


def triple_batches(items: Any, *, is_timed: bool = True) -> Iterator[Any]:
    """The record batches of a table from outside, whose texts are seen to be those of triples.

    Tables of background have no instants.

    >>> import pyarrow as pa
    >>> table = pa.table({"t": [1], "s": ["<http://e/a>"], "p": ["<http://e/p>"], "o": ["5"]})
    >>> list(triple_batches(table))
    Traceback (most recent call last):
    ebbtide.terms.term.TermError: row 0: an object is written as in N-Triples: <http://...>, \
_:label or "text", not 5
    """
    import pyarrow as pa

    first_row = 0
    names = (TIME_COLUMN, *TERM_COLUMNS) if is_timed else TERM_COLUMNS
    for batch in record_batches(items, names, is_timed=is_timed):
        for name in TERM_COLUMNS:
            if pa.types.is_integer(batch.column(name).type):
                raise TermError(f"{_WRITTEN[name]}, and the column {name} is of numbers")
        batch, wrong = canonical(batch)
        if wrong:
            row = min(wrong)
            raise TermError(f"row {first_row + row}{wrong[row].place}: {wrong[row].reason}")
        yield batch
        first_row += batch.num_rows


class Wrong(NamedTuple):
    """Why a row is no triple, and the column that makes it none, if the reason does not say it."""

    reason: str
    place: str = ""


def canonical(batch: Any, *, relative: bool = False) -> tuple[Any, dict[int, Wrong]]:
    """A record batch of triples with the one text of each term that identifies it.

    And what is wrong with those of its rows that are no triples, by their numbers. With `relative`
    IRIs need no scheme: the constants of LARS have none.

    >>> import pyarrow as pa
    >>> texts = {"s": ["<http://e/a>", '"a"'], "p": ["<http://e/p>"] * 2, "o": ['"x"@EN', "_:b"]}
    >>> batch, wrong = canonical(pa.record_batch(texts))
    >>> batch["o"][0].as_py(), list(wrong)
    ('"x"@en', [1])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wrong: dict[int, Wrong] = {}
    try:
        table = Table(batch)
    except UnicodeError:
        batch, no_texts = _decoded(batch)
        wrong = dict.fromkeys(no_texts, Wrong("it has bytes that are not UTF-8"))
        table = Table(batch)
    for name, beginnings in _BEGINNINGS.items():
        column = batch.column(name)
        fits = pc.starts_with(column, beginnings[0]).fill_null(False)
        for each in beginnings[1:]:
            if fits.false_count:
                fits = pc.or_(fits, pc.starts_with(column, each).fill_null(False))
        if fits.false_count:
            for row in pc.indices_nonzero(pc.invert(fits)).to_pylist():
                wrong.setdefault(row, Wrong(f"{_WRITTEN[name]}, not {column[row]}"))
    odd: dict[str, list[int]] = {}
    for row, place in table.odd(list(TERM_COLUMNS)):
        odd.setdefault(TERM_COLUMNS[place], []).append(row)
    for name, rows in odd.items():
        texts = batch.column(name).to_pylist()
        for row in rows:
            if row in wrong:
                continue
            try:
                term = parse_term(texts[row])
                texts[row] = (term if relative else absolute(term)).text
            except TermError as error:
                wrong[row] = Wrong(str(error), f", column {name}")
        place = batch.schema.get_field_index(name)
        batch = batch.set_column(place, name, pa.array(texts, pa.string()))
    return batch, wrong


def _decoded(batch: Any) -> tuple[Any, set[int]]:
    """Texts in UTF-8, and the rows of those that were not: Spark lets them be any bytes."""
    import pyarrow as pa

    wrong = set()
    for name in TERM_COLUMNS:
        texts: list[str | None] = []
        for row, content in enumerate(batch.column(name).cast(pa.binary()).to_pylist()):
            text = None if content is None else content.decode(errors="replace")
            texts.append(text)
            if text is not None and text.encode() != content:
                wrong.add(row)
        place = batch.schema.get_field_index(name)
        batch = batch.set_column(place, name, pa.array(texts, pa.string()))
    return batch, wrong


_WRITTEN: Final = {
    "s": "a subject is written as in N-Triples: <http://...> or _:label",
    "p": "a predicate is written as in N-Triples: <http://...>",
    "o": 'an object is written as in N-Triples: <http://...>, _:label or "text"',
}


def _milliseconds(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_timestamp(column.type):
        column = pc.floor_temporal(column, unit="millisecond").cast(pa.timestamp("ms"))
    elif not pa.types.is_integer(column.type):
        raise InstantError(
            f"the column of instants is milliseconds or timestamps, not {column.type}"
        )
    return column.cast(pa.int64())
