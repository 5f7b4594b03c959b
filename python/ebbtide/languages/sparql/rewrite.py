"""What SPARQL allows and the kernel's parser refuses, written otherwise.

    CONSTRUCT { T } WHERE { P } GROUP BY ?x HAVING (c)      likewise ASK and DESCRIBE
        CONSTRUCT { T } WHERE { { SELECT ?x WHERE { P } GROUP BY ?x HAVING (c) } }

    SELECT (COUNT(?x) AS ?n) (?n > 3 AS ?many)
        SELECT (COUNT(?x) AS ?n) ((COUNT(?x)) > 3 AS ?many)

In: the tokens of a query after its prologue. Out: the query's text with these written otherwise. It
is tried when the text as it stands is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from ebbtide.languages.sparql.tokens import Text, Token

#: From where to where, and what stands there instead.
_Change: TypeAlias = tuple[int, int, str]

_BEHIND: Final = frozenset(["GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"])
_DEPTHS: Final = {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}


def rewritten(text: Text, tokens: Sequence[Token]) -> str:
    """The whole text, with the query that the tokens are written otherwise where that is needed.

    >>> text = Text.read("SELECT (COUNT(*) AS ?n) (?n > 3 AS ?many) { ?x ?p ?y }", "q.rq")
    >>> rewritten(text, text.tokens)
    'SELECT (COUNT(*) AS ?n) ((COUNT(*)) > 3 AS ?many) { ?x ?p ?y }'
    """
    changes = _aliases(text, tokens) + _grouping(tokens)
    result = text.text
    for start, end, other in sorted(changes, reverse=True):
        result = result[:start] + other + result[end:]
    return result


def _aliases(text: Text, tokens: Sequence[Token]) -> list[_Change]:
    """What stands for the aliases of each SELECT in later expressions of it."""
    changes: list[_Change] = []
    known: dict[str, str] = {}
    depth = inside = 0
    is_selecting = False
    expression: list[Token] = []
    for token, before in zip(tokens, (None, *tokens), strict=False):
        if token.keyword == "SELECT":
            known, inside, is_selecting = {}, depth, True
        elif token.keyword in ("WHERE", "FROM") or token.text == "{":
            is_selecting = False
        depth += _DEPTHS.get(token.text, 0) if token.kind == "mark" else 0
        if not is_selecting:
            continue
        if before is not None and before.keyword == "AS" and depth == inside + 1:
            known[token.text] = _replaced(text, expression[1:-1], known)
        elif token.kind == "variable" and token.text in known and depth > inside:
            changes.append((token.start, token.end, f"({known[token.text]})"))
        expression = [*expression, token] if depth > inside else []
    return changes


def _replaced(text: Text, expression: Sequence[Token], known: Mapping[str, str]) -> str:
    """The text of an expression, with expressions in place of aliases."""
    start = expression[0].start if expression else 0
    found = text.text[start : expression[-1].end] if expression else ""
    for token in reversed(expression):
        if token.kind == "variable" and token.text in known:
            at = token.start - start
            found = f"{found[:at]}({known[token.text]}){found[at + len(token.text) :]}"
    return found


def _grouping(tokens: Sequence[Token]) -> list[_Change]:
    """A subquery around the pattern and the grouping of a query that is no SELECT."""
    if tokens[0].keyword not in ("CONSTRUCT", "ASK", "DESCRIBE"):
        return []
    depth = 0
    groups: list[tuple[Token, Token]] = []
    grouped: list[str] = []
    is_grouped = False
    for token in tokens:
        if token.text == "{" and token.kind == "mark" and depth == 0:
            opening = token
        depth += _DEPTHS.get(token.text, 0) if token.kind == "mark" else 0
        if token.text == "}" and token.kind == "mark" and depth == 0:
            groups.append((opening, token))
        if depth == 0 and token.keyword in _BEHIND:
            is_grouped = token.keyword == "GROUP"
        if is_grouped and token.kind == "variable":
            grouped.append(token.text)
    if not groups or not grouped:
        return []
    start, end = groups[-1][0].start, tokens[-1].end
    names = " ".join(dict.fromkeys(grouped))
    return [(start, start, f"{{ {{ SELECT {names} WHERE "), (end, end, " } }")]
