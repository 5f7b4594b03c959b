"""Relations with a meaning of their own, and the relations whose facts are kept out of answers.

    list(L, I, X)           X is the I-th item, from 0, of the RDF list L      (program/lists.py)
    listLength(L, N)        the RDF list L has N items
    listNext(I, J)          J follows I, for the indexes and lengths of the lists that are read
    now(T)                  the tick that is being evaluated is at T
    list:malformed(L, K, R) the wanted list L is malformed at its cell K, for the reason R
    equality:step(X, P, Y)  X P Y, for a P that rules make symmetric and transitive; an engine may
                            leave out what other steps connect for as long (plan/equality.py)
    equality:ends(X, P, Y)  X P Y, for such a P that is not turned around for literals, one of them
    inconsistency:NAME(...) the body of the rule NAME, which concludes `false`, holds
    print:NAME/N(...)       what the rule NAME prints, N terms a line

A relation is *hidden* when it is one of these, when its name has a colon (no language lets a user
write that: such relations are made by rewriting), or when its name begins with an underscore (the
helper relations of rule files). Its facts take part in rules like all others, and are no answers.
Facts of the last two are told as events.
"""

from __future__ import annotations

from typing import Final

LIST: Final = "list"
LIST_LENGTH: Final = "listLength"
LIST_NEXT: Final = "listNext"
NOW: Final = "now"
MALFORMED: Final = "list:malformed"
STEP: Final = "equality:step"
ENDS: Final = "equality:ends"
INCONSISTENCY: Final = "inconsistency:"
PRINT: Final = "print:"

#: The relations that a body may use without a declaration, with their arity.
RESERVED: Final = {LIST: 3, LIST_LENGTH: 2, LIST_NEXT: 2, NOW: 1}


def is_hidden(relation: str) -> bool:
    """Whether the facts of a relation are kept out of answers.

    >>> [is_hidden(name) for name in ("triple", "list", "list:cell", "_all")]
    [False, True, True, True]
    """
    return relation in RESERVED or ":" in relation or relation.startswith("_")


def is_event(relation: str) -> bool:
    """Whether the facts of a relation are told as events.

    >>> is_event("inconsistency:cax-dw"), is_event("list:cell")
    (True, False)
    """
    return relation == MALFORMED or relation.startswith(INCONSISTENCY)
