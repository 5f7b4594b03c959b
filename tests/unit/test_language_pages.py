"""What a language's page shows at its top is right, word for word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.conftest import Ebbtide

PAGES = Path(__file__).parents[2] / "docs" / "languages"


@pytest.mark.parametrize(
    ("page", "file"), [("jena.md", "site.rules"), ("sparql_rules.md", "site.rq")]
)
def test_the_example_passes_the_check(ebbtide: Ebbtide, page: str, file: str) -> None:
    found = re.search(r"^```\w*\n(.*?)^```", (PAGES / page).read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    Path(file).write_text(found[1])
    code, out, err = ebbtide("rules", "check", file)
    assert (code, err) == (0, "")
    assert out.startswith(f"{file}: ")
