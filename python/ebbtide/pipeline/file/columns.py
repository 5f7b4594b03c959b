"""The names of the columns of a schema of Spark, read without Spark.

Spark's own parser needs its Java. This knows columns and the names of types; what is in the
brackets of a type is left to Spark.
"""

from __future__ import annotations

import re
from typing import Final

_TYPES: Final = (
    "boolean|tinyint|byte|smallint|short|int|integer|bigint|long|float|real|double|decimal|dec|numeric"
    "|date|time|timestamp|timestamp_ntz|timestamp_ltz|interval|string|char|character|varchar|binary"
    "|void|variant|array|map|struct|geometry|geography"
)
# What may follow a type: more of its name, or what a column is beside it.
_MORE: Final = "with|without|year|month|day|hour|minute|second|collate|not|comment|default"
_COLUMN: Final = re.compile(
    rf"\s*(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<plain>(?!\d+\b)\w+))(?:\s*:\s*|\s+|(?<=`))"
    rf"(?:{_TYPES})\b\s*(?:(?:{_MORE})\b.*)?",
    re.IGNORECASE | re.DOTALL,
)
_WHOLE: Final = re.compile(r"\s*struct\s*<(.*)>\s*", re.IGNORECASE | re.DOTALL)
# A quoted name or text, a bracket, a comma, or what is none of these.
_PIECE: Final = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|.", re.DOTALL)


def names_of(schema: str) -> list[str]:
    """The names of the columns of a schema, in order.

    >>> names_of("at timestamp NOT NULL, `a b`: decimal(10, 2), c struct<d: int, e: map<int, int>>")
    ['at', 'a b', 'c']
    >>> names_of("at bigint id string")
    Traceback (most recent call last):
    ValueError: not a column of a schema (such as id string): at bigint id string
    """
    if whole := _WHOLE.fullmatch(schema):
        schema = whole[1]
    return [_name(column) for column in _columns(schema)]


def _columns(schema: str) -> list[str]:
    """The texts between commas, without what is in brackets."""
    columns, open_brackets = [""], ""
    for piece in _PIECE.findall(schema):
        if piece in ("<", "("):
            open_brackets += piece
        elif piece in (">", ")"):
            if open_brackets[-1:] != {">": "<", ")": "("}[piece]:
                raise ValueError(f"a bracket {piece} closes none in the schema")
            open_brackets = open_brackets[:-1]
        elif piece == "," and not open_brackets:
            columns.append("")
        elif not open_brackets:
            columns[-1] += piece
    if open_brackets:
        raise ValueError(f"a bracket {open_brackets[-1]} is not closed in the schema")
    return columns


def _name(column: str) -> str:
    found = _COLUMN.fullmatch(column)
    if found is None:
        text = column.strip() or "nothing"
        raise ValueError(f"not a column of a schema (such as id string): {text}")
    return found["plain"] or found["quoted"].replace("``", "`")
