"""Kill -9 and go on, with a LARS program: what an uninterrupted run would have written."""

from __future__ import annotations

import signal
from pathlib import Path

from ebbtide.engines.lars_answer import texts
from ebbtide.languages.lars.stream import parse_stream
from ebbtide.pipeline.stages.parse import ATOMS, Documents
from ebbtide.reasoner.lars import LarsReasoner

from .driven import write_batches
from .stream import in_order
from .test_recovery import drive, lines

COOLING = Path(__file__).parents[2] / "examples/cooling"
CRASHES = (
    "reasoned:*:2",
    "between sink and checkpoint:*:2",
    "half written:*.snapshot:1",
    "before the commit:*:2",
)


def test_a_program_goes_on_after_every_kill(tmp_path: Path) -> None:
    (tmp_path / "program.lars").write_text((COOLING / "cooling.lars").read_text())
    (tmp_path / "incoming").mkdir()
    stream = [
        line
        for file in sorted((COOLING / "readings").iterdir())
        for line in file.read_text().splitlines()
    ]
    for first in range(0, len(stream), 5):
        file = tmp_path / f"incoming/{first:03d}.atoms"
        file.write_text("\n".join(stream[first : first + 5]) + "\n")
    write_batches(tmp_path, 1, Documents(ATOMS))
    for crash in CRASHES:
        assert drive(tmp_path, crash) == -signal.SIGKILL, crash
    assert drive(tmp_path) == 0
    reasoner = LarsReasoner(tmp_path / "program.lars", tick=1, engine="reference")
    expected = [
        {"t": answer.t, "op": op, "predicate": atom.partition("(")[0], "atom": atom}
        for answer in reasoner.run(parse_stream(stream))
        for op, facts in (("-", answer.left), ("+", answer.entered))
        for atom in texts(facts)
    ]
    assert in_order(lines(tmp_path / "out/answers")) == in_order(expected)
