"""The clauses of continuous queries: what each says, and where an error is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.languages.rspql import (
    BASE,
    ContinuousQuery,
    CountWindow,
    QueryWindow,
    TimeWindow,
    load_continuous_query,
    parse_continuous_query,
)
from ebbtide.program import ProgramError
from ebbtide.terms import IRI
from ebbtide.time import LATEST
from ebbtide.time.duration import UNITS, DurationError, parse_duration

WHERE = "{ ?s ?p ?o }"


def parse(text: str) -> ContinuousQuery:
    return parse_continuous_query(text, "q.rq")


def iri(name: str) -> IRI:
    return IRI(f"http://e/{name}")


def test_the_query_of_the_paper() -> None:
    """Fig. 2, apart from its typographic slips (the two ^ of the literal, the line numbers)."""
    query = parse("""
        REGISTER QUERY TotalAmountPerBroker COMPUTE EVERY 1sec AS
        PREFIX ex: <http://example/>
        SELECT DISTINCT ?user ?type ?x
        FROM <http://mobileservice.org/meansOfTransportation.rdf>
        FROM STREAM <http://mobileservice.org/positions.trdf>
        [RANGE 10sec STEP 1sec]
        WHERE {
            ?user ex:isIn ?x .
            ?user a ex:Commuter .
            ?x a ?type .
            ?user ex:remainingTravelTime ?t .
            FILTER (?t >= "PT30M"^^xsd:duration )
        }
    """)
    assert query.name == "TotalAmountPerBroker"
    assert (query.form, query.emits, query.registers) == ("select", "RStream", "query")
    assert query.every == 1_000
    assert query.graphs == (IRI("http://mobileservice.org/meansOfTransportation.rdf"),)
    (stream,) = query.streams
    assert stream.stream == IRI("http://mobileservice.org/positions.trdf")
    assert stream.name is None
    assert stream.window == TimeWindow(10_000, 1_000, "(]")
    assert str(stream.origin) == "q.rq:6:9"
    assert query.text.startswith("PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> ")


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("[RANGE 10s STEP 5s]", TimeWindow(10_000, 5_000)),
        ("[range 10 S step 500 MS]", TimeWindow(10_000, 500)),
        ("[RANGE 1m SLIDE 1sec]", TimeWindow(60_000, 1_000)),
        ("[RANGE 2H TUMBLING]", TimeWindow(7_200_000, 7_200_000)),
        ("[Range 1D Tumbling]", TimeWindow(86_400_000, 86_400_000)),
        ("[RANGE PT10S STEP PT0.5S]", TimeWindow(10_000, 500)),
        ("[LANDMARK STEP 5s]", TimeWindow(LATEST, 5_000)),
        ("[RANGE TRIPLES 10]", CountWindow(10)),
        ("[TRIPLES 10]", CountWindow(10)),
        ("[ELEMENTS 3]", CountWindow(3)),
        ("[ # in a comment: RANGE 5s STEP 5s]\n RANGE 1s STEP 1s ]", TimeWindow(1_000, 1_000)),
    ],
)
def test_windows(text: str, window: QueryWindow) -> None:
    assert parse(f"SELECT * FROM STREAM <http://e/s> {text} {WHERE}").streams[0].window == window


@pytest.mark.parametrize("unit", UNITS)
def test_units(unit: str) -> None:
    assert parse_duration(f"2{unit}") == parse_duration(f"2 {unit.upper()}") == 2 * UNITS[unit]


@pytest.mark.parametrize(
    "text", ["", "10", "s", "P", "PT", "P1Y", "P1M", "PT1S2M", "0s", "0.5ms", "-1s", "1e30d", "PTS"]
)
def test_no_durations(text: str) -> None:
    with pytest.raises(DurationError):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "name", "emits", "registers", "every"),
    [
        ("REGISTER QUERY q AS", "q", "RStream", "query", None),
        ("register query q computed every 2 min as", "q", "RStream", "query", 120_000),
        ("REGISTER STREAM q COMPUTE EVERY PT1S AS", "q", "RStream", "stream", 1_000),
        ("REGISTER STREAM my-query.2 AS", "my-query.2", "RStream", "stream", None),
        ("REGISTER RSTREAM <http://e/out> AS", "http://e/out", "RStream", "stream", None),
        ("REGISTER ISTREAM ex:out AS", "http://e/out", "IStream", "stream", None),
        ("REGISTER DSTREAM <out> AS", "out", "DStream", "stream", None),
        ("", "query", "RStream", "query", None),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_registrations(
    text: str, name: str, emits: str, registers: str, every: int | None, is_first: bool
) -> None:
    """A registration may stand before the prologue or after it."""
    prologue = "PREFIX ex: <http://e/> # AS\n"
    head = f"{text} {prologue}" if is_first else f"{prologue} {text}"
    query = parse(f"{head} SELECT * {WHERE}")
    assert (query.name, query.emits, query.registers, query.every) == (
        name,
        emits,
        registers,
        every,
    )


@pytest.mark.parametrize("form", ["SELECT ISTREAM ?s", "CONSTRUCT ISTREAM { ?s ?p ?o }"])
def test_drafts_say_what_is_emitted_after_the_form(form: str) -> None:
    query = parse(f"REGISTER STREAM <a:b> AS {form} {WHERE}")
    assert query.emits == "IStream"
    assert query.form == form.split()[0].lower()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (f"SELECT * WHERE {WHERE}", "select"),
        (f"CONSTRUCT {{ ?s ?p ?o }} WHERE {WHERE}", "construct"),
        (f"CONSTRUCT WHERE {WHERE}", "construct"),
        (f"ask {WHERE}", "ask"),
        (f"DESCRIBE ?s WHERE {WHERE}", "describe"),
        ("DESCRIBE <http://e/a>", "describe"),
    ],
)
def test_forms(text: str, form: str) -> None:
    assert parse(text).form == parse(text).algebra[0] == form


def test_sources() -> None:
    query = parse("""PREFIX ex: <http://e/>
        REGISTER RSTREAM ex:out AS
        SELECT *
        FROM ex:a FROM NAMED ex:b FROM GRAPH ex:c FROM NAMED GRAPH ex:d FROM ex:a
        FROM NAMED WINDOW ex:w ON ex:s [RANGE PT10S STEP PT5S]
        FROM NAMED WINDOW ON STREAM ex:s [RANGE PT1H SLIDE PT10M] AS ex:v
        FROM NAMED WINDOW <last> ON STREAM ex:t [TRIPLES 3]
        FROM STREAM ex:t [RANGE 1s STEP 1s]
        FROM NAMED STREAM ex:u [RANGE 1s STEP 1s]
        WHERE { WINDOW ex:w { ?s ?p ?o } WINDOW ?any { ?s ?p ?o } GRAPH ex:b { ?s ?p ?o } }
    """)
    assert query.graphs == (iri("a"), iri("c"))
    assert query.named_graphs == (iri("b"), iri("d"))
    assert [(each.stream, each.name, each.window) for each in query.streams] == [
        (iri("s"), iri("w"), TimeWindow(10_000, 5_000, "[)")),
        (iri("s"), iri("v"), TimeWindow(3_600_000, 600_000, "[)")),
        (iri("t"), IRI(BASE + "last"), CountWindow(3)),
        (iri("t"), None, TimeWindow(1_000, 1_000, "(]")),
        (iri("u"), iri("u"), TimeWindow(1_000, 1_000, "(]")),
    ]
    _, dataset, pattern = query.algebra
    assert dataset is None
    assert pattern[0] == "project"
    assert [each[0] for each in pattern[1][1:]] == ["graph"] * 3
    assert [each[2] for each in pattern[1][1:]] == ["<http://e/w>", "?any", "<http://e/b>"]


def test_no_windows() -> None:
    query = parse(f"REGISTER QUERY q AS SELECT * FROM <http://e/static> {WHERE}")
    assert query.streams == ()


def test_every_is_the_step_of_a_window_without_one() -> None:
    text = f"REGISTER QUERY q COMPUTE EVERY 2s AS SELECT * FROM STREAM <a:s> [RANGE 10s] {WHERE}"
    assert parse(text).streams[0].window == TimeWindow(10_000, 2_000)


def test_what_is_left_keeps_its_places() -> None:
    text = """REGISTER QUERY q AS
PREFIX ex: <http://e/>
SELECT ?s FROM STREAM ex:s [RANGE 1s
  STEP 1s] # a comment FROM STREAM
WHERE { Window ex:w { ?s ex:p 'WINDOW ex:w {' } }"""
    text = text.replace("WHERE", "FROM NAMED WINDOW ex:w ON ex:t [RANGE 1s STEP 1s] WHERE", 1)
    rest = parse(text).text
    assert len(rest) == len(text)
    assert [len(line) for line in rest.split("\n")] == [len(line) for line in text.split("\n")]
    assert rest.index("?s") == text.index("?s")
    assert "GRAPH  ex:w { ?s ex:p 'WINDOW ex:w {' } }" in rest
    assert " ".join(rest.split()) == (
        "PREFIX ex: <http://e/> SELECT ?s # a comment FROM STREAM "
        "WHERE { GRAPH ex:w { ?s ex:p 'WINDOW ex:w {' } }"
    )


def test_words_of_clauses_inside_other_tokens() -> None:
    query = parse(
        """
        PREFIX step: <http://e/STEP#RANGE>
        # REGISTER QUERY no AS FROM STREAM <a> [RANGE 1s STEP 1s]
        REGISTER QUERY Step AS
        SELECT ?range ?from FROM STREAM <http://e/[RANGE-Step-AS> [RANGE 1s STEP 1s]
        WHERE { ?range step:FROM "FROM STREAM <x> [RANGE" ; step:window ?from . # WINDOW <w> {
            ?window <http://e/REGISTER> '''AS
            FROM''' }
        ORDER BY ?range
    """.replace("[RANGE-Step", "RANGE-Step")
    )
    assert query.name == "Step"
    assert [each.stream.value for each in query.streams] == ["http://e/RANGE-Step-AS"]


def test_relative_iris_need_no_base() -> None:
    text = "REGISTER RSTREAM <s1> AS SELECT * FROM NAMED WINDOW <w> ON <s2> [RANGE PT1S STEP PT1S]"
    query = parse(f"{text} {{ WINDOW <w> {WHERE} }}")
    assert query.name == "s1"
    assert query.streams[0].stream == IRI(BASE + "s2")
    assert query.algebra[2][1][2] == f"<{BASE}w>" == query.streams[0].name.text  # type: ignore[union-attr]
    assert query.text.startswith(f"BASE <{BASE}> ")
    query = parse(f"BASE <http://e/> {text} {{ WINDOW <w> {WHERE} }}")
    assert query.name == "http://e/s1"
    assert query.streams[0].stream == iri("s2")
    assert "ebbtide" not in query.text


def test_timestamps() -> None:
    prefix = "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#>"
    assert parse(f"{prefix} SELECT * {{ ?s ?p ?o FILTER(f:timestamp(?s,?p,?o) > 1) }}").timestamps
    assert parse(f"{prefix} SELECT (f:timestamp(?s,?p,?o) AS ?t) {WHERE}").timestamps
    assert not parse(f"{prefix} SELECT * {WHERE}").timestamps


@pytest.mark.parametrize(
    "text",
    [
        "SELECT (COUNT(?s) AS ?n) ((?n > 3) AS ?many) (?many && ?n < 9 AS ?some) { ?s ?p ?o }",
        "SELECT ?x { { SELECT ?s (MAX(?o) AS ?m) (?m + 1 AS ?x) { ?s ?p ?o } GROUP BY ?s } }",
        "CONSTRUCT { ?s <a:is> [] } { ?s ?p ?o } GROUP BY ?s HAVING(AVG(?o) > 40) ORDER BY ?s",
        "ASK { ?s ?p ?o } GROUP BY ?s HAVING (COUNT(*) > 3)",
    ],
)
def test_what_the_parser_of_sparql_would_refuse(text: str) -> None:
    query = parse(f"REGISTER QUERY q AS {text}")
    assert parse(query.text).algebra[0] == query.form


#: A text with ^ before the place of the error, and the sentence.
ERRORS = [
    ("^", "the text has no query"),
    ("# only a comment^", "the text has no query"),
    ("REGISTER QUERY q AS^", "the text has no query"),
    ("^FOO", "expected SELECT, CONSTRUCT, ASK or DESCRIBE, but found 'FOO'"),
    ("^INSERT DATA { }", "expected SELECT, CONSTRUCT, ASK or DESCRIBE, but found 'INSERT'"),
    ("REGISTER ^q AS SELECT * {}", "expected QUERY, STREAM, RSTREAM, ISTREAM or DSTREAM, but foun"),
    ("REGISTER QUERY ^AS SELECT * {}", "expected the name of the query, but found 'AS'"),
    ("REGISTER QUERY q ^SELECT * {}", "expected AS, but found 'SELECT'"),
    ("REGISTER QUERY q COMPUTE ^1s AS SELECT * {}", "expected EVERY, but found '1'"),
    ("REGISTER QUERY q COMPUTE EVERY ^AS SELECT * {}", "expected a duration, like 10s or PT10S"),
    ("REGISTER QUERY q AS ^REGISTER QUERY r AS ASK {}", "a text registers one query"),
    ("REGISTER STREAM q ^UNDER ENTAILMENT REGIME <a:b> AS ASK {}", "a query does not choose its"),
    ("REGISTER QUERY ^ex:q AS ASK {}", "the prefix ex: is not declared"),
    ("SELECT * FROM STREAM ^s [RANGE 1s STEP 1s] {}", "expected the IRI of a stream, but found"),
    (
        "SELECT * FROM STREAM <a:s> ^{}",
        "expected the window of the stream, like [RANGE 10s STEP 5s], but found '{'",
    ),
    ("SELECT * FROM STREAM <a:s> [^10s STEP 1s] {}", "expected RANGE, LANDMARK or TRIPLES, but fo"),
    (
        "SELECT * FROM STREAM <a:s> [RANGE 10 ^STEP 1s] {}",
        "expected the unit of 10 (ms, s, m, h or d), but found 'STEP'",
    ),
    ("SELECT * FROM STREAM <a:s> [RANGE ^0s STEP 1s] {}", "a duration is a whole number of mill"),
    ("SELECT * FROM STREAM <a:s> [RANGE 10s STEP 1s^)", "expected ], but found ')'"),
    ("SELECT * FROM STREAM <a:s> [RANGE 10s^] {}", "expected STEP or TUMBLING, but found ']'"),
    (
        "SELECT * FROM STREAM <a:s> [RANGE 10s STEP^",
        "expected a duration, like 10s or PT10S, but f",
    ),
    ("SELECT * FROM STREAM <a:s> [TRIPLES ^0] {}", "expected a whole number of at least 1"),
    ("SELECT * FROM STREAM <a:s> [TRIPLES 5 STEP ^PT2S] {}", "expected a whole number of at least"),
    ("SELECT * FROM STREAM <a:s> [^FROM NOW-PT1H TO NOW] {}", "a window that ends in the past is"),
    ("SELECT * FROM NAMED WINDOW <w> ^<s> [RANGE 1s STEP 1s] {}", "expected ON, but found '<s>'"),
    ("SELECT * FROM NAMED WINDOW ON <s> [RANGE 1s STEP 1s] ^{}", "expected AS, but found '{'"),
    (
        "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 1s STEP 1s] "
        "FROM NAMED WINDOW ^<w> ON <t> [RANGE 1s STEP 1s] {}",
        "there is a window <w> already",
    ),
    (
        "SELECT * FROM NAMED WINDOW <w1> ON <s> [RANGE 1s STEP 1s] { WINDOW ^<w2> {} }",
        "there is no window <w2>; did you mean <w1>?",
    ),
    ("SELECT * FROM ^{ }", "expected the IRI of a graph, or STREAM, NAMED or GRAPH, but found '{'"),
    (
        "SELECT *\nFROM STREAM <a:s> [RANGE 1s\n STEP 1s]\nWHERE { ?s ?p ^}",
        "SPARQL cannot go on with '}'",
    ),
    (
        "^PREFIX ex <a:b> SELECT * {}",
        "after PREFIX come a prefix with its colon and an",
    ),
    ("SELECT (SUM(?x) AS ?y) ^?z { ?x ?y ?z }", "?z is selected, and neither grouped by"),
    ("SELECT * { ?s ^ex:p ?o }", "the prefix ex: is not declared"),
]


@pytest.mark.parametrize(("text", "sentence"), ERRORS)
def test_errors(text: str, sentence: str) -> None:
    before, _, after = text.partition("^")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    with pytest.raises(ProgramError) as caught:
        parse(before + after)
    assert caught.value.message.startswith(sentence)
    assert str(caught.value.origin) == f"q.rq:{line}:{column}"


def test_a_file_names_its_query(tmp_path: Path) -> None:
    (tmp_path / "hot.rq").write_text(f"SELECT * {WHERE}")
    assert load_continuous_query(tmp_path / "hot.rq").name == "hot"
    with pytest.raises(ProgramError, match=r"none\.rq:1:1: cannot read the query"):
        load_continuous_query(tmp_path / "none.rq")


def test_comments_within_a_declaration() -> None:
    query = parse(f"PREFIX # one\n ex: # two\n <http://e/> SELECT * FROM ex:a {WHERE}")
    assert query.graphs == (iri("a"),)


def test_a_count_that_no_window_has() -> None:
    text = "SELECT * FROM STREAM <http://e/s> [TRIPLES 9223372036854775808] WHERE { ?a ?b ?c }"
    with pytest.raises(
        ProgramError, match=r"<query>:1:44: expected a whole number of at most 2147483648"
    ):
        parse_continuous_query(text)
