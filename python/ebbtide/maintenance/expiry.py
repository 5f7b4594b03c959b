"""Expiry: the rewriting functions of Table 5.

Every fact has the time it holds until, so nothing is ever deleted by search: what has passed is
left out of New, what the insertions derive is added with the least time of its body (Ins), and a
copy of a fact that another one outlives is dropped (Old).
"""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.maintenance.rule import (
    Absent,
    Extension,
    Later,
    Least,
    MaintenanceProgram,
    MaintenanceRule,
    Marked,
    Part,
    Passed,
    rewritten,
)
from ebbtide.program import Atom, Program, Rule

CURRENT, INSERTED, NEW = Extension.CURRENT, Extension.INSERTED, Extension.NEW
OUTLIVED, CANDIDATE = Extension.OUTLIVED, Extension.CANDIDATE
PLUS, MINUS = Extension.NET_INSERTED, Extension.NET_DELETED


def expiry(program: Program) -> MaintenanceProgram:
    """The maintenance program of expiration times."""
    return rewritten("expiry", program, _of_predicate, _of_rule)


def _of_predicate(atom: Atom) -> Iterator[MaintenanceRule]:
    def at(extension: Extension, time: str) -> Marked:
        return Marked(extension, atom, time)

    rewritings: tuple[tuple[str, Extension, tuple[Part, ...]], ...] = (
        ("ΔNew1", NEW, (at(CURRENT, "T"), Absent(at(CURRENT, "T1")), Passed("T1"))),
        ("ΔNew2", NEW, (at(INSERTED, "T"), Absent(at(OUTLIVED, "T")))),
        ("ΔOld1", OUTLIVED, (at(INSERTED, "T1"), at(CURRENT, "T"), Later("T1", "T"))),
        ("ΔOld2", OUTLIVED, (at(INSERTED, "T1"), at(INSERTED, "T"), Later("T1", "T"))),
        ("Δ-1", MINUS, (at(CURRENT, "T1"), Passed("T1"), Absent(at(INSERTED, "T1")))),
        ("Δ-2", MINUS, (at(OUTLIVED, "T"),)),
        ("Δ++", CANDIDATE, (at(NEW, "T"), Absent(at(CURRENT, "T1")))),
        ("Δ+", PLUS, (at(CANDIDATE, "T"), Absent(at(OUTLIVED, "T1")))),
    )
    for function, extension, body in rewritings:
        yield MaintenanceRule(at(extension, "T"), body, f"{function}({atom.relation})")


def _of_rule(rule: Rule, head: Atom) -> Iterator[MaintenanceRule]:
    times = tuple(f"T{i + 1}" for i in range(len(rule.positives)))
    for place in range(len(rule.positives)):
        body = (
            Marked(INSERTED if i == place else NEW, atom, times[i])
            for i, atom in enumerate(rule.positives)
        )
        yield MaintenanceRule(
            Marked(INSERTED, head, "T"),
            (*body, *rule.guards, Least("T", times)),
            f"ΔIns({rule.name})",
            rule.origin,
        )
