"""A text of SPARQL operations, cut into operations.

    PREFIX ex: <http://example/>
    # name: warm
    INSERT { ?r a ex:Warm } WHERE { ?r ex:celsius ?c FILTER(?c > 25) } ;
    CONSTRUCT { ?y ex:holds ?x } WHERE { ?x ex:isIn ?y }

Operations end at a semicolon or where the next one begins. PREFIX and BASE hold from where they
stand. A comment `# name: ...` names the operation after it; others are called rule1, rule2, ... by
their place (data1, data2, ... if they are INSERT DATA). What rules cannot do is refused here, at
its word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from ebbtide.languages.sparql import Algebra, Declarations, Text, Token, parse_query, parse_update
from ebbtide.languages.sparql_rules.refuse import OPERATIONS, REASONS
from ebbtide.program import Origin

_NAME: Final = re.compile(r"#+ *name: *(\S(?:.*\S)?) *")


@dataclass(frozen=True)
class Operation:
    """One operation: its name, its algebra, and where its words stand."""

    name: str
    algebra: Algebra
    text: Text
    tokens: Sequence[Token]
    prefixes: Mapping[str, str]
    has_base: bool

    @property
    def origin(self) -> Origin:
        """Its place, with its text."""
        return self.text.origin(self.tokens[0], self.tokens[-1])

    @property
    def words(self) -> frozenset[str]:
        """The keywords that it has, in capitals."""
        return frozenset(token.keyword for token in self.tokens)

    def refuse(self, words: Sequence[str], reason: str) -> NoReturn:
        """Refuse it for a reason, at the first of these words or IRIs that it has."""
        found = {self._meaning(token): token for token in reversed(self.tokens)}
        place = next((found[word] for word in words if word in found), self.tokens[0])
        raise self.text.error(reason, place)

    def _meaning(self, token: Token) -> str:
        if token.kind != "name":
            return token.keyword or token.text
        prefix, _, local = token.text.partition(":")
        return f"<{self.prefixes[prefix]}{local}>"


def operations(text: Text) -> Iterator[Operation]:
    """The operations of a text, in order."""
    declarations = Declarations()
    position = 0
    counts: Counter[str] = Counter()
    name = ""
    while position < len(text.tokens):
        token = text.tokens[position]
        if token.kind == "comment":
            named = _NAME.fullmatch(token.text)
            name = named[1] if named else name
            position += 1
        elif token.text == ";":
            position += 1
        elif token.keyword in ("PREFIX", "BASE"):
            position = declarations.take(text, position)
        else:
            end = _end(text, position)
            while text.tokens[end - 1].kind == "comment":
                end -= 1
            tokens = [one for one in text.tokens[position:end] if one.kind != "comment"]
            algebra = _algebra(text, tokens, declarations)
            kind = "data" if algebra[0] == "insert_data" else "rule"
            counts[kind] += 1
            prefixes, has_base = dict(declarations.prefixes), declarations.has_base
            yield Operation(
                name or f"{kind}{counts[kind]}", algebra, text, tokens, prefixes, has_base
            )
            position, name = end, ""


def _end(text: Text, position: int) -> int:
    """The position after an operation that begins here."""
    first = text.tokens[position]
    if first.keyword not in OPERATIONS:
        raise text.error(
            f"expected INSERT, CONSTRUCT, ASK, PREFIX or BASE, but found {first.text[:40]!r}", first
        )
    depth = 0
    before = ""
    for index in range(position, len(text.tokens)):
        token = text.tokens[index]
        if token.kind == "mark":
            depth += (token.text == "{") - (token.text == "}")
        if depth == 0 and token.text == ";":
            return index
        # After WITH <graph> and after DELETE { } the same operation goes on with INSERT.
        begins = token.keyword in OPERATIONS or token.keyword in ("PREFIX", "BASE")
        if depth == 0 and index > position and begins and before not in ("WITH", "DELETE"):
            return index
        before = token.keyword if token.keyword in OPERATIONS else before
    return len(text.tokens)


def _algebra(text: Text, tokens: Sequence[Token], declarations: Declarations) -> Algebra:
    is_data = [token.keyword for token in tokens[:2]] == ["INSERT", "DATA"]
    for token in tokens:
        # A SELECT further on is a subquery, whose rows are joined.
        if token.keyword in REASONS and (token.keyword != "SELECT" or token is tokens[0]):
            raise text.error(f"{token.keyword} {REASONS[token.keyword]}", token)
        if is_data and token.kind == "variable":
            raise text.error("INSERT DATA states facts, so it has no variables", token)
    if tokens[0].keyword in ("CONSTRUCT", "ASK"):
        return parse_query(text, tokens, declarations)
    (operation,) = parse_update(text, tokens, declarations)
    return operation
