"""Networks of queries: one that registers a stream of triples feeds those that read it.

Invariant: no query reads, through others, what it feeds. Ranks say in which order queries of one
instant are evaluated: producers before readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ebbtide.languages.rspql import BASE, ContinuousQuery
from ebbtide.program import ProgramError
from ebbtide.terms import IRI


def fed_stream(query: ContinuousQuery) -> IRI | None:
    """The stream that a query feeds, if it feeds one.

    A name that is not an IRI is relative to the `BASE` of query texts: REGISTER STREAM alarms feeds
    FROM STREAM <alarms>.
    """
    if query.registers != "stream" or query.form not in ("construct", "describe"):
        return None
    return IRI(query.name if ":" in query.name else BASE + query.name)


def ranks(queries: Sequence[ContinuousQuery]) -> list[int]:
    """Each query's place in the order of evaluation; a cycle is refused."""
    producers: dict[IRI, list[int]] = {}
    for number, query in enumerate(queries):
        if (fed := fed_stream(query)) is not None:
            producers.setdefault(fed, []).append(number)
    found: dict[int, int] = {}

    def rank(number: int, path: tuple[int, ...]) -> int:
        if number in path:
            cycle = [queries[each].name for each in (*path[path.index(number) :], number)]
            raise ProgramError(
                f"these queries feed each other in a circle: {' <- '.join(cycle)}",
                # Those before it did not.
                queries[-1].origin,
            )
        if number not in found:
            below = _producers(queries[number], producers)
            ranks_below = [rank(each, (*path, number)) for each in below]
            found[number] = 1 + max(ranks_below, default=-1)
        return found[number]

    return [rank(number, ()) for number in range(len(queries))]


def _producers(query: ContinuousQuery, producers: dict[IRI, list[int]]) -> Iterable[int]:
    streams = dict.fromkeys(window.stream for window in query.streams)
    return [number for stream in streams for number in producers.get(stream, ())]
