"""The wording of messages: what several of them say alike is said here."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, or nothing.

    >>> did_you_mean("lessThen", ["lessThan", "sum"])
    '; did you mean lessThan?'
    """
    nearest = get_close_matches(name, list(known), n=1, cutoff=0.65)
    return f"; did you mean {nearest[0]}?" if nearest else ""


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things, in words.

    >>> counted(1, "fact"), counted(2, "fact"), counted(2, "stratum", "strata")
    ('1 fact', '2 facts', '2 strata')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"
