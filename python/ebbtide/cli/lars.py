"""`ebbtide lars`: a LARS program over a stream, answered at every time point."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO

import typer

from ebbtide.cli.errors import InputError

if TYPE_CHECKING:
    from ebbtide.engines.lars_answer import Answer
    from ebbtide.languages.lars import LarsProgram
    from ebbtide.program import Fact
    from ebbtide.reasoner.lars import LarsReasoner
    from ebbtide.time import Instant

STANDARD_INPUT: Final = Path("-")
TIMED_LINES: Final = ".tnt"
TIMED_GRAPHS: Final = (".trig", ".nq", ".jsonld")
#: A leap over so many time points is rather a wrong unit than a pause.
MANY_POINTS: Final = 1_000_000
#: What Python's `surrogateescape` makes of bytes that are not UTF-8.
_NOT_UTF_8: Final = re.compile("[\udc80-\udcff]")


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
    from ebbtide.languages.lars import load_lars
    from ebbtide.program.wording import counted
    from ebbtide.reasoner.lars import LarsReasoner, parse_span
    from ebbtide.time import Ticks, parse_instant

    if why is not None and (engine is Engine.REFERENCE or solve is not None):
        raise InputError("--why needs the native engine, and no --solve")
    limits = Budget(facts=max_facts, derivations=max_derivations)
    if limits != Budget() and (engine is Engine.REFERENCE or solve is not None):
        raise InputError("--max-facts and --max-derivations need the native engine, and no --solve")
    text = load_lars(program)
    first = None if start is None else parse_instant(start)
    reasoner = LarsReasoner(
        text,
        start=first,
        tick=None if tick is None else parse_span(tick),
        lateness=0 if lateness is None else _lateness(lateness, tick),
        engine=engine,
        solve=solve,
        background=[fact for path in background or () for fact in _facts(path, text)],
        budget=None if limits == Budget() else limits,
    )
    items = _stream(stream, text, in_order=lateness is None)
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
    with open(late or os.devnull, "w", encoding="utf-8") as too_late:
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


def _stream(
    path: Path, program: LarsProgram, *, in_order: bool
) -> Iterator[tuple[Instant, list[Fact]]]:
    """The time points of a stream, of atoms or of triples."""
    from ebbtide.languages.lars.stream import parse_stream

    if _plain_name(path).endswith((TIMED_LINES, *TIMED_GRAPHS)):
        yield from _timed_triples(path, in_order=in_order)
        return
    yield from parse_stream(_lines(path), _name(path), program, in_order=in_order)


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


def _timed_triples(path: Path, *, in_order: bool) -> Iterator[tuple[Instant, list[Fact]]]:
    from ebbtide.program import TRIPLE, Fact
    from ebbtide.terms.formats import BadLine, FormatError, read_timed

    last: Instant | None = None
    for item in read_timed(path):
        if isinstance(item, BadLine):
            raise FormatError(item)
        if in_order and last is not None and item.at < last:
            is_lines = _plain_name(path).endswith(TIMED_LINES)
            place = f"{path}:{_line_going_back(path)}:1" if is_lines else path
            raise InputError(
                f"{place}: time goes back from {last} to {item.at}; a stream is in order, unless a "
                "lateness is given"
            )
        last = item.at
        yield item.at, [Fact(TRIPLE, item.triple)]


def _line_going_back(path: Path) -> int:
    """The first line of timed triples whose instant comes before that of a line above."""
    from ebbtide.time import InstantError, parse_instant

    last: Instant | None = None
    for number, line in enumerate(_lines(path), 1):
        try:
            at = parse_instant(line.partition("\t")[0].strip())
        except InstantError:
            continue  # A blank line, or a comment.
        if last is not None and at < last:
            return number
        last = at
    raise InputError(f"{path} was changed while it was read")


def _facts(path: Path, program: LarsProgram) -> Iterable[Fact]:
    """Background facts, of a file of atoms or of RDF."""
    from ebbtide.languages.lars import parse_atoms
    from ebbtide.languages.lars.terms import WELL_KNOWN
    from ebbtide.program import TRIPLE, Fact
    from ebbtide.terms.formats import read_triples

    if _plain_name(path).endswith((".lars", ".atoms", ".lp", ".txt")):
        known = {**WELL_KNOWN, **program.prefixes}
        text = "".join(_lines(path))
        return parse_atoms(text, _name(path), known, program.misfit, declares=True)
    return [Fact(TRIPLE, triple) for triple in read_triples(path)]


def _plain_name(path: Path) -> str:
    return path.name.removesuffix(".gz")


def _name(path: Path) -> str:
    return "<stdin>" if path == STANDARD_INPUT else str(path)


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file in UTF-8, which may be gzip'd; what cannot be read is an error."""
    from ebbtide.program import Origin, ProgramError

    try:
        with _opened(path) as file:
            for number, line in enumerate(file, 1):
                if not line.isascii() and (wrong := _NOT_UTF_8.search(line)):
                    place = Origin(_name(path), number, wrong.start() + 1)
                    raise ProgramError("the text is not UTF-8", place)
                yield line
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{_name(path)} cannot be read: {error}") from None


def _opened(path: Path) -> Any:
    # Bytes that are not UTF-8 are let through here, so that their line is known.
    encoding, errors = "utf-8-sig", "surrogateescape"
    if path == STANDARD_INPUT:
        return open(sys.stdin.fileno(), encoding=encoding, errors=errors, closefd=False)
    opens = gzip.open if path.name.endswith(".gz") else open
    return opens(path, "rt", encoding=encoding, errors=errors)
