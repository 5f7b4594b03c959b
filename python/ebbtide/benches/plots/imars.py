"""The pictures of the bench imars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from matplotlib.axes import Axes

from ebbtide.benches.plots.style import COLOURS, plain, values
from ebbtide.benches.results import Measurement, Results

MARKERS: Final = {"expiry": "o", "dred": "s", "naive": "^"}


def _share(results: Results, axes: Axes) -> None:
    for strategy, colour in COLOURS.items():
        found = [m for m in results.named("share") if m.parameters["strategy"] == strategy]
        axes.loglog(
            [float(m.parameters["percent"]) for m in found],
            values(found),
            color=colour,
            marker=MARKERS[strategy],
            label=strategy,
        )
    for crossing in results.named("crossing"):
        if crossing.value is not None:
            strategy = str(crossing.parameters["strategy"])
            axes.axvline(
                crossing.value,
                color=COLOURS[strategy],
                linestyle=":",
                label=f"{strategy} crosses naive at {crossing.value:.1f} %",
            )
    window = results.named("share")[0].parameters["window"]
    axes.set_title(f"One tick by maintenance strategy, window of {window:,} facts")
    axes.set_xlabel("share of the window replaced per tick (%)")
    axes.set_ylabel("median time of a tick (ms)")
    axes.xaxis.set_major_formatter(plain)
    axes.yaxis.set_major_formatter(plain)


def _overlap(results: Results, axes: Axes) -> None:
    for strategy in ("expiry", "dred"):
        found = [m for m in results.named("overlap") if m.parameters["strategy"] == strategy]
        parents = [float(m.parameters["parents"]) for m in found]
        axes.plot(
            parents,
            values(found),
            color=COLOURS[strategy],
            marker=MARKERS[strategy],
            label=strategy,
        )
        axes.set_xticks(parents)
        for number, each in zip(parents, found, strict=True):
            if each.ratio is not None and each.value is not None:
                axes.annotate(
                    f"{each.ratio:.1f} times",
                    (number, each.value),
                    (0, 8),
                    textcoords="offset points",
                    ha="center",
                )
    axes.margins(x=0.1, y=0.15)
    axes.set_ylim(0, None)
    axes.xaxis.set_major_formatter(plain)
    axes.set_title("One tick where pairs have several paths, 1 % of the window replaced")
    axes.set_xlabel("parents of a node")
    axes.set_ylabel("median time of a tick (ms)")


def _window(results: Results, axes: Axes) -> None:
    found = results.named("window")
    _by_window(axes, found)
    largest = float(found[-1].parameters["window"])
    for each, value, style in zip(found, values(found), (":", "--", ""), strict=True):
        if each.goal is not None:
            window = each.parameters["window"]
            axes.plot(
                [float(window), largest],
                [value, each.goal.bound * value],
                color="black",
                linestyle=style,
                alpha=0.5,
                label=f"goal: {each.goal} times that of {window:,}",
            )
    axes.set_ylim(0, None)
    churn = found[0].parameters["churn"]
    axes.set_title(f"Cost of a change by window size, {churn:,} facts in and out per tick")


def _floor(results: Results, axes: Axes) -> None:
    found = results.named("floor")
    _by_window(axes, found)
    windows = [float(m.parameters["window"]) for m in found]
    bare = [float(m.parameters["bare_ns"]) for m in found]
    axes.plot(windows, bare, color="black", marker="D", label="bare table: inserted and removed")
    bound = found[0].goal
    if bound is not None:
        axes.plot(
            windows,
            [bound.bound * each for each in bare],
            color="black",
            linestyle="--",
            alpha=0.5,
            label=f"goal: at most {bound.bound:g} times the bare table",
        )
    axes.set_ylim(0, None)
    axes.set_title("The floor: a fact in the kernel against a tuple in a bare hash table")


def _by_window(axes: Axes, found: list[Measurement]) -> None:
    windows = [float(m.parameters["window"]) for m in found]
    axes.plot(
        windows,
        values(found),
        color=COLOURS["expiry"],
        marker=MARKERS["expiry"],
        label="kernel: derived and expired",
    )
    for window, value in zip(windows, values(found), strict=True):
        axes.annotate(
            f"{value:,.0f}",
            (window, value),
            (0, 8),
            textcoords="offset points",
            ha="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
        )
    axes.set_xscale("log")
    axes.set_xticks(windows)
    axes.xaxis.set_major_formatter(plain)
    axes.margins(x=0.1, y=0.15)
    axes.set_xlabel("facts in the window")
    axes.set_ylabel("time per fact derived and expired (ns)")


def _memory(results: Results, axes: Axes) -> None:
    (found,) = results.named("memory")
    samples = results.series["memory"]
    axes.plot(
        [facts / 1e6 for facts, _ in samples],
        [resident / 1e6 for _, resident in samples],
        color=COLOURS["expiry"],
        label="resident memory of the process",
    )
    early = float(found.parameters["early_mb"])
    if found.goal is not None:
        axes.axhline(
            early * found.goal.bound,
            color="black",
            linestyle="--",
            alpha=0.5,
            label=f"goal: {found.goal.bound:g} times that after a tenth",
        )
    axes.set_ylim(0, 1.35 * max(resident / 1e6 for _, resident in samples))
    window = found.parameters["window"]
    axes.set_title(f"Memory under ever-new terms, window of {window:,} facts")
    axes.set_xlabel("facts stated so far (millions)")
    axes.set_ylabel("resident memory (MB)")


def _ingest(results: Results, axes: Axes) -> None:
    found = results.named("ingest")
    bars = axes.barh(
        [str(m.parameters["columns"]) for m in found],
        [value / 1e6 for value in values(found)],
        color=COLOURS["expiry"],
        height=0.4,
        label="push and evaluate",
    )
    axes.bar_label(bars, fmt="%.2f", padding=4)
    if found[0].goal is not None:
        bound = found[0].goal.bound / 1e6
        axes.axvline(
            bound, color="black", linestyle="--", alpha=0.5, label=f"goal: at least {bound:g}"
        )
    axes.set_xlim(0, 1.15 * max(value / 1e6 for value in (*values(found), 2e6)))
    axes.set_title("Arrow batches without rules, one core")
    axes.set_xlabel("facts a second (millions)")
    axes.set_ylabel("columns")


IMARS: Final[Mapping[str, Callable[[Results, Axes], None]]] = {
    "share": _share,
    "overlap": _overlap,
    "window": _window,
    "floor": _floor,
    "memory": _memory,
    "ingest": _ingest,
}
