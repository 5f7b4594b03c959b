"""Definition 5 itself, for ground programs: every interpretation stream is tried.

An interpretation is an answer stream if it is a minimal model of the rules whose body holds in it.
Programs without variables and with few rules only: the work doubles with every head.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from typing import TypeAlias

from ebbtide.engines.reference.lars import Conclusions, Stream, Structure, conclusions
from ebbtide.languages.lars.formula import LarsProgram, LarsRule
from ebbtide.program import Fact, Variable
from ebbtide.terms import to_python
from ebbtide.time import Instant

Pair: TypeAlias = tuple[Instant, Fact]


def answer_streams(program: LarsProgram, input: Stream) -> list[frozenset[Pair]]:
    """Every answer stream at the last time point, as the pairs that it has beyond the input."""
    heads = sorted(set(_heads(program.rules, input)), key=str)
    return [
        frozenset(pairs)
        for pairs in _subsets(heads)
        if _is_answer(program, input, frozenset(pairs))
    ]


def _heads(rules: Iterable[LarsRule], input: Stream) -> Iterator[Pair]:
    for rule in rules:
        assert not any(True for _ in rule.head.variables()), "ground programs only"
        fact = Fact(rule.head.relation, rule.head.arguments)  # type: ignore[arg-type]
        point = input.last
        if rule.at is not None:
            assert not isinstance(rule.at, Variable), "ground programs only"
            point = to_python(rule.at)
        if point in input.timeline and fact not in input.at(point):
            yield point, fact


def _is_answer(program: LarsProgram, input: Stream, pairs: frozenset[Pair]) -> bool:
    structure = _structure(program, input, pairs)
    reduct = [rule for rule in program.rules if _body_holds(rule, structure)]
    return _is_model(program, input, reduct, pairs) and not any(
        _is_model(program, input, reduct, frozenset(fewer))
        for fewer in _subsets(sorted(pairs, key=str))
        if len(fewer) < len(pairs)
    )


def _is_model(
    program: LarsProgram, input: Stream, rules: Iterable[LarsRule], pairs: frozenset[Pair]
) -> bool:
    structure = _structure(program, input, pairs)
    for rule in rules:
        for point, fact in conclusions(rule, structure):
            if point is None or fact not in structure.hold(structure.whole, point):
                return False
    return True


def _body_holds(rule: LarsRule, structure: Structure) -> bool:
    return any(True for _ in conclusions(rule, structure))


def _structure(program: LarsProgram, input: Stream, pairs: frozenset[Pair]) -> Structure:
    concluded: Conclusions = {}
    for point, fact in pairs:
        concluded.setdefault(point, set()).add(fact)
    return Structure(input, concluded, frozenset(program.background))


def _subsets(items: list[Pair]) -> Iterator[tuple[Pair, ...]]:
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))
