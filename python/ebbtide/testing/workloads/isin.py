"""Trees of isIn: the synthetic data of the paper's evaluation (its section 5).

All trees have the same depth and fanout. Their edges, `child isIn parent`, form a pool; a share of
the pool, drawn at random, is the background, and the rest is streamed tree after tree, in random
order within a tree, so that a window sees whole trees.

    depth 2, fanout 2:      0          edges 1 -> 0, 2 -> 0, 3 -> 1, 4 -> 1, 5 -> 2, 6 -> 2
                          1   2
                         3 4 5 6
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from ebbtide.program import Fact
from ebbtide.terms import IRI
from ebbtide.testing.workloads.workload import TimedFacts, Workload, WorkloadError, at_least, name
from ebbtide.time import Instant


def edges_of_a_tree(depth: int, fanout: int) -> int:
    """How many edges a full tree has; edge n leads from node n + 1 to node n // fanout.

    >>> edges_of_a_tree(depth=2, fanout=2)
    6
    """
    at_least("depth", depth, 1)
    at_least("fanout", fanout, 1)
    return sum(fanout**level for level in range(1, depth + 1))


def edges_upwards(depth: int, fanout: int, parents: int = 1) -> list[tuple[int, int]]:
    """The edges of a tree, as child and parent, whose nodes may have more parents a level above.

    >>> edges_upwards(depth=2, fanout=2)
    [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2)]
    >>> edges_upwards(depth=2, fanout=2, parents=2)[2:6]
    [(3, 1), (3, 2), (4, 1), (4, 2)]
    """
    at_least("parents", parents, 1)
    edges: list[tuple[int, int]] = []
    first, above = 0, 1
    for child in range(1, edges_of_a_tree(depth, fanout) + 1):
        if child == first + above + above * fanout:
            first, above = first + above, above * fanout
        own = (child - 1) // fanout - first
        edges += [(child, first + (own + more) % above) for more in range(min(parents, above))]
    return edges


def isin(
    *,
    facts: int = 1000,
    depth: int = 3,
    fanout: int = 2,
    background: float = 0.1,
    rate: float = 100.0,
    start: Instant = 0,
    seed: int = 0,
) -> Workload:
    """A pool of `facts` edges; `rate` of them a second are streamed from `start` on.

    >>> workload = isin(facts=6, depth=2, background=0.5, rate=1)
    >>> len(list(workload.background())), len(list(workload.stream()))
    (3, 3)
    >>> [at for fact, at in workload.stream()]
    [0, 1000, 2000]
    """
    at_least("facts", facts, 0)
    if not 0 <= background <= 1:
        raise WorkloadError(f"background is a share between 0 and 1, not {background}")
    if rate <= 0:
        raise WorkloadError(f"rate must be positive, not {rate}")
    is_in = name("isIn")
    edges = edges_of_a_tree(depth, fanout)

    def chosen() -> frozenset[int]:
        return frozenset(Random(seed).sample(range(facts), round(facts * background)))

    def node(tree: int, number: int) -> IRI:
        return name(f"t{tree}/n{number}")

    def edge(number: int) -> Fact:
        tree, child = divmod(number, edges)
        return Fact("triple", (node(tree, child + 1), is_in, node(tree, child // fanout)))

    def background_facts() -> Iterator[Fact]:
        return map(edge, sorted(chosen()))

    def stream() -> TimedFacts:
        in_background = chosen()
        random = Random(seed + 1)
        sent = 0
        for first in range(0, facts, edges):
            tree = [
                number
                for number in range(first, min(first + edges, facts))
                if number not in in_background
            ]
            random.shuffle(tree)
            for number in tree:
                yield edge(number), start + int(sent * 1000 / rate)
                sent += 1

    return Workload(background_facts, stream)
