"""What operators state, worked out from scratch: groups of the facts at hand, and the ticks before.

The past is every earlier tick with the facts that held at it, in order.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from ebbtide.engines.reference.values import (
    Moment,
    Number,
    Single,
    bounded,
    duration,
    exactly,
    literal,
    order,
    shortest,
    truncated,
    value,
)
from ebbtide.program import Aggregate, Always, AlwaysAt, Fact, Operator
from ebbtide.terms import IRI, BlankNode, Literal, Term, to_term
from ebbtide.terms.term import XSD
from ebbtide.time import FOREVER, Instant

Past: TypeAlias = Sequence[tuple[Instant, Mapping[Fact, Instant]]]
Member: TypeAlias = tuple[Term | None, Instant]

#: What stands for no term at all.
_UNBOUND: Final = IRI("urn:ebbtide:unbound")


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
    if function in ("min", "max", "first", "last"):
        extreme = _extreme(
            terms, greatest=function in ("max", "last"), total=function in ("first", "last")
        )
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
    if isinstance(total, Single):
        return Single.nearest(total / Single.nearest(count))
    if isinstance(total, float):
        return total / count
    return bounded(truncated(Fraction(total, count)))


def _number(term: Term) -> Number | None:
    kind, datum = value(term) or ("", None)
    if kind != "number" or isinstance(datum, str | Moment):
        return None
    if isinstance(datum, float) and isinstance(term, Literal) and term.datatype == XSD + "float":
        return Single.nearest(datum)
    return datum


def _sum(numbers: list[Number]) -> Number | None:
    """Exact among doubles and among the others; then the two are added as doubles.

    It is a float if there are floats, and no doubles.
    """
    doubles = [number for number in numbers if isinstance(number, float)]
    others = [number for number in numbers if not isinstance(number, float)]
    whole = all(isinstance(number, int) for number in others)
    rest = bounded(int(sum(others)) if whole else Fraction(sum(others)))
    if not doubles:
        return rest
    rest_fits = bounded(Fraction(sum(others)))
    if rest_fits is None:
        return None
    total = _exact(doubles) + float(rest_fits) if others else _exact(doubles)
    is_single = all(isinstance(number, Single) for number in doubles)
    return Single.nearest(total) if is_single else total


def _exact(doubles: list[float]) -> float:
    special = sum(number for number in doubles if number - number != 0)
    if special != 0:
        return special
    try:
        return float(sum(map(Fraction, doubles)))
    except OverflowError:
        return float("inf") if sum(map(Fraction, doubles)) > 0 else float("-inf")


def _extreme(terms: list[Term], *, greatest: bool, total: bool) -> Term | None:
    """The least or greatest term, among equal ones by its text; None if they have no order.

    In total, terms of one kind come before those of the next, and only what is left unbound has
    no place; else all must be values of one kind.
    """
    kinds = {_kind(term) if total else _comparable_kind(term) for term in terms}
    if not terms or "none" in kinds or (not total and len(kinds) > 1):
        return None
    best = terms[0]
    for term in terms[1:]:
        ranked = _ranks(term, best)
        if ranked and (ranked > 0) == greatest:
            best = term
    return best


#: The kinds of terms, in the order of terms.
_KINDS: Final = (
    *("blank", "iri", "number", "NaN", "string", "boolean", "dateTime", "date", "duration"),
    "other",
)


def _kind(term: Term) -> str:
    """The kind of a term; "none" if it stands for no term at all."""
    match term:
        case BlankNode():
            return "blank"
        case IRI():
            return "none" if term == _UNBOUND else "iri"
    found = value(term)
    if found is None and exactly(term) is not None:
        return "number"
    if found is None:
        return "other" if duration(term) is None else "duration"
    kind, datum = found
    return kind if datum == datum else "NaN"


def _comparable_kind(term: Term) -> str:
    """The kind of a term, if its values are compared; those with a zone are another kind."""
    found = value(term)
    if found is None or found[1] != found[1]:
        return "none"
    kind, datum = found
    return f"{kind} zoned" if isinstance(datum, Moment) and datum.zoned else kind


def _ranks(left: Term, right: Term) -> int:
    kinds = [_KINDS.index(_kind(each)) for each in (left, right)]
    return kinds[0] - kinds[1] or _by_value(left, right) or _texts(left, right)


def _by_value(left: Term, right: Term) -> int:
    """How two terms of one kind compare; an instant without a zone is taken for one of UTC."""
    if _kind(left) == "number":
        low, high = _decimal(left), _decimal(right)
        return (low > high) - (low < high)
    one, other = value(left), value(right)
    if one is None or other is None:
        lengths = duration(left), duration(right)
        one, other = (("duration", 0 if each is None else each) for each in lengths)
    data = [datum.seconds if isinstance(datum, Moment) else datum for _, datum in (one, other)]
    return order(*data) or 0


def _decimal(term: Term) -> Number:
    """A number exactly, and a double as the shortest decimal that reads back as it."""
    exact, (_, datum) = exactly(term), value(term) or ("", 0)
    if exact is not None or not isinstance(datum, float):
        return exact or 0
    return datum if math.isinf(datum) else Fraction(shortest(datum))


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
