"""Streams of LARS atoms: at every time point some atoms, each a predicate and its arguments.

A time point has one line: the instant, a TAB, the atoms, each with a full stop.

    41	p(n3,n4). p(n4,n5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from ebbtide.time import Instant


class GroundAtom(NamedTuple):
    """A predicate and its constants; numbers are numbers.

    >>> print(GroundAtom("p", ("a", 7)), GroundAtom("alarm", ()))
    p(a,7) alarm
    """

    predicate: str
    arguments: tuple[str | int, ...]

    def __str__(self) -> str:
        inner = ",".join(map(str, self.arguments))
        return f"{self.predicate}({inner})" if inner else self.predicate


#: The time points of a stream in order, each with its atoms; each call starts from the beginning.
AtomStream: TypeAlias = Callable[[], Iterator[tuple[Instant, list[GroundAtom]]]]


def atoms_line(at: Instant, atoms: Iterable[GroundAtom]) -> str:
    r"""A time point, with its line end.

    >>> atoms_line(41, [GroundAtom("p", ("a", "b")), GroundAtom("q", ("c",))])
    '41\tp(a,b). q(c).\n'
    """
    return f"{at}\t{' '.join(f'{atom}.' for atom in atoms)}\n"
