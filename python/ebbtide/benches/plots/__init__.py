"""Results as pictures, one PNG per measurement that a line tells better than a table.

A plot reads `Results` and nothing else, so that it can be drawn again from results.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ebbtide.benches.plots.imars import IMARS
from ebbtide.benches.plots.lars import LARS
from ebbtide.benches.plots.pipeline import PIPELINE
from ebbtide.benches.plots.queries import QUERIES
from ebbtide.benches.plots.regimes import REGIMES
from ebbtide.benches.results import Results

PLOTS: Final[Mapping[str, Mapping[str, Callable[[Results, Axes], None]]]] = {
    "imars": IMARS,
    "pipeline": PIPELINE,
    "queries": QUERIES,
    "lars": LARS,
    "regimes": REGIMES,
}


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw every plot that the results have data for; the files written."""
    written = []
    for name, plot in PLOTS[results.bench].items():
        if results.named(name):
            figure = Figure(figsize=(7.5, 4.8), layout="constrained")
            axes = figure.add_subplot()
            plot(results, axes)
            axes.grid(True, which="major", alpha=0.35)
            axes.grid(True, which="minor", alpha=0.12)
            axes.set_axisbelow(True)
            # One kind of line or bar is named by the title and the axes.
            if len(axes.get_legend_handles_labels()[0]) > 1:
                axes.legend(frameon=False)
            written.append(folder / f"{name.replace(' ', '-')}.png")
            figure.savefig(written[-1], dpi=130)
    return written
