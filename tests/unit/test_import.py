"""`import ebbtide` is light: fast, and without the libraries only some users need."""

from __future__ import annotations

import subprocess
import sys

import pytest


def python(code: str) -> str:
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ended.stdout.strip()


@pytest.mark.parametrize("module", ["ebbtide", "ebbtide.cli.app"])
def test_heavy_libraries_wait(module: str) -> None:
    heavy = "pyspark", "pyarrow", "pandas", "lark", "numpy", "matplotlib", "ebbtide._kernel"
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    assert python(code) == "[]"


def test_reasoning_needs_no_spark_no_arrow_and_no_pandas() -> None:
    code = (
        "import sys; from ebbtide import Reasoner; "
        "r = Reasoner('[r: (?x <http://e/p> ?y) -> (?y <http://e/q> ?x)]'); "
        "r.push(('<http://e/a>', '<http://e/p>', '<http://e/b>'), at=1); r.finish(); "
        "print(len(r), [m for m in ('pyspark', 'pyarrow', 'pandas') if m in sys.modules])"
    )
    assert python(code) == "2 []"


def test_import_in_under_300_milliseconds() -> None:
    """Of the processor: other tests may run beside it."""
    code = "from time import process_time as now; t = now(); import ebbtide; print(now() - t)"
    assert min(float(python(code)) for _ in range(3)) < 0.3
