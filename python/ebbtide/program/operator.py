"""Operators: what a relation holds because of another one, beyond rules.

An operator reads one relation, its input, and states facts of another, its output. No rule and
nobody else may conclude or state the output. Invariant: an operator reads a relation that is
finished, so its output stands in a higher stratum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ebbtide.program.atom import Atom, Negation, Variable
from ebbtide.program.origin import IN_PYTHON, Origin, ProgramError
from ebbtide.program.rule import Rule

FUNCTIONS: Final = ("count", "sum", "min", "max", "avg")
#: The first and the last of terms of any kind, as SPARQL's MIN and MAX.
ORDERS: Final = ("first", "last")


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`output(group..., function of value)` for each group of the input's facts.

    `group` and `value` are columns of the input; `count` needs no value. A count, a sum or an
    average holds until the first member of its group ends, a least or greatest value until the last
    of the members that have it. `first` and `last` are about terms of any kind: blank nodes, IRIs,
    literals. A group with a value that has no meaning for the function yields nothing. Sums of
    doubles are exact before they are rounded, so order does not matter.
    """

    function: str
    input: str
    output: str
    group: tuple[int, ...] = ()
    value: int | None = None
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)

    def __str__(self) -> str:
        of = f" of {self.value}" if self.value is not None else ""
        by = f" by {', '.join(map(str, self.group))}" if self.group else ""
        return f"{self.output} = {self.function}({self.input}{of}{by})"


@dataclass(frozen=True, slots=True)
class Always:
    """The output holds if the input held at every tick from `span` before up to this one.

    Time begins at `start`: there are no ticks before it. The output has until `FOREVER`: it holds
    while the run is unbroken.
    """

    input: str
    output: str
    span: int
    start: int | None = None
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)

    def __str__(self) -> str:
        since = f" since {self.start}" if self.start is not None else ""
        return f"{self.output} = always({self.input} for {self.span}{since})"


@dataclass(frozen=True, slots=True)
class AlwaysAt:
    """The output holds if the input has every time point of a window.

    The first column of the input is a time point of the window; the output has the others. The
    window is the last `width` time points, `step` apart, from `start` on; with `pane` it is those
    of the pane that the tick is in, panes being `width` wide and one beginning at `pane`. The
    output has until `FOREVER`: it holds while no time point is missing.
    """

    input: str
    output: str
    width: int
    step: int
    start: int
    pane: int | None = None
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)

    def points(self, tick: int) -> range:
        """The time points of the window at a tick.

        >>> list(AlwaysAt("p", "q", width=3, step=1, start=0).points(1))
        [0, 1]
        """
        first = tick - (self.width - 1) * self.step
        if self.pane is not None:
            first = tick - (tick - self.pane) % (self.width * self.step)
        return range(max(first, self.start), tick + 1, self.step)

    def __str__(self) -> str:
        panes = f" in panes from {self.pane}" if self.pane is not None else ""
        return (
            f"{self.output} = always({self.input} at {self.width} points, {self.step} apart, since "
            f"{self.start}{panes})"
        )


Operator: TypeAlias = Aggregate | Always | AlwaysAt


def output_arity(operator: Operator, relations: Mapping[str, int]) -> int:
    """How many arguments the output has."""
    if isinstance(operator, Aggregate):
        return len(operator.group) + 1
    return relations[operator.input] - isinstance(operator, AlwaysAt)


def check_operators(
    operators: Iterable[Operator], rules: Iterable[Rule], relations: Mapping[str, int]
) -> None:
    """Refuse unknown inputs and functions, columns out of range, and outputs of several makers.

    An operator may read what one before it makes.
    """
    relations = dict(relations)
    makers: dict[str, str] = {head.relation: rule.name for rule in rules for head in rule.heads}
    for operator in operators:
        arity = relations.get(operator.input)
        if arity is None:
            raise ProgramError(f"the relation {operator.input} is not known", operator.origin)
        maker = makers.get(operator.output)
        if maker is not None:
            raise ProgramError(
                f"{operator.output} is made by {operator}, so {maker} cannot make it too",
                operator.origin,
            )
        makers[operator.output] = str(operator)
        if isinstance(operator, Aggregate):
            _check_aggregate(operator, arity)
        elif isinstance(operator, AlwaysAt):
            if arity < 1:
                raise ProgramError(f"{operator.input} has no time point", operator.origin)
        elif operator.span < 0:
            raise ProgramError(f"a span cannot be negative: {operator.span}", operator.origin)
        relations.setdefault(operator.output, output_arity(operator, relations))


def _check_aggregate(operator: Aggregate, arity: int) -> None:
    if operator.function not in (*FUNCTIONS, *ORDERS):
        known = ", ".join((*FUNCTIONS, *ORDERS))
        raise ProgramError(
            f"unknown aggregate function {operator.function}; there are {known}", operator.origin
        )
    if operator.value is None and operator.function != "count":
        raise ProgramError(f"{operator.function} needs a value", operator.origin)
    value = () if operator.value is None else (operator.value,)
    if any(not 0 <= column < arity for column in (*operator.group, *value)):
        raise ProgramError(f"{operator.input} has {arity} columns", operator.origin)


def as_dependency(operator: Operator, relations: Mapping[str, int]) -> Rule:
    """A rule that depends on what the operator reads, and as strictly: as if by `not`."""
    head = Atom(operator.output, _variables(output_arity(operator, relations)), operator.origin)
    body = Atom(operator.input, _variables(relations[operator.input]), operator.origin)
    return Rule(str(operator), (head,), (Negation(body),), operator.origin)


def _variables(count: int) -> tuple[Variable, ...]:
    return tuple(Variable(f"c{column}") for column in range(count))
