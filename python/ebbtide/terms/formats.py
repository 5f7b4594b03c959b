"""Documents of facts: N-Triples, N-Quads, Turtle, TriG, RDF/XML, JSON-LD, and timed ones.

    <http://e/a> <http://e/isIn> <http://e/b> .              a line of N-Triples
    1500⇥<http://e/a> <http://e/isIn> <http://e/b> .         ... after an instant and a TAB: .tnt
    :g { :a :isIn :b }  :g prov:generatedAtTime "..." .      a timestamped graph: .trig, .jsonld

A document is a path or bytes, plain or gzip'd; its name or `format` says what it is in. The parsers
are in Rust (`crates/formats`); this is their face. Readers are lazy and hold one chunk at a time.
Invariant: every statement becomes a fact or a `BadLine` that says where and why; nothing is lost.
`read_timed` hands bad lines out among the facts, so that the caller decides to raise or to collect;
the other readers raise a `FormatError` after the facts before it.

Blank nodes are local to their document: `_:x` of two documents are two nodes, with labels made from
the document's name, the same every time. A stream of timed N-Triples keeps its labels, since it is
one document however many files it is cut into. Labels that begin with `invented-` are the kernel's,
and a document's are renamed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from ebbtide._kernel import MAX_LINE, BadLine, FormatError, Reader, Table, parse_lines
from ebbtide.terms.term import IRI, BlankNode, Term, TermError, parse_term
from ebbtide.time import Instant

__all__ = [
    "CHUNK",
    "DEFAULT_GRAPH",
    "MAX_LINE",
    "TERM_COLUMNS",
    "BadLine",
    "Document",
    "FormatError",
    "GraphName",
    "Quad",
    "TimedFact",
    "Triple",
    "graph_text",
    "open_document",
    "parse_lines",
    "read_quads",
    "read_tables",
    "read_timed",
    "read_triples",
]

Document: TypeAlias = str | PathLike[str] | bytes
GraphName: TypeAlias = IRI | BlankNode | str
Triple: TypeAlias = tuple[Term, Term, Term]
Quad: TypeAlias = tuple[Term, Term, Term, Term | None]

DEFAULT_GRAPH: Final = "default"
CHUNK: Final = 65_536
TERM_COLUMNS: Final = ("s", "p", "o")
# Rows of terms are Python objects, so that fewer of them are held at a time.
_ROWS: Final = 4_096


class TimedFact(NamedTuple):
    """A triple and the instant it happens at."""

    triple: Triple
    at: Instant


def read_triples(
    document: Document,
    format: str | None = None,
    *,
    name: str | None = None,
    base: str | None = None,
    graph: GraphName | None = None,
    keep_labels: bool = False,
) -> Iterator[Triple]:
    r"""The triples of a document, those of all its graphs or of one.

    `name` is what messages call it. Relative IRIs are resolved against `base`, or else against the
    file. `graph` is an IRI, or "default" for what is in no named graph. `keep_labels` leaves the
    labels of blank nodes as they are.

    >>> for s, p, o in read_triples(b'@prefix e: <http://e/> . e:a e:size 7 , "big"@EN .', "ttl"):
    ...     print(s, o)
    <http://e/a> "7"^^<http://www.w3.org/2001/XMLSchema#integer>
    <http://e/a> "big"@en
    >>> try:
    ...     list(read_triples(b"@prefix e: <http://e/> . e:a f:size 7 .", "ttl", name="a.ttl"))
    ... except FormatError as error:
    ...     print(error)
    a.ttl:1:30: the prefix f: has not been declared
    """
    reader = open_document(
        document, format, name=name, base=base, graph=graph, keep_labels=keep_labels
    )
    while rows := reader.rows(_ROWS):
        for s, p, o in rows:
            yield parse_term(s), parse_term(p), parse_term(o)


def read_quads(
    document: Document,
    format: str | None = None,
    *,
    name: str | None = None,
    base: str | None = None,
    keep_labels: bool = False,
) -> Iterator[Quad]:
    """As `read_triples`, each with its graph; None for the default graph.

    >>> for *_, graph in read_quads(b"<a:g> { <a:s> <a:p> <a:o> } <a:g> <a:p> 1 .", "trig"):
    ...     print(graph)
    <a:g>
    None
    """
    reader = open_document(
        document, format, name=name, base=base, graphs=True, keep_labels=keep_labels
    )
    while rows := reader.rows(_ROWS):
        for s, p, o, g in rows:
            yield parse_term(s), parse_term(p), parse_term(o), parse_term(g) if g else None


def read_timed(
    document: Document,
    format: str | None = None,
    *,
    name: str | None = None,
    base: str | None = None,
    dated_by: IRI | None = None,
) -> Iterator[TimedFact | BadLine]:
    r"""The timed facts of a document, and its bad lines, in order.

    In formats with graphs, a fact happens at its graph's prov:generatedAtTime, or at what another
    property, `dated_by`, says of the graph.

    >>> text = b"1500\t<http://e/a> <http://e/isIn> <http://e/b> .\nnoon\t<http://e/a> .\n"
    >>> fact, bad = read_timed(text, "tnt", name="trains.tnt")
    >>> fact.at, str(fact.triple[0])
    (1500, '<http://e/a>')
    >>> print(bad)
    trains.tnt:2:1: not an instant (milliseconds or ISO 8601): 'noon'
    """
    reader = open_document(
        document, format, name=name, base=base, timed=True, dated_by=dated_by, lenient=True
    )
    while rows := reader.rows(_ROWS):
        for row in rows:
            if isinstance(row, BadLine):
                yield row
            else:
                at, s, p, o = row
                yield TimedFact((parse_term(s), parse_term(p), parse_term(o)), at)


def read_tables(
    document: Document,
    format: str | None = None,
    *,
    name: str | None = None,
    base: str | None = None,
    graph: GraphName | None = None,
    timed: bool = False,
    lines: bool = False,
    bad: list[BadLine] | None = None,
) -> Iterator[Table]:
    """A document as Arrow: tables of up to 65,536 rows, without a Python object a fact.

    The columns are s, p and o, and before them t if `timed`; `pyarrow.table` takes them, and so
    does `Reasoner.push_all`. With `lines` there is a column `line`, the one that a fact ends on:
    of documents of lines, of TriG, and of JSON-LD, which is read twice for that; null elsewhere,
    and of JSON-LD where a fact has a context that follows it. With a list for `bad`, what is wrong
    in a document of lines is put there and reading goes on.

    >>> [len(table) for table in read_tables(b"<a:s> <a:p> 1, 2 .", "ttl")]
    [2]
    """
    reader = open_document(
        document,
        format,
        name=name,
        base=base,
        graph=graph,
        timed=timed,
        lines=lines,
        lenient=bad is not None,
    )
    while True:
        table = reader.table(CHUNK)
        if bad is not None:
            bad += reader.take_bad()
        if not len(table):
            return
        yield table


def open_document(
    document: Document,
    format: str | None = None,
    *,
    name: str | None = None,
    base: str | None = None,
    graph: GraphName | None = None,
    graphs: bool = False,
    timed: bool = False,
    dated_by: IRI | None = None,
    lines: bool = False,
    lenient: bool = False,
    keep_labels: bool = False,
) -> Reader:
    """The Rust reader of a document, to be handed to an engine or asked for chunks."""
    if isinstance(document, bytes):
        scope = hashlib.sha256(document).hexdigest()
    else:
        path = fspath(document)
        name = name or path
        scope = path
        base = base or Path(path).absolute().as_uri()
    return Reader(
        document if isinstance(document, bytes) else path,
        name or "<bytes>",
        format=format,
        base=base,
        graph=graph_text(graph),
        scope=None if keep_labels else scope,
        timed=timed,
        dated_by=dated_by.text if dated_by else None,
        graphs=graphs,
        lines=lines,
        lenient=lenient,
    )


def graph_text(graph: GraphName | None) -> str | None:
    """A graph as readers and writers want it: a term's text; nothing for the default graph.

    >>> graph_text("http://e/g"), graph_text(IRI("http://e/g")), graph_text("default")
    ('<http://e/g>', '<http://e/g>', '')
    """
    match graph:
        case None:
            return None
        case IRI() | BlankNode():
            return graph.text
        case "default":
            return ""
    text = graph if graph.startswith("<") else f"<{graph}>"
    if ":" not in text:
        raise TermError(f"the name of a graph is an absolute IRI, not {graph}")
    return parse_term(text).text
