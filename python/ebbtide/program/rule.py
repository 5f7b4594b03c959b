"""Rules: heads hold while every part of the body does.

The body is a conjunction in any order; plans decide the order of evaluation. A derivation holds
until the minimum of its positive atoms' `until`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from ebbtide.program.atom import Atom, Fact, Negation
from ebbtide.program.guard import Guard
from ebbtide.program.origin import IN_PYTHON, Origin

BodyPart: TypeAlias = Atom | Negation | Guard


@dataclass(frozen=True, slots=True)
class Lineage:
    """How a rewritten rule follows from a rule that was written, so that proofs can show that one.

    For each positive atom of the written rule: the place of the atom that stands for it among those
    of the rewritten rule, or the fact that it was worked out with, or, if it was unfolded, how it
    follows. `head` is what the written rule concludes, over the rewritten rule's variables.
    """

    rule: Rule
    head: Atom
    premises: tuple[int | Fact | Lineage, ...]


@dataclass(frozen=True)
class Rule:
    """`heads :- body`, with a name and the place it was written."""

    name: str
    heads: tuple[Atom, ...]
    body: tuple[BodyPart, ...]
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)
    lineage: Lineage | None = field(default=None, compare=False, repr=False)

    @cached_property
    def positives(self) -> tuple[Atom, ...]:
        """The atoms that must match facts."""
        return tuple(part for part in self.body if isinstance(part, Atom))

    @cached_property
    def negations(self) -> tuple[Negation, ...]:
        """The atoms that must match nothing."""
        return tuple(part for part in self.body if isinstance(part, Negation))

    @cached_property
    def guards(self) -> tuple[Guard, ...]:
        """What is asked of the terms."""
        return tuple(part for part in self.body if isinstance(part, Guard))

    @cached_property
    def asked(self) -> tuple[Atom, ...]:
        """The atoms of the body, negated or not."""
        return (*self.positives, *(negation.atom for negation in self.negations))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms of the heads and of the body."""
        return (*self.heads, *self.asked)

    def __str__(self) -> str:
        heads = ", ".join(map(str, self.heads))
        return f"{heads} :- {', '.join(map(str, self.body))}."
