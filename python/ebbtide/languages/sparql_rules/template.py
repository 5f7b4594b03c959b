"""Templates to heads: what a branch concludes.

A triple with a variable that the branch leaves unbound is not concluded, and neither is one with a
literal as subject or without an IRI as predicate or graph; where the body does not already say so,
a guard asks. A blank node is one node for each solution: `skolem` of the template's blank node and
of all that the solution binds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.languages.sparql_rules.branch import Branch, atoms
from ebbtide.program import QUAD, TRIPLE, Argument, Atom, BodyPart, Guard, Origin, Variable
from ebbtide.terms import IRI, Literal, parse_term

#: Subject, predicate, object, and the graph unless it is the default graph.
Quad: TypeAlias = tuple[str, str, str, str | None]
#: What is concluded under the same conditions, and what these add to the body.
Conclusion: TypeAlias = tuple[tuple[Atom, ...], tuple[BodyPart, ...]]


@dataclass(frozen=True)
class Template:
    """The triples that an operation concludes for each solution."""

    quads: Sequence[Quad]
    origin: Origin

    def conclusions(self, branch: Branch) -> Iterator[Conclusion]:
        """The heads for a branch, those with the same guards together."""
        alike: dict[tuple[BodyPart, ...], list[Atom]] = {}
        for quad in self.quads:
            arguments = [self._argument(text, branch) for text in quad if text is not None]
            known = [one for one in arguments if one is not None]
            guards = _guards(known, branch) if len(known) == len(arguments) else None
            if guards is not None:
                invented = self._inventions(quad, branch)
                relation = TRIPLE if len(known) == 3 else QUAD
                head = Atom(relation, tuple(known), self.origin)
                alike.setdefault((*invented, *guards), []).append(head)
        return ((tuple(dict.fromkeys(heads)), guards) for guards, heads in alike.items())

    def _argument(self, text: str, branch: Branch) -> Argument | None:
        if text.startswith("?"):
            return branch.binding.get(text[1:])
        return self._invented(text) if text.startswith("_:") else parse_term(text)

    def _inventions(self, quad: Quad, branch: Branch) -> list[BodyPart]:
        blanks = dict.fromkeys(text for text in quad if text and text.startswith("_:"))
        digest = hashlib.sha256(self.origin.text.encode()).hexdigest()[:12]
        names = sorted(branch.binding)
        made: list[BodyPart] = []
        for text in blanks:
            reason = Literal(f"{digest} {self._number(text)} {' '.join(names)}")
            solution = [branch.binding[name] for name in names]
            made.append(Guard("skolem", (reason, *solution, self._invented(text)), self.origin))
        return made

    def _invented(self, text: str) -> Variable:
        return Variable(f"new:{self._number(text)}")

    def _number(self, text: str) -> int:
        """Which of the template's blank nodes it is: the parser's labels differ from run to run."""
        every = dict.fromkeys(one for quad in self.quads for one in quad if one)
        return [one for one in every if one.startswith("_:")].index(text) + 1


def _guards(arguments: Sequence[Argument], branch: Branch) -> tuple[BodyPart, ...] | None:
    """What must be asked so that these are a triple; None if they never are."""
    subject, predicate, _, *graph = arguments
    if isinstance(subject, Literal) or not all(
        isinstance(one, Variable | IRI) for one in (predicate, *graph)
    ):
        return None
    matched = [atom.arguments for atom in atoms(branch.parts) if atom.relation in (TRIPLE, QUAD)]
    names = {one for arguments in matched for one in (arguments[1], *arguments[3:])}
    resources = names | {arguments[0] for arguments in matched}
    guards: list[BodyPart] = []
    if isinstance(subject, Variable) and subject not in resources and not _is_new(subject):
        guards.append(Guard("notLiteral", (subject,)))
    for one in (predicate, *graph):
        if isinstance(one, Variable) and one not in names:
            guards.append(Guard("isURI", (one,)))
    return tuple(dict.fromkeys(guards))


def _is_new(variable: Variable) -> bool:
    return variable.name.startswith("new:")
