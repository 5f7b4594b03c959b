"""The pictures of the bench pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from matplotlib.axes import Axes

from ebbtide.benches.plots.style import OURS, plain, values
from ebbtide.benches.results import Results

_OTHERS: Final = ("#c8553d", "#5b5f97", "#8a8d91", "#d9a441")
#: Of a batch; small ones have no stages of Spark's.
_STAGES: Final = {
    "source": _OTHERS[3],
    "parse": _OTHERS[2],
    "transfer, log and commit": _OTHERS[1],
    "Spark, reading and parsing": _OTHERS[3],
    "log and commit": _OTHERS[1],
    "reasoning": OURS,
    "sink": _OTHERS[0],
}


def _batches(name: str) -> Callable[[Results, Axes], None]:
    def draw(results: Results, axes: Axes) -> None:
        found = results.named(name)
        pipelines = list(dict.fromkeys(str(each.parameters["pipeline"]) for each in found))
        for which, height, colour in (("p95", 0.7, "#b9dedb"), ("p50", 0.4, OURS)):
            chosen = [each for each in found if each.parameters["of batches"] == which]
            axes.barh(pipelines, values(chosen), height, color=colour, label=which)
        axes.invert_yaxis()
        axes.set_title(f"A batch of {found[0].parameters['facts']:,} facts")
        axes.set_xlabel("milliseconds")

    return draw


def _stages(name: str) -> Callable[[Results, Axes], None]:
    def draw(results: Results, axes: Axes) -> None:
        left = 0.0
        for each in results.named(name):
            stage = str(each.parameters["stage"])
            value = max(0.0, each.value or 0.0)
            label = f"{stage} ({value:,.0f} ms)"
            axes.barh(["batch"], [value], left=left, color=_STAGES[stage], label=label)
            left += value
        # Room for the legend.
        axes.set_ylim(-0.6, 2.2)
        axes.set_yticks([])
        axes.set_title(name.capitalize())
        axes.set_xlabel("milliseconds")

    return draw


def _closure(results: Results, axes: Axes) -> None:
    found = results.named("closure")
    for engine, colour in (("driver", OURS), ("dataframe", _OTHERS[0])):
        chosen = [each for each in found if each.parameters["engine"] == engine]
        sizes = [float(each.parameters["facts"]) for each in chosen]
        axes.plot(sizes, values(chosen), color=colour, marker="o", label=engine)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(plain)
    axes.yaxis.set_major_formatter(plain)
    axes.set_title("Closure of chains of isIn")
    axes.set_xlabel("stated facts")
    axes.set_ylabel("seconds")


def _shards(results: Results, axes: Axes) -> None:
    found = results.named("shards")
    rows = [
        (str(each.parameters["cut by"]), int(each.parameters["facts a batch"])) for each in found
    ]
    cuts = list(dict.fromkeys(rows))
    for workers, colour, shift in ((1, _OTHERS[2], -0.2), (2, OURS, 0.2)):
        chosen = [each for each in found if each.parameters["workers"] == workers]
        microseconds = [
            1_000 * value / size for value, (_, size) in zip(values(chosen), cuts, strict=True)
        ]
        places = [place + shift for place in range(len(cuts))]
        label = f"{workers} worker{'s' if workers > 1 else ''}"
        bars = axes.barh(places, microseconds, height=0.36, color=colour, label=label)
        axes.bar_label(bars, fmt="{:,.3g}", padding=4)
    axes.set_yticks(range(len(cuts)), [f"{size:,}\nby {cut}" for cut, size in cuts])
    axes.margins(x=0.12)
    axes.invert_yaxis()
    axes.set_title("Two shards on a cluster")
    axes.set_ylabel("facts a batch")
    axes.set_xlabel("microseconds a fact")


def _bars(name: str, title: str, label: str, parameter: str) -> Callable[[Results, Axes], None]:
    """A bar for each value of a parameter."""

    def draw(results: Results, axes: Axes) -> None:
        found = results.named(name)
        named = [str(each.parameters[parameter]) for each in found]
        bars = axes.barh(named, values(found), height=0.5, color=OURS)
        axes.bar_label(bars, fmt="{:,.3g}" if max(values(found)) < 1000 else "{:,.0f}", padding=4)
        axes.margins(x=0.12)
        axes.invert_yaxis()
        axes.set_title(title)
        axes.set_ylabel(parameter)
        axes.set_xlabel(label)

    return draw


PIPELINE: Final[Mapping[str, Callable[[Results, Axes], None]]] = {
    "large batches": _batches("large batches"),
    "large stages": _stages("large stages"),
    "small batches": _batches("small batches"),
    "small stages": _stages("small stages"),
    "closure": _closure,
    "parsing": _bars("parsing", "Parsing on executors", "lines a second", "way"),
    "shards": _shards,
    "batch of a shard": _bars(
        "batch of a shard",
        "A shard's batch, by whether the kernel was still there",
        "milliseconds",
        "kernel in the worker",
    ),
    "recovery": _bars("recovery", "From start to the next answer", "seconds", "run"),
    "memory in the burst": _bars(
        "memory in the burst", "Resident memory in a burst", "megabytes", "process"
    ),
}
