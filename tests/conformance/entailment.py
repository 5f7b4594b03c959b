"""Whether a graph entails another: the closure of the premise, and a match of the conclusion in it.

    closure     facts of the premise ──► reasoner with a regime ──► what holds, what is inconsistent
    match       blank nodes of the conclusion are variables; a literal stands for its value

The closure may hold triples that RDF cannot write (a literal as subject): the semantics needs them,
answers leave them out. An inconsistent premise entails everything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import pyoxigraph as ox
from tests.conformance.data import Graph, Triple

from ebbtide import Reasoner
from ebbtide.engines.events import Inconsistency
from ebbtide.engines.reference.datatypes import data_value
from ebbtide.program import TRIPLE, Fact, Program
from ebbtide.terms import BlankNode, Literal, Term

#: A triple of terms, or of the values that they denote.
Meant: TypeAlias = tuple[Hashable, Hashable, Hashable]


@dataclass(frozen=True)
class Closure:
    """What holds under a regime, and what is inconsistent about it."""

    reasoner: Reasoner

    @property
    def triples(self) -> Graph:
        """All that holds, also what RDF cannot write."""
        return frozenset(self.reasoner.triples((None, None, None)))

    @property
    def inconsistencies(self) -> Sequence[Inconsistency]:
        """What is inconsistent."""
        return self.reasoner.inconsistencies()

    @property
    def store(self) -> ox.Store:
        """What queries may see: neither what RDF cannot write nor invented blank nodes."""
        return self.reasoner.to_pyoxigraph()


@cache
def program(rules: str) -> Program:
    """The program of regimes and files, `owl2rl,site.rules`."""
    if not rules:
        return Program()
    from ebbtide.regimes import load

    return load(rules)


def close(
    rules: str, premise: Iterable[Triple], others: Iterable[Fact] = (), *, specialise: bool = True
) -> Closure:
    """The closure of a graph, and of facts of other relations, under regimes."""
    reasoner = Reasoner(program(rules), specialise=specialise)
    reasoner.add_all(Fact(TRIPLE, triple) for triple in premise)
    reasoner.add_all(others)
    reasoner.settle()
    return Closure(reasoner)


def matches(
    conclusion: Iterable[Triple], triples: Iterable[Triple], recognised: Collection[str] = ()
) -> bool:
    """Whether the blank nodes of the conclusion can be read so that each triple is among `triples`.

    Literals of recognised datatypes are the same if they denote the same value.

    >>> from ebbtide.terms import IRI
    >>> a, b, p, x = IRI("a"), IRI("b"), IRI("p"), BlankNode("x")
    >>> matches([(a, p, x), (x, p, b)], [(a, p, a), (a, p, b)])
    True
    >>> matches([(a, p, x), (x, p, a)], [(a, p, b), (b, p, b)])
    False
    """

    def meant(triple: Triple) -> Meant:
        subject, predicate, object_ = (_denoted(term, recognised) for term in triple)
        return subject, predicate, object_

    return _match([meant(triple) for triple in conclusion], _Index(map(meant, triples)), {})


def _denoted(term: Term, recognised: Collection[str]) -> Hashable:
    """What a literal of a recognised datatype denotes; any other term as it is."""
    if isinstance(term, Literal) and term.datatype in recognised:
        return data_value(term) or term
    return term


class _Index:
    """Triples by what stands at each of the three places."""

    def __init__(self, triples: Iterable[Meant]) -> None:
        self._all = set(triples)
        self._at: dict[tuple[int, Hashable], set[Meant]] = defaultdict(set)
        for triple in self._all:
            for place, term in enumerate(triple):
                self._at[place, term].add(triple)

    def candidates(self, pattern: Meant, known: Mapping[Hashable, Hashable]) -> set[Meant]:
        """The triples that agree with what is known of the pattern."""
        terms = [known.get(term, term) for term in pattern]
        fixed = [
            self._at.get((place, term), set())
            for place, term in enumerate(terms)
            if not isinstance(term, BlankNode) or pattern[place] in known
        ]
        return set.intersection(*fixed) if fixed else self._all


def _match(wanted: list[Meant], facts: _Index, known: dict[Hashable, Hashable]) -> bool:
    if not wanted:
        return True
    found = [facts.candidates(pattern, known) for pattern in wanted]
    best = min(range(len(wanted)), key=lambda index: len(found[index]))
    rest = wanted[:best] + wanted[best + 1 :]
    for triple in found[best]:
        reading = dict(known)
        agrees = all(
            not isinstance(term, BlankNode) or reading.setdefault(term, value) == value
            for term, value in zip(wanted[best], triple, strict=True)
        )
        if agrees and _match(rest, facts, reading):
            return True
    return False
