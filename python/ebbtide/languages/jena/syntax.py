"""From text to a parse tree, and from lark's exceptions to one clear sentence.

In: rule text. Out: lark's tree for `grammar.lark`. Invariant: whatever the text, the outcome is a
tree or a `ProgramError` with line and column. The grammar has no recursion and text and tokens have
a size limit, so no input is too deep or too long.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache
from importlib.resources import files
from typing import Final, TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from ebbtide.program import Origin, ProgramError

Node: TypeAlias = Tree[Token]

MAX_TEXT: Final = 16 * 2**20
MAX_TOKEN: Final = 2**16
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")

# What the parser could have gone on with, in words. A group stands for all its terminals; commas
# and the end are always optional, so nobody needs to hear of them.
_TERM: Final = frozenset(
    {"VARIABLE", "IRI", "BARE_IRI", "PREFIXED", "BLANK", "NUMBER", "BOOLEAN", "A", "STRING"}
)
_PART: Final = frozenset({"LPAR", "NAME", "NOT", "BOOLEAN"})
_ARROWS: Final = frozenset({"_ARROW", "_BACKWARD"})
_GROUPS: Final = (
    (
        {*_PART, *_ARROWS, "LSQB", "_PREFIX", "_INCLUDE", "_RELATION"},
        "a rule, @prefix, @include, @relation",
    ),
    ({*_TERM, "FUNCTOR"}, "a term"),
    (_TERM, "a term"),
    (_PART, "a pattern (?s ?p ?o), an atom, a builtin"),
    ({"LPAR", "NAME"}, "a pattern (?s ?p ?o), an atom"),
    ({"RULE_NAME"}, "a rule name"),
    (_ARROWS, "->"),
    ({"_DATATYPE"}, "^^"),
    ({"LANGUAGE"}, "a language"),
    ({"PREFIX"}, "a prefix and its colon"),
    ({"IRI", "BARE_IRI", "PREFIXED"}, "an IRI or a prefixed name"),
    ({"IRI"}, "an IRI in angle brackets"),
    ({"NAME"}, "a name"),
    ({"ARITY"}, "a number of arguments"),
    ({"SLASH"}, "/"),
    ({"LPAR"}, "("),
    ({"RPAR"}, ")"),
    ({"RSQB"}, "]"),
    ({"DOT"}, "a full stop"),
)
_HINTS: Final = (
    ("<", "this IRI is not closed, or it contains a character that an IRI cannot have"),
    ('"', "this string is not closed on its line"),
    ("'", "this string is not closed on its line"),
    ("?", "a variable is a question mark and a name that starts with a letter"),
)


def parse(text: str, source: str) -> Node:
    """The tree of a rule text."""
    if len(text) > MAX_TEXT:
        raise ProgramError(f"the text is longer than {MAX_TEXT} characters", Origin(source, 1, 1))
    if control := _CONTROL.search(text):
        raise ProgramError(
            f"the text contains the control character {control[0]!r}",
            place(text, control.start(), source),
        )
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _sentence(error, text, source) from None
    for token in tree.scan_values(lambda value: isinstance(value, Token)):
        if len(token) > MAX_TOKEN:
            raise ProgramError(
                f"this term is longer than {MAX_TOKEN} characters",
                place(text, token.start_pos or 0, source),
            )
    return tree


def place(text: str, position: int, source: str) -> Origin:
    """The line and column of a position in a text."""
    line_start = text.rfind("\n", 0, position) + 1
    return Origin(source, text.count("\n", 0, position) + 1, position - line_start + 1)


@cache
def _parser() -> Lark:
    grammar = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def _sentence(error: UnexpectedInput, text: str, source: str) -> ProgramError:
    if isinstance(error, UnexpectedCharacters):
        position, found, names = error.pos_in_stream, repr(error.char), error.allowed
    elif isinstance(error, UnexpectedToken) and error.token.type != "$END":
        position, names = error.pos_in_stream, error.accepts or error.expected
        found = repr(str(error.token)) if len(error.token) < 40 else f"{str(error.token)[:40]!r}..."
    else:
        position, found = len(text.rstrip()), "the end of the text"
        names = error.accepts if isinstance(error, UnexpectedToken) else set()
    origin = place(text, position or 0, source)
    is_head = "BOOLEAN" in names and "NOT" not in names and "VARIABLE" not in names
    if is_head and text.startswith("[", position):
        return ProgramError(
            "a head cannot be a rule (Jena calls that a hybrid rule): write it as a rule of its "
            "own, with the parts of both bodies",
            origin,
        )
    for start, hint in _HINTS:
        if isinstance(error, UnexpectedCharacters) and text.startswith(start, position):
            return ProgramError(hint, origin)
    return ProgramError(f"expected {_expected(names or set())}, but found {found}", origin)


def _expected(names: Set[str]) -> str:
    words = []
    for group, word in _GROUPS:
        if group <= names:
            words.append(word)
            names = names - group
    return " or ".join(", ".join(words).rsplit(", ", 1))
