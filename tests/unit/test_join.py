"""Joining programs: which rules are the same, and what becomes of names and relations."""

from __future__ import annotations

import pytest

from ebbtide.languages.jena import parse_rules
from ebbtide.program import Program, ProgramError
from ebbtide.program.join import join, same_rule
from ebbtide.program.operator import Aggregate


def names(*texts: str) -> list[str]:
    return [rule.name for rule in join(map(parse_rules, texts)).rules]


@pytest.mark.parametrize(
    "text",
    [
        "[(?x a ?c), (?c a ?d) -> (?x a ?d)] [(?b a ?e), (?y a ?b) -> (?y a ?e)]",
        "[(?x a ?c), not (?c 1 ?any) -> (?x 2 ?c)] [not (?d 1 ?z), (?y a ?d) -> (?y 2 ?d)]",
        "[(?x a 1), notEqual(?x, 2) -> (?x a 3)] [notEqual(?y, 2), (?y a 1) -> (?y a 3)]",
    ],
)
def test_variables_and_order_make_no_other_rule(text: str) -> None:
    assert same_rule(*parse_rules(text).rules)


@pytest.mark.parametrize(
    "text",
    [
        "[(?x a ?c) -> (?x a ?x)] [(?x a ?c) -> (?c a ?c)]",
        "[(?x a ?c) -> (?x a ?c)] [(?x a ?x) -> (?x a ?x)]",
        "[(?x a ?x) -> (?x a ?x)] [(?x a ?c) -> (?x a ?c)]",
        "[(?x a 1) -> (?x a 2)] [(?x a 2) -> (?x a 2)]",
        "[(?x a ?c), notEqual(?x, ?c) -> (?x a 1)] [(?x a ?c), equal(?x, ?c) -> (?x a 1)]",
        "[(?x a ?c) -> (?x a 1)] [(?x a ?c), (?c a ?d) -> (?x a 1)]",
        "[(?x a ?c), not (?c a ?x) -> (?x 1 1)] [(?x a ?c), (?c a ?x) -> (?x 1 1)]",
    ],
)
def test_anything_else_does(text: str) -> None:
    assert not same_rule(*parse_rules(text).rules)


def test_the_first_of_two_same_rules_stays() -> None:
    assert names("[a: (?x a ?c) -> (?c a ?x)]", "[b: (?y a ?d) -> (?d a ?y)]") == ["a"]


def test_very_long_rules_are_told_apart_too() -> None:
    def rule(name: str, variable: str, last: int) -> str:
        body = ", ".join(f"(?{variable}{i} ex:p ?{variable}{i + 1})" for i in range(900))
        return f"@prefix ex: <http://example/>. [{name}: {body} -> (?{variable}0 ex:q {last})]"

    assert names(rule("a", "x", 1), rule("b", "y", 1), rule("c", "x", 2)) == ["a", "c"]


def test_different_rules_of_one_name_are_told_apart() -> None:
    found = names(
        "[a: (?x a 1) -> (?x a 2)] [a-2: (?x a 3) -> (?x a 4)]", "[a: (?x a 5) -> (?x a 6)]"
    )
    assert found == ["a", "a-2", "a-3"]


def test_a_file_asks_for_what_another_concludes() -> None:
    joined = join(
        [
            parse_rules("[in: (?x a ?c) -> member(?x, ?c)]"),
            parse_rules("@relation member/2. [out: member(?x, ?c) -> (?c a ?x)]"),
        ]
    )
    assert joined.relations["member"] == 2


def test_relations_of_different_arity_do_not_meet() -> None:
    one = parse_rules("[in: (?x a ?c) -> member(?x, ?c)]", "one.rules")
    other = parse_rules("[in: (?x a ?c) -> member(?x)]", "other.rules")
    with pytest.raises(
        ProgramError, match=r"^other.rules:1:19: the relation member has the arity 1 here and 2"
    ):
        join([one, other])


def test_a_rule_that_concludes_false_keeps_its_name_and_its_inconsistencies_together() -> None:
    joined = join(
        [
            parse_rules("[no: (?x a 1) -> false]"),
            parse_rules("[no: (?x a ?y), (?y a 2) -> false]"),
            parse_rules("[no: (?z a 1) -> false]"),
        ]
    )
    assert [(rule.name, rule.heads[0].relation) for rule in joined.rules] == [
        ("no", "inconsistency:no"),
        ("no-2", "inconsistency:no-2"),
    ]


def test_lists_are_read_once() -> None:
    one = parse_rules("[r: (?c owl:oneOf ?l), list(?l, ?i, ?x) -> (?x a ?c)]")
    other = parse_rules("[s: (?c owl:oneOf ?l), list(?l, ?i, ?x) -> (?x 1 ?c)]")
    joined = join([one, other])
    assert [rule.name for rule in joined.written] == ["r", "s"]
    assert joined == Program([*one.written, *other.written])


def test_operators_come_along_once() -> None:
    count = Aggregate("count", "seen", "howMany")
    counted = Program([], {"seen": 1}, operators=[count])
    asking = parse_rules("@relation howMany/1. [r: howMany(?n) -> (?n a 1)]")
    joined = join([counted, asking, counted])
    assert joined.operators == (count,)
    assert [rule.name for rule in joined.written] == ["r"]
