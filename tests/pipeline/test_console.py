"""The console of rules on a terminal: what holds, and no more than that."""

from __future__ import annotations

import re
from io import StringIO

import pyarrow as pa
from rich.console import Console

from ebbtide.pipeline.sinks.console import ConsoleSink
from ebbtide.pipeline.units.rules import ROWS


def test_what_holds_no_more_is_gone_though_nobody_asked_for_what_leaves() -> None:
    """An output with changes = ["+"] of a stream that never ends."""
    console = Console(file=StringIO(), force_terminal=True, width=80, height=50)
    sink = ConsoleSink(console)
    for batch in range(100):
        t = 1_000 * batch
        row = {"t": t, "op": "+", "s": f"<http://e/s{batch}>", "p": "<http://e/p>", "o": '"o"'}
        sink.write(batch, pa.Table.from_pylist([{**row, "until": t + 3_000}], ROWS))
    plain = Console(file=StringIO(), width=80)
    plain.print(sink._picture(99_000))
    sink.close()
    (shown,) = re.findall(r"p o +│ (.*?) *│", plain.file.getvalue())  # type: ignore[attr-defined]
    assert shown == "s97, s98, s99"
