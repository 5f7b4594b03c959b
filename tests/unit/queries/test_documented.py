"""The Python of docs/semantics/queries.md runs, and prints what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/semantics/queries.md"


def test_the_example_of_the_page() -> None:
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(found[1], {})
    assert printed.getvalue() == found[2]
