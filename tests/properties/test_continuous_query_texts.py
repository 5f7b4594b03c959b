"""A continuous query means the same however it is written: case, space, comments, units, order."""

from __future__ import annotations

from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from ebbtide._kernel import sparql_query
from ebbtide.languages.rspql import (
    CountWindow,
    QueryWindow,
    TimeWindow,
    parse_continuous_query,
)
from ebbtide.terms import IRI
from ebbtide.time.duration import UNITS

#: Between tokens: space, and comments that look like clauses.
GAPS = st.sampled_from((" ", "\n", "\t ", " # FROM STREAM <a> [RANGE 1s STEP 1s]\n", "\n#\n", "  "))
IRIS = st.sampled_from(("STEP", "from", "a/RANGE", "w#WINDOW", "x?AS=1", "register")).map(
    lambda name: IRI(f"http://e/{name}")
)
BODIES = (
    "?s ?p 'WINDOW <w> { [RANGE'",
    '?s <http://e/STEP> """FROM # no comment""" .',
    "?range ?step ?window FILTER ( ?range != <http://e/AS> )",
)


def written(words: str) -> st.SearchStrategy[list[str]]:
    """Keywords in any case."""
    cases = (str.upper, str.lower, str.title)
    return st.tuples(*(st.sampled_from(cases) for _ in words.split())).map(
        lambda chosen: [case(word) for case, word in zip(chosen, words.split(), strict=True)]
    )


@st.composite
def durations(draw: st.DrawFn) -> tuple[int, list[str]]:
    """Milliseconds, and a text for them."""
    unit = draw(st.sampled_from(sorted(UNITS)))
    number = draw(st.integers(1, 99))
    length = number * UNITS[unit]
    case = draw(st.sampled_from((str.upper, str.lower)))
    forms = [[f"{number}{case(unit)}"], [str(number), case(unit)], [f"PT{length / 1000:.3f}S"]]
    return length, draw(st.sampled_from(forms))


@st.composite
def extents(draw: st.DrawFn, bounds: Any) -> tuple[QueryWindow, list[str]]:
    """A window, and the tokens for it."""
    if draw(st.booleans()):
        size = draw(st.integers(1, 99))
        return CountWindow(size), ["[", *draw(written("RANGE TRIPLES")), str(size), "]"]
    length, text = draw(durations())
    start = ["[", *draw(written("RANGE")), *text]
    if draw(st.booleans()):
        return TimeWindow(length, length, bounds), [*start, *draw(written("TUMBLING")), "]"]
    step, stepping = draw(durations())
    return TimeWindow(length, step, bounds), [*start, *draw(written("STEP")), *stepping, "]"]


@st.composite
def sources(draw: st.DrawFn, number: int) -> tuple[str, Any, list[str]]:
    """What a FROM clause means, and its tokens."""
    iri = draw(IRIS)
    match draw(st.sampled_from(("graph", "named", "stream", "window"))):
        case "graph":
            return "graph", iri, [*draw(written("FROM")), iri.text]
        case "named":
            return "named", iri, [*draw(written("FROM NAMED")), iri.text]
        case "stream":
            window, tokens = draw(extents("(]"))
            return (
                "stream",
                (iri, None, window),
                [*draw(written("FROM STREAM")), iri.text, *tokens],
            )
        case _:
            name = IRI(f"http://e/window{number}")
            window, tokens = draw(extents("[)"))
            start = [*draw(written("FROM NAMED WINDOW")), name.text, *draw(written("ON"))]
            return "stream", (iri, name, window), [*start, iri.text, *tokens]


@given(st.data())
def test_texts(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(("QUERY", "STREAM", "RSTREAM", "ISTREAM", "DSTREAM")))
    every, text = data.draw(st.one_of(st.just((None, [])), durations()))
    computed = [*data.draw(written("COMPUTED EVERY")), *text] if every else []
    register = data.draw(written(f"REGISTER {kind}"))
    registration = [*register, "Step", *computed, *data.draw(written("AS"))]
    prologue = ["PREFIX", "step:", "<http://e/RANGE#>"]
    both = [registration, prologue]
    found = [data.draw(sources(number)) for number in range(data.draw(st.integers(0, 3)))]
    body = data.draw(st.sampled_from(BODIES))
    tokens = [token for part in data.draw(st.permutations(both)) for token in part]
    tokens += ["SELECT", "*", *(token for _, _, clause in found for token in clause)]
    tokens += ["WHERE", "{", body, "}"]
    written_out = "".join(token + data.draw(GAPS) for token in tokens)
    note(written_out)

    query = parse_continuous_query(written_out)
    assert query.name == "Step"
    assert query.emits == {"ISTREAM": "IStream", "DSTREAM": "DStream"}.get(kind, "RStream")
    assert query.registers == ("query" if kind == "QUERY" else "stream")
    assert query.every == every
    assert [(each.stream, each.name, each.window) for each in query.streams] == [
        meant for what, meant, _ in found if what == "stream"
    ]
    graphs = [meant for what, meant, _ in found if what == "graph"]
    assert query.graphs == tuple(dict.fromkeys(graphs))
    named = [meant for what, meant, _ in found if what == "named"]
    assert query.named_graphs == tuple(dict.fromkeys(named))
    assert query.algebra == sparql_query(f"SELECT * {{ {body} }}") == sparql_query(query.text)
    assert query.text.index(body) == written_out.index(body)
