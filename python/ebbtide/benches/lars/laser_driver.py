"""Laser at the other end of a pipe: time points in, processor time out.

    pypy3 -OO laser_driver.py DIR        DIR has Laser: evalunit/program.py and what it imports

A line in and a line out, both JSON. The first line in is the program: {"predicate": "p", "rules":
[...]}. Each other one has the next time points, each the arguments of its atoms, and how long to go
on: {"points": [[["a", "b"], ...], ...], "seconds": 4.0}. The line out has the microseconds of each
time point that was evaluated, the first ones of those that came: [812.5, ...].

Only `Program.evaluate` is timed, which returns all that holds; rows are made before. It runs by
itself under PyPy: nothing of Ebbtide is imported.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from time import process_time
from typing import Any

# As Laser's own streams have it: the last time point there is.
END = 999_999_999


class Stream:
    """The stream that Laser asks, by names of its own; it has one time point, the next."""

    timeLine = {"startTime": 0, "endTime": END}  # noqa: N815, RUF012

    def __init__(self, predicate: str) -> None:
        self._predicate = predicate
        self._came = 0
        self._atoms = 0
        self._rows: dict[str, set[tuple[Any, ...]]] = {}

    def bring(self, at: int, atoms: list[list[Any]]) -> None:
        """Make the rows of a time point, numbered through, as Laser's own streams do it."""
        numbers = range(self._came, self._came + len(atoms))
        rows = {(at, END, number, None, *atom) for number, atom in zip(numbers, atoms)}  # noqa: B905
        self._rows = {self._predicate: rows}
        self._atoms = len(atoms)
        self._came += len(atoms)

    def hasTimePoint(self, at: int) -> bool:  # noqa: N802
        """Whether there is such a time point."""
        return True

    def getNumberOfTuplesAt(self, at: int) -> int:  # noqa: N802
        """How many atoms came, the same one twice if it came twice."""
        return self._atoms

    def get(self, at: int) -> dict[str, set[tuple[Any, ...]]]:
        """The rows by predicate."""
        return self._rows


def main(folder: str) -> None:
    """Answer line by line until there is none."""
    sys.path[0] = folder
    # Whatever Laser prints is no answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    given = json.loads(sys.stdin.readline())
    stream = Stream(given["predicate"])
    program = import_module("evalunit.program").Program(given["rules"], stream)
    now = 0
    for line in sys.stdin:
        turn = json.loads(line)
        spent: list[float] = []
        for atoms in turn["points"]:
            stream.bring(now, atoms)
            before = process_time()
            program.evaluate(now)
            spent.append((process_time() - before) * 1e6)
            now += 1
            if sum(spent) >= turn["seconds"] * 1e6:
                break
        print(json.dumps(spent), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
