"""A LARS program as a program of the house, and how its input becomes facts of that program.

`Lowered` is what `lower` makes. Whoever runs it states each input atom where `routes` and `tallies`
say, and tells the time where `clocks` say.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from ebbtide.languages.lars.formula import Collected, LarsRule
from ebbtide.program import Fact, Program, Variable
from ebbtide.terms import IRI, Literal, Term
from ebbtide.time import Window

#: The stream whose window shows the present, and the one that shows everything.
NOW: Final = "0"
EVER: Final = "ever"
#: Holds while a head falls outside the timeline, so that there is no answer stream.
OUTSIDE: Final = "outside"
#: Fills the columns that an atom in a count window over the whole stream does not need.
PAD: Final = IRI("")
#: Ends the name of a rule for the positive part of a body, where that stands on its own.
BODY: Final = " body"
#: Ends the name of the relation of what an aggregate collects, after that of its results.
MEMBERS: Final = " members"


@dataclass(frozen=True, slots=True)
class Route:
    """Where input atoms go: a relation on a stream, with the time point in front if `stamped`."""

    stream: str
    relation: str
    stamped: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """Where every input atom goes, for a count window over the whole stream.

    Its relation has `width` columns: the predicate, the time point if `stamped`, the arguments.
    """

    route: Route
    width: int


@dataclass(frozen=True, slots=True)
class Clock:
    """A relation of time points, fed one a tick: `kind` is point, link (T before U) or first.

    A `first` clock says the first time point of its window, which reaches `back` from now.
    """

    stream: str
    relation: str
    kind: str = "point"
    back: int = 0


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a relation says: `kind` is now, in, at, always, known, tally, tally at or clock.

    A tally has atoms of every predicate, whose name they begin with.
    """

    kind: str
    predicate: str
    window: str = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a count window has: the relation of its atoms, the places that make groups, its size."""

    relation: str
    places: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Result:
    """What a relation of an aggregate's results says: the variables of its groups, then `part`."""

    group: tuple[Variable, ...]
    part: Collected


@dataclass
class Lowered:
    """A program, and how input becomes facts of its relations."""

    program: Program = field(default_factory=Program)
    streams: dict[str, Window] = field(default_factory=dict)
    routes: dict[str, list[Route]] = field(default_factory=lambda: defaultdict(list))
    tallies: list[Tally] = field(default_factory=list)
    clocks: list[Clock] = field(default_factory=list)
    #: The relation of each intensional predicate that says what holds now.
    outputs: dict[str, str] = field(default_factory=dict)
    #: The predicates whose relation has the time point in front: of it, only the present counts.
    stamped: set[str] = field(default_factory=set)
    background: list[Fact] = field(default_factory=list)
    #: The predicates that are one extended atom by another name, with the rule that says so.
    copies: dict[str, LarsRule] = field(default_factory=dict)
    #: What the relations say, as far as people want to know.
    meanings: dict[str, Meaning] = field(default_factory=dict)
    #: For the relation of each box over a count window, what is in there, with its time points.
    boxes: dict[str, Counted] = field(default_factory=dict)
    #: What the relations of aggregates say.
    results: dict[str, Result] = field(default_factory=dict)

    @property
    def has_outside(self) -> bool:
        """Whether a head can fall outside the timeline."""
        return OUTSIDE in self.program.relations


def padded_terms(terms: tuple[Term, ...], width: int) -> tuple[Term, ...]:
    """The columns of an atom in a tally; what no rule reads and is too long is one text."""
    if len(terms) > width:
        rest = Literal(" ".join(term.text for term in terms[width - 1 :]))
        return (*terms[: width - 1], rest)
    return (*terms, *(PAD,) * (width - len(terms)))
