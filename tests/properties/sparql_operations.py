"""Strategies for SPARQL operations and for the data they meet.

    operations()    INSERT { } WHERE { } with everything that SPARQL rules can do
    patterns()      what stands in such a WHERE
    datasets()      triples of the default graph and of two named graphs, few terms, many joins

Literals are in canonical form, because oxigraph, the oracle, keeps values and not lexical forms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from random import Random
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

from ebbtide.program import QUAD, TRIPLE, Fact
from ebbtide.terms import IRI, Literal
from ebbtide.terms.term import XSD

Choose: TypeAlias = Callable[[Sequence[Any]], Any]

EX: Final = "http://example/"
PREFIXES: Final = f"PREFIX ex: <{EX}>\nPREFIX xsd: <{XSD}>\n"

THINGS: Final = tuple(IRI(EX + name) for name in "abc")
PREDICATES: Final = tuple(IRI(EX + name) for name in "pqv")
GRAPHS: Final = tuple(IRI(EX + name) for name in "gh")
LITERALS: Final = (
    Literal("1", XSD + "integer"),
    Literal("2", XSD + "integer"),
    Literal("2.5", XSD + "decimal"),
    Literal("1.5", XSD + "double"),
    Literal("ab"),
    Literal("b"),
    Literal("b", language="fi"),
    Literal("true", XSD + "boolean"),
    Literal("2024-02-29T12:00:00Z", XSD + "dateTime"),
    Literal("2024-02-29", XSD + "date"),
    Literal("x", EX + "datatype"),
    Literal("y", EX + "datatype"),
)
VARIABLES: Final = ("?x", "?y", "?z")
VALUES: Final = ("1", "2", "2.5", '"ab"', '"b"@fi', "true", "ex:a", '"2024-02-29"^^xsd:date')


_OBJECTS: Final = (*THINGS, *LITERALS)
_TRIPLES: Final = tuple(
    Fact(TRIPLE, terms) for terms in product(THINGS, PREDICATES, (*THINGS, *_OBJECTS))
)
_QUADS: Final = tuple(Fact(QUAD, terms) for terms in product(THINGS, PREDICATES, THINGS, GRAPHS))

#: Facts one by one, for streams: so few that they meet.
FACTS: Final = st.sampled_from(
    [
        *(Fact(TRIPLE, terms) for terms in product(THINGS, PREDICATES[:2], _OBJECTS[:5])),
        *(Fact(QUAD, terms) for terms in product(THINGS[:2], PREDICATES[:1], THINGS[:2], GRAPHS)),
    ]
)


def datasets() -> st.SearchStrategy[frozenset[Fact]]:
    """Facts of `triple` and `quad`, from a handful to most of what there can be."""
    return st.builds(_sample, st.integers(0, 2**32), st.sampled_from((4, 8, 16, 30)))


def _sample(seed: int, size: int) -> frozenset[Fact]:
    chance = Random(seed)
    return frozenset((*chance.choices(_TRIPLES, k=size), *chance.choices(_QUADS, k=size // 3)))


@st.composite
def operations(draw: st.DrawFn, *, recursive: bool = False) -> str:
    """An operation, without its prefixes.

    If `recursive` it reads what others insert, and has a fixpoint: there is no negation in it, nor
    arithmetic, which feeding itself has none in any engine.
    """

    def choose(options: Sequence[Any]) -> Any:
        return draw(st.sampled_from(options))

    body = _Body(choose, recursive)
    where = body.group(choose((1, 2, 2, 3)))
    bound = [name for name in VARIABLES if name in where] or ["?x"]
    template = " . ".join(body.head(bound) for _ in range(choose((1, 1, 2))))
    return f"INSERT {{ {template} }} WHERE {{ {where} }}"


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """The inside of a WHERE."""

    def choose(options: Sequence[Any]) -> Any:
        return draw(st.sampled_from(options))

    return _Body(choose, recursive=False).group(choose((0, 1, 2, 2)))


class _Body:
    """Patterns drawn one by one, by plain functions that share one way to choose."""

    def __init__(self, choose: Choose, recursive: bool) -> None:
        self.choose = choose
        self.recursive = recursive
        self.reads = "prs" if recursive else "pqv"
        self.bound: list[str] = []

    def pick(self, *options: str) -> str:
        return str(self.choose(options))

    def variable(self) -> str:
        return self.pick(*VARIABLES, *VARIABLES, *self.bound[-1:])

    def thing(self) -> str:
        return self.pick(*(self.variable() for _ in range(10)), "ex:a", "[]")

    def predicate(self) -> str:
        return f"ex:{self.pick(*self.reads[0] * 3, *self.reads)}"

    def head(self, bound: Sequence[str]) -> str:
        """A triple of a template, with variables of which most are bound in the WHERE."""
        subject = self.pick(*bound, *bound, "ex:d")
        predicate = self.pick("ex:r", "ex:r", "ex:r", "ex:s", self.pick(*bound))
        return f"{subject} {predicate} {self.pick(*bound, *self.bound[-1:])}"

    def group(self, depth: int) -> str:
        count = self.choose((1, 1, 1, 2, 2, 0))
        return " ".join([self.triple(), *(self.element(depth - 1) for _ in range(count))])

    def element(self, depth: int) -> str:
        kinds: list[Callable[[int], str]] = [lambda _: self.triple()] * 4
        kinds += [self.filter, self.filter, self.bind, self.values, *[lambda _: self.path()] * 2]
        if depth > 0:
            kinds += [self.union, self.graph, self.subquery, self.exists, self.nested]
        if depth > 0 and not self.recursive:
            kinds += [self.not_exists, self.not_exists, self.minus, self.optional]
        return self.choose(kinds)(depth)

    def triple(self) -> str:
        objects = (*(self.thing() for _ in range(8)), self.pick(*VALUES))
        predicate = self.pick(*(self.predicate() for _ in range(9)), self.variable())
        return f"{self.thing()} {predicate} {self.pick(*objects)} ."

    def path(self) -> str:
        return f"{self.thing()} {self.steps(2)} {self.thing()} ."

    def steps(self, depth: int) -> str:
        if depth == 0:
            return self.predicate()
        inner = self.steps(depth - 1)
        match self.pick("/", "|", "^", "*", "+", "?", "!"):
            case "/" | "|" as operator:
                return f"({inner}{operator}{self.steps(depth - 1)})"
            case "^":
                return f"^({inner})"
            case "!":
                return f"!({self.predicate()}|^{self.predicate()})"
            case operator:
                return f"({inner}){operator}"

    def filter(self, depth: int) -> str:
        return f"FILTER({self.condition(depth)})"

    def condition(self, depth: int, size: int = 2) -> str:
        """A comparison, a test, or a few of them; patterns inside if `depth` allows."""
        kind = self.choose(range(0, 12))
        if size and kind in (9, 10):
            operator = self.pick("&&", "||")
            left, right = self.condition(depth, size - 1), self.condition(depth, size - 1)
            return f"({left} {operator} {right})"
        if size and kind == 11:
            return f"!({self.condition(depth, size - 1)})"
        match kind:
            case 4:
                return f"BOUND({self.variable()})"
            case 5:
                operator = self.pick("IN", "NOT IN")
                return f"{self.value()} {operator} ({self.value()}, {self.value()})"
            case 6:
                return f"{self.pick('isIRI', 'isLiteral', 'isBlank', 'isNumeric')}({self.value()})"
            case 7:
                test = self.pick("STRSTARTS", "STRENDS", "CONTAINS", "REGEX")
                return f'{test}(STR({self.value()}), "{self.pick("a", "b", "http", "[0-9]", "")}")'
            case 8 if depth > 0 and not self.recursive:
                return f"{self.pick('', 'NOT ')}EXISTS {{ {self.group(depth - 1)} }}"
            case 9:
                return f"sameTerm({self.value()}, {self.value()})"
        operator = self.pick("=", "!=", "<", "<=", ">", ">=")
        return f"{self.value()} {operator} {self.value()}"

    def value(self, size: int = 2) -> str:
        """A variable, a constant, or a function of some."""
        kind = self.choose(range(0, 10))
        if kind > 6 and size:
            left, right = self.value(size - 1), self.value(size - 1)
            function = self.pick("STR", "LANG", "DATATYPE", "STRLEN", "UCASE", "xsd:string")
            growing = [f"({left} {operator} {right})" for operator in "+-*"]
            growing.append(f"CONCAT({left}, {right})")
            return self.pick(
                *([] if self.recursive else growing),
                f"({left} / {right})",
                f"{function}({left})",
                f"IF({self.variable()} > 1, {left}, {right})",
                f"COALESCE({left}, {right})",
            )
        return self.variable() if kind < 5 else self.pick(*VALUES)

    def bind(self, depth: int) -> str:
        name = f"?b{len(self.bound) + 1}"
        text = f"BIND({self.value()} AS {name})"
        self.bound.append(name)
        return text

    def values(self, depth: int) -> str:
        rows = self.choose(range(1, 4))
        if self.choose((True, False)):
            cells = " ".join(self.pick(*VALUES, "ex:b") for _ in range(rows))
            return f"VALUES {self.variable()} {{ {cells} }}"
        pair = [
            f"({self.pick(*VALUES, 'ex:b', 'UNDEF')} {self.pick('ex:a', 'ex:b', 'UNDEF')})"
        ] * rows
        return f"VALUES (?x ?y) {{ {' '.join(pair)} }}"

    def union(self, depth: int) -> str:
        return f"{{ {self.group(depth)} }} UNION {{ {self.group(depth)} }}"

    def nested(self, depth: int) -> str:
        return f"{{ {self.group(depth)} }}"

    def graph(self, depth: int) -> str:
        return f"GRAPH {self.pick('ex:g', 'ex:h', '?x', '?z')} {{ {self.triple()} {self.path()} }}"

    def subquery(self, depth: int) -> str:
        option = self.pick("", "DISTINCT ")
        return f"{{ SELECT {option}{self.pick('?x', '?y', '?x ?z')} {{ {self.group(depth)} }} }}"

    def exists(self, depth: int) -> str:
        return f"FILTER EXISTS {{ {self.group(depth)} }}"

    def not_exists(self, depth: int) -> str:
        return f"FILTER NOT EXISTS {{ {self.group(depth)} }}"

    def minus(self, depth: int) -> str:
        return f"MINUS {{ {self.group(depth)} }}"

    def optional(self, depth: int) -> str:
        return f"OPTIONAL {{ {self.group(depth)} }}"
