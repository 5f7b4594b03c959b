"""CONSTRUCT as a pattern: its solutions are the triples of the template, each once.

In: the pattern of the query, and its template. Out: the pattern with a variable for each place of a
triple, without solutions that make no triple.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ebbtide.queries.upper_plan import Node, is_variable

#: The variables of a constructed triple.
MADE: Final = ("?made_subject", "?made_predicate", "?made_object")


def constructed(pattern: Sequence[Any], template: Sequence[Sequence[str]]) -> Node:
    """The pattern whose solutions are the triples of a template, by the names of `MADE`."""

    def triple(terms: Sequence[str]) -> Node:
        node: Node = tuple(pattern)
        for name, term in zip(MADE, terms, strict=True):
            node = ("extend", node, name, term)
        # What is written in the template is a triple as far as it goes.
        asked = (("!", ("isLITERAL", MADE[0])), ("isIRI", MADE[1]), ("BOUND", MADE[2]))
        for term, is_right in zip(terms, asked, strict=True):
            node = ("filter", node, is_right) if is_variable(term) else node
        return node

    found = [triple(terms) for terms in template]
    return found[0] if len(found) == 1 else ("union", *found)
