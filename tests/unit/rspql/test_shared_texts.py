"""Every valid text of the engines' own tests is read; docs/ says what is wrong with the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.data import ABSENT, PRESENT
from tests.unit.rspql.shared_texts import MARK, PAGE, WRONG, refused, table, texts

from ebbtide.languages.rspql import load_continuous_query

if not PRESENT:
    pytest.skip(ABSENT, allow_module_level=True)


def test_every_valid_text_is_read() -> None:
    assert {path.stem for path, _ in refused()} == set(WRONG)


@pytest.mark.parametrize("path", texts(), ids=lambda path: path.stem)
def test_what_is_read_is_whole(path: Path) -> None:
    if path.stem in WRONG:
        return
    query = load_continuous_query(path)
    text = path.read_text(encoding="utf-8")
    is_rsp = "WINDOW" in text.upper()
    assert query.streams
    assert all((stream.name is not None) == is_rsp for stream in query.streams)
    assert "STREAM" not in query.text.partition("WHERE")[0].upper().replace("#", "")[:20]
    assert query.timestamps == ("f:timestamp" in text)


def test_the_page_says_so() -> None:
    _, mark, below = PAGE.read_text(encoding="utf-8").partition(MARK)
    assert mark
    assert below.strip() == table()
