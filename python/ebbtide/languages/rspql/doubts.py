"""What SPARQL allows in a continuous query and hardly anybody means: it silently answers nothing.

In: a query that was read. Out: sentences, each with its place, about variables that nothing binds,
graphs that are not in the dataset, and terms that no data has, since they are relative.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

from ebbtide.languages.sparql import Algebra, Declarations, Text, Token, names_in, resolve
from ebbtide.program.wording import did_you_mean
from ebbtide.terms import is_absolute


def doubts(
    text: Text,
    body: Sequence[Token],
    algebra: Algebra,
    declarations: Declarations,
    graphs: Collection[str],
    has_base: bool,
) -> Iterator[str]:
    """What is doubtful in a query with these named graphs, and perhaps a base of its own."""
    bound = set(_bound(algebra))
    tokens = {f"?{token.text[1:]}": token for token in reversed(body) if token.kind == "variable"}
    for name in dict.fromkeys(names_in(algebra)):
        if name not in bound and name in tokens:
            hint = did_you_mean(name, sorted(bound & tokens.keys()))
            yield f"{text.origin(tokens[name])}: nothing binds {name}{hint}"
    for word, token in pairwise(body):
        if word.keyword == "GRAPH" and token.kind in ("iri", "name"):
            iri = resolve(text, token, declarations)
            if iri.text not in graphs:
                yield (
                    f"{text.origin(token)}: {token.text} is neither a window nor a graph of "
                    "FROM NAMED, so it is empty"
                )

        elif token.kind == "iri" and not has_base and not is_absolute(token.text[1:-1]):
            iri = resolve(text, token, declarations)
            if iri.text not in graphs:
                yield (
                    f"{text.origin(token)}: {token.text} is relative, and there is no BASE, so "
                    f"that it is {iri.text}"
                )


def _bound(algebra: Any) -> Iterator[str]:
    """The variables that some part of it binds."""
    match algebra:
        case ("bgp", triples):
            yield from names_in(triples)
        case ("path", subject, _, object_):
            yield from names_in((subject, object_))
        case ("values", names, _):
            yield from names
        case ("graph" | "service", inner, name, *_):
            yield from (*names_in(name), *_bound(inner))
        case ("extend", inner, name, value):
            yield from (name, *_bound(inner), *_bound(value))
        case ("group", inner, _, aggregates):
            yield from _bound(inner)
            for name, how in aggregates:
                yield from (name, *_bound(how))
        case tuple() | list():
            for part in algebra:
                yield from _bound(part)
