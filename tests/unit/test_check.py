"""What makes rules a program: arity, names, builtins, bound variables."""

import pytest

from ebbtide.program import Atom, Guard, Negation, Origin, Program, ProgramError, Rule, Variable
from ebbtide.terms import to_term

X, Y, Z = Variable("x"), Variable("y"), Variable("z")


def at(line: int) -> Origin:
    return Origin("site.rules", line, 3)


def atom(relation, *arguments, line=1):
    return Atom(
        relation, tuple(a if isinstance(a, Variable) else to_term(a) for a in arguments), at(line)
    )


def guard(builtin, *arguments, line=1):
    found = atom(builtin, *arguments, line=line)
    return Guard(builtin, found.arguments, found.origin)


def rule(heads, *body):
    return Rule("r", tuple(heads), body, at(1))


def refused(*rules, **options) -> str:
    with pytest.raises(ProgramError) as caught:
        Program(rules, **options)
    return str(caught.value)


def test_relations_are_collected_with_their_arity():
    program = Program([rule([atom("q", X)], atom("p", X, Y), Negation(atom("n", X, Y, Z)))])
    assert program.relations == {"triple": 3, "q": 1, "p": 2, "n": 3}


def test_a_declared_relation_that_no_rule_mentions_is_kept():
    assert Program([], {"p": 2}).relations == {"triple": 3, "p": 2}


def test_arity_clash_names_both_places():
    first = rule([atom("q", X)], atom("p", X, line=4))
    second = rule([atom("r", X)], atom("p", X, X, line=9))
    assert refused(first, second) == (
        "site.rules:9:3: the relation p has 2 arguments here and 1 at site.rules:4:3"
    )


def test_arity_clash_with_a_declaration():
    message = refused(rule([atom("q", X)], atom("p", X)), relations={"p": 2})
    assert message == "site.rules:1:3: the relation p has 1 argument here and 2 in its declaration"


def test_triple_has_three_arguments():
    assert "triple has 3 arguments" in refused(relations={"triple": 2})
    assert "triple has 2 arguments here" in refused(rule([atom("triple", X, X)], atom("p", X)))


def test_a_closed_program_refuses_undeclared_relations():
    message = refused(
        rule([atom("isIn", X, X)], atom("isln", X, X, line=2)), relations={"isIn": 2}, closed=True
    )
    assert message == "site.rules:2:3: the relation isln is not declared; did you mean isIn?"


def test_unknown_builtin_with_a_hint():
    message = refused(rule([atom("q", X)], atom("p", X), guard("lesThan", X, 3, line=5)))
    assert message == "site.rules:5:3: unknown builtin lesThan; did you mean lessThan?"


def test_wrong_number_of_arguments_of_a_builtin():
    message = refused(rule([atom("q", X)], atom("p", X), guard("isLiteral", X, X, line=5)))
    assert message == "site.rules:5:3: isLiteral takes 1 argument, not 2"


def test_a_rule_needs_a_head():
    assert refused(rule([], atom("p", X))).startswith("site.rules:1:3: the rule has no head")


def test_a_rule_needs_no_body():
    assert Program([rule([atom("p", 1)])]).strata == (0,)


@pytest.mark.parametrize(
    "body",
    [
        [],
        [Negation(atom("p", X))],
        [atom("p", Y)],
        [atom("p", Y), guard("lessThan", Y, 3)],
    ],
)
def test_a_head_variable_must_be_bound(body):
    assert refused(rule([atom("q", X, line=7)], *body)).startswith(
        "site.rules:7:3: ?x is in the head"
    )


def test_functions_bind_and_chain_in_any_order():
    late = [guard("sum", Y, 1, Z), guard("product", X, 2, Y)]
    assert Program([rule([atom("q", Z)], *late, atom("p", X))])
    assert Program([rule([atom("q", Z)], atom("p", X), *reversed(late))])


def test_functions_in_a_circle_bind_nothing():
    circle = [guard("sum", Y, 1, Z, line=2), guard("sum", Z, 1, Y, line=3)]
    assert refused(rule([atom("q", X)], atom("p", X), *circle)) == (
        "site.rules:2:3: ?y is an input of sum, but no positive atom and no function with known "
        "inputs binds it"
    )


def test_a_test_binds_nothing():
    message = refused(rule([atom("q", X)], atom("p", X), guard("equal", X, Y, line=2)))
    assert message.startswith("site.rules:2:3: ?y is an input of equal")


def test_a_local_variable_of_a_negation_is_fine():
    assert Program([rule([atom("q", X)], atom("p", X), Negation(atom("n", X, Y, Y)))])


def test_a_negated_variable_that_a_function_binds_is_refused():
    message = refused(
        rule([atom("q", X)], atom("p", X), guard("sum", X, 1, Y), Negation(atom("n", Y, line=4)))
    )
    assert message.startswith("site.rules:4:3: ?y is in a negation and elsewhere in the rule")
