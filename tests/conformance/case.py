"""A case of a suite: its name, the regime it runs under, and the check.

A suite is a function that gives its cases. `skips/SUITE.txt` names the cases that cannot pass, each
with the reason on the line above; such a case must fail, so that no reason outlives its cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conformance.data import ABSENT, PRESENT

_SKIPS: Final = Path(__file__).parent / "skips"


@dataclass(frozen=True)
class Case:
    """One test of a suite under one regime; `check` raises an AssertionError when it fails."""

    suite: str
    name: str
    kind: str
    regime: str
    check: Callable[[], None]

    @property
    def reason(self) -> str | None:
        """Why the case cannot pass, if it cannot."""
        known = reasons(self.suite)
        return known.get(f"{self.name} {self.kind}") or known.get(self.name)

    def passes(self) -> bool:
        """Whether the check succeeds."""
        try:
            self.check()
        except AssertionError:
            return False
        return True

    def __str__(self) -> str:
        return f"{self.name}-{self.kind}-{self.regime}"


@cache
def reasons(suite: str) -> Mapping[str, str]:
    """The skipped cases of a suite: a name, or a name and a kind; with the reason."""
    path = _SKIPS / f"{suite}.txt"
    found: dict[str, str] = {}
    reason = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            assert reason, f"{path.name}:{number}: a skipped case has its reason on the line above"
            found[line.strip()] = reason
        reason = line.removeprefix("#").strip() if line.startswith("#") else ""
    return found


def parameters(cases: Callable[[], Iterable[Case]]) -> list[Any]:
    """The cases of a suite for `parametrize`; one that skips, saying so, without the data."""
    if not PRESENT:
        return [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT))]
    return [pytest.param(case, id=str(case)) for case in cases()]


def run(case: Case) -> None:
    """Pass, or skip with the reason; a case that is skipped without need fails."""
    if case.reason is None:
        case.check()
        return
    assert not case.passes(), f"{case} passes, so skips/{case.suite}.txt must not name it"
    pytest.skip(case.reason)
