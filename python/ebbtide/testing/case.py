"""Cases: a program, what happens, and the deltas that follow, in one file.

    # Anything about the case.
    program:
        isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z).
    windows:
        default  sliding 10
    input:
        1 isIn(A, B)   2 isIn(B, C)   tick 1..2
    expected:
        tick  diff  until  fact
        1     +1    11     isIn(A, B)
        2     +1    12     isIn(B, C)
        2     +1    11     isIn(A, C)

A section begins with its name at the start of a line. Windows are `sliding RANGE`, `tumbling WIDTH`
or `tumbling WIDTH from ORIGIN`, `landmark START`, `count SIZE` or `count SIZE by POSITION ...`,
`session GAP` or `session GAP by POSITION ...`.
`expected` names every change of every tick, and nothing else; facts of hidden relations are left
out, unless they are events (`list:malformed`, `inconsistency:NAME`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ebbtide.program import Origin, Program, ProgramError
from ebbtide.testing.notation import Reader, program
from ebbtide.testing.script import Happening, Tick, stream
from ebbtide.testing.table import Row, table
from ebbtide.time import Count, Landmark, Session, Sliding, Tumbling, Window

_SECTION: Final = re.compile(r"^(\w+):[ \t]*$", re.MULTILINE)
_SECTIONS: Final = ("program", "windows", "input", "expected")


@dataclass(frozen=True, slots=True)
class Case:
    """What a file of a case says."""

    program: Program
    windows: dict[str, Window]
    input: list[Happening]
    expected: list[Row]


def read_case(path: Path) -> Case:
    """Read a case; what cannot be read is a `ProgramError` with the place."""
    text, source = path.read_text(encoding="utf-8"), path.name
    heads = list(_SECTION.finditer(text))
    names = [head[1] for head in heads]
    if names != list(_SECTIONS):
        line = text.count("\n", 0, heads[0].start()) + 1 if heads else 1
        wanted = ", ".join(_SECTIONS)
        raise ProgramError(
            f"a case has the sections {wanted}, in this order, but this one has "
            f"{', '.join(names) or 'none'}",
            Origin(source, line, 1),
        )
    ends = [*(head.start() for head in heads[1:]), len(text)]
    bodies = [
        (text[head.end() : end], source, text.count("\n", 0, head.end()) + 1)
        for head, end in zip(heads, ends, strict=True)
    ]
    rules, windows, story, expected = bodies
    happenings = stream(*story)
    return Case(
        Program(program(*rules).rules, _relations(happenings)),
        _windows(*windows),
        happenings,
        table(*expected),
    )


def _relations(happenings: Iterable[Happening]) -> dict[str, int]:
    """The relations of the input with their arity: rules need not mention them."""
    facts = (happening.fact for happening in happenings if not isinstance(happening, Tick))
    return {fact.relation: len(fact.terms) for fact in facts}


def _windows(text: str, source: str, first_line: int) -> dict[str, Window]:
    reader = Reader(text, source, first_line)
    found: dict[str, Window] = {}
    while not reader.at_end():
        name = reader.name()
        found[name] = _window(reader)
    return found


def _window(reader: Reader) -> Window:
    if reader.accept("sliding"):
        return Sliding(reader.integer())
    if reader.accept("tumbling"):
        width = reader.integer()
        return Tumbling(width, reader.integer() if reader.accept("from") else 0)
    if reader.accept("landmark"):
        return Landmark(reader.integer())
    if reader.accept("count"):
        return Count(reader.integer(), _group(reader))
    if reader.accept("session"):
        return Session(reader.integer(), _group(reader))
    raise reader.error("expected sliding, tumbling, landmark, count or session")


def _group(reader: Reader) -> tuple[int, ...]:
    positions = []
    if reader.accept("by"):
        while reader.here.kind == "number":
            positions.append(reader.integer())
    return tuple(positions)
