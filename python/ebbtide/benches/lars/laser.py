"""Laser itself, on the same machine in the same minutes: microseconds an input atom, full output.

A process for each window. It sees the stream that Ebbtide sees, goes on where it stopped, and has a
turn before each of Ebbtide's rounds, so that both see the same machine. With full output and with
changes together it has as many time points as Ebbtide, or as many as `SECONDS` of processor time a
turn allow. Before the first turn the window is filled, and time points go by untimed for up to
`WARM_SECONDS`, so that PyPy has compiled what it will.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final, TypeAlias

from ebbtide.benches.lars.settings import Settings
from ebbtide.benches.lars.workloads import Workload
from ebbtide.benches.results import Say, Timing

#: For each window, what the time points of a turn took, in microseconds an atom.
Turn: TypeAlias = Mapping[int, Sequence[float]]

# Of processor time, a turn on average: who takes longer, as ten rules over 80 time points of 800
# atoms, which take seconds each, has none the next times.
SECONDS: Final = 0.6
# PyPy goes on compiling the program of cooling for some 3 seconds.
WARM_SECONDS: Final = 8.0
OUTPUTS: Final = 2
# Few enough that the texts of a request are no burden for the collector of Laser's process.
POINTS_A_REQUEST: Final = 20
# Time points of a stream: how far a process comes is for its turns to say.
ENDLESS: Final = 1 << 62

_JOIN: Final = "q(A,C) :- time_win(N,0,1,diamond(p(A,B))) and time_win(N,0,1,diamond(p(B,C)))"
#: The programs of the workloads as Laser writes them, N for the window.
RULES: Final[Mapping[str, Sequence[str]]] = {
    "diamond": ["q(A,B) :- time_win(N,0,1,diamond(p(A,B)))"],
    "box": ["q(A,B) :- time_win(N,0,1,box(p(A,B)))"],
    "join": [_JOIN],
    "rules": [_JOIN.replace("q(", f"q{number}(") for number in range(10)],
    "cooling": [
        "@(T,steam(V)) :- time_win(N,0,1,@(T,temp(V))) and COMP(>=,V,100)",
        "@(T,liquid(V)) :- time_win(N,0,1,@(T,temp(V))) and COMP(>=,V,1) and COMP(<,V,100)",
        "@(T,isSteam) :- time_win(N,0,1,@(T,steam(V)))",
        "@(T,isLiquid) :- time_win(N,0,1,@(T,liquid(V)))",
        "alarm :- time_win(N,0,1,box(isSteam))",
        "normal :- time_win(N,0,1,box(isLiquid))",
        "veryHot(T) :- time_win(N,0,1,@(T,steam(V))) and COMP(>=,V,150)",
        "veryCold(T) :- time_win(N,0,1,@(T,liquid(V))) and COMP(=,V,1)",
        "freeze :- not(alarm) and not(normal)",
    ],
}


class LaserFailed(RuntimeError):
    """Laser's process ended, where it should have answered."""


class Laser:
    """Laser on a workload at a rate, in the windows it is compared in; in none if nobody asks."""

    def __init__(self, processes: Mapping[int, Process], points: int) -> None:
        self._processes = processes
        self._points = points
        self._allowed = {window: process.spent for window, process in processes.items()}
        self.turns: list[Turn] = []

    @classmethod
    @contextmanager
    def beside(cls, settings: Settings, workload: Workload, rate: int, say: Say) -> Iterator[Laser]:
        """Start it, and fill and warm each window."""
        windows = [each for each in settings.windows if settings.laser and each in workload.laser]
        with ExitStack() as stack:
            processes = {}
            for window in windows:
                say(f"{workload.name}: Laser fills window {window}, {rate} atoms a time point")
                process = stack.enter_context(Process.started(settings, workload, window, rate))
                process.time(window + 1)
                process.time(settings.ticks, WARM_SECONDS)
                processes[window] = process
            yield cls(processes, -(-settings.ticks // (OUTPUTS * settings.rounds)))

    def turn(self) -> None:
        """Time the next time points of each window."""
        turn = {}
        for window, process in self._processes.items():
            self._allowed[window] += SECONDS
            turn[window] = process.time(self._points, self._allowed[window] - process.spent)
        self.turns.append(turn)

    def timing(self, window: int, since: int = 0) -> tuple[int, Timing] | None:
        """The time points of the turns since then and what they took, if it is compared."""
        if window not in self._processes:
            return None
        # A time point may take longer than all these turns were allowed.
        took = self._took(window, since) or self._took(window, 0)
        return len(took), Timing.of(took)

    def _took(self, window: int, since: int) -> list[float]:
        return [each for turn in self.turns[since:] for each in turn[window]]


class Process:
    """A process of Laser, with a window, and the stream it is fed from."""

    def __init__(
        self, process: subprocess.Popen[str], errors: IO[str], points: Iterator[list[Any]]
    ) -> None:
        self._process = process
        self._errors = errors
        self._points = points
        self._waiting: list[list[Any]] = []
        #: Seconds of processor time so far.
        self.spent = 0.0

    @classmethod
    @contextmanager
    def started(
        cls, settings: Settings, workload: Workload, window: int, rate: int
    ) -> Iterator[Process]:
        """Start it, with its program."""
        stream = workload.stream(rate, ENDLESS, settings.seed)
        points = ([atom.arguments for atom in atoms] for _, atoms in stream())
        driver = Path(__file__).with_name("laser_driver.py")
        # -OO as Laser's own evaluation has it: its assertions are not timed.
        command = [settings.pypy, "-OO", str(driver), settings.laser]
        rules = [rule.replace("N", str(window)) for rule in RULES[workload.name]]
        with TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
            try:
                started = cls(process, errors, points)
                started._tell({"predicate": workload.predicate, "rules": rules})
                yield started
            finally:
                process.kill()
                process.communicate()

    def time(self, points: int, seconds: float = float("inf")) -> list[float]:
        """Microseconds an atom of the next time points: so many, or as many as fit in."""
        found: list[float] = []
        until = self.spent + seconds
        while len(found) < points and self.spent < until:
            wanted = min(POINTS_A_REQUEST, points - len(found))
            self._waiting += islice(self._points, max(wanted - len(self._waiting), 0))
            # An hour where there is no limit: JSON knows no infinity.
            limit = min(until - self.spent, 3_600)
            took = self._ask({"points": self._waiting[:wanted], "seconds": limit})
            self.spent += sum(took) / 1e6
            found += [
                each / max(len(atoms), 1) for each, atoms in zip(took, self._waiting, strict=False)
            ]
            del self._waiting[: len(took)]
        return found

    def _ask(self, request: object) -> list[float]:
        self._tell(request)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._failed()
        took: list[float] = json.loads(line)
        return took

    def _tell(self, request: object) -> None:
        assert self._process.stdin is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            self._failed()

    def _failed(self) -> None:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines() or ["it ended without a word"]
        raise LaserFailed(f"Laser failed: {lines[-1]}")
