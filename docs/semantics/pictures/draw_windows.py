"""Draws which facts are seen at which tick; what they are is asked of the engines.

windows.svg   a window of the same length in three languages
ticks.svg     windows aligned to t0, looked at between their closes, tumbling, of so many facts

python docs/semantics/pictures/draw_windows.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ebbtide import LarsReasoner, QueryEngine

FACTS = (0, 3, 5, 8, 10, 13, 15, 17)
RANGE, STEP, END = 10, 5, 20
COLOURS = {"C-SPARQL": "#0b7a75", "RSP-QL": "#c8553d", "LARS": "#5b5f97"}
QUERIES = {
    "C-SPARQL": f"SELECT ?t FROM STREAM <s> [RANGE {RANGE}ms STEP {STEP}ms] {{ ?x <p> ?t }}",
    "RSP-QL": f"SELECT ?t FROM NAMED WINDOW <w> ON <s> [RANGE {RANGE}ms STEP {STEP}ms] "
    "{ WINDOW <w> { ?x <p> ?t } }",
}


#: What the second picture shows: a title, the settings of the engine, and a query.
STREAM, SEEN = "FROM STREAM <s>", "{ ?x <p> ?t }"
NAMED = f"FROM NAMED WINDOW <w> ON <s> [RANGE {RANGE}ms STEP {STEP}ms] {{ WINDOW <w> {SEEN} }}"
SHOWN: tuple[tuple[str, dict[str, Any], str], ...] = (
    (
        "C-SPARQL, RANGE 10 STEP 5, t0 = 3",
        {"t0": 3},
        f"SELECT ?t {STREAM} [RANGE {RANGE}ms STEP {STEP}ms] {SEEN}",
    ),
    ("RSP-QL, RANGE 10 STEP 5, t0 = 3", {"t0": 3}, f"SELECT ?t {NAMED}"),
    (
        "C-SPARQL, RANGE 10 STEP 10, COMPUTE EVERY 5",
        {},
        f"REGISTER QUERY q COMPUTE EVERY 5ms AS SELECT ?t {STREAM} [RANGE 10ms STEP 10ms] {SEEN}",
    ),
    ("C-SPARQL, RANGE 5 TUMBLING", {}, f"SELECT ?t {STREAM} [RANGE 5ms TUMBLING] {SEEN}"),
    ("RANGE TRIPLES 3: at every fact", {}, f"SELECT ?t {STREAM} [RANGE TRIPLES 3] {SEEN}"),
    (
        "RANGE TRIPLES 3 STEP 2: at every second fact",
        {},
        f"SELECT ?t {STREAM} [RANGE TRIPLES 3 STEP 2] {SEEN}",
    ),
)


def contents(language: str) -> dict[int, list[int]]:
    """The facts in the window, by tick."""
    if language != "LARS":
        return seen(QUERIES[language])
    reasoner = LarsReasoner(f"seen(T) :- fact(T) in [{RANGE}].", start=0)
    for at in FACTS:
        reasoner.push(f"fact({at}).", at)
    return {
        answer.t: sorted(int(text[len("seen(") : -1]) for text in answer.texts())
        for answer in reasoner.advance(to=END)
        if answer.t % STEP == 0
    }


def seen(query: str, **settings: Any) -> dict[int, list[int]]:
    """The facts that a query sees, by tick."""
    engine = QueryEngine(**settings)
    registered = engine.register(query)
    for at in FACTS:
        engine.push("ebbtide:/s", (f"<e:{at}>", "<ebbtide:/p>", at), at)
    engine.advance(END)
    found = (each for each in registered if each.tick <= END)
    return {each.tick: sorted(row["t"] for row in each.bindings) for each in found}


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
        count(axes, row, held)
    axes.set_xlim(-RANGE - 1.5, END + 6)
    axes.set_title(f"{language}: {left[0]}t - {RANGE}, t{right[0]}", loc="left", fontsize=11)
    frame(axes, list(found))


def draw_seen(axes: Axes, title: str, found: dict[int, list[int]]) -> None:
    """One row a tick: when it is, and the facts that it sees."""
    for row, (tick, held) in enumerate(found.items()):
        axes.plot([held[0] if held else tick, tick], [row, row], color="#0b7a75", lw=7, alpha=0.18)
        axes.plot(tick, row, "|", ms=15, mew=2.5, color="#c8553d", zorder=2)
        axes.plot(held, [row] * len(held), "D", ms=5, color="#222222", zorder=3)
        count(axes, row, held)
    axes.set_xlim(-1.5, END + 6)
    axes.set_title(title, loc="left", fontsize=11)
    frame(axes, list(found))


def count(axes: Axes, row: int, held: list[int]) -> None:
    """Say how many facts are seen."""
    many = "1 fact" if len(held) == 1 else f"{len(held)} facts"
    axes.text(END + 1.2, row, many, va="center", fontsize=9)


def frame(axes: Axes, ticks: list[int]) -> None:
    """Name the ticks, and show when facts happen."""
    axes.set_yticks(range(len(ticks)), [f"t = {tick}" for tick in ticks])
    axes.set_ylim(len(ticks) - 0.4, -0.6)
    for at in FACTS:
        axes.axvline(at, color="#222222", lw=0.6, alpha=0.35, zorder=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def main() -> None:
    """Write the pictures beside this file."""
    matplotlib.rcParams |= {"svg.hashsalt": "ebbtide", "svg.fonttype": "none"}
    figure = Figure(figsize=(8.6, 8.4), layout="constrained")
    rows = figure.subplots(3, 1, sharex=True)
    for axes, language in zip(rows, COLOURS, strict=True):
        draw(axes, language)
    rows[-1].set_xticks([*range(-RANGE, 0, STEP), *FACTS, END])
    rows[-1].set_xlabel("milliseconds; vertical lines are facts, diamonds those in the window")
    figure.savefig(Path(__file__).with_name("windows.svg"), metadata={"Date": None})

    shown = [(title, seen(query, **settings)) for title, settings, query in SHOWN]
    figure = Figure(figsize=(8.6, 12.5), layout="constrained")
    heights = [1 + len(found) for _, found in shown]
    rows = figure.subplots(len(shown), 1, sharex=True, height_ratios=heights)
    for axes, (title, found) in zip(rows, shown, strict=True):
        draw_seen(axes, title, found)
    rows[-1].set_xticks([*FACTS, END])
    rows[-1].set_xlabel("milliseconds; vertical lines are facts, diamonds those seen, red the tick")
    figure.savefig(Path(__file__).with_name("ticks.svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
