"""Delete and rederive: the rewriting functions of Table 2.

The deletions are overestimated (Del), those that other facts still derive are saved (Red), and what
the insertions derive is added (Ins); New is the materialisation afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.maintenance.rule import (
    Absent,
    Extension,
    MaintenanceProgram,
    MaintenanceRule,
    Marked,
    rewritten,
)
from ebbtide.program import Atom, Program, Rule

CURRENT, DELETED, INSERTED = Extension.CURRENT, Extension.DELETED, Extension.INSERTED
REDERIVED, NEW = Extension.REDERIVED, Extension.NEW


def dred(program: Program) -> MaintenanceProgram:
    """The maintenance program of delete and rederive."""
    return rewritten("dred", program, _of_predicate, _of_rule)


def _of_predicate(atom: Atom) -> Iterator[MaintenanceRule]:
    current, deleted, inserted, rederived, new = (
        Marked(extension, atom) for extension in (CURRENT, DELETED, INSERTED, REDERIVED, NEW)
    )
    plus, minus = Marked(Extension.NET_INSERTED, atom), Marked(Extension.NET_DELETED, atom)
    name = atom.relation
    yield MaintenanceRule(new, (current, Absent(deleted)), f"δNew1({name})")
    yield MaintenanceRule(new, (rederived,), f"δNew2({name})")
    yield MaintenanceRule(new, (inserted,), f"δNew3({name})")
    yield MaintenanceRule(plus, (inserted, Absent(current)), f"δ+({name})")
    yield MaintenanceRule(minus, (deleted, Absent(inserted), Absent(rederived)), f"δ-({name})")


def _of_rule(rule: Rule, head: Atom) -> Iterator[MaintenanceRule]:
    after = tuple(Marked(NEW, atom) for atom in rule.positives)
    yield MaintenanceRule(
        Marked(REDERIVED, head),
        (Marked(DELETED, head), *after, *rule.guards),
        f"δRed({rule.name})",
        rule.origin,
    )
    for changed, others in ((DELETED, CURRENT), (INSERTED, NEW)):
        for place in range(len(rule.positives)):
            body = (
                Marked(changed if i == place else others, atom)
                for i, atom in enumerate(rule.positives)
            )
            yield MaintenanceRule(
                Marked(changed, head),
                (*body, *rule.guards),
                f"δ{changed.value}({rule.name})",
                rule.origin,
            )
