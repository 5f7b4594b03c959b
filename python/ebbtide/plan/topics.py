"""Topics: what an atom is about, to find the few of many atoms that one may have to do with.

The topic of an atom is its relation, then the argument at its second place, in RDF the predicate,
or its only one, and then, of a type, the class: as far as these are constants. Two atoms have a
fact in common only if the topic of one begins with that of the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Generic, TypeAlias, TypeVar

from ebbtide.plan.schema import TYPE
from ebbtide.program import Argument, Atom, Variable

Thing = TypeVar("Thing")
_Topic: TypeAlias = tuple[str | Argument, ...]


class Topics(Generic[Thing]):
    """Things filed under atoms, in the order in which they were added where topics are equal.

    >>> from ebbtide.testing import program
    >>> known, each, other = program("q(?x) :- p(?x, A), p(?x, ?y), p(?x, B).").rules[0].positives
    >>> topics: Topics[str] = Topics()
    >>> topics.add(known, "known")
    >>> [list(topics.near(atom)) for atom in (known, each, other)]
    [['known'], ['known'], []]
    """

    def __init__(self) -> None:
        self._at: defaultdict[_Topic, list[Thing]] = defaultdict(list)
        self._below: defaultdict[_Topic, list[Thing]] = defaultdict(list)

    def add(self, atom: Atom, thing: Thing) -> None:
        """File a thing under an atom."""
        topic = _topic(atom)
        self._at[topic].append(thing)
        for end in range(1, len(topic)):
            self._below[topic[:end]].append(thing)

    def above(self, atom: Atom) -> Iterator[Thing]:
        """What is filed under the topic of an atom and under those that it begins with."""
        topic = _topic(atom)
        for end in range(len(topic), 0, -1):
            yield from self._at.get(topic[:end], ())

    def near(self, atom: Atom) -> Iterator[Thing]:
        """What is filed under an atom that may have a fact in common with this one."""
        yield from self.above(atom)
        yield from self._below.get(_topic(atom), ())


def _topic(atom: Atom) -> _Topic:
    telling = atom.arguments[1:3] or atom.arguments
    if not telling or isinstance(telling[0], Variable):
        return (atom.relation,)
    if telling[0] == TYPE and not isinstance(telling[-1], Variable):
        return atom.relation, *telling
    return atom.relation, telling[0]
