"""The grid of `arrow` as one Markdown table: a row for each workload, output and rate."""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.benches.results import Measurement, Results

OUTPUTS = (" full", " changes")


def grid(results: Results) -> str:
    """Microseconds an atom by window, and in brackets how many times faster than Laser."""
    found = [each for each in results.measurements if each.name.endswith(OUTPUTS)]
    windows = list(dict.fromkeys(each.parameters["window"] for each in found))
    rows: dict[tuple[str, str], dict[object, Measurement]] = {}
    for each in found:
        row = (each.name.replace(" ", ", "), str(each.parameters["rate"]))
        rows.setdefault(row, {})[each.parameters["window"]] = each
    lines = [
        ["", "rate", *(f"window {window}" for window in windows)],
        ["---"] * (len(windows) + 2),
    ]
    lines += [[*row, *(_cell(cells[window]) for window in windows)] for row, cells in rows.items()]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n" + "".join(_summary(results))


def _cell(measurement: Measurement) -> str:
    value = f"{measurement.value:.2f}" if measurement.value is not None else "never"
    if measurement.ratio is None:
        return value
    times = f"{value} ({measurement.ratio:.0f}x)"
    return times if measurement.passed else f"*{times}*"


def _summary(results: Results) -> Iterator[str]:
    met = sum(bool(each.passed) for each in results.goals)
    yield f"{met} of {len(results.goals)} goals are met; cells that miss theirs are in italics.\n"
