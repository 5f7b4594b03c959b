"""Results as people read them: results.json, a Markdown page with tables, and its plots.

DIR/results.json     everything
DIR/report.md        goals first, then a table a measurement
DIR/*.png            what `plots` draws
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ebbtide.benches.plots import draw
from ebbtide.benches.results import Measurement, Parameter, Results


class Table(NamedTuple):
    """The measurements of one name. Parameters are columns, or in the title if they are all one."""

    name: str
    title: str
    header: list[str]
    rows: list[list[str]]


def write_report(results: Results, folder: Path) -> list[Path]:
    """Write all files; the paths that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    data, page = folder / "results.json", folder / "report.md"
    data.write_text(json.dumps(results.as_json(), indent=2) + "\n")
    pictures = draw(results, folder)
    page.write_text(markdown(results, {picture.stem for picture in pictures}))
    return [data, page, *pictures]


def tables(results: Results) -> Iterator[Table]:
    """A table for each name of measurements."""
    for name in results.names:
        found = results.named(name)
        columns: list[str] = []
        common: list[str] = []
        for key in found[0].parameters:
            values = {each.parameters[key] for each in found}
            (columns if len(values) > 1 or len(found) == 1 else common).append(key)
        title = ", ".join([name, *(_named(found[0], key) for key in common)])
        cells: list[dict[str, str]] = [
            {**{_words(key): _parameter(each.parameters[key]) for key in columns}, **_numbers(each)}
            for each in found
        ]
        header = [key for key in cells[0] if any(row[key] for row in cells)]
        yield Table(name, title, header, [[row[key] for key in header] for row in cells])


def _numbers(measurement: Measurement) -> dict[str, str]:
    value, mean, ratio = measurement.value, measurement.mean, measurement.ratio
    return {
        measurement.unit: "never" if value is None else number(value),
        "mean": "" if mean is None else number(mean),
        "ratio": "" if ratio is None else number(ratio),
        "of": measurement.ratio_of or "",
        "goal": "" if measurement.goal is None else str(measurement.goal),
        "met": {None: "", True: "yes", False: "no"}[measurement.passed],
    }


def _named(measurement: Measurement, key: str) -> str:
    return f"{_words(key)} {_parameter(measurement.parameters[key])}"


def _words(key: str) -> str:
    return key.replace("_", " ")


def verdict(measurement: Measurement) -> str:
    """One sentence about one goal."""
    judged = measurement.judged
    what = measurement.ratio_of or measurement.unit
    which = ", ".join(_named(measurement, key) for key in list(measurement.parameters)[:2])
    found = "nothing" if judged is None else number(judged)
    outcome = "goal met" if measurement.passed else "goal missed"
    kind = "value" if measurement.ratio is None else "ratio"
    return (
        f"{measurement.name} ({which}), {what}: {outcome}: {kind} {found}, goal {measurement.goal}"
    )


def markdown(results: Results, pictures: set[str]) -> str:
    """The page. A picture stands under the table of the same name."""
    machine, versions = results.machine, results.versions
    memory = machine["memory_bytes"] / 2**30
    missed = [each for each in results.goals if not each.passed]
    lines = [
        f"# ebbtide bench {results.bench}",
        "",
        f"    {results.command}",
        "",
        *(f"**{note}**\n" for note in results.notes),
        f"{results.started:%Y-%m-%d %H:%M} UTC, {results.seconds:.0f} s. {machine['processor']}, "
        f"{machine['cores']} cores, {memory:.0f} GiB, {machine['system']}, "
        f"load {machine['load_at_start']} at the start. "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + ".",
        "",
        "## Goals",
        "",
        f"{len(results.goals) - len(missed)} of {len(results.goals)} met.",
        "",
        *(f"- {verdict(each)}" for each in results.goals),
    ]
    for table in tables(results):
        lines += ["", f"## {table.title}", "", *_markdown_table(table.header, table.rows)]
        if (picture := table.name.replace(" ", "-")) in pictures:
            lines += ["", f"![{table.name}]({picture}.png)"]
    return "\n".join(lines) + "\n"


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _parameter(value: Parameter) -> str:
    return value if isinstance(value, str) else f"{value:,}".removesuffix(".0")


def number(value: float) -> str:
    """Three digits that count, or all before the point.

    >>> number(0.012345), number(7.0), number(99.96), number(1234567.8)
    ('0.0123', '7.00', '100', '1,234,568')
    """
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    return f"{value:#.3g}"
