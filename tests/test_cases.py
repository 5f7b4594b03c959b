"""Every case of tests/cases on every engine and strategy."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import MakeEngine

from ebbtide.program import is_event, is_hidden
from ebbtide.testing import play, read_case, rows, show_rows

CASES = sorted((Path(__file__).parent / "cases").glob("*.case"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(engine: MakeEngine, path: Path) -> None:
    case = read_case(path)
    answered = rows(play(engine(case.program, case.windows), case.input))
    told = [row for row in answered if is_told(row.fact.relation)]
    assert show_rows(told) == show_rows(case.expected)


def is_told(relation: str) -> bool:
    return not is_hidden(relation) or is_event(relation)
