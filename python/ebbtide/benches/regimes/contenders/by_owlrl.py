"""owlrl: OWL 2 RL in Python, over a graph of rdflib. Its triples are Python objects all along."""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.benches.regimes.contenders import Ended, Job, Stopwatch, Took, peak_memory
from ebbtide.terms import TermError, to_term


def contend(job: Job) -> Ended:
    """Parse the file and expand the graph."""
    import owlrl
    import rdflib

    watch = Stopwatch()
    graph = rdflib.Graph()
    graph.parse(job.data, format="nt")
    load = watch.lap()
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    reason, peak = watch.lap(), peak_memory()

    def closure() -> Iterator[tuple[str, str, str]]:
        for triple in graph:
            try:
                s, p, o = (to_term(term).text for term in triple)
            except TermError:
                continue
            yield s, p, o

    return Ended(Took(load, reason, 0.0, len(graph), peak), closure)
