"""`ebbtide bench lars --laser`: the driver, what it is compared with, and what goes wrong.

A stand-in for Laser, made here, and run by this Python: Laser's own code is not part of Ebbtide.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("psutil")

from ebbtide.benches.lars.laser import RULES, Laser, LaserFailed, Process
from ebbtide.benches.lars.settings import QUICK, Settings
from ebbtide.benches.lars.workloads import WORKLOADS
from ebbtide.languages.lars import parse_lars
from ebbtide.testing.workloads.atoms import GroundAtom

COMMAND = [sys.executable, "-c", "from ebbtide.cli import main; main()", "bench", "lars"]
DIAMOND, BOX = WORKLOADS[:2]

# Takes a millisecond of processor time an evaluation, and notes what it was given.
STAND_IN = """
import json, sys
from time import process_time

class Program:
    def __init__(self, rules, stream):
        print("a word that is no answer")
        self.stream = stream
        self.now = -1
        self.log = open({log!r}, "a")
        self.note(rules)

    def note(self, what):
        self.log.write(json.dumps(what) + "\\n")
        self.log.flush()

    def evaluate(self, now):
        until = process_time() + 0.001
        if now != self.now + 1 or not self.stream.hasTimePoint(now):
            raise ValueError("out of order")
        self.now = now
        rows = [(p, list(row)) for p, rows in self.stream.get(now).items() for row in rows]
        self.note([now, self.stream.getNumberOfTuplesAt(now), sorted(rows, key=lambda r: r[1][2])])
        while process_time() < until:
            pass
        return True, {{}}
"""


@pytest.fixture
def laser(tmp_path: Path) -> Path:
    return _stand_in(tmp_path / "laser", STAND_IN.format(log=str(tmp_path / "log")))


def _stand_in(folder: Path, text: str) -> Path:
    (folder / "evalunit").mkdir(parents=True)
    (folder / "evalunit" / "program.py").write_text(text)
    return folder


def _settings(laser: Path, **given: Any) -> Settings:
    return Settings(
        **{"windows": (1,), "rates": (5,), "ticks": 6, "batch": 2, "rounds": 2, **given},
        laser=str(laser),
        pypy=sys.executable,
    )


def _bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, "--quick", "--only", "arrow", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_laser_is_given_the_programs_that_ebbtide_runs() -> None:
    assert list(RULES) == [each.name for each in WORKLOADS]
    for workload in WORKLOADS:
        text = "".join(f"{rule}.\n" for rule in RULES[workload.name]).replace("N", "3")
        given = sorted(map(str, parse_lars(text).rules))
        assert given == sorted(map(str, workload.program(3).rules))


def test_laser_sees_the_stream_that_ebbtide_sees(laser: Path, tmp_path: Path) -> None:
    settings = _settings(laser)
    with Process.started(settings, BOX, window=1, rate=5) as process:
        assert len(process.time(2)) == 2
        assert len(process.time(45)) == 45
    rules, *noted = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert rules == ["q(A,B) :- time_win(1,0,1,box(p(A,B)))"]
    seen = [
        (at, [GroundAtom(predicate, tuple(row[4:])) for predicate, row in rows])
        for at, _, rows in noted
    ]
    # Forty-seven time points, of a stream with missing atoms.
    assert seen == list(BOX.stream(5, 47, settings.seed)())
    numbers = [row[2] for _, _, rows in noted for _, row in rows]
    assert numbers == list(range(len(numbers)))
    for at, count, rows in noted:
        assert count == len(rows)
        assert all(row[:2] == [at, 999_999_999] and row[3] is None for _, row in rows)


def test_a_turn_ends_in_time_and_the_next_goes_on(laser: Path, tmp_path: Path) -> None:
    with Process.started(_settings(laser, ticks=40), DIAMOND, window=1, rate=5) as process:
        # A millisecond each: three fit in, or the first that goes beyond.
        first = process.time(30, seconds=0.0025)
        assert 1 <= len(first) <= 3
        second = process.time(10)
    assert len(second) == 10
    # An atom takes a fifth of the millisecond of its time point.
    assert all(took >= 1_000 / 5 for took in first + second)
    noted = [json.loads(line)[0] for line in (tmp_path / "log").read_text().splitlines()[1:]]
    assert noted == list(range(len(first) + 10))


def test_who_takes_longer_than_allowed_has_no_turn(
    laser: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A time point takes a millisecond or more: what two turns and a half are allowed.
    monkeypatch.setattr("ebbtide.benches.lars.laser.SECONDS", 0.0004)
    told: list[str] = []
    settings = _settings(laser, windows=(1, 5), ticks=12)
    with Laser.beside(settings, DIAMOND, 5, told.append) as beside:
        for _ in range(6):
            beside.turn()
        points = [len(turn[1]) for turn in beside.turns]
        assert points[:2] == [1, 0]
        assert sum(points) <= 3
        whole, late = beside.timing(1), beside.timing(1, since=5)
        assert whole is not None
        assert late is not None
        # Where a turn has none, all of them speak for it.
        assert points[5] or late == whole
        assert beside.timing(5) is None
    assert told == ["diamond: Laser fills window 1, 5 atoms a time point"]


def test_the_ratio_is_the_mean_of_laser_over_ours(laser: Path, tmp_path: Path) -> None:
    report = tmp_path / "report"
    ended = _bench("--laser", laser, "--pypy", sys.executable, "--report", report)
    assert ended.returncode == 0, ended.stderr
    assert "diamond: Laser fills window 1, 20 atoms a time point" in ended.stderr
    results = json.loads((report / "results.json").read_text())
    assert results["parameters"]["laser"] == str(laser)
    by_name: dict[str, list[dict[str, Any]]] = {}
    for each in results["measurements"]:
        by_name.setdefault(each["name"], []).append(each)
    # Window 5 of the quick run is not one that Laser is compared in.
    cells = [each["parameters"] for each in by_name["laser"]]
    assert [(each["workload"], each["window"]) for each in cells] == [
        (workload.name, 1) for workload in WORKLOADS
    ]
    assert {each["time_points"] for each in cells} == {QUICK.ticks}
    for workload in WORKLOADS:
        for output, least in (("full", 20), ("changes", 50)):
            near, far = by_name[f"{workload.name} {output}"]
            assert near["ratio_of"] == "laser / ebbtide"
            assert near["ratio"] == pytest.approx(
                near["parameters"]["laser"] / near["mean"], rel=0.01
            )
            assert near["parameters"]["laser"] >= 1_000 / 20
            assert near["goal"] == {"relation": "at least", "bound": least}
            assert (far["ratio"], far["goal"], far["parameters"]["laser"]) == (None, None, "")
    assert "measured in this run" in (report / "grid.md").read_text()


def test_without_laser_the_reported_times_stand_for_it(tmp_path: Path) -> None:
    ended = _bench("--report", tmp_path)
    assert ended.returncode == 0, ended.stderr
    measurements = json.loads((tmp_path / "results.json").read_text())["measurements"]
    first = measurements[0]
    assert (first["name"], first["parameters"]["laser"]) == ("diamond full", 4)
    assert first["ratio"] == pytest.approx(4 / first["value"])
    assert "laser" not in {each["name"] for each in measurements}
    assert "Laser as reported for another machine" in (tmp_path / "grid.md").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from rule import Rule\n", "Laser failed: ModuleNotFoundError: No module named 'rule'"),
        ("raise SystemExit\n", "Laser failed: it ended without a word"),
    ],
)
def test_a_laser_that_fails(tmp_path: Path, text: str, message: str) -> None:
    folder = _stand_in(tmp_path / "laser", text)
    with (
        pytest.raises(LaserFailed) as failed,
        Process.started(_settings(folder), DIAMOND, window=1, rate=5) as process,
    ):
        process.time(1)
    assert str(failed.value) == message


def test_a_laser_that_fails_is_told_in_a_line(tmp_path: Path) -> None:
    folder = _stand_in(tmp_path / "laser", "from rule import Rule\n")
    ended = _bench("--laser", folder, "--pypy", sys.executable)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "ebbtide: Laser failed: ModuleNotFoundError: No module named 'rule'"
    )


def test_a_folder_that_is_not_laser(tmp_path: Path) -> None:
    ended = _bench("--laser", tmp_path)
    assert (ended.returncode, ended.stderr) == (
        1,
        f"ebbtide: {tmp_path}: Laser is not there, which has evalunit/program.py\n",
    )


def test_no_such_pypy(laser: Path) -> None:
    ended = _bench("--laser", laser, "--pypy", "no-such-pypy")
    assert (ended.returncode, ended.stderr) == (
        1,
        "ebbtide: no-such-pypy: no such command, which Laser is run by; --pypy names another\n",
    )


def test_no_such_folder(tmp_path: Path) -> None:
    ended = _bench("--laser", tmp_path / "nowhere")
    assert ended.returncode == 2
    # A long path breaks the line, within the box around it.
    assert "does not exist" in " ".join(ended.stderr.replace("│", " ").split())
