"""A rule on its way from its text to the IR.

What Jena writes in one call may be several parts of the IR: further guards, atoms, heads, even a
second rule. A draft collects them. The variables it makes have names that a text cannot contain.

A functor in a body is taken apart, and in a head it is made, both by functions:

    (?c rdfs:subClassOf all(?p, ?d)) -> ...    (?c rdfs:subClassOf ?*1),
                                               functorArgument(?*1, "all/2", 0, ?p), ... 1, ?d)
    ... -> (?c rdfs:subClassOf all(?p, ?d))    functor("all", ?p, ?d, ?*1) -> (... ?*1)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from ebbtide.languages.jena.terms import Functor
from ebbtide.program import (
    Argument,
    Atom,
    BodyPart,
    Guard,
    Negation,
    Origin,
    ProgramError,
    Rule,
    Variable,
)
from ebbtide.program.reserved import LIST
from ebbtide.terms import Literal, to_term


class Draft:
    """The parts of a rule, as far as they were read.

    `reason` tells one application of the rule from any other: the rule, and what its positive atoms
    matched.
    """

    def __init__(self, name: str, origin: Origin, matched: Iterable[Variable]) -> None:
        self.name = name
        self.origin = origin
        self.heads: list[Atom] = []
        self._body: list[BodyPart] = []
        self._unbound: list[tuple[Variable, Origin]] = []
        self._mapped: list[tuple[Atom, Atom]] = []
        self._made = 0
        # Rules of several files may have the same name, but then they are different texts.
        digest = hashlib.sha256(origin.text.encode()).hexdigest()[:8]
        self.reason: tuple[Argument, ...] = (Literal(f"{name}#{digest}"), *dict.fromkeys(matched))

    def rules(self) -> list[Rule]:
        """The rules that the draft has become."""
        for variable, origin in self._unbound:
            if any(variable in _binds(part) for part in self._body):
                raise ProgramError(
                    f"the body binds {variable}, so unbound never holds and the rule concludes "
                    "nothing",
                    origin,
                )
        body = tuple(self._body)
        rules = [Rule(self.name, tuple(self.heads), body, self.origin)] if self.heads else []
        for number, (item, head) in enumerate(self._mapped):
            name = f"{self.name}.items{number + 1}"
            rules.append(Rule(name, (head,), (*body, item), self.origin))
        return rules

    def ask(self, builtin: str, arguments: Iterable[Argument], origin: Origin) -> None:
        """The body asks a builtin of the IR."""
        self._body.append(Guard(builtin, tuple(arguments), origin))

    def match(self, relation: str, arguments: Iterable[Argument | Functor], origin: Origin) -> None:
        """The body matches an atom; functors in it are taken apart."""
        taken: list[tuple[Functor, Variable]] = []
        plain: list[Argument] = []
        for argument in arguments:
            if isinstance(argument, Functor):
                taken.append((argument, self.fresh()))
                plain.append(taken[-1][1])
            else:
                plain.append(argument)
        self._body.append(Atom(relation, tuple(plain), origin))
        for functor, variable in taken:
            kind = Literal(f"{functor.name}/{len(functor.arguments)}")
            for position, argument in enumerate(functor.arguments):
                place = (variable, kind, to_term(position), argument)
                self.ask("functorArgument", place, functor.origin)
            if not functor.arguments:
                self.ask("functor", (Literal(functor.name), variable), functor.origin)

    def block(self, relation: str, arguments: Iterable[Argument], origin: Origin) -> None:
        """The body negates an atom."""
        self._body.append(Negation(Atom(relation, tuple(arguments), origin)))

    def expect_unbound(self, variable: Variable, origin: Origin) -> None:
        """Nothing in the body may bind a variable."""
        self._unbound.append((variable, origin))

    def conclude(
        self, relation: str, arguments: Iterable[Argument | Functor], origin: Origin
    ) -> None:
        """The rule concludes an atom; functors in it are made by the body."""
        plain = [self._make(a) if isinstance(a, Functor) else a for a in arguments]
        self.heads.append(Atom(relation, tuple(plain), origin))

    def conclude_for_items(self, list_: Argument, item: Variable, head: Atom) -> None:
        """The rule concludes an atom for each item of a list."""
        self._mapped.append((Atom(LIST, (list_, self.fresh(), item), head.origin), head))

    def positives(self) -> list[Atom]:
        """The atoms that the body matches."""
        return [part for part in self._body if isinstance(part, Atom)]

    def fresh(self) -> Variable:
        """A variable that no text contains."""
        self._made += 1
        return Variable(f"*{self._made}")

    def _make(self, functor: Functor) -> Variable:
        made = self.fresh()
        self.ask("functor", (Literal(functor.name), *functor.arguments, made), functor.origin)
        return made


def _binds(part: BodyPart) -> tuple[Variable, ...]:
    match part:
        case Atom():
            return tuple(part.variables())
        case Guard(result=Variable() as result):
            return (result,)
    return ()
