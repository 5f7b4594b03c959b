"""Lines of N-Triples and timed N-Triples. What is written here, `formats` reads back unchanged."""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.terms.term import Term
from ebbtide.time import Instant


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
