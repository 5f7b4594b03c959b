"""What a LARS program says at a time point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ebbtide.languages.lars import show_fact
from ebbtide.program import Fact
from ebbtide.time import Instant


@dataclass(frozen=True)
class Answer:
    """The intensional atoms that hold at a time point.

    `atoms` is None if there is no answer stream. `entered` and `left` say what changed since the
    time point before. A solver that was asked for all answer streams tells the atoms of each in
    `every`, and in `atoms` what they have in common. `complete` is False where a budget was hit
    that lets the reasoner go on: then these are only some of the atoms.
    """

    t: Instant
    atoms: frozenset[Fact] | None
    entered: frozenset[Fact] = frozenset()
    left: frozenset[Fact] = frozenset()
    every: tuple[frozenset[Fact], ...] | None = None
    complete: bool = True

    @property
    def is_news(self) -> bool:
        """Whether atoms began or ceased to hold, or more than atoms must be told."""
        is_plain = self.atoms is not None and self.every is None and self.complete
        return bool(self.entered or self.left) or not is_plain

    def texts(self, prefixes: Mapping[str, str] | None = None) -> list[str]:
        """The atoms as texts, in order."""
        return texts(self.atoms or frozenset(), prefixes)


def texts(facts: frozenset[Fact], prefixes: Mapping[str, str] | None = None) -> list[str]:
    """Atoms as texts, in order."""
    return sorted(show_fact(fact, prefixes or {}) for fact in facts)


def answered(
    t: Instant,
    before: Answer | None,
    atoms: frozenset[Fact] | None,
    every: tuple[frozenset[Fact], ...] | None = None,
) -> Answer:
    """The answer at a time point, given the one before."""
    held = (before.atoms if before is not None else None) or frozenset()
    holds = atoms or frozenset()
    return Answer(t, atoms, holds - held, held - holds, every)
