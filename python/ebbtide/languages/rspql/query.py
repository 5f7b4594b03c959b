"""A continuous query: what is registered, over which windows, and the SPARQL it asks at each tick.

In: nothing; these are the shapes that the grammar fills and the room `queries` runs. The clauses
about streams are taken apart, the body is SPARQL as it stands: `WINDOW <w> { }` has become
`GRAPH <w> { }`, so `text` is a query that SPARQL's own parser reads, and `algebra` is what it read.

Invariant: windows with a name are graphs of their own; the others together are the default graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from ebbtide.program import IN_PYTHON, Origin
from ebbtide.terms import IRI

Form: TypeAlias = Literal["select", "construct", "ask", "describe"]
Emits: TypeAlias = Literal["RStream", "IStream", "DStream"]
Registers: TypeAlias = Literal["query", "stream"]

#: The word that asks another server.
SERVICE: Final = "SERVICE"
#: The function `f:timestamp(?s, ?p, ?o)` of C-SPARQL.
TIMESTAMP: Final = IRI("http://larkc.eu/csparql/sparql/jena/ext#timestamp")


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Facts of the last `range` milliseconds, told every `step`.

    `bounds` say which end belongs to it: `(]` is (t - range, t], of C-SPARQL; `[)` is
    [t - range, t), of RSP-QL, where t is the instant at which the window closes.
    """

    range: int
    step: int
    bounds: Literal["(]", "[)"] = "(]"


@dataclass(frozen=True, slots=True)
class CountWindow:
    """The last `size` facts of the stream; it moves by `step` of them."""

    size: int
    step: int = 1


QueryWindow: TypeAlias = TimeWindow | CountWindow


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """A window on a stream. With a name it is a graph; without, part of the default graph."""

    stream: IRI
    name: IRI | None
    window: QueryWindow
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ContinuousQuery:
    """A registered query.

    `name` is what it was registered as; a query that registers a `stream` is known by it. `every`
    is COMPUTE EVERY in milliseconds; None leaves the ticks to the windows. `graphs` and
    `named_graphs` are the static data of FROM and FROM NAMED. `timestamps`: the body calls
    `TIMESTAMP`. `places` are those of static graphs and of `SERVICE`; `doubts` are sentences about
    what silently answers nothing, each with its place.
    """

    name: str
    form: Form
    emits: Emits
    registers: Registers
    every: int | None
    streams: tuple[StreamWindow, ...]
    graphs: tuple[IRI, ...]
    named_graphs: tuple[IRI, ...]
    text: str
    algebra: tuple[Any, ...]
    timestamps: bool = False
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)
    places: Mapping[IRI | str, Origin] = field(default_factory=dict, compare=False, repr=False)
    doubts: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def place(self, what: IRI | str) -> Origin:
        """Where something stands in the text, if that is known; else where the query does."""
        return self.places.get(what, self.origin)
