"""`ebbtide bench`: a quick run from end to end, what it writes, and how goals are judged."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("psutil")

import pyarrow.compute as pc
from tests.quick_bench import Run, quick_bench

from ebbtide.benches.imars import MEASUREMENTS
from ebbtide.benches.imars.feed import Tick
from ebbtide.benches.imars.settings import Settings
from ebbtide.benches.imars.share import Disagreement, agree
from ebbtide.benches.report import markdown, tables, verdict
from ebbtide.benches.results import Goal, Measurement, Results
from ebbtide.cli.bench.imars import Measured
from ebbtide.testing.workloads import WorkloadError
from ebbtide.testing.workloads.isin_arrow import IsInTables

FIELDS = "name", "parameters", "value", "unit", "mean", "ratio", "ratio_of", "goal", "passed"


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return quick_bench("imars", tmp_path_factory.mktemp("bench") / "report")


def test_what_is_written(quick: Run) -> None:
    pictures = {f"{name}.png" for name in MEASUREMENTS}
    assert {path.name for path in quick.folder.iterdir()} == {
        "results.json",
        "report.md",
    } | pictures
    for picture in pictures:
        assert (quick.folder / picture).read_bytes().startswith(b"\x89PNG")


def test_the_shape_of_the_results(quick: Run) -> None:
    results = quick.results
    assert results["command"].startswith("ebbtide bench imars --quick")
    assert {"processor", "cores", "memory_bytes", "system"} <= set(results["machine"])
    assert {"python", "ebbtide", "pyarrow"} <= set(results["versions"])
    assert quick.names == {*MEASUREMENTS, "crossing", "push"}
    for each in results["measurements"]:
        assert tuple(each) == FIELDS
        assert each["value"] is None or each["value"] > 0
        assert (each["goal"] is None) == (each["passed"] is None)
        if each["goal"] is not None:
            judged = each["value"] if each["ratio"] is None else each["ratio"]
            goal = Goal(each["goal"]["relation"], each["goal"]["bound"])
            assert each["passed"] == goal.met(judged)


def test_strategies_agree(quick: Run) -> None:
    by_share: dict[float, list[dict[str, Any]]] = defaultdict(list)
    for each in quick.named("share"):
        by_share[each["parameters"]["percent"]].append(each["parameters"])
    assert list(by_share) == [0.1, 0.3, 1, 3, 10, 30, 50, 100]
    for rows in by_share.values():
        assert [row["strategy"] for row in rows] == ["expiry", "dred", "naive"]
        assert len({row["facts"] for row in rows}) == 1


def test_paths_overlap(quick: Run) -> None:
    """More parents, more paths: both strategies hold the same pairs, and dred has more to do."""
    rows = [each["parameters"] for each in quick.named("overlap")]
    assert [(row["parents"], row["strategy"]) for row in rows] == [
        (parents, strategy) for parents in (1, 2, 3) for strategy in ("expiry", "dred")
    ]
    assert all(
        one["facts"] == other["facts"] for one, other in zip(rows[::2], rows[1::2], strict=True)
    )


def test_nodes_have_several_parents_a_level_above() -> None:
    tables = IsInTables(depth=3, fanout=2, parents=3, mixed=2, seed=1)
    edges = tables.stream(0, 40, 0, 1_000)
    pairs = set(zip(edges["s"].to_pylist(), edges["o"].to_pylist(), strict=True))
    # 2 nodes with one parent, 4 with two, 8 with three: two trees of 34 edges.
    assert len(pairs) == 40
    whole = tables.stream(0, 68, 0, 1_000)
    counts = Counter(Counter(whole["s"].to_pylist()).values())
    assert counts == {1: 4, 2: 8, 3: 16}


def test_the_window_is_as_large_as_asked(quick: Run) -> None:
    """Stated, derived and background facts: a tree of 120 edges has 426 pairs."""
    pool = quick.results["parameters"]["window"] + quick.results["parameters"]["background"]
    for each in quick.named("share"):
        if each["parameters"]["percent"] == 0.1:
            assert each["parameters"]["facts"] == pytest.approx(pool * 426 / 120, rel=0.05)


def test_each_window_is_ten_times_the_one_before(quick: Run) -> None:
    windows = [each["parameters"]["window"] for each in quick.named("window")]
    assert [later / sooner for sooner, later in pairwise(windows)] == [10, 10]


def test_memory_is_sampled_to_the_end(quick: Run) -> None:
    (memory,) = quick.named("memory")
    samples = quick.results["series"]["memory"]
    assert samples[-1][0] == memory["parameters"]["stated"]
    assert samples[-1][1] == pytest.approx(memory["value"] * 1e6)


def test_goals_are_told(quick: Run) -> None:
    goals = [each for each in quick.results["measurements"] if each["goal"]]
    told = [line for line in quick.out.splitlines() if ": goal m" in line]
    assert len(told) == len(goals)
    missed = sum(not each["passed"] for each in goals)
    assert sum("goal missed" in line for line in told) == missed
    page = (quick.folder / "report.md").read_text()
    assert f"{len(goals) - missed} of {len(goals)} met." in page
    assert "A quick run" in page


def test_progress_goes_to_standard_error(quick: Run) -> None:
    for name in MEASUREMENTS:
        assert f"ebbtide: {name}: " in quick.err
        assert f"ebbtide: {name}: " not in quick.out


def test_only_with_parameters(tmp_path: Path) -> None:
    shares = ["--only", "share", "--share", "0.5", "--share", "0.1"]
    sizes = ["--depth", "2", "--fanout", "2", "--window", "1000", "--background", "0"]
    run = quick_bench("imars", tmp_path, *shares, *sizes, "--seed", "3")
    assert "share, window 1,000" in run.out
    assert run.names == {"share", "crossing"}
    assert run.results["parameters"]["shares"] == [0.1, 0.5]
    assert run.results["parameters"]["seed"] == 3
    assert (tmp_path / "share.png").exists()
    assert not (tmp_path / "window.png").exists()


def test_missing_libraries_are_named(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['matplotlib'] = None\n")
    ended = subprocess.run(
        [sys.executable, "-c", "from ebbtide.cli import main; main()", "bench", "imars"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr == (
        "ebbtide: the bench needs matplotlib, which is missing: pip install 'ebbtide[bench]'\n"
    )


def test_the_command_offers_every_measurement() -> None:
    assert [str(each) for each in Measured] == list(MEASUREMENTS)


@pytest.mark.parametrize(
    ("goal", "ratio", "passed"),
    [
        (Goal("at least", 5), 5.0, True),
        (Goal("at least", 5), 4.9, False),
        (Goal("at most", 1.5), 1.5, True),
        (Goal("at most", 1.5), 1.6, False),
        (None, 1.6, None),
    ],
)
def test_a_goal_speaks_of_the_ratio(goal: Goal | None, ratio: float, passed: bool | None) -> None:
    assert Measurement("x", {}, 1e9, "ns", ratio=ratio, goal=goal).passed is passed


def test_a_goal_speaks_of_the_value_without_a_ratio() -> None:
    goal = Goal("at least", 2_000_000)
    assert Measurement("x", {}, 2_500_000, "facts a second", goal=goal).passed is True
    assert Measurement("x", {}, None, "facts a second", goal=goal).passed is False


def test_a_missed_goal_is_said_plainly() -> None:
    parameters = {"percent": 1, "strategy": "dred"}
    slow = Measurement(
        "share",
        parameters,
        3.0,
        "ms",
        ratio=1.5,
        ratio_of="dred / expiry",
        goal=Goal("at least", 5),
    )
    assert verdict(slow) == (
        "share (percent 1, strategy dred), dred / expiry: goal missed: ratio 1.50, goal at least 5"
    )
    results = Results("imars", {})
    results.extend([slow])
    assert "0 of 1 met" in markdown(results, set())


def test_what_all_rows_share_is_in_the_title() -> None:
    results = Results("imars", {})
    results.extend(
        Measurement("m", {"window": 1000, "kind": kind}, value, "ns a fact")
        for kind, value in (("a", 1.0), ("b", None))
    )
    (table,) = tables(results)
    assert table.title == "m, window 1,000"
    assert table.header == ["kind", "ns a fact"]
    assert table.rows == [["a", "1.00"], ["b", "never"]]


def test_strategies_that_disagree_are_not_compared() -> None:
    same = {"expiry": [Tick(1, 1, 5, 4, 9)], "dred": [Tick(2, 2, 5, 4, 9), Tick(2, 2, 1, 1, 9)]}
    agree(0.1, same)
    with pytest.raises(Disagreement, match="tick 1"):
        agree(0.1, {**same, "naive": [Tick(1, 1, 5, 5, 8)]})


@pytest.mark.parametrize(
    "impossible", [{"window": 10}, {"shares": (0.0,)}, {"shares": (2.0,)}, {"background": -1}]
)
def test_impossible_settings_are_refused(impossible: dict[str, Any]) -> None:
    with pytest.raises(WorkloadError):
        Settings(**impossible)


@pytest.mark.parametrize("background", [0.0, 0.25])
def test_tables_of_trees_are_whole_trees_without_repeats(background: float) -> None:
    tables = IsInTables(depth=3, fanout=2, background=background, seed=1)
    count = 30_000
    streamed = tables.stream(0, count, after=0, upto=60_000)
    permanent = tables.background(count)
    assert permanent.num_rows == pytest.approx(count * background / (1 - background), rel=0.02)
    children = [*streamed["s"].to_pylist(), *permanent["s"].to_pylist()]
    parents = [*streamed["o"].to_pylist(), *permanent["o"].to_pylist()]
    assert len(set(children)) == len(children)
    roots = set(parents) - set(children)
    # 14 edges a tree, and the last tree may have just begun.
    assert len(roots) == pytest.approx(len(children) / 14, abs=2)
    assert len({len(name) for name in children}) == 1
    instants = streamed["at"]
    assert (pc.min(instants).as_py(), pc.max(instants).as_py()) == (1, 59_999)


def test_tables_do_not_depend_on_where_they_are_cut() -> None:
    tables = IsInTables(depth=2, fanout=3, background=0.1, seed=2)
    whole = tables.stream(19_000, 3_000, after=0, upto=3_000)
    first = tables.stream(19_000, 1_000, after=0, upto=1_000)
    rest = tables.stream(20_000, 2_000, after=1_000, upto=3_000)
    assert [*first.to_pylist(), *rest.to_pylist()] == whole.to_pylist()


def test_tables_need_something_to_stream() -> None:
    with pytest.raises(WorkloadError, match="background"):
        IsInTables(background=1.0)
