"""What rules print: a line for each match that begins to hold, when its tick is evaluated.

`print` in a rule is lowered to a relation of its own, so that every engine prints the same lines
once each, however often it evaluates a rule. Lines of one tick come in the order of their texts.
"""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.program import Atom, Fact, Program, Variable
from ebbtide.program.reserved import PRINT
from ebbtide.terms import Literal, Term


def print_atoms(program: Program) -> list[Atom]:
    """The patterns of all that the rules of a program print.

    >>> from ebbtide.languages.jena import parse_rules
    >>> [*map(str, print_atoms(parse_rules("[r: (?x a ?y), print('a' ?x) -> (?y a ?x)]")))]
    ['print:r/2(?0, ?1)']
    """
    return [
        Atom(name, tuple(Variable(str(place)) for place in range(arity)))
        for name, arity in program.relations.items()
        if name.startswith(PRINT)
    ]


def printed(began: Iterable[Fact]) -> list[str]:
    """The lines of what begins to hold: literals by their lexical forms, others as N-Triples.

    >>> printed([Fact.of("print:r/2", "warm:", "<http://e/a>"), Fact.of("warm", "<http://e/a>")])
    ['warm: <http://e/a>']
    """
    facts = (fact for fact in began if fact.relation.startswith(PRINT))
    return sorted(" ".join(map(_shown, fact.terms)) for fact in facts)


def _shown(term: Term) -> str:
    return term.lexical if isinstance(term, Literal) else term.text
