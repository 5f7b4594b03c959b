"""The triples that CONSTRUCT makes with new nodes: one node for each solution and label.

    CONSTRUCT { ?room :alarm [ :at ?t ] }      a row (?room, ?t) ──► two triples with one new node

In: rows of solutions. Out: triples, each once. A node is labelled by a digest of the query's name,
of the place of its label in the template, and of the solution: so the same solution makes the same
node at every tick and after every restart, and what ISTREAM tells is what is new.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.queries.answers import Row

#: What stands in a place of a triple, given a solution and the digest of it.
_Place: TypeAlias = Callable[[Row, str], str | None]


def has_blanks(template: Sequence[Sequence[str]]) -> bool:
    """Whether a template makes new nodes."""
    return any(text.startswith("_:") for triple in template for text in triple)


@dataclass(frozen=True, slots=True)
class Template:
    """A template of the query of a name, for rows of some variables.

    >>> made = Template("q", (("?x", "<a:p>", "_:b"), ("_:b", "<a:q>", "?y")), ("?x", "?y"))
    >>> first, second = made.triples([("<a:x>", '"1"')])
    >>> first[2] == second[0], first == made.triples([("<a:x>", '"1"')])[0]
    (True, True)
    >>> made.triples([("<a:x>", None)])[0][2] == first[2]
    False
    """

    query: str
    template: tuple[tuple[str, str, str], ...]
    variables: tuple[str, ...]

    def triples(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """The triples of some solutions; those that would be none are left out."""
        labels = list(
            dict.fromkeys(text for triple in self.template for text in triple if _is_blank(text))
        )
        places = [[self._place(text, labels) for text in triple] for triple in self.template]
        seen: Counter[Row] = Counter()
        found: dict[Row, None] = {}
        for row in rows:
            # Solutions that are alike make a node each.
            said = repr((self.query, row, seen[row]))
            seen[row] += 1
            digest = hashlib.sha256(said.encode()).hexdigest()[:24]
            for triple in places:
                terms = tuple(place(row, digest) for place in triple)
                if _is_triple(terms):
                    found[terms] = None
        return tuple(found)

    def _place(self, text: str, labels: Sequence[str]) -> _Place:
        if text in labels:
            number = labels.index(text)
            return lambda row, digest: f"_:made-{digest}-{number}"
        if text.startswith("?"):
            column = self.variables.index(text) if text in self.variables else None
            return lambda row, digest: None if column is None else row[column]
        return lambda row, digest: text


def _is_blank(text: str) -> bool:
    return text.startswith("_:")


def _is_triple(terms: Row) -> bool:
    subject, predicate, object_ = terms
    return (
        subject is not None
        and predicate is not None
        and object_ is not None
        and not subject.startswith('"')
        and predicate.startswith("<")
    )
