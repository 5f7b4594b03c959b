"""Facts as documents. What is written here, `formats` reads back unchanged.

Lines of N-Triples and timed N-Triples are made one by one, from terms; whole documents, in any
format, from tables of term texts, in Rust.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ebbtide._kernel import Table, Writer
from ebbtide.terms.term import RDF, XSD, Term, TermError
from ebbtide.time import Instant

STANDARD_PREFIXES: Final[Mapping[str, str]] = {
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": XSD,
}
#: An IRI that ends in a name of XML.
_NAMED: Final = re.compile(r"[^\W\d][\w.-]*>$")
FORMATS_WITH_GRAPHS: Final = frozenset(("nq", "trig", "jsonld"))


def document(
    graphs: Iterable[tuple[Table, str | None]],
    format: str,
    prefixes: Mapping[str, str] = STANDARD_PREFIXES,
) -> Iterator[bytes]:
    """The bytes of a document, piece by piece.

    `graphs` are tables with the columns s, p and o, each with the text of the graph it belongs to;
    None for the default graph. Rows that are sorted are written most briefly. What a format cannot
    say is a TermError: in RDF/XML, a predicate that does not end in a name.

    >>> from ebbtide.terms.formats import read_tables
    >>> tables = read_tables(b"<a:s> <a:p> <a:o> . <a:s> <a:p> 7 .", "ttl")
    >>> graphs = [(table, None) for table in tables]
    >>> print(b"".join(document(graphs, "ttl", {"e": "a:"})).decode(), end="")
    @prefix e: <a:> .
    e:s e:p e:o , 7 .
    """
    writer = Writer(format, dict(prefixes))
    for table, graph in graphs:
        if format == "rdf":
            _check_names(table)
        try:
            piece = writer.write(table, graph)
        except ValueError as error:
            raise TermError(str(error)) from None
        yield piece
    yield writer.finish()


def _check_names(table: Table) -> None:
    for predicate in {name for (name,) in table.rows(["p"])}:
        if not _NAMED.search(predicate):
            raise TermError(
                f"RDF/XML has no name for the predicate {predicate}; the other formats have"
            )


def ntriples_line(terms: Iterable[Term]) -> str:
    r"""A statement, with its line end.

    >>> from ebbtide.terms import IRI, Literal
    >>> ntriples_line((IRI("http://e/a"), IRI("http://e/says"), Literal("hi")))
    '<http://e/a> <http://e/says> "hi" .\n'
    """
    return " ".join(term.text for term in terms) + " .\n"


def timed_line(at: Instant, terms: Iterable[Term]) -> str:
    r"""A statement that happens at an instant, with its line end.

    >>> from ebbtide.terms import IRI
    >>> timed_line(1500, (IRI("http://e/a"), IRI("http://e/isIn"), IRI("http://e/b")))
    '1500\t<http://e/a> <http://e/isIn> <http://e/b> .\n'
    """
    return f"{at}\t{ntriples_line(terms)}"
