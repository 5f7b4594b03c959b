"""Workloads: the same for the same seed, and of the shape their parameters say."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest

from ebbtide.program import Fact
from ebbtide.terms import IRI
from ebbtide.testing.workloads import (
    Workload,
    WorkloadError,
    cooling,
    isin,
    laser,
    lubm,
    mobility,
    taxonomy,
)

IS_IN = IRI("http://example/isIn")
TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def facts_of(workload: Workload) -> tuple[list[Fact], list[tuple[Fact, int]]]:
    return list(workload.background()), list(workload.stream())


@pytest.mark.parametrize("make", [isin, mobility, taxonomy])
def test_same_seed_same_facts(make):
    assert facts_of(make(seed=7)) == facts_of(make(seed=7))
    assert facts_of(make(seed=7)) != facts_of(make(seed=8))


@pytest.mark.parametrize("make", [isin, mobility, taxonomy])
def test_each_call_starts_from_the_beginning(make):
    workload = make()
    assert facts_of(workload) == facts_of(workload)


def depth_of(edges: dict[IRI, IRI], node: IRI) -> int:
    return 1 + depth_of(edges, edges[node]) if node in edges else 0


@pytest.mark.parametrize(("depth", "fanout"), [(1, 1), (1, 4), (3, 2), (4, 3), (6, 1)])
def test_isin_is_a_forest_of_full_trees(depth, fanout):
    edges_of_a_tree = sum(fanout**level for level in range(1, depth + 1))
    background, stream = facts_of(
        isin(facts=3 * edges_of_a_tree, depth=depth, fanout=fanout, background=0.3)
    )
    facts = background + [fact for fact, _ in stream]
    parents = {fact.terms[0]: fact.terms[2] for fact in facts}
    children = Counter(parents.values())
    assert {fact.terms[1] for fact in facts} == {IS_IN}
    assert len(parents) == len(set(facts)) == len(facts) == 3 * edges_of_a_tree
    assert max(depth_of(parents, node) for node in parents) == depth
    assert set(children.values()) == {fanout}
    assert len(set(children) - set(parents)) == 3


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_isin_background_share(share):
    background, stream = facts_of(isin(facts=200, background=share))
    assert len(background) == 200 * share
    assert len(background) + len(stream) == 200


@pytest.mark.parametrize("rate", [0.5, 10, 3000])
def test_isin_rate(rate):
    stream = list(isin(facts=100, background=0, rate=rate, start=5000).stream())
    instants = [at for _, at in stream]
    assert instants == sorted(instants)
    assert instants[0] == 5000
    assert instants[-1] == 5000 + math.floor(99 * 1000 / rate)


def test_mobility_everybody_reports_every_second():
    background, stream = facts_of(mobility(commuters=30, trains=4, seconds=20, start=60_000))
    kinds = {fact.terms[0]: fact.terms[2].value for fact in background if fact.terms[1] == TYPE}
    commuters = {thing for thing, kind in kinds.items() if kind.endswith("Commuter")}
    assert len(commuters) == 30
    for second in range(60, 80):
        reports = [fact for fact, at in stream if at // 1000 == second]
        assert {fact.terms[0] for fact in reports} >= commuters
        assert len(reports) <= 30 + 4


def test_mobility_stations_lead_to_regions():
    background = list(mobility().background())
    kinds = {fact.terms[0]: fact.terms[2].value for fact in background if fact.terms[1] == TYPE}
    inside = {fact.terms[0]: fact.terms[2] for fact in background if fact.terms[1] == IS_IN}
    stations = [thing for thing, kind in kinds.items() if kind.endswith("Station")]
    assert stations
    for station in stations:
        assert kinds[inside[station]].endswith("City")
        assert kinds[inside[inside[station]]].endswith("Region")


def test_mobility_moves():
    """Commuters change places, and trains stand at several stations."""
    places: dict[IRI, set[IRI]] = {}
    for fact, _ in mobility(seconds=120).stream():
        places.setdefault(fact.terms[0], set()).add(fact.terms[2])
    assert sum(len(seen) > 1 for seen in places.values()) > len(places) / 2


@pytest.mark.parametrize(("depth", "fanout"), [(1, 1), (3, 2), (50, 1), (2, 5)])
def test_taxonomy_is_a_tree_with_instances_at_its_leaves(depth, fanout):
    background, stream = facts_of(taxonomy(depth=depth, fanout=fanout, instances=40, rate=10))
    broader = {fact.terms[0]: fact.terms[2] for fact in background}
    assert len(broader) == len(background) == sum(fanout**n for n in range(1, depth + 1))
    for fact, _ in stream:
        assert depth_of(broader, fact.terms[2]) == depth
    assert len({fact.terms[0] for fact, _ in stream}) == 40
    assert stream[-1][1] == 3900


@pytest.mark.parametrize("make", [cooling, laser])
def test_atoms_same_seed_same_stream(make):
    assert list(make(seed=7)()) == list(make(seed=7)())
    assert list(make(seed=7)()) != list(make(seed=8)())


@pytest.mark.parametrize("make", [cooling, laser])
def test_atoms_at_every_time_point(make):
    points = list(make(rate=30, ticks=20, start=5)())
    assert [at for at, _ in points] == list(range(5, 25))
    assert {len(atoms) for _, atoms in points} == {30}


def test_cooling_freezes_and_boils():
    readings = [atom.arguments[0] for _, atoms in cooling()() for atom in atoms]
    assert min(readings) < 1
    assert max(readings) >= 150


def test_laser_atoms_come_once_or_again_and_again():
    for kind in ("diamond", "join"):
        atoms = [atom for _, atoms in laser(kind=kind)() for atom in atoms]
        assert len(set(atoms)) == len(atoms)
    again = Counter(atom for _, atoms in laser(kind="box", rate=50, ticks=100)() for atom in atoms)
    assert len(again) == 50
    assert max(again.values()) > 95
    assert sum(again.values()) < 5000


def test_laser_atoms_of_a_join_meet():
    atoms = [atom.arguments for _, atoms in laser(kind="join", rate=5, ticks=5)() for atom in atoms]
    assert all(left[1] == right[0] for left, right in pairwise(atoms))


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (isin, {"facts": -1}, "facts must be at least 0"),
        (isin, {"depth": 0}, "depth must be at least 1"),
        (isin, {"fanout": 0}, "fanout must be at least 1"),
        (isin, {"background": 1.5}, "between 0 and 1"),
        (isin, {"rate": 0}, "rate must be positive"),
        (cooling, {"rate": -1}, "rate must be at least 0"),
        (laser, {"kind": "square"}, "kind is one of diamond, box, join, not square"),
        (laser, {"ticks": -1}, "ticks must be at least 0"),
        (taxonomy, {"depth": 0}, "depth must be at least 1"),
        (taxonomy, {"rate": 0}, "rate must be positive"),
        (lubm, {"universities": -1}, "universities must be at least 0"),
        (lubm, {"every": 0}, "every must be at least 1"),
        (mobility, {"commuters": -1}, "commuters must be at least 0"),
        (mobility, {"seconds": -1}, "seconds must be at least 0"),
    ],
)
def test_impossible_parameters_are_refused(make, parameters, message):
    with pytest.raises(WorkloadError, match=message):
        make(**parameters)
