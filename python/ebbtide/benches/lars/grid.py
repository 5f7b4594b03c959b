"""The grid of `arrow` as one Markdown table: a row for each workload, output and rate.

A cell shows what its ratio is made of: the mean where Laser was measured, else the least round.
"""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.benches.results import Measurement, Results

OUTPUTS = (" full", " changes")
# By whether Laser was measured.
COMPARED = {
    False: "Least rounds, and how many times faster than Laser as reported for another machine.",
    True: "Means, and how many times faster than the mean of Laser, measured in this run.",
}


def grid(results: Results) -> str:
    """Microseconds an atom by window, and in brackets how many times faster than Laser."""
    names = [name for name in results.names if name.endswith(OUTPUTS)]
    found = [each for name in names for each in results.named(name)]
    measured = bool(results.named("laser"))
    windows = list(dict.fromkeys(each.parameters["window"] for each in found))
    rows: dict[tuple[str, str], dict[object, Measurement]] = {}
    for each in found:
        row = (each.name.replace(" ", ", "), str(each.parameters["rate"]))
        rows.setdefault(row, {})[each.parameters["window"]] = each
    lines = [
        ["", "rate", *(f"window {window}" for window in windows)],
        ["---"] * (len(windows) + 2),
    ]
    lines += [
        [*row, *(_cell(cells[window], measured) for window in windows)]
        for row, cells in rows.items()
    ]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n" + "".join(_summary(results, measured))


def _cell(measurement: Measurement, measured: bool) -> str:
    number = measurement.mean if measured else measurement.value
    value = f"{number:.2f}" if number is not None else "never"
    if measurement.ratio is None:
        return value
    times = f"{value} ({measurement.ratio:.0f}x)"
    return times if measurement.passed else f"*{times}*"


def _summary(results: Results, measured: bool) -> Iterator[str]:
    yield f"{COMPARED[measured]} "
    met = sum(bool(each.passed) for each in results.goals)
    yield f"{met} of {len(results.goals)} goals are met; cells that miss theirs are in italics.\n"
