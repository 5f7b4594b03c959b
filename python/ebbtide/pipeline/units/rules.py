"""The unit of rules: a reasoner, whose deltas are the rows.

t   op           s  p  o               until
the tick  + - ~  N-Triples texts       null for ever; of what left, the one it had
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.pipeline.file.meaning import RULES
from ebbtide.pipeline.packed import packed, unpacked
from ebbtide.pipeline.units.background import Background
from ebbtide.pipeline.units.pieces import (
    OUTPUT,
    Piece,
    pieces_of_files,
    pieces_of_program,
    pieces_of_streams,
    pieces_of_time,
)
from ebbtide.pipeline.units.unit import Fed, builtins_identity
from ebbtide.program import Program
from ebbtide.program.user_module import UserModule
from ebbtide.reasoner import Reasoner
from ebbtide.reasoner.columns import Changes
from ebbtide.terms.formats import TERM_COLUMNS, read_tables
from ebbtide.time import FOREVER, Instant, Window

ROWS = pa.schema(
    [
        ("t", pa.int64()),
        ("op", pa.string()),
        *((name, pa.string()) for name in TERM_COLUMNS),
        ("until", pa.int64()),
    ]
)
# By diff + 1.
_OPS = pa.array(["-", "~", "+"])


def table_of(fed: Fed) -> Any:
    """The rows of the rules, the only ones there are."""
    return fed.rows[RULES]


class Rules:
    """A program over some streams, with its background."""

    def __init__(
        self,
        program: Program,
        streams: Mapping[str, Window],
        *,
        background: Iterable[Path] = (),
        builtins: Iterable[UserModule] = (),
        step: int = 1_000,
        lateness: int = 0,
        start: Instant | None = None,
    ) -> None:
        self.program = program
        self.windows = dict(streams)
        self.background = Background.of(background)
        self.builtins = tuple(builtins)
        self._settings: Any = {
            "streams": dict(streams),
            "step": step,
            "lateness": lateness,
            "start": start,
        }
        self._carried: bytes | None = None
        self._reasoner: Reasoner | None = None

    def portable(self) -> Rules:
        """This unit, not begun, with its background in it: it needs no files where it goes."""
        carried = copy(self)
        carried._reasoner = None
        carried._carried = packed(self.background_table())
        return carried

    @property
    def ticking(self) -> dict[str, Any]:
        """The step, the lateness and the start of its ticks."""
        return {name: self._settings[name] for name in ("step", "lateness", "start")}

    def background_table(self) -> Any:
        """The background in columns: s, p and o."""
        columns = pa.schema([(name, pa.string()) for name in TERM_COLUMNS])
        tables = [pa.table(each) for path in self.background for each in read_tables(path)]
        return pa.concat_tables([columns.empty_table(), *(each.cast(columns) for each in tables)])

    @property
    def reasoner(self) -> Reasoner:
        """The reasoner, once it has begun."""
        assert self._reasoner is not None
        return self._reasoner

    @property
    def names(self) -> Sequence[str]:
        """One: the rules'."""
        return (RULES,)

    @property
    def streams(self) -> Sequence[str]:
        """The names of the streams."""
        return list(self.windows)

    @property
    def title(self) -> str:
        """There is one unit of rules."""
        return RULES

    @property
    def identity(self) -> Mapping[str, str]:
        """The program, the background, the windows and the ticks."""
        return {
            "rules": self.program.fingerprint,
            "background": self.background.digest,
            **builtins_identity(self.builtins),
            **{f"window of {name}": str(each) for name, each in self._settings["streams"].items()},
            **{name: str(self._settings[name]) for name in ("step", "lateness", "start")},
        }

    @property
    def pieces(self) -> Iterable[Piece]:
        """The rules, the files, the streams with their windows, and the ticks."""
        yield Piece(OUTPUT, RULES)
        yield from pieces_of_streams(self.windows)
        yield from pieces_of_time(**self.ticking)
        yield from pieces_of_program(self.program)
        yield from pieces_of_files(self.background, self.builtins)

    def begin(self) -> None:
        """Start from nothing but the background."""
        self._run_builtins()
        self._reasoner = Reasoner(self.program, **self._settings)
        if self._carried is None:
            for path in self.background:
                self._reasoner.parse(path)
        else:
            self._reasoner.add_table(unpacked(self._carried))

    def feed(self, batch: Mapping[str, Any]) -> Fed:
        """Take a batch, and evaluate every tick that is due."""
        late = {name: self.reasoner.push_parsed(batch[name], name) for name in self.windows}
        return self.changes(late)

    def changes(self, late: Mapping[str, Sequence[int]]) -> Fed:
        """Evaluate every tick that is due, after facts of which some were late."""
        return _fed(self.reasoner.changes(), late)

    def detached(self) -> Rules:
        """This unit with its state, which it leaves behind: `begin` makes it another one."""
        taken, self._reasoner = copy(self), None
        return taken

    def finish(self) -> Fed:
        """The streams have ended: evaluate up to the first tick that sees every fact."""
        return _fed(self.reasoner.finish_changes(), {})

    def snapshot(self) -> bytes:
        """The state."""
        return self.reasoner.snapshot()

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot."""
        self._run_builtins()
        self._reasoner = Reasoner.restore(data, self.program, **self._settings)

    def __len__(self) -> int:
        return len(self.reasoner)

    def _run_builtins(self) -> None:
        for each in self.builtins:
            each.run()


def _fed(ticks: Iterable[Changes], late: Mapping[str, Sequence[int]]) -> Fed:
    tables, seconds, events = [], [], []
    last_tick: Instant | None = None
    before = time.perf_counter()
    for changes in ticks:
        # Most ticks change nothing where the step is short.
        if len(changes.triples):
            tables.append(_rows(changes))
        last_tick = changes.tick
        events += [f"{changes.tick}: {event}" for event in changes.began]
        if not changes.complete:
            events.append(f"{changes.tick}: the budget was hit, and the answers are incomplete")
        seconds.append(time.perf_counter() - before)
        before = time.perf_counter()
    rows = pa.concat_tables(tables) if tables else ROWS.empty_table()
    return Fed({RULES: rows}, late, last_tick, tuple(seconds), tuple(events))


def _rows(changes: Changes) -> Any:
    table = pa.table(changes.triples)
    until = table["until"]
    return pa.table(
        [
            pa.repeat(pa.scalar(changes.tick, pa.int64()), table.num_rows),
            pc.take(_OPS, pc.add(table["diff"].cast(pa.int64()), 1)),
            *(table[column].cast(pa.string()) for column in ("c0", "c1", "c2")),
            pc.if_else(pc.equal(until, FOREVER), pa.scalar(None, pa.int64()), until),
        ],
        schema=ROWS,
    )
