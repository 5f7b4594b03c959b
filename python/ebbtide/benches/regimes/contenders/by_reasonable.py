"""reasonable: OWL 2 RL in Rust, with Python bindings.

`reason()` gives all triples as terms of rdflib, and there is no other way to call it. How much of
it is making those terms shows when it is called again: then there is nothing left to derive.
"""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.benches.regimes.contenders import Ended, Job, Stopwatch, Took, peak_memory
from ebbtide.terms import to_term


def contend(job: Job) -> Ended:
    """Load the file and reason."""
    import reasonable

    watch = Stopwatch()
    reasoner = reasonable.PyReasoner()
    reasoner.load_file(job.data)
    load = watch.lap()
    triples = reasoner.reason()
    reason, peak = watch.lap(), peak_memory()
    # As many objects for the garbage collector to look at as at the first time.
    triples.clear()
    watch.lap()
    triples = reasoner.reason()
    hand_out = watch.lap()

    def closure() -> Iterator[tuple[str, str, str]]:
        for s, p, o in triples:
            yield to_term(s).text, to_term(p).text, to_term(o).text

    return Ended(Took(load, reason, hand_out, len(triples), peak), closure)
