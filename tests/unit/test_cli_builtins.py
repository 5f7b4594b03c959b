"""`--builtins`: rules on the command line that call Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.conftest import Ebbtide

from ebbtide.program import guard

PYTHON = """\
import ebbtide

@ebbtide.builtin
def shouted(text: str) -> str:
    return text.upper()
"""
RULES = """\
@include <rdfs-sparkwave> .
[loud: (?x <http://e/says> ?y), shouted(?y ?z) -> (?x <http://e/shouts> ?z)]
"""
SAYS = '<http://e/a> <http://e/says> "hey" .\n'
SHOUTS = '<http://e/a> <http://e/shouts> "HEY" .\n'
COMMANDS = {
    "materialize": ("materialize", "loud.nt", "--rules", "loud.rules"),
    "check": ("rules", "check", "loud.rules"),
    "plan": ("explain", "plan", "loud.rules"),
    "maintenance": ("explain", "maintenance", "loud.rules"),
    "why": ("explain", "why", "loud.nt", "--rules", "loud.rules", "--fact", SHOUTS),
}


@pytest.fixture(autouse=True)
def _site(tmp_path: Path) -> Iterator[None]:
    """The files; and what a test registers is gone after it."""
    (tmp_path / "loud.py").write_text(PYTHON)
    (tmp_path / "loud.rules").write_text(RULES)
    (tmp_path / "loud.nt").write_text(SAYS)
    before = dict(guard._registered)
    yield
    guard._registered.clear()
    guard._registered.update(before)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_reads_rules_takes_builtins(ebbtide: Ebbtide, command: str) -> None:
    without = ebbtide(*COMMANDS[command])
    assert without.code == 1
    assert "loud.rules:2:33: unknown builtin or relation shouted" in without.err
    ended = ebbtide(*COMMANDS[command], "--builtins", "loud.py")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out


def test_a_rule_calls_python_and_includes_a_regime(ebbtide: Ebbtide, tmp_path: Path) -> None:
    schema = "<http://e/shouts> <http://www.w3.org/2000/01/rdf-schema#domain> <http://e/Loud> .\n"
    (tmp_path / "loud.nt").write_text(SAYS + schema)
    ended = ebbtide(*COMMANDS["materialize"], "--inferred-only", "--builtins", "loud.py")
    kind = "<http://e/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Loud> .\n"
    assert ended == (0, SHOUTS + kind, "")


def test_modules_and_several_of_them(
    ebbtide: Ebbtide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "loud_module.py").write_text(PYTHON)
    (tmp_path / "lib" / "quiet.py").write_text(PYTHON.replace("shouted", "whispered"))
    monkeypatch.syspath_prepend(tmp_path / "lib")
    names = ("--builtins", "lib/quiet.py", "--builtins", "loud_module")
    assert ebbtide(*COMMANDS["check"], *names).code == 0
    assert "whispered" in guard.builtin_names()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bad.py", "import ebbtide\ndef (", "bad.py:2:5: this is no Python: invalid syntax"),
        ("bad.py", "x = 1\ny = x / 0\n", "bad.py:2:5: ZeroDivisionError: division by zero"),
        ("bad.py", "import nowhere.at_all", "bad.py:1:1: ModuleNotFoundError: No module named"),
        (
            "bad.py",
            "import ebbtide\n@ebbtide.builtin\ndef sum(a: int) -> int: ...",
            "bad.py:2:2: ValueError: sum has a meaning already",
        ),
        ("nowhere.py", "", "nowhere.py: No such file or directory"),
        ("nowhere", "", "--builtins: there is no module nowhere\n"),
        ("nowhere.at_all", "", "--builtins: there is no module nowhere.at_all\n"),
        ("bad", "", "--builtins: there is no module bad; the file is bad.py\n"),
    ],
)
def test_what_is_wrong_has_its_place(
    ebbtide: Ebbtide, tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / "bad.py").write_text(text)
    ended = ebbtide(*COMMANDS["check"], "--builtins", name)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("ebbtide: ")
    assert ended.err.count("\n") == 1
    assert message in ended.err
