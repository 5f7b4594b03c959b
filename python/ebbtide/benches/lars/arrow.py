"""Atoms in and answers out as Arrow batches: microseconds an input atom, output included.

The windows of a workload take turns, a round of some batches each, and go on where they stopped, so
that all see the same machine. The first batch of a round finds the caches full of what the others
did, which a program that runs by itself does not, and is not timed. A machine that is shared with
others is slower by half for seconds at a time. That only ever adds, so what an atom takes is the
least of the rounds, each the median of its batches; the mean of all batches stands beside it. How
flat a workload is, is the median of what the rounds say.

Laser's reported time is compared with that least. Where Laser runs beside, its mean is compared
with the mean of all batches: both saw the same machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean, median
from time import thread_time_ns
from typing import Any, Final, TypeAlias

from ebbtide.benches.imars.feed import no_collector
from ebbtide.benches.lars.laser import Laser
from ebbtide.benches.lars.settings import Settings
from ebbtide.benches.lars.workloads import WORKLOADS, Workload, tables
from ebbtide.benches.results import Goal, Measurement, Results, Say, Timing
from ebbtide.reasoner.lars import LarsReasoner
from ebbtide.time import Instant

TIMES_FULL: Final = Goal("at least", 20)
TIMES_CHANGES: Final = Goal("at least", 50)
FLAT: Final = Goal("at most", 2)
FLAT_ONES: Final = frozenset({"diamond", "box", "cooling"})

#: Some time points of a stream: the last one, how many atoms, and these.
Batch: TypeAlias = tuple[Instant, int, Any]


def measure_arrow(settings: Settings, results: Results, say: Say) -> None:
    """Each workload, window and rate, with full output and with output as changes."""
    for workload in WORKLOADS:
        for rate in settings.rates:
            with Laser.beside(settings, workload, rate, say) as laser:
                _measure(settings, workload, rate, laser, results, say)


def _measure(
    settings: Settings, workload: Workload, rate: int, laser: Laser, results: Results, say: Say
) -> None:
    for output in ("full", "changes"):
        say(f"{workload.name}: {output}, {rate} atoms a time point")
        since = len(laser.turns)
        found = time_rounds(
            settings,
            workload,
            settings.windows,
            rate,
            settings.batch,
            full=output == "full",
            before_round=laser.turn,
        )
        for window, rounds in found.items():
            measured = laser.timing(window, since)
            results.add(_against_laser(workload, output, rate, window, rounds, measured))
        if output == "changes" and workload.name in FLAT_ONES:
            results.add(_flatness(settings, workload, rate, found))
    for window in settings.windows:
        if measured := laser.timing(window):
            results.add(_laser(workload, rate, window, measured))


def time_rounds(
    settings: Settings,
    workload: Workload,
    windows: Sequence[int],
    rate: int,
    batch: int,
    *,
    full: bool,
    before_round: Callable[[], None] = lambda: None,
) -> dict[int, list[Timing]]:
    """For each window its rounds, in microseconds an input atom, once all windows are full."""
    timed = settings.ticks // batch
    rounds = min(settings.rounds, timed)
    fill = -(-(max(windows) + 1) // batch)
    stream = workload.stream(rate, (fill + timed + rounds) * batch, settings.seed)
    batches = list(tables(stream, batch, workload.columns))
    contenders = {
        window: Contender(workload, window, batches[:fill], full=full) for window in windows
    }
    found: dict[int, list[Timing]] = {window: [] for window in windows}
    with no_collector():
        for number in range(rounds):
            before_round()
            first, after = (fill + each * timed // rounds + each for each in (number, number + 1))
            for window, contender in contenders.items():
                _, *times = (contender.time(each) for each in batches[first:after])
                found[window].append(Timing.of(times))
    return found


def least(rounds: Sequence[Timing]) -> Timing:
    """The round that was disturbed least, and the mean of all."""
    return Timing(min(each.median for each in rounds), fmean(each.mean for each in rounds))


class Contender:
    """A workload in a window that is full after some batches."""

    def __init__(
        self, workload: Workload, window: int, batches: Sequence[Batch], *, full: bool
    ) -> None:
        self._workload = workload
        self._full = full
        self._reasoner = LarsReasoner(workload.program(window), start=0)
        for batch in batches:
            self.time(batch)

    def time(self, batch: Batch) -> float:
        """Microseconds an atom of the next batch."""
        last, rows, table = batch
        columns = self._workload.columns
        before = thread_time_ns()
        self._reasoner.push_table(table, self._workload.predicate, columns=columns)
        self._reasoner.play(last, full=self._full)
        return (thread_time_ns() - before) / 1_000 / rows


def _against_laser(
    workload: Workload,
    output: str,
    rate: int,
    window: int,
    rounds: Sequence[Timing],
    measured: tuple[int, Timing] | None,
) -> Measurement:
    timing = least(rounds)
    laser = workload.laser.get(window) if measured is None else measured[1].mean
    ours = timing.median if measured is None else timing.mean
    goal = TIMES_FULL if output == "full" else TIMES_CHANGES
    return Measurement(
        f"{workload.name} {output}",
        {"window": window, "rate": rate, "laser": "" if laser is None else round(laser, 3)},
        timing.median,
        "us an atom",
        mean=timing.mean,
        ratio=None if laser is None else laser / ours,
        ratio_of=None if laser is None else "laser / ebbtide",
        goal=None if laser is None else goal,
    )


def _laser(workload: Workload, rate: int, window: int, measured: tuple[int, Timing]) -> Measurement:
    points, timing = measured
    return Measurement(
        "laser",
        {"workload": workload.name, "window": window, "rate": rate, "time_points": points},
        timing.median,
        "us an atom",
        mean=timing.mean,
    )


def _flatness(
    settings: Settings, workload: Workload, rate: int, found: dict[int, list[Timing]]
) -> Measurement:
    first, last = settings.windows[0], settings.windows[-1]
    pairs = zip(found[first], found[last], strict=True)
    return Measurement(
        "flat",
        {"workload": workload.name, "rate": rate},
        least(found[last]).median,
        "us an atom",
        ratio=median(wide.median / narrow.median for narrow, wide in pairs),
        ratio_of=f"window {last} / {first}",
        goal=FLAT,
    )
