"""FILTER, BIND and OPTIONAL: what they do to a branch.

A filter becomes guards; where it asks for patterns with EXISTS, the parts of its conjunctions and
disjunctions become joins, negations and more branches. That loses nothing, because `a || b` holds
exactly when one of them does, whatever the other one's errors, and `!` goes down to the parts.

An error leaves the variable of a BIND unbound, and the solution stays. So there are two branches:
one with the value, and one in which there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ebbtide.languages.sparql_rules.branch import FILTER, Branch, same_term
from ebbtide.languages.sparql_rules.expression import (
    CASTS,
    Expression,
    bind_guard,
    equated,
    error_guard,
    filter_guard,
    functions,
    has_exists,
    is_constant,
    never_has_value,
    never_holds,
    variables,
)
from ebbtide.languages.sparql_rules.negation import absent, present
from ebbtide.languages.sparql_rules.refuse import REASONS
from ebbtide.program import Argument
from ebbtide.terms import Literal, parse_term

if TYPE_CHECKING:
    from ebbtide.languages.sparql_rules.pattern import Lowering, Pattern, Place


@dataclass(frozen=True)
class Condition:
    """Conditions at one place of a query."""

    lowering: Lowering
    place: Place

    def holding(self, branch: Branch, expression: Expression, holds: bool = True) -> list[Branch]:
        """The branches in which the expression is true, or false if `holds` is not."""
        if not has_exists(expression) and not (holds and expression[0] == "&&"):
            return self._filtered(branch, expression if holds else ("!", expression))
        match expression:
            case ("!", inner):
                return self.holding(branch, inner, not holds)
            case ("&&" | "||" as operator, *operands):
                if holds == (operator == "||"):
                    self.lowering.counts = False
                    return [one for each in operands for one in self.holding(branch, each, holds)]
                branches = [branch]
                for each in operands:
                    branches = [one for old in branches for one in self.holding(old, each, holds)]
                return branches
            case ("EXISTS", pattern):
                return self._exists(branch, pattern, holds)
        self.lowering.refuse(["EXISTS"], "EXISTS can stand under &&, || and ! only")

    def bound(self, branch: Branch, name: str, expression: Expression) -> list[Branch]:
        """The branch with what an expression yields, and the one in which it is an error."""
        if name in self.place.around:
            self.lowering.refuse(
                ["BIND", "AS"], f"?{name} is bound outside of EXISTS, so it cannot be bound again"
            )
        if has_exists(expression):
            self.lowering.refuse(["EXISTS"], "EXISTS can stand in FILTER only")
        self._check_functions(expression)
        if (term := is_constant(expression)) is not None:
            return [branch.binds(name, term)]
        if isinstance(expression, str):
            argument = self._lookup(branch, expression[1:])
            borrowed = self._borrowing(branch, expression)
            return [branch if argument is None else borrowed.binds(name, argument)]

        def lookup(other: str) -> Argument | None:
            return self._lookup(branch, other)

        if never_has_value(expression, lookup):
            return [branch]
        branch = self._borrowing(branch, expression)
        result = self.lowering.fresh(name)
        value = branch.having(bind_guard(expression, lookup, result)).binds(name, result)
        error = branch.having(error_guard(expression, lookup))
        return [replace(value, computed=value.computed | {result}), error]

    def optional(
        self, branch: Branch, optional: Sequence[Branch], expression: Expression | None
    ) -> list[Branch]:
        """The branch with what is optional, and where that does not match, without it."""
        matched = self.lowering.join([branch], optional)
        if expression is None:
            return [*matched, *absent(self.lowering, branch, optional, self.place)]
        matched = [one for old in matched for one in self.holding(old, expression)]
        around = {**self.place.around, **branch.binding}
        inside = Condition(self.lowering, replace(self.place, around=around))
        refuted = [one for old in optional for one in inside.holding(old, expression)]
        return [*matched, *absent(self.lowering, branch, refuted, self.place)]

    def _exists(self, branch: Branch, pattern: Pattern, holds: bool) -> list[Branch]:
        around = {**self.place.around, **branch.binding}
        found = self.lowering.branches(pattern, self.lowering.inside(self.place, around))
        return (present if holds else absent)(self.lowering, branch, found, self.place)

    def _check_functions(self, expression: Expression) -> None:
        for name in functions(expression):
            if name in REASONS:
                self.lowering.refuse([name], f"{name} {REASONS[name]}")
            if name.endswith(">") and name != ">" and name not in CASTS:
                self.lowering.refuse([name], f"the function {name} is not known")

    def _filtered(self, branch: Branch, expression: Expression) -> list[Branch]:
        self._check_functions(expression)

        def lookup(name: str) -> Argument | None:
            return self._lookup(branch, name)

        if never_holds(expression, lookup):
            return []
        if expression[0] == "BOUND" and lookup(expression[1][1:]) is not None:
            return [branch]
        if (same := equated(expression)) is not None and self._is_matched(branch, same[0]):
            return self._identical(branch, *same)
        guard = filter_guard(expression, lookup)
        if guard.builtin == FILTER and len(guard.arguments) == 1:
            return [branch] if _is_true(guard.arguments[0]) else []
        return [self._borrowing(branch, expression).having(guard)]

    def _identical(self, branch: Branch, name: str, other: str) -> list[Branch]:
        """The branch in which a variable and another one, or a term, are the same."""
        if other.startswith("?") and not self._is_matched(branch, other[1:]):
            left, right = branch.binding[name], self._lookup(branch, other[1:])
            if right is None:
                return []
            return [self._borrowing(branch, other).having(same_term(left, right))]
        term = branch.binding[other[1:]] if other.startswith("?") else parse_term(other)
        joined = branch.joined(Branch((), {name: term}))
        return [] if joined is None else [joined]

    def _is_matched(self, branch: Branch, name: str) -> bool:
        """Whether the branch itself binds the variable, not by a function."""
        return name in branch.binding and not branch.is_computed(name)

    def _lookup(self, branch: Branch, name: str) -> Argument | None:
        return branch.binding.get(name) or self.place.around.get(name)

    def _borrowing(self, branch: Branch, expression: Expression) -> Branch:
        """The branch, knowing which variables of the expression come from around it."""
        found = [name for name in variables(expression) if name not in branch.binding]
        around = self.place.around
        borrowed = {name: around[name] for name in found if name in around}
        return replace(branch, borrowed={**branch.borrowed, **borrowed})


def _is_true(expression: Argument) -> bool:
    """Whether an expression without variables holds."""
    from ebbtide._kernel import sparql_holds

    assert isinstance(expression, Literal)
    return sparql_holds(expression.lexical, [])
