"""What a continuous query must answer at a tick, by definition: slow, and obviously right.

The timed facts that were ever pushed and retracted are kept. At a tick each window is cut out of
them as its language says, each graph is closed by the reference engine, and rdflib, an independent
engine, answers the SPARQL of the query on that. Nothing is shared with the room `queries` but the
shapes of `languages.rspql`.

A retraction at r takes back, from r on, what was stated up to r, and background. It is seen by the
first tick that sees r, also by windows that are between their closes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ebbtide.engines.reference import ReferenceEngine
from ebbtide.languages.rspql import ContinuousQuery, CountWindow, StreamWindow, TimeWindow
from ebbtide.program import TRIPLE, Fact, Program
from ebbtide.terms import IRI, BlankNode, Literal, Term, to_rdflib, to_term
from ebbtide.terms.term import XSD
from ebbtide.time import EARLIEST, Instant

Timed = tuple[Fact, Instant]


def in_window(
    window: StreamWindow,
    events: Iterable[Timed],
    t: Instant,
    t0: Instant,
    retractions: Sequence[Timed] = (),
) -> list[Fact]:
    """The facts that a window holds, seen at t, when windows are aligned to t0.

    The retractions are those that are seen at t.
    """
    if isinstance(window.window, CountWindow):
        return _last(window.window, [each for each in events if each[1] <= t], retractions)
    found = in_time_window(window.window, events, t, t0)
    return [fact for fact, at in found if not is_retracted(fact, at, retractions)]


def in_time_window(
    window: TimeWindow, events: Iterable[Timed], t: Instant, t0: Instant
) -> list[Timed]:
    """What happened within a window, seen at t, when windows are aligned to t0."""
    if window.bounds == "(]":
        end = t - (t - t0) % window.step
        return [(fact, at) for fact, at in events if end - window.range < at <= end]
    close = t - (t - t0 - window.range) % window.step
    return [(fact, at) for fact, at in events if close - window.range <= at < close]


def is_retracted(fact: Fact, at: Instant, retractions: Iterable[Timed]) -> bool:
    """Whether a fact that was stated at an instant was taken back then or later."""
    return any(fact == other and at <= taken_back for other, taken_back in retractions)


def _last(window: CountWindow, events: Iterable[Timed], retractions: Iterable[Timed]) -> list[Fact]:
    """What is left of the last ones: what was pushed out of a window does not come back.

    What happened since the window moved on last waits.
    """
    said = {(at, False, str(fact), fact) for fact, at in events}
    said |= {(at, True, str(fact), fact) for fact, at in retractions}
    held: list[Fact] = []
    waiting: list[Fact] = []
    for _, is_taken_back, _, fact in sorted(said):
        if is_taken_back:
            held = [other for other in held if other != fact]
            waiting = [other for other in waiting if other != fact]
        else:
            waiting.append(fact)
        if len(waiting) == window.step:
            held, waiting = [*held, *waiting][-window.size :], []
    return held


def closed(program: Program, facts: Iterable[Fact]) -> set[Fact]:
    """The triples that follow from some facts, these included."""
    if not program.rules:
        return set(facts)
    engine = ReferenceEngine(program, {})
    for fact in facts:
        engine.add(fact)
    engine.advance(0)
    return set(engine.facts([TRIPLE]))


def dataset_at(
    query: ContinuousQuery,
    program: Program,
    statics: Mapping[IRI | None, Sequence[Fact]],
    streams: Mapping[IRI, Sequence[Timed]],
    t: Instant,
    t0: Instant = 0,
    retractions: Iterable[Timed] = (),
) -> dict[IRI | None, set[Fact]]:
    """The graphs that a query sees at t; that of None is the default graph."""
    windows = [each.window for each in query.streams]
    # A query of windows [open, close) does not see its tick itself.
    is_open = any(isinstance(each, TimeWindow) and each.bounds == "[)" for each in windows)
    seen = [(fact, at) for fact, at in retractions if at <= (t - 1 if is_open else t)]

    def static(name: IRI | None) -> list[Fact]:
        return [fact for fact in statics.get(name, ()) if not is_retracted(fact, EARLIEST, seen)]

    background = [fact for name in (None, *query.graphs) for fact in static(name)]
    contents: dict[IRI | None, list[Fact]] = {None: []}
    for window in query.streams:
        found = in_window(window, streams.get(window.stream, ()), t, t0, seen)
        contents.setdefault(window.name, []).extend(found)
    graphs = {
        name: closed(program, [*facts, *(background if program.rules or name is None else ())])
        for name, facts in contents.items()
    }
    for name in query.named_graphs:
        graphs[name] = closed(program, static(name))
    return graphs


def answers(query: ContinuousQuery, graphs: Mapping[IRI | None, set[Fact]]) -> list[Any]:
    """What rdflib answers: rows of comparable values, sorted; triples; or a truth in a list."""
    import rdflib

    dataset = rdflib.Dataset(default_union=False)
    for name, facts in graphs.items():
        graph = dataset.default_graph if name is None else dataset.graph(rdflib.URIRef(name.value))
        for fact in facts:
            graph.add(tuple(map(to_rdflib, fact.terms)))
    result: Any = dataset.query(query.text)
    match result.type:
        case "ASK":
            return [bool(result.askAnswer)]
        case "SELECT":
            names = [str(name) for name in result.vars or ()]
            rows = [[row[name] for name in names] for row in result]
            return comparable([[None if v is None else to_term(v) for v in row] for row in rows])
        case _:
            return comparable([[to_term(v) for v in row] for row in result.graph or ()])


def comparable(rows: Iterable[Sequence[Term | None]]) -> list[Any]:
    """Rows in an order of their own, numbers by value: engines write one number differently.

    rdflib leaves out solutions that bind nothing, so they are left out here.
    """
    bound = (row for row in rows if any(term is not None for term in row))
    return sorted((tuple(map(_comparable, row)) for row in bound), key=repr)


def _comparable(term: Term | None) -> Any:
    match term:
        case Literal(lexical, datatype) if datatype in _NUMBERS:
            number = Decimal(lexical)
            return (
                "number",
                f"{round(number, 9).normalize():f}" if number.is_finite() else lexical,
            )
        case None:
            return ("unbound", "")
        case BlankNode():
            return ("blank", "")
    return ("term", term.text)


_NUMBERS = {XSD + name for name in ("integer", "decimal", "double", "float", "int", "long")}
