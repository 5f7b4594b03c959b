"""Rules by what they conclude: which heads a pattern meets, and with what it makes of the body."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from ebbtide.plan.pattern import Pattern, is_refuted, tests
from ebbtide.plan.unify import substitute, substitute_part
from ebbtide.program import Argument, Atom, Guard, Rule, Variable


class Use(NamedTuple):
    """A rule that concludes what a pattern asks for, and the patterns that it asks for in turn."""

    rule: Rule
    asks: tuple[Pattern, ...]
    negates: tuple[Pattern, ...]


_Head: TypeAlias = tuple[Rule, Atom, list[Guard]]
#: Where every head of a relation is filed.
_ANY: Final = Variable("*")


class Heads:
    """The heads of rules, by relation and the constant at the second place: in RDF, the predicate.

    >>> from ebbtide.testing import program
    >>> rules = program("p(?x, A) :- q(?x). p(?x, B) :- r(?x). s(?x) :- p(?x, B).").rules
    >>> [use.rule.name for use in Heads(rules).concluding(Pattern.of(rules[2].positives[0]))]
    ['rule2']
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._heads: defaultdict[tuple[str, Argument | None], list[_Head]] = defaultdict(list)
        for rule in rules:
            asked = tests(rule)
            for head in rule.heads:
                for key in (second(head), _ANY):
                    self._heads[head.relation, key].append((rule, head, asked))

    def concluding(self, pattern: Pattern) -> Iterator[Use]:
        """The rules with a head that meets the pattern, each as far as it concerns the pattern."""
        relation, constant = pattern.atom.relation, second(pattern.atom)
        if constant is None:
            near = self._heads[relation, _ANY]
        else:
            near = self._heads[relation, constant] + self._heads[relation, None]
        for rule, head, asked in near:
            found = pattern.meets(head)
            if found is None:
                continue
            now = [substitute_part(test, found) for test in asked]
            if not any(map(is_refuted, now)):
                yield Use(
                    rule,
                    tuple(Pattern.of(substitute(a, found), now) for a in rule.positives),
                    tuple(Pattern.of(substitute(n.atom, found)) for n in rule.negations),
                )


def second(atom: Atom) -> Argument | None:
    """The constant at the second place of an atom, if there is one."""
    if len(atom.arguments) < 2 or isinstance(atom.arguments[1], Variable):
        return None
    return atom.arguments[1]
