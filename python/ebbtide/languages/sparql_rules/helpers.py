"""Helper relations: what is negated with a join inside, closures of paths, tables of VALUES.

    not:DIGEST(...)      a solution that a negation asks for
    some:DIGEST(...)     what must exist, where solutions are counted
    step:DIGEST(...)     solutions that go on after a function: its result can then be joined
    path:DIGEST(...)     pairs that a path with * or + joins, or what it reaches from a constant
    node:DIGEST(x)       x is a subject or an object of the graph
    values:DIGEST(...)   the rows of a table

A helper is named by a digest of what it means, so that one that two operations need, or two files
that are joined, is there once. Names with a colon are hidden (`program/reserved.py`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from ebbtide.languages.sparql_rules.branch import Branch
from ebbtide.program import Argument, Atom, BodyPart, Origin, Rule, Variable


class Helpers:
    """The helper rules of a file, and fresh names for the operation at hand."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self._known: set[str] = set()
        self._owner = ""
        self._origin: Origin | None = None
        self._count = 0

    def serve(self, owner: str, origin: Origin) -> None:
        """What is made from now on is made for the rule of that name."""
        self._owner, self._origin, self._count = owner, origin, 0

    def is_new(self, relation: str) -> bool:
        """Whether nothing concludes the relation yet; it counts as known from now on."""
        new = relation not in self._known
        self._known.add(relation)
        return new

    def conclude(
        self, relation: str, arguments: Sequence[Argument], body: Iterable[BodyPart]
    ) -> None:
        """Add a rule for a helper relation."""
        self.conclude_all([Atom(relation, tuple(arguments), self.origin)], body)

    def conclude_all(self, heads: Sequence[Atom], body: Iterable[BodyPart]) -> None:
        """Add a rule with several heads."""
        self._count += 1
        kind = heads[0].relation.partition(":")[0]
        name = f"{self._owner}.{kind}{self._count}"
        self.rules.append(Rule(name, tuple(heads), tuple(body), self.origin))

    def relation(self, kind: str, arguments: Sequence[Argument], branch: Branch) -> str:
        """A relation that holds for the arguments of every solution of a branch."""
        rule = Rule("", (Atom(kind, tuple(arguments)),), branch.body)
        relation = named(kind, _unnamed(str(rule), branch.variables()))
        if self.is_new(relation):
            self.conclude(relation, arguments, branch.body)
        return relation

    def relation_of_any(self, kind: str, cases: Sequence[tuple[Sequence[Argument], Branch]]) -> str:
        """A relation that holds for the arguments of every solution of any of some branches."""
        rules = (Rule("", (Atom(kind, tuple(some)),), branch.body) for some, branch in cases)
        meanings = (
            _unnamed(str(rule), branch.variables())
            for rule, (_, branch) in zip(rules, cases, strict=True)
        )
        relation = named(kind, "\n".join(sorted(meanings)))
        if self.is_new(relation):
            for arguments, branch in cases:
                self.conclude(relation, arguments, branch.body)
        return relation

    def needed_by(self, rules: Iterable[Rule]) -> list[Rule]:
        """The helper rules that some rules ask for, by what these ask for, and so on."""
        waiting = list(rules)
        asked: set[str] = set()
        while waiting:
            new = {atom.relation for atom in waiting.pop().asked} - asked
            asked |= new
            waiting += [one for one in self.rules if one.heads[0].relation in new]
        return [rule for rule in self.rules if rule.heads[0].relation in asked]

    @property
    def origin(self) -> Origin:
        """The place of the operation that is served."""
        assert self._origin is not None
        return self._origin


def _unnamed(text: str, variables: Iterable[Variable]) -> str:
    """A text with numbers in place of the variables' names, which mean nothing."""
    numbers = {str(variable): f"?{number}" for number, variable in enumerate(variables)}
    longest_first = sorted(map(re.escape, numbers), key=len, reverse=True)
    return (
        re.sub("|".join(longest_first), lambda found: numbers[found[0]], text) if numbers else text
    )


def named(kind: str, meaning: str) -> str:
    """The name of the relation that means something."""
    return f"{kind}:{hashlib.sha256(meaning.encode()).hexdigest()[:12]}"
