"""The pictures of the bench regimes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from matplotlib.axes import Axes

from ebbtide.benches.plots.style import OURS, plain, values
from ebbtide.benches.results import Measurement, Results

THEIRS: Final = "#5b5f97"


def _lubm(results: Results, axes: Axes) -> None:
    found = results.named("lubm")
    _bars(axes, found)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(plain)
    axes.set_title(f"{found[0].parameters['data']} under OWL 2 RL, parsing aside")
    axes.set_xlabel("processor time to reason (s)")


def _peak(results: Results, axes: Axes) -> None:
    found = results.named("peak")
    _bars(axes, found)
    axes.set_title(f"{found[0].parameters['data']} under OWL 2 RL")
    axes.set_xlabel("most memory of the process (MB)")


def _bars(axes: Axes, found: list[Measurement]) -> None:
    bars = axes.barh(
        [str(each.parameters["contender"]) for each in found],
        values(found),
        color=[OURS if each.parameters["contender"] == "ebbtide" else THEIRS for each in found],
        height=0.5,
        label="median of the rounds",
    )
    axes.bar_label(bars, fmt="%.3g", padding=4)
    axes.invert_yaxis()
    axes.margins(x=0.15)


def _events(results: Results, axes: Axes) -> None:
    found = [each for each in results.named("events") if each.parameters["instans"]]
    queries = [str(each.parameters["query"]) for each in found]
    axes.plot(queries, values(found), color=OURS, marker="o", linestyle="", label="ebbtide")
    theirs = [float(each.parameters["instans"]) for each in found]
    axes.plot(
        queries,
        theirs,
        color=THEIRS,
        marker="s",
        linestyle="",
        label="INSTANS, as published: another machine, parsing included",
    )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(plain)
    universities = found[0].parameters["universities"]
    axes.set_title(f"LUBM({universities}), a department a window, query by query")
    axes.set_ylabel("thousand triples a second")


def _resident(results: Results, axes: Axes) -> None:
    samples = results.series["events"]
    axes.plot(
        [triples / 1e6 for triples, _ in samples],
        [resident / 1e6 for _, resident in samples],
        color=OURS,
        label="resident memory, all 14 queries",
    )
    axes.set_ylim(0, 1.35 * max(resident / 1e6 for _, resident in samples))
    axes.set_title("Memory while departments stream by")
    axes.set_xlabel("triples so far (millions)")
    axes.set_ylabel("resident memory (MB)")


REGIMES: Final[Mapping[str, Callable[[Results, Axes], None]]] = {
    "lubm": _lubm,
    "peak": _peak,
    "events": _events,
    "resident": _resident,
}
