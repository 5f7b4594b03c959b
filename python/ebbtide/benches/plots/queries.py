"""The pictures of the bench queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from matplotlib.axes import Axes

from ebbtide.benches.plots.style import OURS, plain, values
from ebbtide.benches.results import Results

_COLOURS: Final = {"sparql, anew": "#c8553d", "rdflib, anew": "#5b5f97"}
_LINES: Final = ("-", "--")


def _windows(results: Results, axes: Axes) -> None:
    found = results.named("windows")
    queries = dict.fromkeys(each.parameters["query"] for each in found)
    for query, line in zip(queries, _LINES, strict=False):
        for how in dict.fromkeys(str(each.parameters["how"]) for each in found):
            chosen = [
                each
                for each in found
                if each.parameters["query"] == query and each.parameters["how"] == how
            ]
            axes.plot(
                [float(each.parameters["window"]) for each in chosen],
                values(chosen),
                line,
                color=OURS if how == "incremental" else _COLOURS.get(how, "#8a8d91"),
                marker="o",
                label=f"{how}: {query}",
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    # Room for the legend.
    axes.set_ylim(top=50 * max(values(found)))
    axes.xaxis.set_major_formatter(plain)
    axes.yaxis.set_major_formatter(plain)
    axes.set_title(f"A tick with {found[0].parameters['churn']} triples in and out")
    axes.set_xlabel("triples in the window")
    axes.set_ylabel("processor time a tick (ms)")


QUERIES: Final[Mapping[str, Callable[[Results, Axes], None]]] = {"windows": _windows}
