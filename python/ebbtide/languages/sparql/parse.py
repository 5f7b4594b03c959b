"""Texts to algebra by the kernel's parser, and its errors made into a place and a sentence.

In: a text, the tokens of it that are to be parsed, and the PREFIX and BASE declarations in force.
Out: the algebra as `_kernel.pyi` describes it. What is wrong is a `ProgramError` at the token where
it is wrong.

The parser looks ahead by as many characters as the keywords that it tries are long, and tells only
the furthest place it looked at. So after an error the part is parsed again with its tokens far
apart: the furthest place then lies between the culprit and the token after it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, Final, TypeAlias, TypeVar

from ebbtide.languages.sparql.tokens import Text, Token
from ebbtide.program import ProgramError
from ebbtide.program.check import MOST_ATOMS
from ebbtide.program.wording import did_you_mean
from ebbtide.terms import IRI, is_absolute, parse_term

Algebra: TypeAlias = tuple[Any, ...]
Parsed = TypeVar("Parsed")

#: Operators make algebra as deep as they are many.
MAX_OPERATORS: Final = 5_000

#: More than the parser ever looks ahead.
_APART: Final = " " * 40
_OPERATORS: Final = frozenset(["{", "||", "&&", "|", "/", "+", "-", "*", "^", "!"])
_DECLARATION: Final = {
    "PREFIX": "after PREFIX come a prefix with its colon and an IRI in angle brackets",
    "BASE": "after BASE comes an IRI in angle brackets",
}
_SENTENCE: Final = re.compile(r"(?:IRI|[A-Z][a-z]+|SELECT \*)(?: [a-zA-Z]+){2,}")


@dataclass
class Declarations:
    """The prefixes and the base that hold from here on, as they were written."""

    text: str = ""
    prefixes: dict[str, str] = field(default_factory=dict)
    has_base: bool = False

    def take(self, text: Text, position: int) -> int:
        """Read declarations from a token on; the position of the first other token."""
        while position < len(text.tokens):
            # Comments may stand within a declaration; those before one are the caller's.
            after = range(position + 1, len(text.tokens))
            places = list(islice((at for at in after if text.tokens[at].kind != "comment"), 2))
            first, rest = text.tokens[position], [text.tokens[at] for at in places]
            match [first.keyword, *(token.kind for token in rest)]:
                case ["PREFIX", "name", "iri"] if rest[0].text.endswith(":"):
                    prefix, iri = rest
                    _check_absolute(text, iri, self)
                    self.prefixes[prefix.text[:-1]] = iri.text[1:-1]
                    self.text += f"PREFIX {prefix.text} {iri.text} "
                    position = places[1] + 1
                case ["BASE", "iri", *_]:
                    _check_absolute(text, rest[0], self)
                    self.has_base = True
                    self.text += f"BASE {rest[0].text} "
                    position = places[0] + 1
                case ["PREFIX" | "BASE", *_]:
                    raise text.error(_DECLARATION[first.keyword], first)
                case _:
                    break
        return position


def parse_query(text: Text, tokens: Sequence[Token], declarations: Declarations) -> Algebra:
    """The algebra of the query that the tokens are."""
    from ebbtide._kernel import sparql_query

    return _parse(sparql_query, text, tokens, declarations)


def parse_update(text: Text, tokens: Sequence[Token], declarations: Declarations) -> list[Algebra]:
    """The operations that the tokens are."""
    from ebbtide._kernel import sparql_update

    return _parse(sparql_update, text, tokens, declarations)


def resolve(text: Text, token: Token, declarations: Declarations) -> IRI:
    """The IRI that a token is, in angle brackets or with a prefix."""
    ask = Text.read(f"ASK {{ GRAPH {token.text} {{ }} }}", text.source)
    _check_tokens(text, [token], declarations)
    try:
        _, _, pattern, *_ = parse_query(ask, ask.tokens, declarations)
    except ProgramError as error:
        raise text.error(f"this is not an IRI: {error.message}", token) from None
    iri = parse_term(pattern[2] if pattern[0] == "graph" else pattern[1][2])
    assert isinstance(iri, IRI)
    return iri


def _parse(
    parse: Callable[[str], Parsed], text: Text, tokens: Sequence[Token], declarations: Declarations
) -> Parsed:
    from ebbtide._kernel import SparqlSyntaxError

    tokens = [token for token in tokens if token.kind != "comment"]
    _check_tokens(text, tokens, declarations)
    _check_operators(text, tokens)
    try:
        parsed = parse(declarations.text + text.text[tokens[0].start : tokens[-1].end])
    except RecursionError:
        raise text.error("this is nested too deeply", tokens[0]) from None
    except SparqlSyntaxError:
        pass
    else:
        _check_patterns(text, tokens[0], parsed)
        return parsed
    spaced, starts = _far_apart(declarations.text, tokens)
    try:
        parse(spaced)
    except SparqlSyntaxError as error:
        message, place = error.args
        looked = -1 if place is None else _offset(spaced, *place)
        raise _error(text, tokens, starts, message, looked) from None
    raise text.error("this is not SPARQL", tokens[0])


def _check_tokens(text: Text, tokens: Iterable[Token], declarations: Declarations) -> None:
    before = None
    for token in tokens:
        prefix = token.text.partition(":")[0]
        if token.kind == "name" and prefix not in declarations.prefixes:
            if before is not None and before.text == "<" and before.end == token.start:
                raise text.error(
                    "this IRI is not closed, or it contains a character that an IRI cannot have",
                    before,
                )
            hint = did_you_mean(prefix, declarations.prefixes)
            raise text.error(f"the prefix {prefix}: is not declared{hint}", token)
        if token.kind == "mark" and token.text in "\"'":
            raise text.error("this string is not closed", token)
        if token.kind == "iri":
            _check_absolute(text, token, declarations)
        before = token


def _check_absolute(text: Text, iri: Token, declarations: Declarations) -> None:
    if not declarations.has_base and not is_absolute(iri.text[1:-1]):
        raise text.error(f"the IRI {iri.text} is relative, and there is no BASE", iri)


def _check_operators(text: Text, tokens: Sequence[Token]) -> None:
    if [token.keyword for token in tokens[:2]] == ["INSERT", "DATA"]:
        return
    operators = [token for token in tokens if token.kind == "mark" and token.text in _OPERATORS]
    if len(operators) > MAX_OPERATORS:
        message = f"this has more than {MAX_OPERATORS} operators and groups"
        raise text.error(message, operators[MAX_OPERATORS])


def _check_patterns(text: Text, first: Token, algebra: Any) -> None:
    """Refuse more patterns in one group than a body may have atoms."""
    match algebra:
        case ("bgp", triples) if len(triples) > MOST_ATOMS:
            message = f"a group has at most {MOST_ATOMS:,} triple patterns and steps of paths"
            raise text.error(f"{message}, and one here has {len(triples):,}", first)
        case tuple() | list():
            for part in algebra:
                _check_patterns(text, first, part)


def _far_apart(declarations: str, tokens: Sequence[Token]) -> tuple[str, list[int]]:
    """The tokens far apart, and where each begins then. Datatypes and languages stay attached."""
    pieces, starts, length = [declarations], [], len(declarations)
    before = ""
    for token in tokens:
        attached = token.kind == "language" or "^^" in (token.text, before)
        gap = "" if attached else _APART
        starts.append(length + len(gap))
        pieces += [gap, token.text]
        length += len(gap) + len(token.text)
        before = token.text
    return "".join((*pieces, _APART)), starts


def _error(
    text: Text, tokens: Sequence[Token], starts: Sequence[int], message: str, looked: int
) -> ProgramError:
    """The error at the last token that begins before what the parser looked at last."""
    index = bisect_right(starts, looked) - 1
    culprit = tokens[max(index, 0)]
    sentences = message.removeprefix("expected one of ").split(", ")
    if sentence := next(filter(_SENTENCE.fullmatch, sentences), None):
        # What is said of a whole query is noticed at its end.
        place = tokens[0] if looked >= starts[-1] + len(tokens[-1].text) else culprit
        lone = _ungrouped(tokens) if "unbound" in sentence and place is tokens[0] else None
        if lone is not None:
            return text.error(f"{lone.text} is selected, and neither grouped by nor counted", lone)
        return text.error(sentence[0].lower() + sentence[1:], place)
    if index < 0:
        return text.error(f"this is not SPARQL: {message}", culprit)
    if looked < starts[-1] + len(tokens[-1].text) + len(_APART):
        shown = repr(culprit.text) if len(culprit.text) < 40 else f"{culprit.text[:40]!r}..."
        return text.error(f"SPARQL cannot go on with {shown}", culprit)
    marks = [token.text for token in tokens if token.kind == "mark"]
    if marks.count("{") > marks.count("}"):
        return text.error("the text ends before its last } is there", tokens[-1].end)
    if "{" not in marks or marks.count("(") > marks.count(")") or tokens[-1].kind == "word":
        return text.error("the text ends too early", tokens[-1].end)
    return text.error(
        "this is complete, but it uses a variable where SPARQL does not allow it", tokens[0]
    )


def _ungrouped(tokens: Sequence[Token]) -> Token | None:
    """The first variable that a SELECT shows as it is and GROUP BY does not have."""
    shown: list[Token] = []
    depth, grouped = 0, None
    for before, token in pairwise(tokens):
        depth += (token.text in ("(", "{")) - (token.text in (")", "}"))
        if before.keyword == "GROUP" and depth == 0:
            grouped = set[str]()
        elif token.kind == "variable" and depth == 0:
            if grouped is not None:
                grouped.add(token.text)
            elif not any(each.text == "{" for each in tokens if each.start < token.start):
                shown.append(token)
    return next((token for token in shown if token.text not in (grouped or ())), None)


def _offset(text: str, line: int, column: int) -> int:
    return sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + column - 1


def names_in(algebra: Any) -> Iterator[str]:
    """The variables anywhere in it, with repetitions.

    >>> list(names_in(("filter", ("bgp", [("?x", "<a:p>", "?y")]), ("<", "?x", "?z"))))
    ['?x', '?y', '?x', '?z']
    """
    if isinstance(algebra, str):
        if algebra.startswith("?"):
            yield algebra
    elif isinstance(algebra, tuple | list):
        for part in algebra:
            yield from names_in(part)
