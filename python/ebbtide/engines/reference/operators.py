"""What operators state, worked out from scratch: groups of the facts at hand, and the ticks before.

The past is every earlier tick with the facts that held at it, in order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from ebbtide.engines.reference.values import (
    Datum,
    Moment,
    Number,
    bounded,
    literal,
    order,
    truncated,
    value,
)
from ebbtide.program import Aggregate, Always, AlwaysAt, Fact, Operator
from ebbtide.terms import Term, to_term
from ebbtide.time import FOREVER, Instant

Past: TypeAlias = Sequence[tuple[Instant, Mapping[Fact, Instant]]]
Member: TypeAlias = tuple[Term | None, Instant]


def stated_by(
    operator: Operator, facts: Mapping[Fact, Instant], tick: Instant, past: Past
) -> Iterator[tuple[Fact, Instant]]:
    """What an operator states, given what holds at the tick and what held before."""
    match operator:
        case Aggregate():
            return aggregated(operator, facts)
        case Always():
            return _runs(operator, facts, tick, past)
        case AlwaysAt():
            return _covered(operator, facts, tick)


def aggregated(
    operator: Aggregate, facts: Mapping[Fact, Instant]
) -> Iterator[tuple[Fact, Instant]]:
    """The value of each group, until it is bound to change."""
    groups: defaultdict[tuple[Term, ...], list[Member]] = defaultdict(list)
    for fact, until in facts.items():
        if fact.relation == operator.input:
            key = tuple(fact.terms[column] for column in operator.group)
            counted = None if operator.value is None else fact.terms[operator.value]
            groups[key].append((counted, until))
    for key, members in groups.items():
        found = _result(operator.function, members)
        if found is not None:
            term, until = found
            yield Fact(operator.output, (*key, term)), until


def _result(function: str, members: list[Member]) -> tuple[Term, Instant] | None:
    first_end = min(until for _, until in members)
    if function == "count":
        return to_term(len(members)), first_end
    terms = [term for term, _ in members if term is not None]
    if function in ("min", "max"):
        extreme = _extreme(terms, greatest=function == "max")
        if extreme is None:
            return None
        return extreme, max(until for term, until in members if term == extreme)
    numbers = [_number(term) for term in terms]
    total = _sum([number for number in numbers if number is not None])
    if None in numbers or total is None:
        return None
    if function == "avg":
        total = _share(total, len(terms))
    return (literal(total), first_end) if total is not None else None


def _share(total: Number, count: int) -> Number | None:
    if isinstance(total, float):
        return total / count
    return bounded(truncated(Fraction(total, count)))


def _number(term: Term) -> Number | None:
    kind, datum = value(term) or ("", None)
    return datum if kind == "number" and not isinstance(datum, str | Moment) else None


def _sum(numbers: list[Number]) -> Number | None:
    """Exact among doubles and among the others; then the two are added as doubles."""
    doubles = [number for number in numbers if isinstance(number, float)]
    others = [number for number in numbers if not isinstance(number, float)]
    whole = all(isinstance(number, int) for number in others)
    rest = bounded(int(sum(others)) if whole else Fraction(sum(others)))
    if not doubles:
        return rest
    rest_fits = bounded(Fraction(sum(others)))
    if rest_fits is None:
        return None
    return _exact(doubles) + float(rest_fits) if others else _exact(doubles)


def _exact(doubles: list[float]) -> float:
    special = sum(number for number in doubles if number - number != 0)
    if special != 0:
        return special
    try:
        return float(sum(map(Fraction, doubles)))
    except OverflowError:
        return float("inf") if sum(map(Fraction, doubles)) > 0 else float("-inf")


def _extreme(terms: list[Term], *, greatest: bool) -> Term | None:
    """The least or greatest term, among equal ones by its text; None if they have no order."""
    data: list[tuple[Datum, Term]] = []
    kinds = set()
    for term in terms:
        found = value(term)
        if found is None or found[1] != found[1]:
            return None
        kinds.add((found[0], isinstance(found[1], Moment) and found[1].zoned))
        data.append((found[1], term))
    if len(kinds) != 1:
        return None
    best, chosen = data[0]
    for datum, term in data[1:]:
        ranked = order(datum, best) or _texts(term, chosen)
        if ranked and (ranked > 0) == greatest:
            best, chosen = datum, term
    return chosen


def _texts(left: Term, right: Term) -> int:
    return (left.text > right.text) - (left.text < right.text)


def _runs(
    operator: Always, facts: Mapping[Fact, Instant], tick: Instant, past: Past
) -> Iterator[tuple[Fact, Instant]]:
    """The input's facts that have held for long enough."""
    for fact in facts:
        if fact.relation == operator.input:
            since = tick
            for then, held in reversed(past):
                if fact not in held:
                    break
                since = then
            from_the_start = operator.start is not None and since <= operator.start
            if from_the_start or since + operator.span <= tick:
                yield Fact(operator.output, fact.terms), FOREVER


def _covered(
    operator: AlwaysAt, facts: Mapping[Fact, Instant], tick: Instant
) -> Iterator[tuple[Fact, Instant]]:
    """What the input has with every time point of the window."""
    points = [to_term(point) for point in operator.points(tick)]
    for terms in {fact.terms[1:] for fact in facts if fact.relation == operator.input}:
        if all(Fact(operator.input, (point, *terms)) in facts for point in points):
            yield Fact(operator.output, terms), FOREVER
