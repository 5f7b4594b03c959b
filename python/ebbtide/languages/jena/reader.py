"""From a parse tree to a `Program`: what each name in the text means.

In: the tree of `syntax.parse`. Out: a checked program whose rules and atoms carry the place and the
text they were written as. Relations are known in the whole text and in what it includes. A name
before parentheses is a builtin if there is one of that name, and else a relation, which in a body
must be reserved, declared by `@relation` or concluded by some rule: a misspelt builtin must not
become a relation that is always empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path

from lark import Token

from ebbtide.languages.files import read_text
from ebbtide.languages.jena.draft import Draft
from ebbtide.languages.jena.forms import FORMS, HEAD_FORMS, MATCHING, PREDICATE_PLACES, Call
from ebbtide.languages.jena.include import included_file
from ebbtide.languages.jena.syntax import Node, parse
from ebbtide.languages.jena.terms import Functor, Terms
from ebbtide.program import (
    RESERVED,
    TRIPLE,
    Argument,
    Origin,
    Program,
    ProgramError,
    Rule,
    Variable,
    builtin_names,
    find_builtin,
)
from ebbtide.program.join import join
from ebbtide.program.reserved import INCONSISTENCY
from ebbtide.program.user import UserBuiltin
from ebbtide.program.wording import did_you_mean


def parse_rules(text: str, source: str = "<rules>") -> Program:
    """Read Jena-style rules.

    >>> program = parse_rules('''
    ...     @prefix ex: <http://example/> .
    ...     [transitive: (?x ex:isIn ?y), (?y ex:isIn ?z) -> (?x ex:isIn ?z)]
    ... ''')
    >>> [rule.name for rule in program.rules]
    ['transitive']
    >>> parse_rules("[(?x ex:isIn ?y) -> (?y ex:holds ?x)]")
    Traceback (most recent call last):
    ebbtide.program.origin.ProgramError: <rules>:1:6: the prefix ex: is not declared
    """
    return _Reader(text, source, ()).program()


def load_rules(path: str | PathLike[str]) -> Program:
    """Read a file of Jena-style rules."""
    return _load(Path(path), ())


def _load(path: Path, including: tuple[Path, ...]) -> Program:
    """The program of a file that the last of some files includes."""
    text = read_text(path, "rules")
    return _Reader(text, fspath(path), (*including, path)).program()


class _Reader:
    def __init__(self, text: str, source: str, files: tuple[Path, ...]) -> None:
        self._source = source
        self._files = files
        self._tree = parse(text, source)
        self._terms = Terms(text, source)
        self._declared: dict[str, int] = {}
        self._included: list[Program] = []
        self._known = {TRIPLE, *RESERVED}
        self._concluded = {str(name) for name in self._head_names()}

    def program(self) -> Program:
        statements = _nodes(self._tree)
        for node in statements:
            if node.data == "relation":
                self._declare(node)
            elif node.data == "include":
                self._include(node)
        self._known |= {*self._declared, *self._concluded}
        self._known |= {name for program in self._included for name in program.relations}
        rules: list[Rule] = []
        number = 0
        for node in statements:
            if node.data == "prefix":
                self._terms.declare(*_tokens(node))
            elif node.data not in ("relation", "include"):
                number += 1
                rules += self._rules(node, number)
        program = Program(rules, self._declared)
        return join([program, *self._included]) if self._included else program

    def _head_names(self) -> Iterator[Token]:
        """The names of the relations that rules conclude, and of what else stands in heads."""
        for rule in _nodes(self._tree):
            if rule.data.endswith("rule"):
                for head in _nodes(_heads_and_body(rule)[0]):
                    if head.data == "call":
                        yield _tokens(head)[0]

    # ---- statements --------------------------------------------------------------------------

    def _declare(self, node: Node) -> None:
        name, arity = _tokens(node)
        if self._is_builtin(name) or name == "not":
            raise self._error(f"{name} is a builtin, so it cannot be a relation", name)
        if name in RESERVED:
            raise self._error(f"the relation {name} is reserved and needs no declaration", name)
        if name == TRIPLE and arity != "3":
            raise self._error(f"the relation {TRIPLE} has 3 arguments", name)
        if len(arity) > 3:
            raise self._error("a relation has at most 999 arguments", arity)
        if self._declared.setdefault(name, int(arity)) != int(arity):
            raise self._error(
                f"the relation {name} is declared with {self._declared[name]} arguments and "
                f"again with {arity}",
                name,
            )

    def _include(self, node: Node) -> None:
        (name,) = _tokens(node)
        path = included_file(self._terms.file(name), self._source, self._terms.place(name))
        open_files = [file.resolve() for file in self._files]
        if path.resolve() in open_files:
            chain = [*self._files[open_files.index(path.resolve()) :], path]
            around = " includes ".join(map(str, chain))
            raise self._error(f"files cannot include each other in a circle: {around}", name)
        self._included.append(_load(path, self._files))

    def _rules(self, node: Node, number: int) -> list[Rule]:
        heads, body = _heads_and_body(node)
        names = _tokens(node)
        name = names[0][:-1].rstrip() if names else f"rule{number}"
        draft = Draft(name, self._terms.origin(node), self._matched(body))
        # The body first: of two errors the one that stands first is told.
        for part in body.children:
            self._read_part(part, draft)
        booleans = _tokens(heads)
        if booleans:
            self._conclude_false(heads, booleans[0], is_named=bool(names), draft=draft)
        for head in _nodes(heads):
            self._read_head(head, draft)
        if not heads.children:
            raise ProgramError("the rule has no head, so it concludes nothing", draft.origin)
        return draft.rules()

    def _matched(self, body: Node) -> Iterator[Variable]:
        """The variables of what must match facts, as they occur."""
        for part in _nodes(body):
            name = "" if part.data == "triple" else str(part.children[0])
            if part.data == "negation" or (self._is_builtin(name) and name not in MATCHING):
                continue
            tokens = part.scan_values(lambda value: isinstance(value, Token))
            yield from (Variable(token[1:]) for token in tokens if token.type == "VARIABLE")

    # ---- heads -------------------------------------------------------------------------------

    def _conclude_false(self, heads: Node, false: Token, *, is_named: bool, draft: Draft) -> None:
        """Conclude an inconsistency: what the rule matched."""
        if false != "false":
            raise self._error("a head is a pattern, an atom or false", false)
        if len(heads.children) > 1:
            raise self._error("a rule that concludes false concludes nothing else", false)
        if not is_named:
            raise self._error(
                "a rule that concludes false needs a name, so that its inconsistencies can be told",
                false,
            )
        matched = (variable for atom in draft.positives() for variable in atom.variables())
        draft.conclude(INCONSISTENCY + draft.name, dict.fromkeys(matched), self._terms.place(false))

    def _read_head(self, node: Node, draft: Draft) -> None:
        if node.data == "negation":
            raise ProgramError("a head cannot be negated", self._terms.origin(node))
        if node.data == "call":
            name = _tokens(node)[0]
            if name in HEAD_FORMS:
                HEAD_FORMS[name](self._call(node, draft))
                return
            if name in RESERVED:
                raise self._error(f"{name} follows from the data, so no rule concludes it", name)
            if self._is_builtin(name):
                raise self._error(f"{name} is a builtin, so a head cannot conclude it", name)
        draft.conclude(*self._atom(node))

    # ---- bodies ------------------------------------------------------------------------------

    def _read_part(self, node: Node | Token, draft: Draft) -> None:
        if isinstance(node, Token):
            raise self._error(f"{node} cannot stand in a body", node)
        if node.data == "negation":
            self._read_negation(node, draft)
        elif node.data == "call" and self._is_builtin(name := str(node.children[0])):
            if name in FORMS:
                FORMS[name](self._call(node, draft))
            else:
                draft.ask(name, self._terms.arguments(node), self._terms.origin(node))
        else:
            relation, arguments, origin = self._atom(node)
            self._check_known(relation, len(arguments), origin)
            draft.match(relation, arguments, origin)

    def _read_negation(self, node: Node, draft: Draft) -> None:
        (inner,) = _nodes(node)
        if inner.data == "call" and self._is_builtin(name := _tokens(inner)[0]):
            raise self._error(f"{name} is a builtin, and `not` takes a pattern or an atom", name)
        relation, origin = _relation(inner), self._terms.origin(inner)
        arguments = self._terms.arguments(inner, PREDICATE_PLACES.get(relation))
        self._check_known(relation, len(arguments), origin)
        draft.block(relation, arguments, origin)

    # ---- names -------------------------------------------------------------------------------

    def _call(self, node: Node, draft: Draft) -> Call:
        name = str(node.children[0])
        if isinstance(find_builtin(name), UserBuiltin):
            raise self._error(
                f"{name} is a builtin of Jena; give the one in Python another name",
                _tokens(node)[0],
            )
        arguments = self._terms.arguments(node, PREDICATE_PLACES.get(name))
        return Call(name, arguments, draft, self._terms.origin(node))

    def _atom(self, node: Node) -> tuple[str, tuple[Argument | Functor, ...], Origin]:
        relation, origin = _relation(node), self._terms.origin(node)
        if node.data == "triple":
            return relation, self._terms.pattern(node), origin
        return relation, self._terms.arguments(node, PREDICATE_PLACES.get(relation)), origin

    def _is_builtin(self, name: str) -> bool:
        return name in FORMS or find_builtin(name) is not None

    def _check_known(self, relation: str, arity: int, origin: Origin) -> None:
        if relation in self._known:
            return
        hint = did_you_mean(relation, sorted({*builtin_names(), *FORMS, *self._known})) or (
            f"; a relation that no rule concludes is declared by @relation {relation}/{arity} ."
        )
        raise ProgramError(f"unknown builtin or relation {relation}{hint}", origin)

    def _error(self, message: str, token: Token) -> ProgramError:
        return self._terms.error(message, token)


def _heads_and_body(rule: Node) -> tuple[Node, Node]:
    first, second = _nodes(rule)
    return (first, second) if rule.data == "backward_rule" else (second, first)


def _relation(node: Node) -> str:
    return TRIPLE if node.data == "triple" else str(node.children[0])


def _nodes(node: Node) -> list[Node]:
    return [child for child in node.children if not isinstance(child, Token | None)]


def _tokens(node: Node) -> list[Token]:
    return [child for child in node.children if isinstance(child, Token)]
