"""The command line in a folder of its own: a test that takes `ebbtide` runs commands there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from ebbtide import cli

RULES = """\
@prefix ex: <http://example/>.
[transitive: (?x ex:isIn ?y), (?y ex:isIn ?z) -> (?x ex:isIn ?z)]
"""
A_IN_B = "<http://example/a> <http://example/isIn> <http://example/b> .\n"
B_IN_C = "<http://example/b> <http://example/isIn> <http://example/c> .\n"


class Ended(NamedTuple):
    code: int
    out: str
    err: str


Ebbtide: TypeAlias = Callable[..., Ended]


@pytest.fixture
def ebbtide(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Ebbtide:
    """Runs the command in a folder with site.rules and site.nt."""
    (tmp_path / "site.rules").write_text(RULES)
    (tmp_path / "site.nt").write_text(A_IN_B + B_IN_C)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["ebbtide", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return Ended(int(ended.value.code or 0), captured.out, captured.err)

    return run
