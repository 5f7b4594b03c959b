"""What a plan is made of, piece by piece, in the words of whoever wrote it.

    kind         name                   text            shown             place          of
    rule         transitive             triple(?x, ...  [transitive: ...  site.rules:2:1
    rule         alarm                  alarm :- ...    alarm :- ...      hot.lars:3:1   program hot
    setting      the window of stream a 3 s
    background   places.nt              its digest

The identity of a unit is digests: it tells that something is different. Pieces tell what, as far as
texts can: no decision rests on them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from ebbtide.languages.lars import LarsProgram, show_fact
from ebbtide.languages.rspql import ContinuousQuery
from ebbtide.languages.rspql.query import CountWindow, QueryWindow
from ebbtide.pipeline.units.background import Background
from ebbtide.program import Program
from ebbtide.program.user_module import UserModule
from ebbtide.time import Count, Landmark, Session, Sliding, Tumbling, Window, show_duration

#: A piece that has a value, and no place.
SETTING: Final = "setting"
#: What outputs are of.
OUTPUT: Final = "output of"
RULE: Final = "rule"
QUERY: Final = "query"
PROGRAM: Final = "program"
STREAM: Final = "stream"
BACKGROUND: Final = "background"
BUILTINS: Final = "builtins"


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A piece of a plan.

    `text` tells it from others, `shown` is what the user wrote, if that is something else, and `of`
    the title of the piece that it is a part of.
    """

    kind: str
    name: str
    text: str = ""
    shown: str = ""
    place: str = ""
    of: str = ""

    @property
    def title(self) -> str:
        """What a sentence calls it.

        >>> Piece("rule", "alarm", of="program hot").title
        'rule alarm of program hot'
        """
        return " of ".join(part for part in (f"{self.kind} {self.name}", self.of) if part)


def setting(name: str, value: object, of: str = "") -> Piece:
    """A value that has a name."""
    return Piece(SETTING, name, str(value), of=of)


def pieces_of_program(program: Program) -> Iterator[Piece]:
    """The rules that somebody wrote, and operators."""
    for rule in program.written:
        yield Piece(RULE, rule.name, str(rule), rule.origin.text, str(rule.origin))
    for each in program.operators:
        yield Piece("operator", each.output, str(each), place=str(each.origin))


def pieces_of_query(query: ContinuousQuery) -> Iterator[Piece]:
    """Its text, its windows, and when it answers what."""
    whole = Piece(QUERY, query.name, query.text, place=str(query.origin))
    yield whole
    for each in query.streams:
        name = f"the window of query {query.name} on {each.stream.value}"
        yield setting(name, _shown_query_window(each.window), whole.title)
    every = "its windows" if query.every is None else show_duration(query.every)
    yield setting(f"the step of query {query.name}", every, whole.title)
    yield setting(f"what query {query.name} emits", query.emits, whole.title)


def pieces_of_lars(name: str, program: LarsProgram) -> Iterator[Piece]:
    """The rules and the facts of a program."""
    whole = Piece(PROGRAM, name)
    yield whole
    for rule in program.rules:
        place = str(rule.origin)
        yield Piece(RULE, rule.head.relation, str(rule), rule.origin.text, place, whole.title)
    for fact in program.background:
        yield Piece("fact", show_fact(fact, program.prefixes), of=whole.title)


def pieces_of_streams(windows: Mapping[str, Window]) -> Iterator[Piece]:
    """Streams, each with its window."""
    for name, window in windows.items():
        stream = Piece(STREAM, name)
        yield stream
        yield setting(f"the window of stream {name}", shown_window(window), stream.title)


def pieces_of_time(*, step: int | None = None, lateness: int, start: int | None) -> Iterator[Piece]:
    """When ticks are."""
    if step is not None:
        yield setting("the step", show_duration(step))
    yield setting("the lateness", show_duration(lateness))
    yield setting("the start", "none" if start is None else start)


def pieces_of_files(background: Background, builtins: Iterable[UserModule]) -> Iterator[Piece]:
    """The files of a background, and those of builtins."""
    for path, digest in zip(background, background.digests, strict=True):
        yield Piece(BACKGROUND, path.name, digest)
    for each in builtins:
        text = each.text or each.name
        yield Piece(BUILTINS, Path(each.name).name, hashlib.sha256(text.encode()).hexdigest())


def shown_window(window: Window) -> str:
    """A window as a pipeline file has it.

    >>> shown_window(Sliding(3_000)), shown_window(Count(100, (0,)))
    ('3 s', 'count 100, group s')
    """
    match window:
        case Sliding(range):
            return show_duration(range)
        case Tumbling(width, origin):
            return f"tumbling {show_duration(width)}" + (f" from {origin}" if origin else "")
        case Landmark(start):
            return f"landmark {start}"
        case Count(size, group):
            return f"count {size}{_shown_group(group)}"
        case Session(gap, group):
            return f"session {show_duration(gap)}{_shown_group(group)}"


def _shown_group(group: Iterable[int]) -> str:
    columns = ", ".join("spo"[place] for place in group)
    return f", group {columns}" if columns else ""


def _shown_query_window(window: QueryWindow) -> str:
    if isinstance(window, CountWindow):
        return f"{window.size} facts, step {window.step}"
    return f"{show_duration(window.range)}, step {show_duration(window.step)}"
