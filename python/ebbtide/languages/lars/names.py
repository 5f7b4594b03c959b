"""Names that mean something of their own in a rule, unless they stand in quotes.

They are those of Ticker's comparisons and arithmetic (`ticker.py` says what becomes of them), those
that Laser writes in front of brackets (`laser.py`), and the words around atoms.
"""

from __future__ import annotations

from typing import Final

#: What a name says of an argument and the next one.
COMPARES: Final = {
    "eq": ("equal",),
    "neq": ("notEqual",),
    "lt": ("lessThan",),
    "gt": ("greaterThan",),
    "leq": ("le",),
    "geq": ("ge",),
    "ltlt": ("lessThan", "lessThan"),
    "ltleq": ("lessThan", "le"),
    "leqlt": ("le", "lessThan"),
    "leqleq": ("le", "le"),
}
#: The function that yields the last argument; None: there is none.
COMPUTES: Final = {
    "plus": "sum",
    "sum": "sum",
    "minus": "difference",
    "times": "product",
    "prod": "product",
    "product": "product",
    "divide": None,
    "modulo": None,
    "power": None,
}
#: `incr(X,Y)` is Y = X + 1.
NEXT: Final = "incr"
ARITIES: Final = {
    **{name: len(signs) + 1 for name, signs in COMPARES.items()},
    **dict.fromkeys(COMPUTES, 3),
    NEXT: 2,
}
#: What Laser writes as if it were a predicate.
_LASER: Final = frozenset({"box", "diamond", "time_win", "tuple_win"})
#: What stands behind an atom.
BEHIND: Final = frozenset({"in", "at"})


def is_plain(name: str, arity: int) -> bool:
    """Whether an atom of a rule is of that predicate without quotes around its name.

    >>> is_plain("sum", 2), is_plain("sum", 3), is_plain("box", 0), is_plain("box", 1)
    (True, False, True, False)
    """
    is_word = name == "not" or name in (_LASER if arity else BEHIND)
    return not is_word and ARITIES.get(name) != arity
