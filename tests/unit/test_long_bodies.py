"""Rules with very long bodies: planned in little time, or refused with their place."""

from __future__ import annotations

import time

import pytest

from ebbtide import Reasoner
from ebbtide.languages.jena import parse_rules
from ebbtide.languages.rspql import parse_continuous_query
from ebbtide.languages.sparql_rules import parse_sparql_rules
from ebbtide.program import ProgramError
from ebbtide.program.check import MOST_ATOMS, MOST_PARTS
from ebbtide.reasoner.lars import LarsReasoner

# Planning took n^4 steps: 400 atoms 40 seconds.
ATOMS = 400


def chain(n: int) -> tuple[str, str]:
    body = ", ".join(f"p{i}(X{i},X{i + 1}) in [5]" for i in range(n))
    return f"q(X0,X{n}) :- {body}.", " ".join(f"p{i}(x{i},x{i + 1})." for i in range(n))


def star(n: int) -> tuple[str, str]:
    body = ", ".join(f"p{i}(X,Y{i}) in [5]" for i in range(n))
    return f"q(X) :- {body}.", " ".join(f"p{i}(x,y{i})." for i in range(n))


def mixed(n: int) -> tuple[str, str]:
    """Every other atom is denied, and numbers grow from one to the next."""
    body = ", ".join(
        f"p{i}(X{i}) in [5], X{i + 1} = X{i} + 1, not n{i}(X{i + 1}) in [5]" for i in range(n // 2)
    )
    return f"q(X0) :- {body}.", " ".join(f"p{i}({i})." for i in range(n // 2))


@pytest.mark.parametrize("shape", [chain, star, mixed])
def test_hundreds_of_windowed_atoms_are_planned_in_no_time(shape: object) -> None:
    assert callable(shape)
    rule, atoms = shape(ATOMS)
    started = time.process_time()
    reasoner = LarsReasoner(rule)
    reasoner.push(atoms, at=1)
    answers = [len(answer.texts()) for answer in reasoner.advance(to=7)]
    assert time.process_time() - started < 10
    assert answers == [1, 1, 1, 1, 1, 1, 0]


EX = "@prefix ex: <http://example/>.\n"
SPARQL = "PREFIX ex: <http://example/>\n"


def patterns(n: int, join: str = " . ") -> str:
    return join.join(f"?x{i} ex:p{i} ?x{i + 1}" for i in range(n))


def sums(n: int) -> str:
    guards = ", ".join(f"sum(?v{i}, 1, ?v{i + 1})" for i in range(n))
    return f"{EX}[r: (?x ex:p ?v0), {guards} -> (?x ex:q ?v{n})]"


def test_a_rule_of_jena_is_as_long_as_the_kernel_can_take() -> None:
    reasoner = Reasoner(parse_rules(sums(MOST_PARTS - 1)))
    reasoner.add(("<http://example/a>", "<http://example/p>", 1))
    reasoner.advance(to=0)
    assert any(fact.terms[2].text.startswith('"2500"') for fact in reasoner.facts())
    place = "^my.rules:2:1: a body has at most"
    with pytest.raises(ProgramError, match=f"{place} 2,500 parts.*20,001;"):
        parse_rules(sums(20_000), "my.rules")
    body = ", ".join(f"({part})" for part in patterns(MOST_ATOMS + 1, "|").split("|"))
    with pytest.raises(ProgramError, match=f"{place} 1,000 atoms.*1,001;"):
        parse_rules(f"{EX}[r: {body} -> (?x0 ex:q ?x1)]", "my.rules")


@pytest.mark.parametrize(
    "body",
    [
        patterns(MOST_ATOMS + 1),
        f"?x0 {'/'.join(f'ex:p{i}' for i in range(MOST_ATOMS + 1))} ?x1",
        f"{{ {patterns(600)} }} {{ {patterns(1_200).split(' . ', 600)[-1]} }} UNION {{ }}",
    ],
    ids=["patterns", "path", "groups"],
)
def test_sparql_is_not_too_long_for_the_kernel(body: str) -> None:
    place = r"^my.file:2:1: a (group|body) has at most 1,000 (triple patterns|atoms).* 1,[0-9]+"
    with pytest.raises(ProgramError, match=place):
        parse_sparql_rules(f"{SPARQL}INSERT {{ ?x0 ex:q ?x1 }} WHERE {{ {body} }}", "my.file")


def test_a_long_filter_is_refused_in_no_time() -> None:
    body = f"?x ex:p ?v FILTER({' && '.join(f'?v != {i}' for i in range(4_900))})"
    started = time.process_time()
    with pytest.raises(ProgramError, match=r"^my.file:2:1: a body has at most 2,500 .* has 4,901;"):
        parse_sparql_rules(f"{SPARQL}INSERT {{ ?x ex:q ?v }} WHERE {{ {body} }}", "my.file")
    # Each condition was compared with all before it.
    assert time.process_time() - started < 5


def test_a_query_is_not_too_long_for_the_kernel() -> None:
    text = "SELECT ?x1 FROM STREAM ex:s [RANGE 1s STEP 1s] WHERE"
    long = f"{SPARQL}{text} {{ {patterns(MOST_ATOMS + 1)} }}"
    with pytest.raises(ProgramError, match=r"^q.rq:2:1: a group has at most 1,000 .* has 1,001$"):
        parse_continuous_query(long, "q.rq")
