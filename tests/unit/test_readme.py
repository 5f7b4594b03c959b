"""The README's Python runs, and prints what the README says; its commands run, too."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from tests.unit.conftest import A_IN_B, Ebbtide

ROOT = Path(__file__).parents[2]


def test_the_tour(monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (ROOT / "README.md").read_text()
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", readme, re.DOTALL)
    assert found is not None
    monkeypatch.chdir(ROOT)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(found[1], {})
    assert printed.getvalue() == found[2]


def test_the_commands_about_regimes(ebbtide: Ebbtide, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    _, _, section = readme.partition("\n## Choosing what follows\n")
    section, _, _ = section.partition("\n## ")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mobility.nt").write_text(A_IN_B)
    commands = re.findall(r"^    ebbtide (.*?)(?:  .*)?$", section, re.MULTILINE)
    assert len(commands) == 6
    for command in commands:
        ended = ebbtide(*command.split())
        assert ended.code == 0, f"{command}: {ended.err}"
        assert ended.out
