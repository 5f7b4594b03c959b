"""`ebbtide lars`: a LARS program over a stream, answered at every time point."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO

import typer

from ebbtide.cli.errors import InputError
from ebbtide.cli.lars_input import STANDARD_INPUT, read_background, read_program, read_stream

if TYPE_CHECKING:
    from ebbtide.engines.lars_answer import Answer
    from ebbtide.languages.lars import LarsProgram
    from ebbtide.program import Fact
    from ebbtide.reasoner.lars import LarsReasoner
    from ebbtide.time import Instant

#: A leap over so many time points is rather a wrong unit than a pause.
MANY_POINTS: Final = 1_000_000


class Engine(StrEnum):
    """What evaluates the program."""

    NATIVE = "native"
    REFERENCE = "reference"


class Solve(StrEnum):
    """Which answer streams a solver gives."""

    ONE = "one"
    ALL = "all"
    CAUTIOUS = "cautious"


def lars(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM.lars", exists=True, dir_okay=False)],
    stream: Annotated[
        Path,
        typer.Option(
            help="Lines `instant TAB atoms`, or timed triples (.tnt, or graphs with their time, "
            ".trig, .nq, .jsonld); may be gzip'd; - is standard input.",
            metavar="FILE",
        ),
    ],
    background: Annotated[
        list[Path] | None,
        typer.Option(
            help="Facts that always hold: `p(a). q(b).` (.atoms, .lars, .lp, .txt) or RDF, by its "
            "suffix; may be gzip'd; repeatable."
        ),
    ] = None,
    changes: Annotated[
        bool, typer.Option("--changes", help="Tell what changed instead of all that holds.")
    ] = False,
    tick: Annotated[
        str | None,
        typer.Option(
            help="The length of a time point, such as 1s; instants are then milliseconds. Without "
            "it, time points are plain numbers."
        ),
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="The first time point; else that of the first atom.")
    ] = None,
    end: Annotated[
        str | None, typer.Option(help="The last time point; else that of the last line.")
    ] = None,
    lateness: Annotated[
        str | None,
        typer.Option(
            help="How far atoms may come out of order: time points, or with --tick a length of "
            "time. Without it, a stream must be in order."
        ),
    ] = None,
    late: Annotated[
        Path | None,
        typer.Option(help="Where atoms that come too late go, as a stream.", metavar="FILE"),
    ] = None,
    solve: Annotated[
        Solve | None,
        typer.Option(help="Use clingo, for programs with several answer streams."),
    ] = None,
    why: Annotated[
        str | None, typer.Option(help="At the end, explain this atom instead.", metavar="ATOM")
    ] = None,
    engine: Annotated[Engine, typer.Option(help="The kernel, or the oracle.")] = Engine.NATIVE,
    max_facts: Annotated[
        int | None,
        typer.Option(min=1, help="End with exit code 3 if more facts are held.", metavar="N"),
    ] = None,
    max_derivations: Annotated[
        int | None,
        typer.Option(min=1, help="End with exit code 3 if a time point derives more.", metavar="N"),
    ] = None,
) -> None:
    """Run a LARS program over a stream, and write an answer a time point as JSON lines.

    {"t": 41, "atoms": ["q(x2,y,z)"]}: the atoms that rules conclude and that hold at 41; null if
    there is no answer stream

    {"t": 41, "op": "+", "atoms": [...]}: with --changes, those that begin (+) and cease (-) to
    hold, and null as above

    {"t": 41, "streams": [[...], [...]]}: with --solve all, those of each answer stream
    """
    from ebbtide.engines.budget import Budget
    from ebbtide.languages.lars.unread import UnreadPredicate
    from ebbtide.program.wording import counted
    from ebbtide.reasoner.lars import LarsReasoner, parse_span
    from ebbtide.time import Ticks, parse_instant

    if why is not None and (engine is Engine.REFERENCE or solve is not None):
        raise InputError("--why needs the native engine, and no --solve")
    limits = Budget(facts=max_facts, derivations=max_derivations)
    if limits != Budget() and (engine is Engine.REFERENCE or solve is not None):
        raise InputError("--max-facts and --max-derivations need the native engine, and no --solve")
    text = read_program(program, stream, background or ())
    first = None if start is None else parse_instant(start)
    reasoner = LarsReasoner(
        text,
        start=first,
        tick=None if tick is None else parse_span(tick),
        lateness=0 if lateness is None else _lateness(lateness, tick),
        engine=engine,
        solve=solve,
        background=[fact for path in background or () for fact in read_background(path, text)],
        budget=None if limits == Budget() else limits,
    )
    reasoner.check()
    items = read_stream(stream, text, in_order=lateness is None)
    last = None if end is None else parse_instant(end)
    if first is not None and last is not None and last < first:
        raise InputError(f"the last time point, {end}, comes before the first, {start}")
    step = 1 if tick is None else parse_span(tick)
    if last is not None:
        # What comes between two time points belongs to the second, which would lack the rest.
        last = Ticks(step, first).at_or_before(last)
        items = _up_to(items, last, in_order=lateness is None)
    if not changes and why is None:
        items = _warned_of_gaps(items, step)
    answers = reasoner.run(items, to=last, changed=changes or why is not None)
    write = _Writer(text, changes=changes).write
    with (
        open(late or os.devnull, "w", encoding="utf-8") as too_late,
        warnings.catch_warnings(action="ignore", category=UnreadPredicate),
    ):
        # Whoever reads the stream says it, with the place.
        for answer in answers:
            if why is None:
                write(answer)
                if stream == STANDARD_INPUT:
                    # Somebody may be waiting for the answer to what was just said.
                    sys.stdout.flush()
            _write_late(reasoner, too_late)
        _write_late(reasoner, too_late)
    sys.stdout.flush()
    if reasoner.late:
        print(f"ebbtide: {counted(reasoner.late, 'atom')} came too late", file=sys.stderr)
    if why is not None:
        try:
            print(reasoner.why(why))
        except LookupError as error:
            raise InputError(str(error.args[0])) from None


def _lateness(text: str, tick: str | None) -> int:
    from ebbtide.reasoner.lars import parse_span

    if text.isdecimal():
        return int(text)
    span = parse_span(text)
    if tick is None:
        raise InputError(
            "a lateness in units of time needs the length of a time point: give --tick"
        )
    return span


def _write_late(reasoner: LarsReasoner, file: TextIO) -> None:
    """Write the atoms that came too late as a stream."""
    from ebbtide.languages.lars import show_fact

    for late in reasoner.take_late():
        file.write(f"{late.at}\t{show_fact(late.fact)}.\n")


class _Writer:
    """Writes answers as JSON lines."""

    def __init__(self, program: LarsProgram, *, changes: bool) -> None:
        self._prefixes = program.prefixes
        self._changes = changes
        self._encode = json.JSONEncoder(ensure_ascii=False).encode
        #: The atoms that were written last, and their texts.
        self._last: tuple[frozenset[Fact], list[str]] | None = None

    def write(self, answer: Answer) -> None:
        from ebbtide.engines.lars_answer import texts

        for line in self._lines(answer, texts):
            sys.stdout.write(self._encode(line) + "\n")

    def _lines(self, answer: Answer, texts: Any) -> Iterator[dict[str, Any]]:
        if self._changes and answer.every is None:
            for op, facts in (("+", answer.entered), ("-", answer.left)):
                if facts:
                    yield {"t": answer.t, "op": op, "atoms": texts(facts, self._prefixes)}
            if answer.atoms is None:
                yield {"t": answer.t, "atoms": None}
        elif answer.every is not None:
            streams = sorted(texts(facts, self._prefixes) for facts in answer.every)
            yield {"t": answer.t, "streams": streams}
        else:
            if answer.atoms is None:
                yield {"t": answer.t, "atoms": None}
                return
            if self._last is None or self._last[0] is not answer.atoms:
                self._last = answer.atoms, texts(answer.atoms, self._prefixes)
            yield {"t": answer.t, "atoms": self._last[1]}


def _up_to(
    items: Iterator[tuple[Instant, list[Fact]]], last: Instant, *, in_order: bool
) -> Iterator[tuple[Instant, list[Fact]]]:
    """The part of a stream up to an instant; one in order need not be read further."""
    for at, facts in items:
        if at <= last:
            yield at, facts
        elif in_order:
            return


def _warned_of_gaps(
    items: Iterator[tuple[Instant, list[Fact]]], step: int
) -> Iterator[tuple[Instant, list[Fact]]]:
    """The stream; the first time that it leaps over very many time points, this is said."""
    last: Instant | None = None
    is_said = False
    for at, facts in items:
        points = 0 if last is None else (at - last) // step
        if points > MANY_POINTS and not is_said:
            is_said = True
            print(
                f"ebbtide: from {last} to {at} there are {points:,} time points, and each of them "
                "is answered; with a longer --tick there are fewer, and with --changes only those "
                "are told that differ",
                file=sys.stderr,
            )
        yield at, facts
        last = at
