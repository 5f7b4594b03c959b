"""What the size of a batch does: one time point at a time, or many."""

from __future__ import annotations

from ebbtide.benches.lars.arrow import least, time_rounds
from ebbtide.benches.lars.settings import Settings
from ebbtide.benches.lars.workloads import WORKLOADS
from ebbtide.benches.results import Measurement, Parameter, Results, Say


def measure_batches(settings: Settings, results: Results, say: Say) -> None:
    """Changes at the first rate in the middle window, in batches of 1, some and all time points."""
    rate, window = settings.rates[0], settings.windows[len(settings.windows) // 2]
    for workload in WORKLOADS:
        for batch in sorted({1, settings.batch, settings.ticks}):
            say(f"{workload.name}: batches of {batch} time points")
            rounds = time_rounds(settings, workload, [window], rate, batch, full=False)
            timing = least(rounds[window])
            parameters: dict[str, Parameter] = {"workload": workload.name, "window": window}
            results.add(
                Measurement(
                    "batches",
                    {**parameters, "rate": rate, "time_points_a_batch": batch},
                    timing.median,
                    "us an atom",
                    mean=timing.mean,
                )
            )
