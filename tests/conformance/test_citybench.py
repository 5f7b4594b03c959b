"""CityBench: its C-SPARQL queries on its streams answer what the oracle does, at every tick.

The benchmark's own player turns a row of a stream into observations: one a property that the sensor
observes, with a value of the row. There are no instants within the windows' reach in the samples (a
row every five minutes, windows of three seconds), so that the player sets the pace; here a row is
played every 1.6 s. Of each stream the first rows are played, as many as `EBBTIDE_CITYBENCH_ROWS`
says. Of the sensor repository, what concerns the sensors of the samples is used: rdflib, the
oracle's engine, needs minutes a tick for the rest. It needs hours for all rows too, so that those
are played (by `make conformance`) against a store of pyoxigraph, on windows cut by definition.
"""

from __future__ import annotations

import csv
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
from tests.conformance.data import ABSENT, FOLDER

from ebbtide.languages.rspql import (
    ContinuousQuery,
    StreamWindow,
    TimeWindow,
    load_continuous_query,
)
from ebbtide.program import Fact, Program
from ebbtide.queries import Answers, QueryEngine
from ebbtide.terms import IRI, BlankNode, Term, parse_term
from ebbtide.terms.formats import read_triples
from ebbtide.testing.query_oracle import Timed, answers, comparable, dataset_at

CITYBENCH = FOLDER / "citybench"
QUERIES = sorted((CITYBENCH / "csparql_query").glob("*.rq"))
SERVICE = "http://www.insight-centre.org/dataset/SampleEventService#"
SSN, SAO = "http://purl.oclc.org/NET/ssnx/ssn#", "http://purl.oclc.org/NET/sao/"
CITY = "http://www.insight-centre.org/citytraffic#"
TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
PACE = 1_600
ROWS = int(os.environ.get("EBBTIDE_CITYBENCH_ROWS", "8"))
ALL_ROWS = int(os.environ.get("EBBTIDE_CITYBENCH_ALL_ROWS", "0"))

pytestmark = pytest.mark.skipif(not QUERIES, reason=ABSENT)


@cache
def repository() -> tuple[Fact, ...]:
    path = CITYBENCH / "dataset" / "SensorRepository.n3.gz"
    return tuple(Fact.triple(*triple) for triple in read_triples(path, "ttl"))


@cache
def events() -> tuple[Fact, ...]:
    path = CITYBENCH / "dataset" / "AarhusCulturalEvents.n3"
    facts = [Fact.triple(*triple) for triple in read_triples(path, "ttl")]
    nodes = {fact.terms[2] for fact in facts if fact.terms[1] == IRI(CITY + "hasFirstNode")}
    places = {fact.terms[0] for fact in facts if fact.terms[2] in sorted(nodes, key=str)[:5]}
    points = {fact.terms[0] for fact in facts if fact.terms[2] in places}
    kept = nodes | places | points
    return tuple(fact for fact in facts if fact.terms[0] in kept)


def sensors() -> list[str]:
    return [path.stem for path in sorted((CITYBENCH / "streams-sample").glob("*.csv"))]


@cache
def known() -> tuple[Fact, ...]:
    """What the repository says of the sensors: two steps from each."""
    reached: set[Term] = {IRI(SERVICE + name) for name in sensors()}
    for _ in range(2):
        reached |= {
            fact.terms[2]
            for fact in repository()
            if fact.terms[0] in reached and isinstance(fact.terms[2], IRI | BlankNode)
        }
    return tuple(fact for fact in repository() if fact.terms[0] in reached)


def observations(stream: IRI, most: int = ROWS) -> Iterator[Timed]:
    """The stream of a sensor, as the benchmark plays it."""
    name = stream.value.removeprefix(SERVICE)
    properties = sorted(
        (
            fact.terms[2]
            for fact in known()
            if fact.terms[0] == stream and fact.terms[1] == IRI(SSN + "observes")
        ),
        key=str,
    )
    if "Pollution" in name:
        # One index for all pollutants: the queries multiply what they see by each other.
        properties = properties[:1]
    path = CITYBENCH / "streams-sample" / f"{name}.csv"
    for number, values in enumerate(rows(path, most)):
        at = number * PACE
        for place, observed in enumerate(properties):
            node = IRI(f"{stream.value}-{number}-{place}")
            value: Any = values[place % len(values)]
            if isinstance(value, tuple):
                location = BlankNode(f"{name}-{number}")
                for which, degrees in zip(("hasLatitude", "hasLongitude"), value, strict=True):
                    yield Fact.triple(location, IRI(CITY + which), degrees), at
                value = location
            yield Fact.triple(node, TYPE, IRI(SSN + "Observation")), at
            yield Fact.triple(node, IRI(SSN + "observedProperty"), observed), at
            yield Fact.triple(node, IRI(SSN + "observedBy"), stream), at
            yield Fact.triple(node, IRI(SAO + "hasValue"), value), at


def rows(path: Path, most: int) -> Iterable[list[Any]]:
    with path.open() as text:
        if path.stem == "UserLocationService":
            for line in text.readlines()[:most]:
                latitude, longitude = line.split("|")[1].split(",")
                yield [(float(latitude), float(longitude))]
            return
        for _, row in zip(range(most), csv.DictReader(text), strict=False):
            numbers = [value for value in row.values() if value.replace(".", "", 1).isdigit()]
            yield [float(value) for value in numbers]


def told(each: Answers) -> list[Any]:
    if each.form == "ask":
        return [each.truth]
    return comparable([[text and parse_term(text) for text in row] for row in each.rows])


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_answers_are_the_oracle_s(path: Path) -> None:
    query: ContinuousQuery = load_continuous_query(path)
    needs_events = any("Events" in graph.value for graph in query.graphs)
    background = [*known(), *(events() if needs_events else ())]
    streams = {window.stream: list(observations(window.stream)) for window in query.streams}
    assert all(streams.values())
    engine = QueryEngine(background=background)
    handle = engine.register(query)
    for at, stream, fact in sorted(
        ((at, stream, fact) for stream, timed in streams.items() for fact, at in timed),
        key=lambda each: each[0],
    ):
        engine.push(stream, fact, at)
    engine.finish()
    reported = list(handle)
    assert len(reported) > 4
    for each in reported:
        graphs = dataset_at(query, Program(), {None: background}, streams, each.tick)
        assert told(each) == answers(query, graphs), each.tick


@pytest.mark.skipif(not ALL_ROWS, reason="make conformance plays all rows")
@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_answers_are_those_of_another_store(path: Path) -> None:
    query = load_continuous_query(path)
    background = {*known(), *events()}
    streams = {each.stream: list(observations(each.stream, ALL_ROWS)) for each in query.streams}
    engine = QueryEngine(background=background)
    store = pyoxigraph.Store()
    store.extend(map(quad, background))
    windows = [Cut(each, streams[each.stream]) for each in query.streams]
    ticks = 0

    def compare(each: Answers) -> None:
        nonlocal ticks
        ticks += 1
        held = {fact for window in windows for fact in window.at(each.tick)} - background
        store.extend(map(quad, held))
        assert told(each) == found_by(store, query), each.tick
        for fact in held:
            store.remove(quad(fact))

    engine.register(query).subscribe(compare)
    timed = ((at, stream, fact) for stream, facts in streams.items() for fact, at in facts)
    for at, stream, fact in sorted(timed, key=lambda each: each[0]):
        engine.push(stream, fact, at)
    engine.finish()
    assert ticks >= min(len(facts) for facts in streams.values()) / 20


class Cut:
    """What a window (t - range, t] holds of facts that are in order."""

    def __init__(self, window: StreamWindow, timed: Sequence[Timed]) -> None:
        assert isinstance(window.window, TimeWindow)
        self._window = window.window
        self._facts = [fact for fact, _ in timed]
        self._instants = [at for _, at in timed]

    def at(self, tick: int) -> list[Fact]:
        close = tick - tick % self._window.step
        opened, closed = (
            bisect_right(self._instants, at) for at in (close - self._window.range, close)
        )
        return self._facts[opened:closed]


def quad(fact: Fact) -> Any:
    line = " ".join(term.text for term in fact.terms)
    (found,) = pyoxigraph.parse(f"{line} .", pyoxigraph.RdfFormat.N_TRIPLES)
    return found


def found_by(store: Any, query: ContinuousQuery) -> list[Any]:
    answers = store.query(query.text)
    if query.form == "ask":
        return [bool(answers)]
    return comparable([[each and parse_term(str(each)) for each in row] for row in answers])


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_answers_on_the_whole_repository(path: Path) -> None:
    query = load_continuous_query(path)
    told = []
    for incremental in (True, False):
        engine = QueryEngine(background=[*repository(), *events()], incremental=incremental)
        handle = engine.register(query)
        timed = [
            (at, stream, fact)
            for stream in {window.stream for window in query.streams}
            for fact, at in observations(stream)
        ]
        for at, stream, fact in sorted(timed, key=lambda each: each[0]):
            engine.push(stream, fact, at)
        engine.finish()
        told.append([(each.tick, each.in_order().rows) for each in handle])
    assert told[0] == told[1]
