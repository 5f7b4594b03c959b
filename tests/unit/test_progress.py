"""The progress of `ebbtide materialize`: a bar for who looks, nothing for who does not."""

from __future__ import annotations

import re
from pathlib import Path

from tests.terminal import on_a_terminal
from tests.unit.conftest import A_IN_B, B_IN_C, RULES, Ebbtide


def test_a_terminal_shows_a_bar_for_every_file(tmp_path: Path) -> None:
    (tmp_path / "site.rules").write_text(RULES)
    (tmp_path / "first.nt").write_text(A_IN_B)
    (tmp_path / "second.nt").write_text(B_IN_C)
    arguments = "materialize", "first.nt", "second.nt", "--rules", "site.rules"
    code, out, picture = on_a_terminal(*arguments, folder=tmp_path)
    assert code == 0
    assert len(out.splitlines()) == 3, "answers alone are on standard output"
    for name, text in (("first", A_IN_B), ("second", B_IN_C)):
        size = len(text)
        assert re.search(rf"reading {name}\.nt .*━.* {size}/{size} bytes", picture)
    assert picture.index("second.nt") < picture.index("reasoning") < picture.index("writing")


def test_nobody_looks(ebbtide: Ebbtide) -> None:
    assert ebbtide("materialize", "site.nt", "--rules", "site.rules").err == ""
