"""The regimes: what their files say of themselves, and how they are found and joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Reasoner
from ebbtide.cli.rules.table import MARK
from ebbtide.program import ProgramError
from ebbtide.regimes import Regime, find, load, regimes
from ebbtide.regimes.coverage import coverage, source_rules
from ebbtide.terms import Literal
from ebbtide.terms.term import XSD

PAGE = Path(__file__).parents[2] / "docs" / "regimes.md"

every_regime = pytest.mark.parametrize("regime", regimes(), ids=lambda regime: regime.name)


@every_regime
def test_a_file_says_what_it_is(regime: Regime) -> None:
    assert regime.title
    assert regime.source
    assert regime.covers


@every_regime
def test_notes_are_about_rules_of_the_file(regime: Regime) -> None:
    here = {rule.name for rule in regime.program.written}
    assert set(regime.deviations) <= here
    assert not set(regime.leaves_out) & here


@every_regime
def test_every_rule_has_a_name_of_its_own(regime: Regime) -> None:
    names = [rule.name for rule in regime.program.written]
    assert len(set(names)) == len(names)


@every_regime
def test_helpers_belong_to_a_rule(regime: Regime) -> None:
    names = {rule.name for rule in regime.program.written}
    assert {name.partition(".")[0] for name in names if "." in name} <= names


#: The names of Tables 4 to 9 of the profile, without their numbers.
TABLES = {
    "eq": "ref sym trans rep-s rep-p rep-o diff1 diff2 diff3",
    "prp": "ap dom rng fp ifp irp symp asyp trp spo1 spo2 eqp1 eqp2 pdw adp inv1 inv2 key npa1 "
    "npa2",
    "cls": "thing nothing1 nothing2 int1 int2 uni com svf1 svf2 avf hv1 hv2 maxc1 maxc2 maxqc1 "
    "maxqc2 maxqc3 maxqc4 oo",
    "cax": "sco eqc1 eqc2 dw adc",
    "dt": "type1 type2 eq diff not-type",
    "scm": "cls sco eqc1 eqc2 op dp spo eqp1 eqp2 dom1 dom2 rng1 rng2 hv svf1 svf2 avf1 avf2 int "
    "uni",
}


def test_owl2rl_is_all_of_the_profile() -> None:
    named = {f"{table}-{rule}" for table, rules in TABLES.items() for rule in rules.split()}
    entailing = set(source_rules(find("owl2rl")))
    unsatisfiable = set(source_rules(find("owl2rl-unsat")))
    assert len(named) == 78
    assert entailing | unsatisfiable == named
    assert set(find("owl2rl").leaves_out) == unsatisfiable


def test_the_table_of_the_documentation_is_current() -> None:
    _, mark, below = PAGE.read_text(encoding="utf-8").partition(MARK)
    assert mark
    assert below.strip() == coverage(), "make docs"


def test_a_regime_is_found_in_whatever_case() -> None:
    assert find("OWL2RL") is find("owl2rl")


def test_regimes_and_files_are_joined(tmp_path: Path) -> None:
    path = tmp_path / "site.rules"
    path.write_text("[mine: (?x a ?c) -> (?c a ?x)]")
    joined = load(f"rdfs-sparkwave, {path}")
    assert [rule.name for rule in joined.rules][-2:] == ["sym", "mine"]


def test_a_reasoner_takes_names() -> None:
    reasoner = Reasoner("rhodf")
    reasoner.add(
        ("<http://e/Cat>", "<http://www.w3.org/2000/01/rdf-schema#subClassOf>", "<http://e/Animal>")
    )
    a = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    reasoner.push(("<http://e/tom>", a, "<http://e/Cat>"), at=1)
    reasoner.finish()
    assert ("<http://e/tom>", a, "<http://e/Animal>") in reasoner


@pytest.mark.parametrize(
    "writings",
    [
        ["1^^integer", "01^^int", "1.00^^decimal"],
        ["1^^float", "1e0^^float"],
        ["1^^boolean", "true^^boolean"],
        ["a^^string", "a^^token", "a^^NCName"],
        ["2024-01-01T00:00:00Z^^dateTime", "2023-12-31T24:00:00+00:00^^dateTime"],
        ["0f^^hexBinary", "0F^^hexBinary"],
    ],
)
def test_literals_of_one_value_are_the_same(writings: list[str]) -> None:
    """Table 8's dt-eq, for every kind of value of which literals have several writings."""
    literals = [
        Literal(text, XSD + name) for text, _, name in (w.partition("^^") for w in writings)
    ]
    others = [Literal("b"), Literal("2", XSD + "integer"), Literal("1", XSD + "double")]
    reasoner = Reasoner("owl2rl")
    for number, literal in enumerate([*literals, *others]):
        reasoner.add((f"<e:{number}>", "<e:p>", literal))
    reasoner.settle()
    for number, _ in enumerate(literals):
        found = {o for _, _, o in reasoner.triples((f"<e:{number}>", "<e:p>", None))}
        assert found == set(literals)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("owl2lr", "owl2lr:1:1: there is no regime owl2lr; did you mean owl2rl?"),
        ("rdfs,,rhodf", "rdfs,,rhodf:1:1: the name of a regime or file is missing"),
        ("rhodf,none.rules", "none.rules:1:1: cannot read the rules: No such file or directory"),
    ],
)
def test_a_wrong_name_is_told(names: str, message: str) -> None:
    with pytest.raises(ProgramError) as error:
        load(names)
    assert str(error.value) == message
