"""Every case of tests/cases on every engine and strategy."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import MakeEngine

from ebbtide.testing import play, read_case, rows, show_rows

CASES = sorted((Path(__file__).parent / "cases").glob("*.case"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(engine: MakeEngine, path: Path) -> None:
    case = read_case(path)
    answered = play(engine(case.program, case.windows), case.input)
    assert show_rows(rows(answered)) == show_rows(case.expected)
