"""Answers in the terminal, as they enter and leave.

On a terminal: a table with a row for every predicate and object that has subjects now, and the last
changes below it. Piped: a line a change,

    12.0 s  + Ada inCity Milano until 15.4 s

What was shown cannot be taken back: after a crash the rows of the last batch are shown again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ebbtide.terms import IRI, Literal, parse_term
from ebbtide.time import Instant

if TYPE_CHECKING:
    from ebbtide.queries import Answers

LAST_CHANGES: Final = 8
YEAR: Final = 365 * 86_400_000


class Change(NamedTuple):
    """An answer that entered (`+`), left (`-`) or was renewed (`~`) at a tick."""

    tick: Instant
    sign: str
    words: tuple[str, ...]
    until: Instant | None

    def __str__(self) -> str:
        until = f" until {seconds(self.until)}" if self.sign != "-" else ""
        return f"{seconds(self.tick):>8}  {self.sign} {' '.join(self.words)}{until}"


class ConsoleSink:
    """Shows rows."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._answers: dict[tuple[str, ...], Instant | None] = {}
        self._changes: deque[Change] = deque(maxlen=LAST_CHANGES)
        self._live = Live(console=console, transient=True) if console.is_terminal else None
        if self._live is not None:
            self._live.start()

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._live is not None:
            self._live.stop()

    def write(self, batch: int, rows: Any) -> None:
        """Show what a batch changed."""
        for change in _changes(rows):
            if self._live is None:
                self._console.print(str(change), markup=False, highlight=False, soft_wrap=True)
                continue
            if change.sign == "-":
                self._answers.pop(change.words, None)
            else:
                self._answers[change.words] = change.until
            self._changes.append(change)
        if self._live is not None and rows.num_rows:
            tick = self._changes[-1].tick
            # An output need not ask for what leaves.
            ends = self._answers.items()
            self._answers = {words: end for words, end in ends if end is None or end > tick}
            self._live.update(self._picture(tick))

    def _picture(self, tick: Instant) -> Group:
        table = Table(title=f"event time {seconds(tick)}", expand=True)
        table.add_column("conclusion", no_wrap=True)
        table.add_column("holds for")
        subjects: dict[str, list[str]] = {}
        for subject, predicate, place in self._answers:
            subjects.setdefault(f"{predicate} {place}", []).append(subject)
        for conclusion in sorted(subjects):
            table.add_row(conclusion, ", ".join(sorted(subjects[conclusion])))
        style = {"+": "green", "-": "red", "~": ""}
        changes = [Text(str(change), style=style[change.sign]) for change in self._changes]
        return Group(table, *changes)


class LinesConsole:
    """Prints what it is given, a line each."""

    def __init__(self, console: Console, lines: Callable[[Any], Iterable[str]]) -> None:
        self._console = console
        self._lines = lines

    def write(self, batch: int, rows: Any) -> None:
        """Show what a batch brought."""
        for line in self._lines(rows):
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Nothing is open."""


def lines_of_answers(rows: Iterable[Answers]) -> Iterator[str]:
    """A line for each time a query answers."""
    for answers in rows:
        yield f"{seconds(answers.tick):>8}  {answers.query}{answers.op or ''} {_shown(answers)}"


def lines_of_atoms(rows: Any) -> Iterator[str]:
    """A line for each atom of a program that began (+) or ceased (-) to hold."""
    columns = [rows[name].to_pylist() for name in ("t", "op", "atom")]
    for t, op, atom in zip(*columns, strict=True):
        yield f"{seconds(t):>8}  {op} {atom}"


def _shown(answers: Answers) -> str:
    if answers.form == "ask":
        return str(answers.truth).lower()
    return "; ".join(" ".join(short(term) if term else "-" for term in row) for row in answers.rows)


def _changes(rows: Any) -> Iterator[Change]:
    """The rows for people: tick by tick, what left first, each kind in the order of its texts."""
    order = {"-": 0, "+": 1, "~": 2}
    columns = [rows[name].to_pylist() for name in ("t", "op", "s", "p", "o", "until")]
    for t, op, s, p, o, until in sorted(
        zip(*columns, strict=True), key=lambda row: (row[0], order[row[1]], row[2:5])
    ):
        yield Change(t, op, (short(s), short(p), short(o)), until)


def short(text: str) -> str:
    """A term for people: the last part of an IRI, the lexical form of a literal.

    >>> short("<http://example/places#Milano>"), short('"7.5"^^<http://example/celsius>')
    ('Milano', '7.5')
    """
    term = parse_term(text)
    match term:
        case IRI(value):
            return value.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1]
        case Literal(lexical):
            return lexical
    return text


def seconds(instant: Instant | None) -> str:
    """An instant for people: seconds within the first year, then a date; none is for ever.

    >>> seconds(12_300), seconds(1_777_636_830_000), seconds(None)
    ('12.3 s', '2026-05-01 12:00:30', 'forever')
    """
    if instant is None:
        return "forever"
    if abs(instant) < YEAR:
        return f"{instant / 1000:.1f} s"
    try:
        return f"{datetime.fromtimestamp(instant // 1000, UTC):%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):
        return f"{instant / 1000:.1f} s"
