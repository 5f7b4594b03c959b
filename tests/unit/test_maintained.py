"""The smallest examples at which the paper's tables, taken to the letter, would go wrong.

Each is worked out in docs/semantics/maintenance.md under the name of its test.
"""

from __future__ import annotations

from collections.abc import Set

from ebbtide.engines.reference import Maintained, run_dred, run_expiry
from ebbtide.maintenance import maintenance_program
from ebbtide.program import Fact
from ebbtide.testing import facts, program
from ebbtide.time import Instant

COPY = "R: q(?x) :- p(?x)."


def expiry(rules: str, current: str, inserted: str, now: Instant) -> Maintained:
    table = maintenance_program(program(rules), "expiry")
    return run_expiry(table, facts(current), facts(inserted), now)


def dred(rules: str, current: str, inserted: str, deleted: str, stated: str) -> Set[Fact]:
    table = maintenance_program(program(rules), "dred")
    result = run_dred(
        table, *(set(timeless(text)) for text in (current, inserted, deleted, stated))
    )
    return {fact for fact, _ in result.facts}


def timeless(names: str) -> dict[Fact, Instant]:
    return facts(" ".join(f"{name}[forever]" for name in names.split()))


def copies(text: str) -> set[tuple[Fact, Instant]]:
    return set(facts(text).items())


def test_ticks_may_skip_the_instant_after_an_until() -> None:
    # T1 = (now - 1) would look for 14, and keep what expired at 11 for ever.
    result = expiry(COPY, "p(A)[11] q(A)[11]", "", now=15)
    assert result.facts == set()
    assert result.minus == copies("p(A)[11] q(A)[11]")


def test_until_is_exclusive() -> None:
    assert expiry(COPY, "p(A)[11] q(A)[11]", "", now=10).minus == set()
    assert expiry(COPY, "p(A)[11] q(A)[11]", "", now=11).facts == set()


def test_a_renewed_fact_is_inserted_again() -> None:
    # `not P[T1]` for any T1 would take away the old copy and add no new one.
    result = expiry(COPY, "p(A)[11] q(A)[11]", "p(A)[15]", now=5)
    assert result.plus == copies("p(A)[15] q(A)[15]")
    assert result.minus == copies("p(A)[11] q(A)[11]")
    assert result.facts == copies("p(A)[15] q(A)[15]")


def test_a_shorter_copy_is_not_inserted() -> None:
    # `not P[T1]` for T1 = T would let q(A)[11] in beside q(A)[forever].
    result = expiry(COPY, "q(A)[forever]", "p(A)[11]", now=1)
    assert result.plus == copies("p(A)[11]")
    assert result.facts == copies("p(A)[11] q(A)[forever]")


def test_copies_that_are_outlived_within_a_tick_are_dropped() -> None:
    rules = "isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z)."
    entering = "isIn(A, B)[11] isIn(B, D)[12] isIn(A, C)[13] isIn(C, D)[14]"
    result = expiry(rules, "", entering, now=4)
    assert result.plus == copies(f"{entering} isIn(A, D)[13]")


def test_a_fact_that_expires_and_comes_again_stays() -> None:
    result = expiry(COPY, "p(A)[11] q(A)[11]", "p(A)[21]", now=11)
    assert result.facts == copies("p(A)[21] q(A)[21]")


def test_what_is_still_stated_is_not_deleted_with_its_derivation() -> None:
    # q(A) is stated and derived; Red knows of rules only.
    assert dred(COPY, "p(A) q(A)", "", "p(A)", stated="q(A)") == set(timeless("q(A)"))


def test_a_cycle_does_not_rederive_itself() -> None:
    rules = "p(?x) :- q(?x).  q(?x) :- p(?x)."
    assert dred(rules, "p(A) q(A)", "", "p(A)", stated="") == set()


def test_a_rule_without_a_body_is_inserted_by_nothing_else() -> None:
    assert expiry("open.", "", "", now=1).facts == copies("open[forever]")
    assert dred("open.", "open", "", "open", stated="") == set(timeless("open"))
