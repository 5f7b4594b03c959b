"""One way in which a pattern can match: a conjunction, and what stands for each variable.

A pattern is lowered to branches, and a solution of the pattern is a solution of one of them. Within
a branch every variable is either bound in all solutions or in none, which is what makes filters,
MINUS and templates with unbound variables exact.

Invariant: each argument of `binding` is a term, or a variable that `parts` bind. A *computed*
variable is bound by a function alone; in a rule it must not be in an atom, where a function's
result would be compared by value and not by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ebbtide.program import Argument, Atom, BodyPart, Guard, Negation, Variable
from ebbtide.terms import IRI, Literal

#: What stands in the column of a variable that a solution does not bind.
UNBOUND: Final = IRI("urn:ebbtide:unbound")
FILTER: Final = "sparqlFilter"
BIND: Final = "sparqlBind"


@dataclass(frozen=True)
class Branch:
    """`parts` hold, and then each SPARQL variable of `binding` is what stands there.

    A condition may be among the parts twice; in the `body` of a rule it is once.
    `borrowed` are the variables of the patterns around this one that its filters use, although it
    does not bind them itself, and what stands for them there.
    """

    parts: tuple[BodyPart, ...] = ()
    binding: Mapping[str, Argument] = field(default_factory=dict)
    computed: frozenset[Variable] = frozenset()
    borrowed: Mapping[str, Argument] = field(default_factory=dict)

    def having(self, *parts: BodyPart) -> Branch:
        """The branch with more conditions."""
        return replace(self, parts=(*self.parts, *parts))

    @property
    def body(self) -> tuple[BodyPart, ...]:
        """The parts, each once."""
        return tuple(dict.fromkeys(self.parts))

    def binds(self, name: str, argument: Argument) -> Branch:
        """The branch with a variable that it did not bind."""
        return replace(self, binding={**self.binding, name: argument})

    def is_computed(self, name: str) -> bool:
        """Whether a function binds the variable."""
        return self.binding.get(name) in self.computed

    def variables(self) -> list[Variable]:
        """Every variable of its parts, in the order of their first occurrence."""
        found = (argument for part in self.parts for argument in _arguments(part))
        return list(dict.fromkeys(one for one in found if isinstance(one, Variable)))

    def showing(self, names: Iterable[str]) -> Branch:
        """The branch without the variables that are not among the names."""
        kept = {name: self.binding[name] for name in names if name in self.binding}
        return replace(self, binding=kept)

    def without_blanks(self) -> Branch:
        """The branch without the blank nodes of patterns, which solutions do not have."""
        return self.showing([name for name in self.binding if not name.startswith("_:")])

    def replacing(self, mapping: Mapping[Variable, Argument]) -> Branch:
        """The branch with arguments in place of variables."""

        def swap(argument: Argument) -> Argument:
            return mapping.get(argument, argument) if isinstance(argument, Variable) else argument

        return Branch(
            tuple(dict.fromkeys(_with_arguments(part, swap) for part in self.parts)),
            {name: swap(argument) for name, argument in self.binding.items()},
            frozenset(one for one in map(swap, self.computed) if isinstance(one, Variable)),
            {name: swap(argument) for name, argument in self.borrowed.items()},
        )

    def joined(self, other: Branch) -> Branch | None:
        """Both; None if they can never agree on a variable.

        Arguments that stand for the same variable become one; a computed one is compared.
        """
        computed = self.computed | other.computed
        same: dict[Variable, Argument] = {}
        tests: list[Guard] = []
        binding = {**other.binding, **self.binding}
        for name in sorted(self.binding.keys() & other.binding.keys()):
            left, right = _end(self.binding[name], same), _end(other.binding[name], same)
            if left == right:
                continue
            if left in computed or right in computed:
                tests.append(same_term(left, right))
                binding[name] = right if left in computed else left
            elif isinstance(right, Variable):
                same[right] = left
            elif isinstance(left, Variable):
                same[left] = right
            else:
                return None
        parts = tuple(dict.fromkeys((*self.parts, *other.parts, *tests)))
        borrowed = {**self.borrowed, **other.borrowed}
        ends = {variable: _end(variable, same) for variable in same}
        return Branch(parts, binding, computed, borrowed).replacing(ends)


def same_term(left: Argument, right: Argument) -> Guard:
    """The guard that two arguments are the same term, as rows that join are."""
    return Guard(FILTER, (Literal("sameTerm(?1, ?2)"), left, right))


def atoms(parts: Iterable[BodyPart]) -> list[Atom]:
    """The positive atoms."""
    return [part for part in parts if isinstance(part, Atom)]


def _end(argument: Argument, same: Mapping[Variable, Argument]) -> Argument:
    while isinstance(argument, Variable) and argument in same:
        argument = same[argument]
    return argument


def _arguments(part: BodyPart) -> tuple[Argument, ...]:
    return part.atom.arguments if isinstance(part, Negation) else part.arguments


def _with_arguments(part: BodyPart, swap: Callable[[Argument], Argument]) -> BodyPart:
    match part:
        case Negation(atom):
            return Negation(replace(atom, arguments=tuple(map(swap, atom.arguments))))
    return replace(part, arguments=tuple(map(swap, part.arguments)))
