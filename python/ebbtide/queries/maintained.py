"""Relations that hold the solutions of a pattern, one fact a solution, with `until`.

    Maintained    in the view of a graph, by rules without negation
    Kept          above the views of one query, by rules and aggregates

A column has the term of one or several variables, or UNBOUND. Columns of no variable are witnesses:
they keep solutions apart that SPARQL counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ebbtide.program import Atom, Rule, Variable


class Column(NamedTuple):
    """Where the term of a variable stands, and whether it may be UNBOUND."""

    name: str
    place: int
    is_loose: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """A relation, and where it has the variables of a pattern."""

    relation: str
    columns: tuple[Column, ...]
    arity: int

    def column(self, name: str) -> Column | None:
        """The column of a variable, told with its question mark."""
        return next((each for each in self.columns if each.name == name[1:]), None)

    def place(self, name: str) -> int:
        """The place of a variable that it has."""
        column = self.column(name)
        assert column is not None, f"{self.relation} has no column for {name}"
        return column.place

    @property
    def is_table(self) -> bool:
        """Whether some column has a term in every row, so that SPARQL finds each row by it."""
        return not all(column.is_loose for column in self.columns)

    @property
    def node(self) -> tuple[Any, ...]:
        """The node of the algebra that stands for its solutions."""
        columns = [(f"?{name}", place, is_loose) for name, place, is_loose in self.columns]
        return "table", self.relation, self.arity, columns


@dataclass(frozen=True, slots=True)
class Maintained(Kept):
    """A pattern that a view keeps, and the rules that do."""

    rules: tuple[Rule, ...]

    @property
    def head(self) -> Atom:
        """An atom that every fact of the relation matches."""
        return Atom(self.relation, tuple(Variable(f"c{place}") for place in range(self.arity)))
