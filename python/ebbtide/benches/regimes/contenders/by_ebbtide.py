"""Ebbtide: the kernel under `owl2rl`.

`reason` is everything after the file was cut into columns of texts: planning, interning the terms,
and the tick. Handing out is reading all triples back as texts.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ebbtide.benches.regimes.contenders import Ended, Job, Stopwatch, Took, peak_memory
from ebbtide.engines.native import NativeEngine
from ebbtide.program import TRIPLE
from ebbtide.regimes import load as load_regime
from ebbtide.time import Sliding

COLUMNS = ("s", "p", "o")


def contend(job: Job) -> Ended:
    """Read the file, materialise, and read the triples back."""
    watch = Stopwatch()
    program = load_regime("owl2rl")
    table = _read(job.data)
    load = watch.lap()
    engine = NativeEngine(program, {"default": Sliding(1)})
    engine.add_arrow(table, TRIPLE, COLUMNS)
    engine.evaluate(0)
    reason, peak = watch.lap(), peak_memory()
    facts = pa.table(engine.facts_arrow(TRIPLE))
    hand_out = watch.lap()

    def closure() -> Iterator[tuple[str, str, str]]:
        return zip(*(facts.column(name).to_pylist() for name in ("c0", "c1", "c2")), strict=True)

    return Ended(Took(load, reason, hand_out, facts.num_rows, peak), closure)


def _read(path: str) -> pa.Table:
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip()[:-2].split(" ", 2) for line in file]
    return pa.table(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)))
