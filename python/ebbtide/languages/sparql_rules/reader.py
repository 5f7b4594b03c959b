"""From a text of SPARQL operations to a program.

In: INSERT, CONSTRUCT, ASK and INSERT DATA operations. Out: their rules and helper rules as one
checked program, and the facts that INSERT DATA states. The operations form a network: each one
holds all the time, over what is stated and what the others conclude, up to the fixpoint.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

from ebbtide.languages.files import read_text
from ebbtide.languages.sparql import Text
from ebbtide.languages.sparql_rules.branch import Branch, atoms
from ebbtide.languages.sparql_rules.helpers import Helpers
from ebbtide.languages.sparql_rules.operations import Operation, operations
from ebbtide.languages.sparql_rules.path import without_needless_nodes
from ebbtide.languages.sparql_rules.pattern import CannotLower, Lowering, Place
from ebbtide.languages.sparql_rules.template import Conclusion, Template
from ebbtide.program import (
    QUAD,
    TRIPLE,
    Argument,
    Atom,
    Fact,
    Program,
    Rule,
    Variable,
)
from ebbtide.program.reserved import INCONSISTENCY
from ebbtide.program.wording import did_you_mean
from ebbtide.terms import BlankNode, Term, parse_term


@dataclass(frozen=True)
class SparqlRules:
    """The rules of a text, and what its INSERT DATA operations state, as rules without a body."""

    program: Program
    axioms: tuple[Rule, ...]

    @property
    def seeds(self) -> tuple[Fact, ...]:
        """The facts of the axioms, which a reasoner may as well be told as background."""
        heads = (head for axiom in self.axioms for head in axiom.heads)
        return tuple(Fact(head.relation, tuple(map(_term, head.arguments))) for head in heads)

    def joined(self) -> Program:
        """The rules and the axioms."""
        return Program((*self.axioms, *self.program.rules), self.program.relations)


def parse_sparql_rules(text: str, source: str = "<sparql>") -> SparqlRules:
    """Read SPARQL operations as rules.

    >>> rules = parse_sparql_rules('''
    ...     PREFIX ex: <http://example/>
    ...     # name: transitive
    ...     INSERT { ?x ex:isIn ?z } WHERE { ?x ex:isIn ?y . ?y ex:isIn ?z } ;
    ...     INSERT DATA { ex:oslo ex:isIn ex:norway }
    ... ''')
    >>> [rule.name for rule in rules.program.rules]
    ['transitive']
    >>> print(*rules.seeds)
    triple(<http://example/oslo>, <http://example/isIn>, <http://example/norway>)
    >>> parse_sparql_rules("CONSTRUCT { ?x a ?n } WHERE { ?x a ?y BIND(NOW() AS ?n) }")
    Traceback (most recent call last):
    ebbtide.program.origin.ProgramError: <sparql>:1:44: NOW gives another value at every evaluation,
    so conclusions could not be kept
    """
    helpers = Helpers()
    rules: list[Rule] = []
    axioms: list[Rule] = []
    for operation in operations(Text.read(text, source)):
        if operation.algebra[0] == "insert_data":
            axioms.append(_axiom(operation))
        else:
            rules += _rules(operation, helpers)
    return SparqlRules(Program((*rules, *helpers.needed_by(rules))), tuple(axioms))


def load_sparql_rules(path: str | PathLike[str]) -> Program:
    """Read a file of SPARQL operations as rules; INSERT DATA is a rule without a body."""
    return parse_sparql_rules(read_text(path, "rules"), fspath(path)).joined()


def _axiom(operation: Operation) -> Rule:
    (_, quads) = operation.algebra
    digest = hashlib.sha256(operation.origin.text.encode()).hexdigest()[:12]
    blanks: dict[str, BlankNode] = {}

    def term(text: str) -> Term:
        # The parser's labels differ from run to run, and those of other files are other nodes.
        if text.startswith("_:"):
            return blanks.setdefault(text, BlankNode(f"data-{digest}-{len(blanks) + 1}"))
        return parse_term(text)

    heads = []
    for *triple, graph in quads:
        terms = tuple(term(text) for text in (*triple, graph) if text is not None)
        heads.append(Atom(TRIPLE if graph is None else QUAD, terms, operation.origin))
    return Rule(operation.name, tuple(dict.fromkeys(heads)), (), operation.origin)


def _rules(operation: Operation, helpers: Helpers) -> Iterator[Rule]:
    helpers.serve(operation.name, operation.origin)
    branches = _solutions(operation, helpers)
    found = [
        (branch, heads, guards)
        for branch in branches
        for heads, guards in _conclusions(operation, branch)
    ]
    _refuse_idle(operation, branches, is_idle=not found)
    for number, (branch, heads, guards) in enumerate(found, 1):
        name = operation.name if len(found) == 1 else f"{operation.name}.{number}"
        if operation.algebra[0] == "ask":
            heads = tuple(replace(head, relation=INCONSISTENCY + name) for head in heads)
        body = without_needless_nodes((*branch.body, *guards))
        yield Rule(name, heads, body, operation.origin)


def _refuse_idle(operation: Operation, branches: Sequence[Branch], is_idle: bool) -> None:
    """Refuse what SPARQL allows and nobody means: what can never conclude anything."""
    kind, _, pattern, *rest = operation.algebra
    if not branches:
        named = Counter(token.text for token in operation.tokens if token.kind == "variable")
        lone = [name for name, count in named.items() if count == 1]
        hint = f"; {lone[-1]} is nowhere else in it" if lone else ""
        operation.refuse([*lone[-1:], "WHERE", "{"], f"nothing ever matches this pattern{hint}")
    if kind == "ask":
        return
    bound = {f"?{name}" for branch in branches for name in branch.binding}
    for text in (text for triple in rest[0] for text in triple):
        is_variable = text is not None and text.startswith("?")
        if is_variable and text not in bound and (is_idle or not _mentions(pattern, text)):
            hint = did_you_mean(text, sorted(bound))
            operation.refuse([text], f"the pattern never binds {text}{hint}")
    if is_idle:
        operation.refuse(["INSERT", "CONSTRUCT"], "nothing of this template is ever a triple")


def _mentions(node: Any, text: str) -> bool:
    """Whether algebra has a text somewhere."""
    is_inner = isinstance(node, tuple | list)
    return any(_mentions(part, text) for part in node) if is_inner else node == text


def _solutions(operation: Operation, helpers: Helpers) -> list[Branch]:
    """The ways in which the operation's WHERE matches."""
    _, dataset, pattern, *_ = operation.algebra
    if operation.has_base and ("IRI" in operation.words or "URI" in operation.words):
        operation.refuse(["IRI", "URI"], "IRI() cannot be used under a BASE")
    graph = None
    if dataset is not None:
        default, named = dataset
        if len(default) > 1:
            operation.refuse(["FROM", "USING"], "a rule matches one graph as its default graph")
        if named is not None and "GRAPH" in operation.words:
            operation.refuse(["GRAPH"], "FROM and USING leave no named graph for GRAPH to read")
        graph = parse_term(default[0])
    # CONSTRUCT and ASK project to all variables, which is no scope of its own.
    inner = pattern if operation.algebra[0] == "insert" else pattern[1]
    try:
        found = Lowering(helpers).branches(inner, Place(graph=graph))
    except CannotLower as error:
        operation.refuse(error.words, error.reason)
    return [branch.without_blanks() for branch in found]


def _conclusions(operation: Operation, branch: Branch) -> Iterator[Conclusion]:
    kind, _, _, *rest = operation.algebra
    if kind == "ask":
        matched = (one for atom in atoms(branch.parts) for one in atom.variables())
        arguments: tuple[Argument, ...] = tuple(dict.fromkeys(matched))
        return iter([((Atom(INCONSISTENCY, arguments, operation.origin),), ())])
    quads = [(*triple, None)[:4] for triple in rest[0]]
    return Template(quads, operation.origin).conclusions(branch)


def _term(argument: Argument) -> Term:
    assert not isinstance(argument, Variable)
    return argument
