"""Draws windows.svg: which facts three languages have in a window of the same length, tick by tick.

What C-SPARQL and RSP-QL hold is asked of the query engine; LARS's windows are its definition.

    python docs/semantics/pictures/draw_windows.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ebbtide.queries import QueryEngine

FACTS = (0, 3, 5, 8, 10, 13, 15, 17)
RANGE, STEP, END = 10, 5, 20
COLOURS = {"C-SPARQL": "#0b7a75", "RSP-QL": "#c8553d", "LARS": "#5b5f97"}
QUERIES = {
    "C-SPARQL": f"SELECT ?t FROM STREAM <s> [RANGE {RANGE}ms STEP {STEP}ms] {{ ?x <p> ?t }}",
    "RSP-QL": f"SELECT ?t FROM NAMED WINDOW <w> ON <s> [RANGE {RANGE}ms STEP {STEP}ms] "
    "{ WINDOW <w> { ?x <p> ?t } }",
}


def contents(language: str) -> dict[int, list[int]]:
    """The facts in the window, by tick."""
    if language == "LARS":
        ticks = range(0, END + 1, STEP)
        return {t: [at for at in FACTS if t - RANGE <= at <= t] for t in ticks}
    engine = QueryEngine()
    query = engine.register(QUERIES[language])
    for at in FACTS:
        engine.push("ebbtide:/s", (f"<e:{at}>", "<ebbtide:/p>", at), at)
    engine.advance(END)
    return {each.tick: [row["t"] for row in each.bindings] for each in query if each.tick <= END}


def draw(axes: Axes, language: str) -> None:
    """One row a tick: the window with its ends, and the facts that it holds."""
    colour = COLOURS[language]
    left, right = {"C-SPARQL": "(]", "RSP-QL": "[)", "LARS": "[]"}[language]
    found = contents(language)
    for row, (tick, held) in enumerate(found.items()):
        axes.plot(
            [tick - RANGE, tick],
            [row, row],
            color=colour,
            lw=7,
            alpha=0.22,
            zorder=1,
            solid_capstyle="butt",
        )
        for at, mark in ((tick - RANGE, left), (tick, right)):
            filled = colour if mark in "[]" else "white"
            axes.plot(at, row, "o", ms=8, mec=colour, mfc=filled, mew=1.5, zorder=2)
        axes.plot(held, [row] * len(held), "D", ms=5, color="#222222", zorder=3)
        axes.text(END + 1.2, row, f"{len(held)} facts", va="center", fontsize=9)
    axes.set_yticks(range(len(found)), [f"t = {tick}" for tick in found])
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.set_xlim(-RANGE - 1.5, END + 6)
    axes.set_title(f"{language}: {left[0]}t - {RANGE}, t{right[0]}", loc="left", fontsize=11)
    for at in FACTS:
        axes.axvline(at, color="#222222", lw=0.6, alpha=0.35, zorder=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def main() -> None:
    """Write the picture beside this file."""
    matplotlib.rcParams |= {"svg.hashsalt": "ebbtide", "svg.fonttype": "none"}
    figure = Figure(figsize=(8.6, 8.4), layout="constrained")
    rows = figure.subplots(3, 1, sharex=True)
    for axes, language in zip(rows, COLOURS, strict=True):
        draw(axes, language)
    rows[-1].set_xticks([*range(-RANGE, 0, STEP), *FACTS, END])
    rows[-1].set_xlabel("milliseconds; vertical lines are facts, diamonds those in the window")
    target = Path(__file__).with_name("windows.svg")
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main()
