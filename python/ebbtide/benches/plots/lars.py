"""The pictures of the bench lars: a workload each, by window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from matplotlib.axes import Axes

from ebbtide.benches.plots.style import COLOURS, OURS, plain
from ebbtide.benches.results import Results

_STYLES: Final = {"full": "-", "changes": "--"}
_NAMES: Final = ("diamond", "box", "join", "rules", "cooling")


def _by_window(workload: str, results: Results, axes: Axes) -> None:
    for output, style in _STYLES.items():
        found = results.named(f"{workload} {output}")
        rate = min(float(each.parameters["rate"]) for each in found)
        line = [
            (float(each.parameters["window"]), each.value)
            for each in found
            if each.parameters["rate"] == rate and each.value is not None
        ]
        axes.plot(
            *zip(*line, strict=True),
            color=OURS,
            linestyle=style,
            marker="o",
            label=f"ebbtide, {output}",
        )
    laser = [
        (float(each.parameters["window"]), float(each.parameters["laser"]))
        for each in results.named(f"{workload} full")
        if each.parameters["laser"] and each.parameters["rate"] == rate
    ]
    if laser:
        axes.plot(
            *zip(*laser, strict=True),
            color=COLOURS["dred"],
            marker="s",
            label=f"Laser, full output{'' if results.named('laser') else ', as reported'}",
        )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(plain)
    axes.set_title(f"{workload}, {rate:g} atoms a time point")
    axes.set_xlabel("window (time points)")
    axes.set_ylabel("microseconds an input atom")


LARS: Final[Mapping[str, Callable[[Results, Axes], None]]] = {
    f"{name} full": partial(_by_window, name) for name in _NAMES
}
