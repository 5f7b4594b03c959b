"""Queries that come, rest and go, whoever else looks at their views, answer as if asked anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st
from tests.properties.query_cases import (
    CASES,
    NODES,
    STREAMS,
    WINDOWS,
    Case,
    E,
    csparql,
    opened,
    query_of,
    shuffled,
    tell,
    told,
    wider,
)

from ebbtide.languages.rspql import ContinuousQuery, StreamWindow
from ebbtide.program import Fact
from ebbtide.queries import Answers, QueryEngine, RegisteredQuery
from ebbtide.terms import IRI

PLAIN = "SELECT ?x ?y WHERE { ?x <http://e/p> ?y }"
PLAIN_EVENTS = st.tuples(
    st.builds(lambda s, o: Fact.triple(s, IRI(E + "p"), o), NODES, NODES), st.integers(0, 24)
)


@dataclass(frozen=True)
class Deed:
    """Something is done with one of the queries: before an event, or while another is told."""

    what: str
    query: int
    event: int
    #: Whose answers are being told.
    teller: int | None


DEEDS = st.lists(
    st.builds(
        Deed,
        st.sampled_from(["register", "register", "pause", "resume", "drop", "drop"]),
        st.integers(0, 3),
        st.integers(0, 24),
        st.sampled_from([None, 0, 1, 2]),
    ),
    max_size=8,
)


@st.composite
def variants(draw: st.DrawFn, base: ContinuousQuery, is_plain: bool) -> ContinuousQuery:
    """A query through windows like those of another one."""
    found = wider(base, draw(st.sampled_from([0, 0, 1, 4])))
    emits = st.sampled_from(["IStream", "IStream", "IStream", "RStream", "DStream"])
    found = replace(found, emits=draw(emits))
    if is_plain and draw(st.integers(0, 3)):
        return found
    if all(each.name is None for each in base.streams) and draw(st.booleans()):
        other = draw(csparql())
        fields = ("form", "text", "algebra", "named_graphs")
        found = replace(found, **{name: getattr(other, name) for name in fields})
    return replace(found, every=draw(st.sampled_from([base.every, base.every, 2])))


@st.composite
def lives(draw: st.DrawFn) -> tuple[Case, list[ContinuousQuery], list[Deed]]:
    """Some queries, and what is done with them while the stream runs."""
    case = draw(CASES)
    is_plain = draw(st.booleans())
    if is_plain:
        # What a view keeps as it is, so that several queries may be its guests.
        window = StreamWindow(STREAMS[0], None, draw(WINDOWS))
        case.query = query_of("q", PLAIN, [window], None)
        case.streams[STREAMS[0]] += draw(st.lists(PLAIN_EVENTS, min_size=4, max_size=12))
    queries = [
        replace(draw(variants(case.query, is_plain)), name=f"q{number}")
        for number in range(draw(st.integers(2, 4)))
    ]
    return case, queries, draw(DEEDS)


class House:
    """An engine, and the queries that live in it."""

    def __init__(self, engine: QueryEngine, queries: list[ContinuousQuery]) -> None:
        self.engine = engine
        self.queries = queries
        self.alive: dict[int, RegisteredQuery] = {}
        self.told: list[list[Any]] = [[] for _ in queries]
        self.waiting: list[Deed] = []
        for number in range(len(queries)):
            self.register(number)

    def register(self, number: int) -> None:
        handle = self.engine.register(self.queries[number])
        self.alive[number] = handle
        handle.subscribe(self.telling(number))

    def telling(self, number: int) -> Callable[[Answers], None]:
        def tell(answers: Answers) -> None:
            self.told[number].append((answers.tick, told(answers)))
            due = [deed for deed in self.waiting if deed.teller == number]
            for deed in due:
                self.waiting.remove(deed)
                self.do(deed)

        return tell

    def do(self, deed: Deed) -> None:
        number = deed.query % len(self.queries)
        handle = self.alive.get(number)
        match deed.what:
            case "register" if handle is None:
                self.register(number)
            case "pause" | "resume" if handle is not None:
                getattr(handle, deed.what)()
            case "drop" if handle is not None:
                del self.alive[number]
                handle.drop()


def lived(
    case: Case,
    queries: list[ContinuousQuery],
    deeds: list[Deed],
    events: list[Any],
    **settings: Any,
) -> list[list[Any]]:
    house = House(opened(case, **settings), queries)
    for number, (stream, fact, at) in enumerate(events):
        for deed in deeds:
            if deed.event == number:
                if deed.teller is None:
                    house.do(deed)
                else:
                    house.waiting.append(deed)
        tell(house.engine, stream, fact, at)
    house.engine.finish()
    return house.told


@given(lives(), st.randoms(use_true_random=False), st.integers(0, 6))
def test_queries_in_company_answer_as_if_they_were_asked_anew(
    life: tuple[Case, list[ContinuousQuery], list[Deed]], random: Random, lateness: int
) -> None:
    case, queries, deeds = life
    events = shuffled(case, random, lateness)
    for query in queries:
        note(f"{query.name} {query.emits} {query.every} {query.streams} {query.text}")
    note(f"{events}")
    kept, anew = (
        lived(case, queries, deeds, events, lateness=lateness, incremental=yes, lazy=yes)
        for yes in (True, False)
    )
    assert kept == anew
