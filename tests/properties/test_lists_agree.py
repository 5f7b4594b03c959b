"""Lists of any shape, in any order of arrival, expiring and retracted: engines and oracle agree.

The oracle for `list` and `listLength` walks every way from the head of a list to rdf:nil and takes
the minimum along it; what is malformed is looked for in the graph, cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hypothesis import event, given
from hypothesis import strategies as st
from tests.conftest import MakeEngine
from tests.properties.test_engines_agree import across_engines, assert_same_ticks, tell

from ebbtide.engines.reference import ReferenceEngine
from ebbtide.program import Fact, Program
from ebbtide.program.lists import FIRST, NIL, REST, SAME_AS, lower_lists
from ebbtide.terms import IRI, Literal, Term, to_term
from ebbtide.testing import Add, Happening, Push, Retract, Tick, play, program
from ebbtide.testing.generate import streams, windows
from ebbtide.testing.notation import EXAMPLE
from ebbtide.time import FOREVER, Instant, Window

LIMIT = 4


def iri(name: str) -> IRI:
    return IRI(EXAMPLE + name)


HAS, SUB = iri("has"), iri("sub")
CELLS = tuple(iri(f"K{number}") for number in range(5))
ITEMS = tuple(map(iri, "AB"))

# Lists that a statement names; lists among other terms; lists in lists; no list at all.
# Variable predicates conclude first and rest as well.
READERS = {
    "named": """
        member(?l, ?i, ?x) :- triple(?s, has, ?l), list(?l, ?i, ?x).
        size(?l, ?n) :- triple(?s, has, ?l), listLength(?l, ?n).
        after(?l, ?i, ?j) :- triple(?s, has, ?l), list(?l, ?i, ?x), listNext(?i, ?j).
        triple(?x, ?q, ?y) :- triple(?x, ?p, ?y), triple(?p, sub, ?q).""",
    "any": """
        member(?l, ?i, ?x) :- triple(?s, ?p, ?l), list(?l, ?i, ?x).
        size(?l, ?n) :- triple(?s, ?p, ?l), listLength(?l, ?n).""",
    "nested": """
        member(?l, ?i, ?x) :- triple(?s, has, ?k), list(?k, ?j, ?l), list(?l, ?i, ?x).
        empty(?s) :- triple(?s, has, ?l), not list(?l, 0, ?any).""",
}


def limited(text: str) -> Program:
    """The program, with a limit that small lists reach."""
    written = [rule for rule in program(text).rules if not rule.name.startswith("list:")]
    return Program(lower_lists(written, LIMIT))


PROGRAMS = {name: limited(text) for name, text in READERS.items()}


def triples(
    subjects: tuple[Term, ...], predicate: Term, objects: tuple[Term, ...]
) -> st.SearchStrategy[Fact]:
    return st.builds(
        lambda subject, object_: Fact("triple", (subject, predicate, object_)),
        st.sampled_from(subjects),
        st.sampled_from(objects),
    )


# Mostly cells that go on with the next one or end, so that there are proper lists.
FACTS = st.one_of(
    st.sampled_from(range(4)).map(
        lambda number: Fact("triple", (CELLS[number], REST, CELLS[number + 1]))
    ),
    triples(CELLS, FIRST, (*ITEMS, CELLS[3])),
    triples(CELLS, FIRST, ITEMS),
    triples(CELLS, REST, (NIL, NIL, NIL, *CELLS)),
    triples((iri("S"), iri("T")), HAS, (CELLS[0], CELLS[0], CELLS[1], CELLS[2], NIL)),
    triples(CELLS, iri("next"), (*CELLS, NIL)),
    triples((iri("next"),), SUB, (REST,)),
    triples(ITEMS, SAME_AS, ITEMS),
)


@st.composite
def stories(draw: st.DrawFn) -> list[Happening]:
    """A graph that is mostly one proper list; then what comes; some of the graph is retracted."""
    graph = [Fact("triple", (iri("S"), HAS, CELLS[0]))]
    for number, cell in enumerate(CELLS):
        for _ in range(draw(st.sampled_from((1, 1, 1, 1, 1, 1, 1, 2, 0)))):
            graph.append(Fact("triple", (cell, FIRST, draw(st.sampled_from((*ITEMS, CELLS[3]))))))
        for _ in range(draw(st.sampled_from((1, 1, 1, 1, 1, 1, 2, 2, 0)))):
            following = (*CELLS[number + 1 : number + 2] * 9, NIL, NIL, NIL, *CELLS)
            graph.append(Fact("triple", (cell, REST, draw(st.sampled_from(following)))))
    told: list[Happening] = [
        Add(fact) if draw(st.booleans()) else Push(fact, draw(st.integers(-2, 4)))
        for fact in draw(st.permutations(graph))
    ]
    story = draw(streams(FACTS))
    for fact in draw(st.lists(st.sampled_from(graph), max_size=2)):
        place = draw(st.sampled_from([i for i, each in enumerate(story) if isinstance(each, Tick)]))
        tick = story[place]
        assert isinstance(tick, Tick)
        story.insert(place, Retract(fact, tick.at))
    return told + story


@across_engines
@given(st.sampled_from(sorted(PROGRAMS)), windows(), stories())
def test_list_programs_equal_the_naive_specification(
    other_engine: MakeEngine, name: str, looking: dict[str, Window], story: list[Happening]
) -> None:
    rules = PROGRAMS[name]
    tell(rules, looking, story)
    assert_same_ticks(other_engine(rules, looking), ReferenceEngine(rules, looking), story)


# ---- the oracle ------------------------------------------------------------------------------


class Graph:
    """The triples that hold at a tick, each with its `until`."""

    def __init__(self, facts: Mapping[Fact, Instant]) -> None:
        self.until = {fact.terms: until for fact, until in facts.items()}

    def objects(self, subject: Term, predicate: Term) -> list[tuple[Term, Instant]]:
        triples = self.until.items()
        return [(o, until) for (s, p, o), until in triples if (s, p) == (subject, predicate)]

    def wanted(self) -> dict[Term, Instant]:
        """The heads of the lists that the program "named" reads."""
        heads: dict[Term, Instant] = {}
        for (_, predicate, head), until in self.until.items():
            if predicate == HAS:
                heads[head] = max(until, heads.get(head, until))
        return heads

    def ways(self, cell: Term, steps: int) -> Iterator[tuple[tuple[Term, ...], Instant]]:
        """Every chain of cells to nil, and until when it and some item of each cell hold."""
        if cell == NIL:
            yield (), FOREVER
        elif steps and (items := self.objects(cell, FIRST)):
            for following, goes_on in self.objects(cell, REST):
                for cells, later in self.ways(following, steps - 1):
                    yield (cell, *cells), min(goes_on, later, max(until for _, until in items))

    def lists(self, head: Term) -> list[tuple[tuple[Term, ...], Instant]]:
        # From any cell the shortest way has no cell twice, so no way that matters is longer.
        return list(self.ways(head, LIMIT + len(CELLS)))


def items_and_lengths(graph: Graph) -> dict[Fact, Instant]:
    """What the program "named" should conclude, reasons aside."""
    found: dict[Fact, Instant] = {}

    def conclude(relation: str, *terms: Term, until: Instant) -> None:
        fact = Fact(relation, terms)
        found[fact] = max(until, found.get(fact, until))

    for head, named in graph.wanted().items():
        for cells, holds in graph.lists(head):
            until = min(named, holds)
            if len(cells) <= LIMIT:
                conclude("size", head, to_term(len(cells)), until=until)
            for index, cell in enumerate(cells[:LIMIT]):
                conclude("after", head, to_term(index), to_term(index + 1), until=until)
                for item, holds_item in graph.objects(cell, FIRST):
                    conclude("member", head, to_term(index), item, until=min(until, holds_item))
    return found


def malformed(graph: Graph) -> set[tuple[Term, Term, str]]:
    """What is wrong with the wanted lists: head, cell and reason."""
    found: set[tuple[Term, Term, str]] = set()
    for head in graph.wanted().keys() - {NIL}:
        ways = [cells for cells, _ in graph.lists(head)]
        cells = {cell for way in ways for cell in way[:LIMIT]} or reachable(graph, head)
        for cell in cells:
            for predicate, name in ((FIRST, "first"), (REST, "rest")):
                values = [value for value, _ in graph.objects(cell, predicate)]
                if not values:
                    found.add((head, cell, f"it has no rdf:{name}"))
                if any(
                    one != other and (one, SAME_AS, other) not in graph.until
                    for one in values
                    for other in values
                ):
                    found.add((head, cell, f"it has more than one rdf:{name}"))
        for way in ways:
            if len(way) > LIMIT:
                found.add((head, way[LIMIT - 1], f"the list has more than {LIMIT} items"))
        if not ways and not any("no rdf:" in reason for h, _, reason in found if h == head):
            found.add((head, head, "the list goes round in a circle and has no end"))
    return found


def reachable(graph: Graph, head: Term) -> set[Term]:
    cells, waiting = {head}, [head]
    while waiting:
        following = {cell for cell, _ in graph.objects(waiting.pop(), REST)} - cells - {NIL}
        cells |= following
        waiting += following
    return cells


@given(windows(), stories())
def test_lists_are_every_way_to_nil_and_what_is_malformed_is_told(
    looking: dict[str, Window], story: list[Happening]
) -> None:
    rules = PROGRAMS["named"]
    tell(rules, looking, story)
    engine = ReferenceEngine(rules, looking)
    for happening in story:
        play(engine, [happening])
        if isinstance(happening, Tick):
            facts = engine.facts()
            graph = Graph({f: until for f, until in facts.items() if f.relation == "triple"})
            answers = {
                fact: until
                for fact, until in facts.items()
                if fact.relation in ("member", "size", "after")
            }
            expected = items_and_lengths(graph)
            assert answers == expected
            told = {
                (head, cell, reason.lexical)
                for relation, (head, cell, reason, *_) in (
                    (fact.relation, fact.terms) for fact in facts if len(fact.terms) == 3
                )
                if relation == "list:malformed" and isinstance(reason, Literal)
            }
            assert told == malformed(graph)
            event(f"{len(expected)} conclusions")
            for _, _, reason in told:
                event(reason)
