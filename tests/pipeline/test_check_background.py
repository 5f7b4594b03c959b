"""`ebbtide run --check` reads the background: what is wrong in it is told with its place."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.terminal import on_a_terminal

from ebbtide.pipeline.file.background import check_background

PIPELINE = """
[streams.reports]
from = "memory"
[background]
files = ["good.nt", "{}"]
[outputs.screen]
to = "console"
"""
GOOD = "<http://e/a> <http://e/p> <http://e/b> .\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("bad.nt", f"{GOOD}<http://e/a> <http://e/p> .\n", "bad.nt:2:27: "),
        ("bad.ttl", "@prefix e: <http://e/> .\ne:a f:p e:b .", "bad.ttl:2:5: the prefix f: has"),
        ("bad.nt.gz", f"{GOOD}{GOOD}no triple\n", "bad.nt.gz:3:1: "),
        ("bad.xyz", GOOD, "bad.xyz:1:1: the name does not tell the format"),
    ],
)
def test_errors_are_told(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / "good.nt").write_text(GOOD)
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (tmp_path / "p.toml").write_text(PIPELINE.format(name))
    seen = on_a_terminal("run", "--check", "p.toml", folder=tmp_path)
    assert seen.code == 1, seen
    assert seen.out == ""
    assert said in seen.picture
    assert "Traceback" not in seen.picture


def test_one_that_is_right(tmp_path: Path) -> None:
    (tmp_path / "good.nt").write_text(GOOD)
    (tmp_path / "p.toml").write_text(PIPELINE.format("good.nt"))
    seen = on_a_terminal("run", "--check", "p.toml", folder=tmp_path)
    assert (seen.code, seen.out.strip()) == (0, "p.toml is right")


def test_a_large_one_is_told_of_while_it_is_read(tmp_path: Path) -> None:
    """In chunks: whoever waits hears how far it is."""
    file = tmp_path / "large.nt"
    file.write_text("".join(GOOD.replace("/a>", f"/{n}>") for n in range(200_000)))
    told: list[tuple[int, int]] = []

    @contextmanager
    def reading(name: str) -> Iterator[Callable[[int, int], None]]:
        assert name == str(file)
        yield lambda done, total: told.append((done, total))

    check_background([str(file)], reading)
    assert len(told) > 2
    assert told == sorted(told)
    assert {total for _, total in told} == {file.stat().st_size}
