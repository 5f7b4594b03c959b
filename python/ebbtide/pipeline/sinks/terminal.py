"""Answers in the terminal, as they enter and leave.

An answer is a triple whose predicate was asked for. On a terminal: a table with a row for every
predicate and object that has subjects now, and the last changes below it. Piped: a line a change,

    12.0 s  + Ada inCity Milano until 15.4 s
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import Final, NamedTuple

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ebbtide.engines.protocol import Delta
from ebbtide.program import TRIPLE, Fact
from ebbtide.terms import IRI, Term
from ebbtide.time import FOREVER, Instant

LAST_CHANGES: Final = 8


class Change(NamedTuple):
    """An answer that entered (`+`) or left (`-`) at a tick."""

    tick: Instant
    sign: str
    fact: Fact
    until: Instant

    def __str__(self) -> str:
        words = " ".join(short(term) for term in self.fact.terms)
        until = f" until {seconds(self.until)}" if self.sign == "+" else ""
        return f"{seconds(self.tick):>8}  {self.sign} {words}{until}"


class TerminalSink:
    """Shows the answers of the given predicates; used as a context manager."""

    def __init__(self, predicates: Collection[IRI], console: Console) -> None:
        self._predicates = frozenset[Term](predicates)
        self._console = console
        self._answers: set[Fact] = set()
        self._changes: deque[Change] = deque(maxlen=LAST_CHANGES)
        self._live = Live(console=console, transient=True) if console.is_terminal else None

    def __enter__(self) -> TerminalSink:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def write(self, delta: Delta) -> None:
        """Show what one tick changed."""
        for change in self._changes_of(delta):
            if change.sign == "+":
                self._answers.add(change.fact)
            else:
                self._answers.discard(change.fact)
            self._changes.append(change)
            if self._live is None:
                self._console.print(str(change), markup=False, highlight=False, soft_wrap=True)
        if self._live is not None:
            self._live.update(self._picture(delta.tick))

    def _changes_of(self, delta: Delta) -> Iterator[Change]:
        for sign, facts in (("-", delta.left), ("+", delta.entered)):
            answers = [(fact, until) for fact, until in facts.items() if self._is_answer(fact)]
            for fact, until in sorted(answers, key=str):
                yield Change(delta.tick, sign, fact, until)

    def _is_answer(self, fact: Fact) -> bool:
        return fact.relation == TRIPLE and fact.terms[1] in self._predicates

    def _picture(self, tick: Instant) -> Group:
        table = Table(title=f"event time {seconds(tick)}", expand=True)
        table.add_column("conclusion", no_wrap=True)
        table.add_column("holds for")
        subjects: dict[str, list[str]] = {}
        for fact in self._answers:
            subject, predicate, place = map(short, fact.terms)
            subjects.setdefault(f"{predicate} {place}", []).append(subject)
        for conclusion in sorted(subjects):
            table.add_row(conclusion, ", ".join(sorted(subjects[conclusion])))
        style = {"+": "green", "-": "red"}
        changes = [Text(str(change), style=style[change.sign]) for change in self._changes]
        return Group(table, *changes)


def short(term: Term) -> str:
    """A term for people: the last part of an IRI, the text of anything else."""
    if isinstance(term, IRI):
        return term.value.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1]
    return term.text


def seconds(instant: Instant) -> str:
    """An instant for people, in seconds."""
    return "forever" if instant == FOREVER else f"{instant / 1000:.1f} s"
