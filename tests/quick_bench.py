"""`ebbtide bench NAME --quick` in a process of its own, and the results that it reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

COMMAND = Path(sys.executable).with_name("ebbtide")


class Run(NamedTuple):
    """The folder of the report, what was printed, and results.json."""

    folder: Path
    out: str
    err: str
    results: dict[str, Any]

    def named(self, name: str) -> list[dict[str, Any]]:
        """The measurements of one name."""
        return [each for each in self.results["measurements"] if each["name"] == name]

    @property
    def names(self) -> set[str]:
        """The names of all measurements."""
        return {each["name"] for each in self.results["measurements"]}


def quick_bench(name: str, folder: Path, *options: str, timeout: float | None = None) -> Run:
    """Run a bench with small sizes and a report in a folder; it must end well."""
    ended = subprocess.run(
        [COMMAND, "bench", name, "--quick", *options, "--report", folder],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    results = json.loads((folder / "results.json").read_text())
    assert (results["format"], results["bench"]) == (1, name)
    return Run(folder, ended.stdout, ended.stderr, results)
