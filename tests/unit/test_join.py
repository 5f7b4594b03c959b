"""Joining programs: which rules are the same, and what becomes of names and relations."""

from __future__ import annotations

import pytest

from ebbtide.languages.jena import parse_rules
from ebbtide.program import ProgramError
from ebbtide.program.join import join, same_rule


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
