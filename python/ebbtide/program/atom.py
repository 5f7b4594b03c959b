"""Atoms and facts: a relation name and a tuple of arguments.

An argument of an atom is a term or a `Variable`; a `Fact` is an atom without variables, and it is
what streams carry and materialisations hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from ebbtide.program.origin import IN_PYTHON, Origin
from ebbtide.terms import Term, to_term

TRIPLE: Final = "triple"
#: The triples of named graphs: subject, predicate, object, graph.
QUAD: Final = "quad"


@dataclass(frozen=True, slots=True)
class Variable:
    """A named place for a term. Equal names within a rule are the same variable."""

    name: str

    def __str__(self) -> str:
        return f"?{self.name}"


Argument: TypeAlias = Term | Variable


class Fact(NamedTuple):
    """A relation and the terms it relates. RDF is the relation `triple`.

    >>> print(Fact.triple("<http://e/a>", "<http://e/isIn>", "<http://e/b>"))
    triple(<http://e/a>, <http://e/isIn>, <http://e/b>)
    """

    relation: str
    terms: tuple[Term, ...]

    @classmethod
    def of(cls, relation: str, *values: Any) -> Fact:
        """A fact of any relation; values become terms by `to_term`."""
        return cls(relation, tuple(to_term(value) for value in values))

    @classmethod
    def triple(cls, subject: Any, predicate: Any, object: Any) -> Fact:
        """A fact of the relation `triple`."""
        return cls.of(TRIPLE, subject, predicate, object)

    @classmethod
    def quad(cls, subject: Any, predicate: Any, object: Any, graph: Any) -> Fact:
        """A fact of the relation `quad`: a triple of a named graph."""
        return cls.of(QUAD, subject, predicate, object, graph)

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(term.text for term in self.terms)})"


@dataclass(frozen=True, slots=True)
class Atom:
    """A pattern over one relation: `relation(arguments)`."""

    relation: str
    arguments: tuple[Argument, ...]
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)

    def variables(self) -> Iterator[Variable]:
        """The variables, in the order of their places, repetitions included."""
        return (argument for argument in self.arguments if isinstance(argument, Variable))

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class Negation:
    """True while no fact matches the atom.

    A variable that occurs in no positive atom is local to the negation: `not p(?x, ?any)`.
    """

    atom: Atom

    @property
    def origin(self) -> Origin:
        """The atom's."""
        return self.atom.origin

    def __str__(self) -> str:
        return f"not {self.atom}"
