"""Ebbtide: the kernel under `owl2rl`.

`reason` is everything after the file was cut into columns of texts: planning, interning the terms,
and the tick. Handing out is reading all triples back as texts.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ebbtide.benches.regimes.contenders import Ended, Job, Stopwatch, Took, peak_memory
from ebbtide.benches.regimes.materialise import read, told
from ebbtide.languages.jena import parse_rules
from ebbtide.program import TRIPLE
from ebbtide.regimes import load as load_regime
from ebbtide.testing.workloads.lubm.queries import query_rules


def contend(job: Job) -> Ended:
    """Read the file, materialise, and read the triples back."""
    watch = Stopwatch()
    program = load_regime("owl2rl")
    table = read(job.data)
    # The patterns of LUBM's queries, written as rules.
    queries = parse_rules(query_rules()).rules
    wanted = [atom for rule in queries for atom in rule.positives] if job.wanted else None
    load = watch.lap()
    engine = told(program, table, wanted)
    # Nobody reads the texts again once the kernel has them.
    del table
    engine.evaluate(0)
    reason, peak = watch.lap(), peak_memory()
    facts = pa.table(engine.native.facts_arrow(TRIPLE))
    hand_out = watch.lap()

    def closure() -> Iterator[tuple[str, str, str]]:
        return zip(*(facts.column(name).to_pylist() for name in ("c0", "c1", "c2")), strict=True)

    return Ended(Took(load, reason, hand_out, facts.num_rows, peak), closure)
