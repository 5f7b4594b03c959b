"""The patterns of docs/semantics/lists.md conclude what the tables of OWL 2 RL do, taken literally.

The oracle knows no rules over first and rest: it lists every LIST[l, x0, ..., xn] of the graph, and
for each list and each row of the tables matches the triples one by one, again and again, until
nothing changes. A conclusion holds until the minimum of what it was matched with, a triple until
the maximum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from hypothesis import event, given
from hypothesis import strategies as st
from tests.conftest import MakeEngine
from tests.properties.test_engines_agree import across_engines, tell

from ebbtide.engines.reference import ReferenceEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.languages.jena.terms import WELL_KNOWN
from ebbtide.program import TRIPLE, Fact, Program
from ebbtide.program.lists import FIRST, NIL, REST, SAME_AS
from ebbtide.terms import IRI, Term
from ebbtide.testing import Add, Happening, Push, Tick, play
from ebbtide.testing.generate import streams, windows
from ebbtide.testing.notation import EXAMPLE
from ebbtide.time import FOREVER, Instant, Window

PAGE = Path(__file__).parents[2] / "docs/semantics/lists.md"
RULES = parse_rules("\n".join(re.findall(r"```rules\n(.*?)```", PAGE.read_text(), re.DOTALL)))

Triple: TypeAlias = tuple[Term, ...]
Times: TypeAlias = dict[Triple, Instant]


def ex(name: str) -> IRI:
    return IRI(EXAMPLE + name)


def owl(name: str) -> IRI:
    return IRI(WELL_KNOWN["owl"] + name)


TYPE = IRI(WELL_KNOWN["rdf"] + "type")
SUBCLASS = IRI(WELL_KNOWN["rdfs"] + "subClassOf")


# ---- the tables, literally -------------------------------------------------------------------


def saturated(stated: Times) -> Times:
    """The triples of the tables' least model, each with its `until`."""
    times = dict(stated)
    while True:
        grown = False
        for triple, until in list(conclusions(times)):
            if times.get(triple, -1) < until:
                times[triple] = until
                grown = True
        if not grown:
            return times


def lists(times: Times, cell: Term, seen: frozenset[Term]) -> Iterator[tuple[Triple, Instant]]:
    """Every LIST[cell, ...]: its items, and until when all its triples hold."""
    if cell == NIL:
        yield (), FOREVER
    elif cell not in seen:
        for following, goes_on in objects(times, cell, REST):
            for items, later in lists(times, following, seen | {cell}):
                for item, holds in objects(times, cell, FIRST):
                    yield (item, *items), min(goes_on, later, holds)


def objects(times: Times, subject: Term, predicate: Term) -> list[tuple[Term, Instant]]:
    return [(o, until) for (s, p, o), until in times.items() if (s, p) == (subject, predicate)]


def conclusions(times: Times) -> Iterator[tuple[Triple, Instant]]:
    for (c, predicate, head), stated in list(times.items()):
        for items, complete in lists(times, head, frozenset()):
            until = min(stated, complete)
            if not items:
                continue
            if predicate == owl("intersectionOf"):
                yield from intersection(times, c, items, until)
            elif predicate == owl("unionOf"):
                yield from union(times, c, items, until)
            elif predicate == owl("oneOf"):
                yield from (((item, TYPE, c), until) for item in items)
            elif predicate == owl("propertyChainAxiom"):
                yield from property_chain(times, c, items, until)
            elif predicate == owl("hasKey"):
                yield from key(times, c, items, until)


def members(times: Times, class_: Term) -> list[tuple[Term, Instant]]:
    return [(s, until) for (s, p, o), until in times.items() if (p, o) == (TYPE, class_)]


def intersection(
    times: Times, c: Term, items: Triple, until: Instant
) -> Iterator[tuple[Triple, Instant]]:
    """cls-int1, cls-int2 and scm-int."""
    for y, _ in members(times, items[0]):
        holds = [times.get((y, TYPE, item)) for item in items]
        if None not in holds:
            yield (y, TYPE, c), min(until, *(each for each in holds if each is not None))
    for item in items:
        yield (c, SUBCLASS, item), until
        for y, holds_member in members(times, c):
            yield (y, TYPE, item), min(until, holds_member)


def union(times: Times, c: Term, items: Triple, until: Instant) -> Iterator[tuple[Triple, Instant]]:
    """cls-uni and scm-uni."""
    for item in items:
        yield (item, SUBCLASS, c), until
        for y, holds in members(times, item):
            yield (y, TYPE, c), min(until, holds)


def property_chain(
    times: Times, p: Term, items: Triple, until: Instant
) -> Iterator[tuple[Triple, Instant]]:
    """prp-spo2."""
    paths = [(s, o, min(until, holds)) for (s, q, o), holds in times.items() if q == items[0]]
    for item in items[1:]:
        paths = [
            (start, further, min(sofar, holds))
            for start, end, sofar in paths
            for further, holds in objects(times, end, item)
        ]
    yield from (((start, p, end), holds) for start, end, holds in paths)


def key(times: Times, c: Term, items: Triple, until: Instant) -> Iterator[tuple[Triple, Instant]]:
    """prp-key, without the trivial x = y."""
    for x, x_until in members(times, c):
        for y, y_until in members(times, c):
            if x == y:
                continue
            agreed: list[Instant] = [min(until, x_until, y_until)]
            for item in items:
                shared = [
                    min(one, other)
                    for value, one in objects(times, x, item)
                    for same, other in objects(times, y, item)
                    if value == same
                ]
                agreed.append(max(shared, default=-1))
            if min(agreed) >= 0:
                yield (x, SAME_AS, y), min(agreed)


# ---- the graphs ------------------------------------------------------------------------------

CELLS = tuple(ex(f"K{number}") for number in range(4))
CLASSES = tuple(map(ex, ("C", "D", "E")))
PROPERTIES = tuple(map(ex, ("p", "q")))
THINGS = tuple(map(ex, ("x", "y", "z")))
USES = {
    owl("intersectionOf"): (CLASSES, CLASSES),
    owl("unionOf"): (CLASSES, CLASSES),
    owl("oneOf"): (CLASSES, THINGS),
    owl("hasKey"): (CLASSES, PROPERTIES),
    owl("propertyChainAxiom"): (PROPERTIES, PROPERTIES),
}


def triple(subject: Term, predicate: Term, object_: Term) -> Fact:
    return Fact(TRIPLE, (subject, predicate, object_))


def some(terms: tuple[Term, ...]) -> st.SearchStrategy[Term]:
    return st.sampled_from(terms)


ABOUT_THINGS = st.one_of(
    st.builds(triple, some(THINGS), st.just(TYPE), some(CLASSES)),
    st.builds(triple, some(THINGS), some(PROPERTIES), some(THINGS)),
)


@st.composite
def stories(draw: st.DrawFn) -> list[Happening]:
    """Lists, mostly proper and with shared tails; what uses them; and facts about things.

    Every cell has at most one rest: what two rests mean is not the tables' business.
    """
    uses = draw(st.lists(some(tuple(USES)), min_size=1, max_size=3))
    items = tuple(item for use in uses for item in USES[use][1])
    facts = [
        triple(draw(some(USES[use][0])), use, draw(some((*CELLS[:2], *CELLS, NIL)))) for use in uses
    ]
    for number, cell in enumerate(CELLS):
        for _ in range(draw(st.sampled_from((1, 1, 1, 1, 1, 1, 1, 2, 0)))):
            facts.append(triple(cell, FIRST, draw(some(items))))
        following = (*CELLS[number + 1 : number + 2] * 6, *(NIL,) * 6, draw(some(CELLS)))
        if draw(st.integers(0, 19)):
            facts.append(triple(cell, REST, draw(some(following))))
    facts += draw(st.lists(ABOUT_THINGS, min_size=4, max_size=8))
    # Lists come whole only if few of their triples are for a while.
    streaming = draw(st.sampled_from((0, 1, 1, 3)))
    told: list[Happening] = [
        Push(fact, draw(st.integers(-1, 3))) if draw(st.integers(0, 9)) < streaming else Add(fact)
        for fact in draw(st.permutations(facts))
    ]
    return told + draw(streams(ABOUT_THINGS | st.sampled_from(facts)))


@across_engines
@given(windows(), stories())
def test_patterns_conclude_what_the_tables_do(
    engine: MakeEngine, looking: dict[str, Window], story: list[Happening]
) -> None:
    tell(RULES, looking, story)
    reasoning, stating = engine(RULES, looking), ReferenceEngine(Program(), looking)
    for happening in story:
        play(reasoning, [happening])
        play(stating, [happening])
        if isinstance(happening, Tick):
            stated = {fact.terms: until for fact, until in stating.facts().items()}
            answers = {
                fact.terms: until
                for fact, until in reasoning.facts().items()
                if fact.relation == TRIPLE
            }
            expected = saturated(stated)
            assert answers == expected
            for predicate in {terms[1] for terms in expected.keys() - stated.keys()}:
                event(f"concludes {predicate}")
