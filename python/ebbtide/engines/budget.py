"""Budgets: how much an engine may hold and do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of facts held, of estimated bytes held, and of derivations in one tick.

    Beyond one, a tick stops with `BudgetExceeded`, which names the rule and the fact at hand. With
    `go_on=True` it answers with what it has instead, and the delta says `complete=False`. Either
    way the next tick starts again from the stated facts, so it is complete if it fits.
    """

    facts: int | None = None
    bytes: int | None = None
    derivations: int | None = None
    go_on: bool = False
