"""Each case of tests/cases/lars, on the kernel and on the oracle.

A case is a program, a stream and the output at every time point, with a line of three dashes in
between. `none` stands for a time point without an answer stream.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.languages.lars import parse_lars
from ebbtide.languages.lars.stream import parse_stream
from ebbtide.reasoner.lars import LarsReasoner

CASES = sorted((Path(__file__).parent / "cases" / "lars").glob("*.case"))


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_output_at_every_time_point(path: Path, engine: str) -> None:
    text, stream, expected = path.read_text(encoding="utf-8").split("---\n")
    program = parse_lars(text, str(path))
    reasoner = LarsReasoner(program, engine=engine)
    lines = parse_stream(stream.splitlines(), str(path), program)
    found = []
    for answer in reasoner.run(lines):
        atoms = "none" if answer.atoms is None else " ".join(answer.texts(program.prefixes))
        found.append(f"{answer.t}: {atoms}".rstrip())
    assert found == expected.splitlines()
