"""Rules by what they conclude: which heads a pattern meets, and with what it makes of the body."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from ebbtide.plan.pattern import Pattern, is_refuted, tests
from ebbtide.plan.topics import Topics
from ebbtide.plan.unify import substitute_part
from ebbtide.program import Atom, Guard, Rule


class Use(NamedTuple):
    """A rule that concludes what a pattern asks for, and the patterns that it asks for in turn."""

    rule: Rule
    asks: tuple[Pattern, ...]
    negates: tuple[Pattern, ...]


_Head: TypeAlias = tuple[Rule, Atom, list[Guard]]


class Heads:
    """The heads of rules, by what they are about.

    >>> from ebbtide.testing import program
    >>> rules = program("p(?x, A) :- q(?x). p(?x, B) :- r(?x). s(?x) :- p(?x, B).").rules
    >>> [use.rule.name for use in Heads(rules).concluding(Pattern.of(rules[2].positives[0]))]
    ['rule2']
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._heads: Topics[_Head] = Topics()
        for rule in rules:
            asked = tests(rule)
            for head in rule.heads:
                self._heads.add(head, (rule, head, asked))

    def any_conclude(self, pattern: Pattern) -> bool:
        """Whether some rule may conclude what the pattern asks for."""
        return any(
            found is not None
            and not any(is_refuted(substitute_part(test, found)) for test in asked)
            for _, head, asked in self._heads.near(pattern.atom)
            for found in (pattern.meets(head),)
        )

    def concluding(self, pattern: Pattern, only: Container[int] | None = None) -> Iterator[Use]:
        """The rules with a head that meets the pattern, each as far as it concerns the pattern.

        `only` are the ids of the rules that are asked about.
        """
        for rule, head, asked in self._heads.near(pattern.atom):
            if only is not None and id(rule) not in only:
                continue
            found = pattern.meets(head)
            if found is None:
                continue
            now = [substitute_part(test, found) for test in asked]
            if not any(map(is_refuted, now)):
                yield Use(
                    rule,
                    tuple([Pattern.of(atom, now, found) for atom in rule.positives]),
                    tuple([Pattern.of(part.atom, (), found) for part in rule.negations]),
                )
