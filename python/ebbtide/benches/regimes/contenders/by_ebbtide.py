"""Ebbtide: the kernel under `owl2rl`.

`load` is reading the file into the kernel, where the triples wait; `reason` is everything after
that: planning, and the tick. Handing out is reading all triples back as texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ebbtide.benches.regimes.contenders import Ended, Job, Stopwatch, Took, peak_memory
from ebbtide.engines.planned import PlannedEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.program import TRIPLE
from ebbtide.regimes import load as load_regime
from ebbtide.terms.formats import open_document
from ebbtide.testing.workloads.lubm.queries import query_rules

#: How many triples are read at once.
AT_ONCE: Final = 65_536


def contend(job: Job) -> Ended:
    """Read the file, materialise, and read the triples back."""
    watch = Stopwatch()
    program = load_regime("owl2rl")
    # The patterns of LUBM's queries, written as rules.
    queries = parse_rules(query_rules()).rules
    wanted = [atom for rule in queries for atom in rule.positives] if job.wanted else None
    engine = PlannedEngine(program, {}, wanted=wanted)
    document = open_document(Path(job.data))
    while engine.add_read(document, AT_ONCE):
        pass
    load = watch.lap()
    engine.evaluate(0)
    reason, peak = watch.lap(), peak_memory()
    import pyarrow as pa

    watch.lap()
    facts = pa.table(engine.native.facts_arrow(TRIPLE))
    hand_out = watch.lap()

    def closure() -> Iterator[tuple[str, str, str]]:
        return zip(*(facts.column(name).to_pylist() for name in ("c0", "c1", "c2")), strict=True)

    return Ended(Took(load, reason, hand_out, facts.num_rows, peak), closure)
