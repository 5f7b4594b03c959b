"""Maintenance rules: rules over the extensions of a relation, some with the time they hold until.

    isIn^Ins(?x, ?z)[T] :- isIn^Ins(?x, ?y)[T1], isIn^New(?y, ?z)[T2], T = min(T1, T2).

A maintenance program reads the materialisation P and what was inserted into it (for delete and
rederive also what was deleted), and concludes the net insertions P+ and the net deletions P-. It is
made from a positive program by rewriting functions; each rule remembers the function that made it
and the place of the rule the user wrote. What the rules mean when they are run is the matter of
`engines/reference/maintained.py` and docs/semantics/maintenance.md; here they are only text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, TypeAlias

from ebbtide.program import Atom, Guard, Origin, Program, ProgramError, Rule, Variable
from ebbtide.program.origin import IN_PYTHON


class Extension(Enum):
    """The extensions of a relation that maintenance tells apart (Tables 1 and 4 of the paper)."""

    CURRENT = ""
    DELETED = "Del"
    INSERTED = "Ins"
    REDERIVED = "Red"
    NEW = "New"
    OUTLIVED = "Old"
    NET_INSERTED = "+"
    NET_DELETED = "-"
    CANDIDATE = "++"


@dataclass(frozen=True, slots=True)
class Marked:
    """An atom over one extension, at a time: `isIn^New(?x, ?y)[T]`."""

    extension: Extension
    atom: Atom
    time: str = ""

    def __str__(self) -> str:
        mark = f"^{self.extension.value}" if self.extension.value else ""
        time = f"[{self.time}]" if self.time else ""
        return f"{replace(self.atom, relation=self.atom.relation + mark)}{time}"


@dataclass(frozen=True, slots=True)
class Absent:
    """`not isIn^Old(?x, ?y)[T]`."""

    marked: Marked

    def __str__(self) -> str:
        return f"not {self.marked}"


@dataclass(frozen=True, slots=True)
class Passed:
    """The time has just passed: `T1 = (now - 1)`."""

    time: str

    def __str__(self) -> str:
        return f"{self.time} = (now - 1)"


@dataclass(frozen=True, slots=True)
class Later:
    """`T1 > T`."""

    time: str
    than: str

    def __str__(self) -> str:
        return f"{self.time} > {self.than}"


@dataclass(frozen=True, slots=True)
class Least:
    """`T = min(T1, T2)`."""

    time: str
    of: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.time} = min({', '.join(self.of)})"


Part: TypeAlias = Marked | Absent | Passed | Later | Least | Guard


@dataclass(frozen=True, slots=True)
class MaintenanceRule:
    """A rule and the rewriting function, with its argument, that made it."""

    head: Marked
    body: tuple[Part, ...]
    function: str
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.head} :- {', '.join(map(str, self.body))}."


@dataclass(frozen=True, slots=True)
class MaintenanceProgram:
    """The maintenance program of a program for one strategy, in the order of the paper's tables."""

    strategy: str
    source: Program
    rules: tuple[MaintenanceRule, ...]

    def concluding(self, *extensions: Extension) -> list[MaintenanceRule]:
        """The rules with a head over one of the extensions."""
        return [rule for rule in self.rules if rule.head.extension in extensions]

    def __str__(self) -> str:
        # One long rule must not push the functions of all others out of sight.
        widths = (len(str(rule)) for rule in self.rules)
        width = max((width for width in widths if width <= _WIDEST), default=0)
        return "\n".join(f"{rule!s:<{width}}   % {rule.function}" for rule in self.rules)


_SHORT: Final = ("x", "y", "z")
_WIDEST: Final = 100


def rewritten(
    strategy: str,
    program: Program,
    of_predicate: Callable[[Atom], Iterable[MaintenanceRule]],
    of_rule: Callable[[Rule, Atom], Iterable[MaintenanceRule]],
) -> MaintenanceProgram:
    """Apply the rewriting functions to each predicate, then to each rule, once for every head."""
    for rule in program.rules:
        for negation in rule.negations:
            raise ProgramError(
                f"maintenance programs are made from positive programs, but the rule {rule.name} "
                f"has `{negation}`",
                negation.origin,
            )
    rules = [made for atom in predicates(program) for made in of_predicate(atom)]
    rules += [made for rule in program.rules for head in rule.heads for made in of_rule(rule, head)]
    return MaintenanceProgram(strategy, program, tuple(rules))


def predicates(program: Program) -> list[Atom]:
    """Each relation the rules mention, in order, as an atom over distinct variables.

    >>> from ebbtide.testing import program
    >>> for atom in predicates(program("path(?a, ?c) :- leg(?a, ?b, ?m, ?t), path(?b, ?c).")):
    ...     print(atom)
    path(?x, ?y)
    leg(?x1, ?x2, ?x3, ?x4)
    """
    mentioned = (atom for rule in program.rules for atom in (*rule.heads, *rule.positives))
    arities = {atom.relation: len(atom.arguments) for atom in mentioned}
    return [Atom(relation, _variables(arity)) for relation, arity in arities.items()]


def _variables(arity: int) -> tuple[Variable, ...]:
    names = _SHORT[:arity] if arity <= len(_SHORT) else [f"x{i + 1}" for i in range(arity)]
    return tuple(map(Variable, names))
