"""Property paths: unfolded to atoms, and closures as recursive helper relations.

    a / b         a join                           ^a            the other way round
    a | b         two branches                     !(a | ^b)     any predicate but these
    a+            path:1(x, y) :- a(x, y).         path:1(x, z) :- path:1(x, y), a(y, z).
    a*, a?        the same, or x = y for every x that is a node of the graph, as oxigraph has it

From or to a constant, only what it reaches is kept: path:1(y) :- a(c, y).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ebbtide.languages.sparql_rules.branch import Branch, atoms
from ebbtide.languages.sparql_rules.helpers import named
from ebbtide.program import QUAD, Argument, Atom, BodyPart, Guard, Variable
from ebbtide.terms import parse_term

if TYPE_CHECKING:
    from ebbtide.languages.sparql_rules.pattern import Lowering, Place

#: An IRI as its text, or an operator with its operands.
Path: TypeAlias = str | tuple[Any, ...]

_X, _Y, _Z = map(Variable, ("path:x", "path:y", "path:z"))


def path_branches(
    lowering: Lowering, place: Place, start: str, path: Path, end: str
) -> list[Branch]:
    """The ways in which a path leads from a subject to an object."""
    ends = {text: lowering.argument(text, place) for text in (start, end)}
    walks = _Walks(lowering, place).along(ends[start], path, ends[end])
    names = {name: _key(one) for text, one in ends.items() if (name := lowering.name(text))}
    return [
        replace(walk, binding={name: walk.binding[key] for name, key in names.items()})
        for walk in walks
    ]


def without_needless_nodes(parts: Iterable[BodyPart]) -> tuple[BodyPart, ...]:
    """The parts without atoms that only say what another one says too: that this is a node."""
    parts = tuple(parts)
    known: set[BodyPart] = set()
    for atom in atoms(parts):
        if atom.relation == QUAD or len(atom.arguments) == 3:
            subject, _, object_, *rest = atom.arguments
            graph = [one for one in rest if isinstance(one, Variable)]
            known |= {Atom(_node_relation(atom), (one, *graph)) for one in (subject, object_)}
    return tuple(part for part in parts if part not in known)


@dataclass(frozen=True)
class _Walks:
    """Paths at one place of a query. A branch binds each variable at an end under its `_key`."""

    lowering: Lowering
    place: Place

    def along(self, start: Argument, path: Path, end: Argument) -> list[Branch]:
        # Whether two walks between the same nodes are one solution or two: engines differ.
        self.lowering.counts &= isinstance(path, str) or path[0] in "^+"
        match path:
            case str():
                atom = self.lowering.atom(start, parse_term(path), end, self.place)
                return [_between((start, end), atom)]
            case ("^", inner):
                return self.along(end, inner, start)
            case ("/", *steps):
                return self._sequence(start, steps, end)
            case ("|", *paths):
                return [walk for each in paths for walk in self.along(start, each, end)]
            case ("!", *names):
                predicate = self.lowering.fresh("p")
                atom = self.lowering.atom(start, predicate, end, self.place)
                others = [Guard("notEqual", (predicate, parse_term(name))) for name in names]
                return [_between((start, end), atom, *others)]
            case ("?", inner):
                return [*self._stay(start, end), *self.along(start, inner, end)]
            case ("*", inner):
                return [*self._stay(start, end), self._closure(start, inner, end)]
            case ("+", inner):
                return [self._closure(start, inner, end)]
        raise AssertionError(f"no path: {path}")

    def _sequence(self, start: Argument, steps: list[Path], end: Argument) -> list[Branch]:
        walks = [_between([start])]
        for index, step in enumerate(steps):
            goal = end if index == len(steps) - 1 else self.lowering.fresh("via")
            walks = self.lowering.join(walks, self.along(start, step, goal))
            start = goal
        return walks

    def _stay(self, start: Argument, end: Argument) -> list[Branch]:
        """Both ends are the same node."""
        same = Branch((), {"end": start}).joined(Branch((), {"end": end}))
        if same is None:
            return []
        node = same.binding["end"]
        keys = {_key(one): node for one in (start, end) if isinstance(one, Variable)}
        return [Branch((self._atom(self._nodes(), node),), keys)]

    def _nodes(self) -> str:
        """The relation of the nodes of the graph."""
        triple = self.lowering.atom(_X, _Y, _Z, self.place)
        relation = _node_relation(triple)
        if self.lowering.helpers.is_new(relation):
            heads = [self._atom(relation, _X), self._atom(relation, _Z)]
            self.lowering.helpers.conclude_all(heads, [triple])
        return relation

    def _closure(self, start: Argument, inner: Path, end: Argument) -> Branch:
        """One or more steps of the inner path."""
        if not isinstance(start, Variable):
            relation = self._named(start, inner, "?")
            self._conclude(relation, (), self.along(start, inner, _Y), _Y)
            self._conclude(relation, (_Y,), self.along(_Y, inner, _Z), _Z)
            return _between((start, end), self._atom(relation, end))
        if not isinstance(end, Variable):
            relation = self._named("?", inner, end)
            self._conclude(relation, (), self.along(_Y, inner, end), _Y)
            self._conclude(relation, (_Y,), self.along(_Z, inner, _Y), _Z)
            return _between((start, end), self._atom(relation, start))
        relation = self._named("?", inner, "?")
        self._conclude(relation, (), self.along(_X, inner, _Y), _X, _Y)
        self._conclude(relation, (_X, _Y), self.along(_Y, inner, _Z), _X, _Z)
        return _between((start, end), self._atom(relation, start, end))

    def _named(self, start: Argument | str, inner: Path, end: Argument | str) -> str:
        graph = _graph_text(self.lowering.atom(_X, _Y, _Z, self.place))
        return named("path", f"{start} {inner} {end} in {graph}")

    def _conclude(
        self, relation: str, seen: Sequence[Variable], walks: Sequence[Branch], *ends: Variable
    ) -> None:
        """Rules for a closure: what was seen before, if anything, and one more walk."""
        if not self.lowering.helpers.is_new(f"{relation} {len(seen)}"):
            return
        before = _between(seen, self._atom(relation, *seen)) if seen else Branch()
        for walk in self.lowering.join([before], walks):
            heads = [walk.binding[_key(one)] for one in ends]
            self.lowering.helpers.conclude_all([self._atom(relation, *heads)], walk.body)

    def _atom(self, relation: str, *arguments: Argument) -> Atom:
        """An atom of a helper relation, with the graph if that varies."""
        graph = [self.place.graph] if isinstance(self.place.graph, Variable) else []
        return Atom(relation, (*arguments, *graph), self.lowering.helpers.origin)


def _between(ends: Iterable[Argument], *parts: BodyPart) -> Branch:
    return Branch(parts, {_key(one): one for one in ends if isinstance(one, Variable)})


def _key(argument: Argument) -> str:
    """The name under which a branch of a path binds a variable at one of its ends."""
    return f"path {argument}"


def _graph_text(atom: Atom) -> str:
    """What tells apart the graph whose triples the atom matches."""
    graph = ["any" if isinstance(one, Variable) else str(one) for one in atom.arguments[3:]]
    return " ".join((atom.relation, *graph))


def _node_relation(atom: Atom) -> str:
    return named("node", _graph_text(atom))
