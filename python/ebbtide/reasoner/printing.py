"""What rules print: a line for each match that begins to hold, when its tick is evaluated.

`print` in a rule is lowered to a relation of its own, so that every engine prints the same lines
once each, however often it evaluates a rule. Lines of one tick come in the order of their texts.
"""

from __future__ import annotations

from ebbtide.engines.protocol import Delta
from ebbtide.program.reserved import PRINT
from ebbtide.terms import Literal, Term


def printed(delta: Delta) -> list[str]:
    """The lines of a tick: literals by their lexical forms, other terms as N-Triples.

    >>> from ebbtide.program import Fact
    >>> printed(Delta(1, {Fact.of("print:r/2", "warm:", "<http://e/a>"): 10}, {}, {}))
    ['warm: <http://e/a>']
    """
    facts = (fact for fact in delta.entered if fact.relation.startswith(PRINT))
    return sorted(" ".join(map(_shown, fact.terms)) for fact in facts)


def _shown(term: Term) -> str:
    return term.lexical if isinstance(term, Literal) else term.text
