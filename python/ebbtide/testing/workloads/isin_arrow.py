"""Trees of isIn as Arrow tables: the data of `isin`, without end and without an object a fact.

A node may have several `parents` in the level above it, so that pairs have several paths; and
`mixed` trees may be streamed together, in random order, so that paths are of different age.

Trees come in blocks. The edges of one block are shuffled once, tree by tree, and part of them put
aside for the background; every other block is the same with its nodes numbered on. So the stream
is a function of the position in it, each tree has names of its own, and all names have one length.

    position   0 ...        S ...        2S ...          S streamed edges a block
               block 0      block 1      block 2         N nodes a block
    nodes      FIRST + 0    FIRST + N    FIRST + 2N
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.testing.workloads.isin import edges_of_a_tree, edges_upwards
from ebbtide.testing.workloads.workload import EX, WorkloadError, at_least
from ebbtide.time import Instant

IS_IN: Final = f"<{EX}isIn>"
TIME: Final = "at"
TERMS: Final = ("s", "p", "o")

# Numbers from here on have the same number of digits for 9 * 10^9 nodes.
FIRST_NODE: Final = 1_000_000_000
# A block is of about so many edges: enough orders of a tree, and quick to shuffle.
BLOCK: Final = 20_000


class IsInTables:
    """The pool of trees; `background` of it never expires, the rest is streamed.

    >>> tables = IsInTables(depth=2, fanout=2)
    >>> table = tables.stream(first=0, count=2, after=0, upto=1000)
    >>> table.column_names, table["at"].to_pylist()
    (['at', 's', 'p', 'o'], [1, 501])
    """

    def __init__(
        self,
        *,
        depth: int = 4,
        fanout: int = 3,
        background: float = 0.0,
        seed: int = 0,
        parents: int = 1,
        mixed: int = 1,
    ) -> None:
        if not 0 <= background < 1:
            raise WorkloadError(
                f"background is a share of at least 0 and below 1, not {background}"
            )
        tree = edges_upwards(depth, fanout, parents)
        at_least("mixed", mixed, 1)
        together = len(tree) * mixed
        # As many as are mixed, or more, but always all of them.
        pool = max(1, BLOCK // together) * together
        random = Random(seed)
        aside = frozenset(random.sample(range(pool), round(pool * background)))
        streamed: list[int] = []
        for first in range(0, pool, together):
            some = [number for number in range(first, first + together) if number not in aside]
            random.shuffle(some)
            streamed += some
        if not streamed:
            raise WorkloadError(f"a background of {background} leaves nothing to stream")
        self._nodes_of_a_tree = edges_of_a_tree(depth, fanout) + 1
        self._nodes = pool // len(tree) * self._nodes_of_a_tree
        self._streamed = self._edges(tree, streamed)
        self._background = self._edges(tree, sorted(aside))

    def stream(self, first: int, count: int, after: Instant, upto: Instant) -> pa.Table:
        """Edges `first` to `first + count` of the stream, spread evenly over (after, upto]."""
        size = self._streamed.num_rows
        parts = []
        for block in range(first // size, -(-(first + count) // size)):
            start = max(first - block * size, 0)
            stop = min(first + count - block * size, size)
            parts.append(self._numbered(self._streamed.slice(start, stop - start), block))
        facts = _facts(pa.concat_tables(parts) if parts else self._streamed.slice(0, 0))
        span = pc.multiply(pa.array(range(count), pa.int64()), upto - after)
        instants = pc.add(pc.divide(span, max(count, 1)), after + 1)
        return facts.add_column(0, TIME, instants)

    def background(self, streamed: int) -> pa.Table:
        """The background of the trees that the first `streamed` edges of the stream belong to."""
        blocks, rest = divmod(streamed, self._streamed.num_rows)
        parts = [self._numbered(self._background, block) for block in range(blocks)]
        if rest:
            last_tree = pc.max(self._streamed["child"][:rest]).as_py() // self._nodes_of_a_tree
            upto = (last_tree + 1) * self._nodes_of_a_tree
            begun = self._background.filter(pc.less(self._background["child"], upto))
            parts.append(self._numbered(begun, blocks))
        return _facts(pa.concat_tables(parts) if parts else self._background.slice(0, 0))

    def _edges(self, tree: Sequence[tuple[int, int]], numbers: list[int]) -> pa.Table:
        """Edges by their number in the block, as the numbers of their nodes."""
        children, parents = [], []
        for number in numbers:
            which, edge = divmod(number, len(tree))
            root = which * self._nodes_of_a_tree
            children.append(root + tree[edge][0])
            parents.append(root + tree[edge][1])
        return pa.table(
            {"child": pa.array(children, pa.int64()), "parent": pa.array(parents, pa.int64())}
        )

    def _numbered(self, edges: pa.Table, block: int) -> pa.Table:
        offset = FIRST_NODE + block * self._nodes
        return pa.table({name: pc.add(edges[name], offset) for name in edges.column_names})


def _facts(edges: pa.Table) -> pa.Table:
    columns = (_names(edges["child"]), pa.repeat(IS_IN, edges.num_rows), _names(edges["parent"]))
    return pa.table(dict(zip(TERMS, columns, strict=True)))


def _names(nodes: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(f"<{EX}n", pc.cast(nodes, pa.string()), ">", "")
