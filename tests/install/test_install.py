"""A wheel in an empty environment: `pip install .` is the in-process reasoner and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.install

ROOT = Path(__file__).parents[2]
HEAVY = {"pyspark", "pyarrow", "pandas", "numpy", "matplotlib", "py4j"}


def run(*command: str | Path, cwd: Path) -> str:
    ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", folder, cwd=folder)
    run(folder / "bin/pip", "install", "--quiet", ROOT, cwd=folder)
    return folder


def test_it_is_light(environment: Path) -> None:
    listed = run(environment / "bin/pip", "list", "--format", "freeze", cwd=environment)
    installed = {line.partition("==")[0].lower() for line in listed.splitlines()}
    assert "ebbtide" in installed
    assert not installed & HEAVY


def test_the_readme_runs(environment: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    tour = readme.partition("```python\n")[2].partition("```")[0]
    assert "until 11000" in run(environment / "bin/python", "-c", tour, cwd=ROOT)


def test_the_command_runs(environment: Path) -> None:
    command = environment / "bin/ebbtide"
    rules = ROOT / "examples/commuters/commuters.rules"
    run(command, "generate", "mobility", "--out", "data", cwd=environment)
    data = "data/mobility.nt"
    closure = run(command, "materialize", data, "--rules", rules, cwd=environment)
    assert (
        "<http://example/Milano_Centrale> <http://example/isIn> <http://example/Lombardia> ."
        in (closure.splitlines())
    )


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("bench imars", "the bench needs matplotlib, which is missing: ebbtide[bench]"),
        ("demo", "a pipeline needs msgspec, which is missing: ebbtide[spark]"),
        ("package", "a pipeline needs protobuf, which is missing: ebbtide[spark]"),
    ],
)
def test_what_is_left_out_is_named(environment: Path, command: str, message: str) -> None:
    ended = subprocess.run(
        [environment / "bin/ebbtide", *command.split()],
        cwd=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    needed, extra = message.rsplit(" ", 1)
    assert ended.returncode == 1
    assert ended.stderr == f"ebbtide: {needed} pip install '{extra}'\n"
