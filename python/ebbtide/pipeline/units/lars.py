"""The unit of a LARS program: a reasoner, whose answers are the rows.

    t           op          predicate   atom
    the tick    + - or =    alarm       alarm          it began, ceased, or holds; texts of LARS

It is fed atoms, and triples as `triple(S, P, O)`. A time point is a step of the pipeline's ticks.
Time is kept here, for several streams: the reasoner takes any atom and is told what is complete.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.engines.lars_answer import Answer, texts
from ebbtide.languages.lars import LarsProgram, show_fact
from ebbtide.languages.lars.unread import UnreadPredicate
from ebbtide.pipeline.dead import LETTERS
from ebbtide.pipeline.packed import packed, unpacked
from ebbtide.pipeline.stages.atoms import atoms_of, fact_of
from ebbtide.pipeline.units.background import Background
from ebbtide.pipeline.units.pieces import (
    STREAM,
    Piece,
    pieces_of_files,
    pieces_of_lars,
    pieces_of_time,
)
from ebbtide.pipeline.units.unit import Fed
from ebbtide.program import TRIPLE, Fact
from ebbtide.reasoner.lars import LarsReasoner
from ebbtide.reasoner.timeline import Timeline
from ebbtide.terms import parse_term
from ebbtide.terms.formats import TERM_COLUMNS, read_tables, read_triples
from ebbtide.time import FOREVER, Instant

ROWS = pa.schema(
    [("t", pa.int64()), *((name, pa.string()) for name in ("op", "predicate", "atom"))]
)


#: What is told unless something else is asked for: what began to hold, and what ceased to.
CHANGES: Final = ("+", "-")
#: All that holds.
HOLDS: Final = "="
#: The number of a row in its batch, while it is among those of its predicate.
_ROW: Final = "row"


def table_of(fed: Fed) -> Any:
    """The rows of a program, the only ones there are."""
    (rows,) = fed.rows.values()
    return rows


class Lars:
    """A program over some streams; `tells` says what of its answers are rows."""

    def __init__(
        self,
        name: str,
        program: LarsProgram,
        streams: Iterable[str],
        *,
        background: Iterable[Path] = (),
        tells: Iterable[str] = CHANGES,
        step: int = 1_000,
        lateness: int = 0,
        start: Instant | None = None,
    ) -> None:
        self._name = name
        self._program = program
        self._streams = tuple(streams)
        self._tells = frozenset(tells)
        # What a program never speaks of need not be there.
        self._background = Background.of(background if TRIPLE in program.arities() else ())
        self._ticking: Any = {"step": step, "start": start, "lateness": lateness}
        self._settings: Any = {"start": start, "tick": step, "lateness": FOREVER}
        self._carried: bytes | None = None
        self._holding = 0

    @property
    def streams(self) -> Sequence[str]:
        """The names of the streams."""
        return self._streams

    def portable(self) -> Lars:
        """This unit, not begun, with its background in it: it needs no files where it goes."""
        tables = [pa.table(each) for path in self._background for each in read_tables(path)]
        carried = copy(self)
        carried._background = Background()
        carried._carried = packed(pa.concat_tables(tables)) if tables else None
        return carried

    @property
    def names(self) -> Sequence[str]:
        """One: the program's."""
        return (self._name,)

    @property
    def title(self) -> str:
        """The program's name."""
        return self._name

    @property
    def identity(self) -> Mapping[str, str]:
        """The program, the background, the streams and the ticks."""
        return {
            f"program {self._name}": self._program.fingerprint,
            f"background of {self._name}": self._background.digest,
            f"streams of {self._name}": ", ".join(self._streams),
            **{f"{name} of {self._name}": str(value) for name, value in self._ticking.items()},
        }

    @property
    def pieces(self) -> Iterable[Piece]:
        """The rules of the program, the files, the streams and the ticks."""
        yield from (Piece(STREAM, name) for name in self._streams)
        yield from pieces_of_time(**self._ticking)
        yield from pieces_of_lars(self._name, self._program)
        yield from pieces_of_files(self._background, ())

    def begin(self) -> None:
        """Start from nothing but the background."""
        background = [
            Fact(TRIPLE, each) for path in self._background for each in read_triples(path)
        ]
        if self._carried is not None:
            columns = unpacked(self._carried).select(list(TERM_COLUMNS))
            texts_of = zip(*(column.to_pylist() for column in columns.columns), strict=True)
            background = [Fact(TRIPLE, tuple(map(parse_term, each))) for each in texts_of]
        self._reasoner = LarsReasoner(self._program, background=background, **self._settings)
        self._time = Timeline(self._streams, **self._ticking)
        self._holding = 0

    def feed(self, batch: Mapping[str, Any]) -> Fed:
        """Take a batch, and evaluate every time point that is due."""
        over = self._time.last_due
        taken = {stream: self._take(batch[stream], stream, over) for stream in self._streams}
        to = self._time.last_due if self._time.count_due else None
        late = {stream: late for stream, (late, _) in taken.items()}
        return self._fed(to, late, pa.concat_tables([refused for _, refused in taken.values()]))

    def finish(self) -> Fed:
        """The streams have ended: evaluate up to the time point of the last atom."""
        if not self._time.has_happened:
            return self._fed(None, {})
        self._time.complete(self._time.end)
        return self._fed(self._time.end, {})

    def snapshot(self) -> bytes:
        """The state."""
        return msgspec.msgpack.encode(
            [self._reasoner.snapshot(), self._time.state(), self._holding]
        )

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot."""
        reasoner, ticks, self._holding = msgspec.msgpack.decode(data)
        self._reasoner = LarsReasoner.restore(reasoner, self._program, **self._settings)
        self._time = Timeline(self._streams, **self._ticking)
        self._time.restore(ticks)

    def __len__(self) -> int:
        return self._holding

    # ---- inside ------------------------------------------------------------------------------

    def _take(self, rows: Any, stream: str, over: Instant | None) -> tuple[list[int], Any]:
        """State the atoms of a stream's rows: which were late, and letters of what cannot be."""
        late: list[int] = []
        refused = [LETTERS.empty_table()]
        rows = rows.append_column(_ROW, pa.array(range(rows.num_rows), pa.int64()))
        if over is not None:
            is_late = pc.less_equal(rows["t"], over)
            late += rows.filter(is_late)[_ROW].to_pylist()
            rows = rows.filter(pc.invert(is_late))
        if rows.num_rows:
            span = pc.min_max(rows["t"])
            first = span["min"].as_py()
            self._time.happened(stream, first, span["max"].as_py())
            # Time points begin with a row that has no atom, or one that is refused, too.
            self._reasoner.push((), at=first)
        for predicate, columns, some in atoms_of(rows):
            try:
                # A stream may be for several programs: what this one does not read is no slip.
                with warnings.catch_warnings(action="ignore", category=UnreadPredicate):
                    past = self._reasoner.push_table(
                        some.select(["t", *columns]), predicate, columns=columns
                    )
            except ValueError as error:
                refused.append(self._letters(some, str(error)))
            else:
                late += some[_ROW].take(pa.array(past, pa.int64())).to_pylist()
        return late, pa.concat_tables(refused)

    def _letters(self, rows: Any, reason: str) -> Any:
        facts = [(row, fact_of(row["s"], row["p"], row["o"])) for row in rows.to_pylist()]
        letters = [
            {
                **{name: row.get(name) for name in ("stream", "source", "line", "t")},
                "reason": reason,
                "text": show_fact(fact, self._program.prefixes),
            }
            for row, fact in facts
            if fact is not None
        ]
        return pa.Table.from_pylist(letters, LETTERS)

    def _fed(
        self, to: Instant | None, late: Mapping[str, Sequence[int]], refused: Any = None
    ) -> Fed:
        rows: list[dict[str, Any]] = []
        seconds: list[float] = []
        events: list[str] = []
        before = time.perf_counter()
        # Nobody hears of a time point at which nothing begins or ceases to hold, but with op =.
        changed = HOLDS not in self._tells
        for answer in () if to is None else self._reasoner.answers(to, changed=changed):
            rows += self._rows(answer)
            self._holding = len(answer.atoms or ())
            if answer.atoms is None:
                events.append(f"{answer.t}: {self._name} has no answer stream")
            seconds.append(time.perf_counter() - before)
            before = time.perf_counter()
        if to is not None:
            # They are evaluated now, and are not due again.
            self._time.skip(to + self._ticking["step"])
        return Fed(
            {self._name: pa.Table.from_pylist(rows, ROWS)},
            late,
            to,
            tuple(seconds),
            tuple(events),
            refused,
        )

    def _rows(self, answer: Answer) -> Iterable[dict[str, Any]]:
        told = (("-", answer.left), ("+", answer.entered), (HOLDS, answer.atoms or frozenset()))
        for op, facts in ((op, facts) for op, facts in told if op in self._tells):
            for atom in texts(facts, self._program.prefixes):
                predicate = atom.partition("(")[0]
                yield {"t": answer.t, "op": op, "predicate": predicate, "atom": atom}
