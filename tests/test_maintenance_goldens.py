"""Maintenance programs print as the paper's tables do."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.maintenance import STRATEGIES, maintenance_program
from ebbtide.program import Program, ProgramError
from ebbtide.testing import program

FOLDER = Path(__file__).parent / "cases" / "maintenance"


def rules_of(path: Path) -> Program:
    return program(path.read_text(encoding="utf-8"), path.name)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.rules")), ids=lambda path: path.stem)
def test_golden(path: Path, strategy: str) -> None:
    printed = f"{maintenance_program(rules_of(path), strategy)}\n"
    assert printed == path.with_suffix(f".{strategy}.golden").read_text(encoding="utf-8")


def test_every_rule_remembers_where_it_was_written() -> None:
    made = maintenance_program(rules_of(FOLDER / "rdf.rules"), "expiry")
    places = {rule.function: str(rule.origin) for rule in made.rules if "Ins" in rule.function}
    assert places == {"ΔIns(domain)": "rdf.rules:2:1", "ΔIns(resource)": "rdf.rules:3:1"}


def test_a_negation_is_refused_at_its_place() -> None:
    rules = program("calm(?x) :- node(?x),\n  not busy(?x).", "site.rules")
    with pytest.raises(ProgramError, match=r"site\.rules:2:7: .*positive programs.*`not busy"):
        maintenance_program(rules, "expiry")


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(ValueError, match="'naive', only for dred, expiry"):
        maintenance_program(Program(), "naive")
