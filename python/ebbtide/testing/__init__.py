"""Help for tests: stream literals, tables of deltas, cases, a clock that stands still, generators.

The generators need hypothesis, so they stay in `ebbtide.testing.generate`.
"""

from ebbtide.testing.case import Case, read_case
from ebbtide.testing.clock import FakeClock
from ebbtide.testing.notation import fact, facts, program, show
from ebbtide.testing.script import Add, Happening, Push, Retract, Tick, play, stream
from ebbtide.testing.table import Row, rows, show_rows, table

__all__ = [
    "Add",
    "Case",
    "FakeClock",
    "Happening",
    "Push",
    "Retract",
    "Row",
    "Tick",
    "fact",
    "facts",
    "play",
    "program",
    "read_case",
    "rows",
    "show",
    "show_rows",
    "stream",
    "table",
]
