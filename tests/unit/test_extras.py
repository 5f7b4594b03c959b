"""A library that is not installed is named, with the extra that brings it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.unit.conftest import Ebbtide


def test_a_solver_that_is_missing(ebbtide: Ebbtide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clingo", None)
    Path("p.lars").write_text("a :- p, not b.\nb :- p, not a.\n")
    Path("s.atoms").write_text("0\tp.\n")
    ended = ebbtide("lars", "p.lars", "--stream", "s.atoms", "--solve", "all")
    assert ended.code == 1
    assert ended.err == (
        "ebbtide: a program with several answer streams needs clingo, which is missing: "
        "pip install 'ebbtide[lars]'\n"
    )
