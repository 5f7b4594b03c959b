"""Shards without Spark: whatever the cache knows, they say together what one reasoner says."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.benches.pipeline.shards import Kept
from ebbtide.pipeline.checkpoint import Plan
from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.placements import shard as shard_module
from ebbtide.pipeline.placements.routing import Routing
from ebbtide.pipeline.placements.shard import Shards
from ebbtide.pipeline.placements.sharded import routing_of
from ebbtide.pipeline.units.pieces import setting
from ebbtide.pipeline.units.rules import Rules
from ebbtide.reasoner.intake import as_program
from ebbtide.time import Count, Sliding, Tumbling, WindowError

from .stream import in_order

WINDOW = Sliding(3_000)
CAMPUS = Path(__file__).parent / "campus.ttl"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def unit_of(window: Any = WINDOW, rules: str = "rdfs-sparkwave") -> Rules:
    return Rules(as_program(rules), {"default": window}, background=[CAMPUS], lateness=500)


def table_of(facts: list[tuple[int, str, str, str]]) -> Any:
    rows = [
        {"stream": "default", "source": "", "line": None, "t": t, "s": s, "p": p, "o": o}
        for t, s, p, o in facts
    ]
    kinds = {"line": pa.int32(), "t": pa.int64()}
    names = ("stream", "source", "line", "t", "s", "p", "o")
    return pa.Table.from_pylist(rows, pa.schema([(n, kinds.get(n, pa.string())) for n in names]))


e = "<http://e/{}>".format
facts = st.lists(
    st.tuples(
        st.integers(0, 20_000),
        st.sampled_from([e(f"x{i}") for i in range(6)]),
        st.sampled_from([e("teaches"), e("heads"), e("knows")]),
        st.sampled_from([e(f"x{i}") for i in range(6)]),
    )
    | st.tuples(
        st.integers(0, 20_000),
        st.sampled_from([e(f"x{i}") for i in range(6)]),
        st.just(TYPE),
        st.sampled_from([e("Student"), e("Dean")]),
    ),
    min_size=1,
    max_size=8,
)
windows = st.sampled_from([Sliding(3_000), Tumbling(4_000), Sliding(500)])


@settings(max_examples=25)
@given(batches=st.lists(facts, min_size=1, max_size=6), shards=st.integers(1, 4), seed=st.integers(), window=windows)  # fmt: skip  # noqa: E501
def test_shards_say_together_what_one_unit_says(
    batches: list[list[Any]], shards: int, seed: int, window: Any
) -> None:
    whole = unit_of(window)
    whole.begin()
    unit = unit_of(window)
    routing = routing_of(unit, shards)
    states = [Kept() for _ in range(shards)]
    # Two processes, each with its own cache; a shard meets either.
    jobs = [Shards(f"{seed} {process}", unit.portable(), unit.windows) for process in range(2)]
    chance = random.Random(seed)
    for batch in batches:
        table = table_of(batch)
        fed = whole.feed({"default": table})
        expected = fed.rows["rules"].to_pylist()
        routed = pa.Table.from_batches(list(routing.route(table.to_batches())))
        told, late = [], []
        for shard, state in enumerate(states):
            mine = routed.filter(pa.compute.equal(routed["shard"], shard))
            rows, dead, _ = chance.choice(jobs).feed(shard, state, mine)
            told += routing.at_home(rows, shard).to_pylist()
            late += [r for t in dead.values() for r in routing.at_home(t, shard).to_pylist()]
        assert in_order(told) == in_order(expected)
        assert len(late) == len(fed.late["default"])


def test_a_shard_notes_what_it_holds_its_ticks_and_what_is_wrong() -> None:
    unit = unit_of(rules="[never: (?x <http://e/p> <http://e/no>) -> false]")
    routing = routing_of(unit, 1)
    batch = table_of([(1_000, e("x"), e("p"), e("no")), (3_500, e("x"), e("p"), e("y"))])
    routed = pa.Table.from_batches(list(routing.route(batch.to_batches())))
    note = Shards("note", unit.portable(), unit.windows).feed(0, Kept(), routed).note
    assert (note["shard"], note["tick"], len(note["tick_seconds"])) == (0, 2_000, 2)
    assert note["holding"] >= 1
    (event,) = note["events"]
    assert event.startswith("1000: ")
    assert "never" in event


def test_idle_shards_tick_with_the_others() -> None:
    """All facts are about one subject; what is in another shard leaves at the same batch."""
    unit = unit_of(rules="[r: (?x <http://e/p> ?y) -> (?x <http://e/q> ?y)]")
    routing = routing_of(unit, 4)
    work, states = Shards("idle", unit.portable(), unit.windows), [Kept() for _ in range(4)]
    homes = [routing.shard_of(pa.array([e(f"x{i}")]))[0].as_py() for i in range(20)]
    busy, idle = e("x0"), e(f"x{next(i for i in range(20) if homes[i] != homes[0])}")
    told: list[list[dict[str, Any]]] = []
    for at, subject in ((1_000, idle), (3_000, busy), (6_000, busy)):
        batch = table_of([(at, subject, e("p"), e("y"))])
        routed = pa.Table.from_batches(list(routing.route(batch.to_batches())))
        rows: list[dict[str, Any]] = []
        for shard, state in enumerate(states):
            mine = routed.filter(pa.compute.equal(routed["shard"], shard))
            assert mine.num_rows
            rows += routing.at_home(work.feed(shard, state, mine)[0], shard).to_pylist()
        told.append(rows)
    left = [row for row in told[-1] if row["op"] == "-"]
    assert {(row["t"], row["s"], row["p"]) for row in left} == {
        (4_000, idle, e("p")),
        (4_000, idle, e("q")),
    }
    # Time stands at the same place everywhere.
    clocks = [json.loads(state.head() or "")["clock"]["ticks"] for state in states]
    assert all(clock == clocks[0] for clock in clocks)
    shard_module._cache.clear()


def test_the_state_of_another_cut_is_refused() -> None:
    unit = unit_of()
    routing = routing_of(unit, 1)
    batch = table_of([(1_000, e("x"), e("knows"), e("y"))])
    routed = pa.Table.from_batches(list(routing.route(batch.to_batches())))
    state = Kept()
    Shards("one", unit.portable(), unit.windows, {"shards": "2"}).feed(0, state, routed)
    with pytest.raises(PipelineError, match=r"another query: its shards is 2, not 3"):
        Shards("two", unit.portable(), unit.windows, {"shards": "3"}).feed(0, state, routed)
    # With what the plans were made of, it is told in words.
    plans = [Plan.of([setting("the number of shards", number)]) for number in (2, 3)]
    state = Kept()
    Shards("one", unit.portable(), unit.windows, {"shards": "2"}, plans[0]).feed(0, state, routed)
    other = Shards("two", unit.portable(), unit.windows, {"shards": "3"}, plans[1])
    with pytest.raises(PipelineError, match=r"another query: the number of shards was 2, is 3;"):
        other.feed(0, state, routed)


def test_pages_are_dropped_when_their_facts_are_over() -> None:
    unit = unit_of(Sliding(1_000))
    routing = routing_of(unit, 1)
    work, state = Shards("pages", unit.portable(), unit.windows), Kept()
    for second in range(20):
        batch = table_of([(1_000 * second, e("x"), e("knows"), e(f"y{second}"))])
        work.feed(0, state, pa.Table.from_batches(list(routing.route(batch.to_batches()))))
        assert len(list(state.pages())) <= 4
    shard_module._cache.clear()


def test_what_cannot_be_sharded_is_refused() -> None:
    rules = "[t: (?x <http://e/in> ?y), (?y <http://e/in> ?z) -> (?x <http://e/in> ?z)]"
    with pytest.raises(PipelineError, match=r"t \(<rules>:1:1\): global: .* does not have \?x"):
        routing_of(unit_of(rules=rules), 2)
    assert routing_of(unit_of(rules=rules), 1).shards == 1
    with pytest.raises(WindowError, match="count window"):
        Shards("count", unit_of(), {"default": Count(3)})


def test_schema_must_not_come_on_a_stream() -> None:
    routing: Routing = routing_of(unit_of(), 2)
    sub = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    batch = table_of([(1, e("Dean"), sub, e("Teacher"))])
    with pytest.raises(ValueError, match="schema must be in the background of shards"):
        list(routing.route(batch.to_batches()))
