"""Maintenance strategies as rewritings of a program: the tables of the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from ebbtide.maintenance.dred import dred
from ebbtide.maintenance.expiry import expiry
from ebbtide.maintenance.rule import Extension, MaintenanceProgram, MaintenanceRule
from ebbtide.program import Program

STRATEGIES: Final[Mapping[str, Callable[[Program], MaintenanceProgram]]] = MappingProxyType(
    {"dred": dred, "expiry": expiry}
)

__all__ = [
    "STRATEGIES",
    "Extension",
    "MaintenanceProgram",
    "MaintenanceRule",
    "dred",
    "expiry",
    "maintenance_program",
]


def maintenance_program(program: Program, strategy: str) -> MaintenanceProgram:
    """The maintenance program of a positive program: strategy `dred` or `expiry`.

    >>> from ebbtide.testing import program
    >>> rules = program("R: wet(?x) :- rain(?x).")
    >>> for rule in maintenance_program(rules, "dred").rules[-3:]:
    ...     print(rule)
    wet^Red(?x) :- wet^Del(?x), rain^New(?x).
    wet^Del(?x) :- rain^Del(?x).
    wet^Ins(?x) :- rain^Ins(?x).
    """
    if strategy not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise ValueError(f"no maintenance program is known for {strategy!r}, only for {known}")
    return STRATEGIES[strategy](program)
