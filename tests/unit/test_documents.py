"""Turtle, TriG, RDF/XML and JSON-LD: what is in them, where they are wrong, timestamped graphs."""

import gzip
import json
from contextlib import suppress
from pathlib import Path

import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.terms import IRI, BlankNode, Literal, Term
from ebbtide.terms.formats import (
    BadLine,
    FormatError,
    TimedFact,
    read_quads,
    read_timed,
    read_triples,
)

A, P, B, G = (IRI(f"http://e/{name}") for name in "apbg")
SEVEN = Literal("7", "http://www.w3.org/2001/XMLSchema#integer")

TURTLE = b"@prefix e: <http://e/> . e:a e:p e:b , 7 , 'x'@EN ."
TRIG = b"@prefix e: <http://e/> . e:a e:p e:b . e:g { e:a e:p 7 , 'x'@EN }"
XML = b"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">
  <rdf:Description rdf:about="http://e/a">
    <e:p rdf:resource="http://e/b"/>
    <e:p rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">7</e:p>
    <e:p xml:lang="EN">x</e:p>
  </rdf:Description>
</rdf:RDF>"""
JSON = b"""{"@context": {"@vocab": "http://e/"}, "@id": "http://e/a",
  "p": [{"@id": "http://e/b"}, 7, {"@value": "x", "@language": "EN"}]}"""
DOCUMENTS = {"ttl": TURTLE, "trig": TRIG, "rdf": XML, "jsonld": JSON}
TRIPLES: set[tuple[Term, Term, Term]] = {
    (A, P, B),
    (A, P, SEVEN),
    (A, P, Literal("x", language="en")),
}


@pytest.mark.parametrize("format", DOCUMENTS)
def test_each_format(format: str) -> None:
    assert set(read_triples(DOCUMENTS[format], format)) == TRIPLES


@pytest.mark.parametrize("format", DOCUMENTS)
@pytest.mark.parametrize("change", ["gzip", "mark", "crlf"])
def test_wrappings(format: str, change: str, tmp_path: Path) -> None:
    data = DOCUMENTS[format]
    match change:
        case "gzip":
            data = gzip.compress(data)
        case "mark":
            data = b"\xef\xbb\xbf" + data
        case "crlf":
            data = data.replace(b"\n", b"\r\n")
    path = tmp_path / f"a.{format}"
    path.write_bytes(data)
    assert set(read_triples(path)) == TRIPLES
    assert set(read_triples(data, format)) == TRIPLES


@pytest.mark.parametrize(
    ("format", "text", "place", "reason"),
    [
        ("ttl", "<a:s> <a:p>\n e:o .", "2:2", "the prefix e: has not been declared"),
        ("ttl", "<a:s> <a:p> 'x' ; <a:q>", "1:24", "unexpected end of the document"),
        ("ttl", "<s> <a:p> 1 .", "1:1", "no scheme found in an absolute IRI"),
        ("ttl", "<a:s> <a:p> 'é\n' .", "1:15", "line jumps are not allowed in string"),
        ("trig", "<a:g> {\n <a:s> <a:p> }", "2:14", "} is not a valid RDF object"),
        ("trig", "<a:g> {\n <a:s> <a:p> 1", "2:15", "unexpected end of the document"),
        ("rdf", "<rdf:RDF>\n <a/>\n</rdf:RDF>", "1:1", "unknown prefix rdf:"),
        ("rdf", XML.decode().replace("</rdf:D", "</e:p"), "7:3", "ill-formed document: expected"),
        ("rdf", XML.decode().replace("/b", "/ b"), "4:5", "error while parsing IRI 'http://e/ b'"),
        ("rdf", XML.decode()[:-10], "7:21", "ill-formed document: expected `</rdf:RDF>`, but"),
        ("rdf", XML.decode()[:-1], "8:1", "syntax error: tag not closed"),
        ("rdf", "hello", "1:1", "unexpected text event: 'hello'"),
        ("jsonld", '{"@id":\n  nope}', "2:3", "null expected"),
        ("jsonld", '{"@id": "a:s",\n', "2:1", "object keys must be strings"),
        ("jsonld", '{"@id": "a:s", "a:p": {"@value": {}}}', "1:1", "@value value must be a"),
        ("jsonld", '{"@context": "http://e/context"}', "1:1", "remote contexts are not fetched"),
    ],
)
def test_what_is_wrong_has_its_place(format: str, text: str, place: str, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(read_triples(text.encode(), format, name="f"))
    assert str(caught.value).startswith(f"f:{place}")
    assert caught.value.bad.reason.startswith(reason)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("format", DOCUMENTS)
def test_a_compressed_document_that_was_cut(format: str) -> None:
    data = gzip.compress(DOCUMENTS[format] + b" " * 100_000 + b"\n")
    with pytest.raises(FormatError, match=r"f:\d+:\d+: the file is damaged"):
        list(read_triples(data[:-30], format, name="f"))


@pytest.mark.parametrize("format", ["ttl", "trig", "rdf", "jsonld"])
def test_a_huge_term(format: str) -> None:
    size = 8_000_000
    text = "x" * size
    document = {
        "ttl": f"<a:s> <a:p> '{text}' .",
        "trig": f"<a:g> {{ <a:s> <a:p> '{text}' }}",
        "rdf": XML.decode().replace(">x<", f">{text}<"),
        "jsonld": json.dumps({"@id": "a:s", "a:p": text}),
    }[format]
    lengths = [
        len(o.lexical)
        for _, _, o in read_triples(document.encode(), format)
        if isinstance(o, Literal)
    ]
    assert max(lengths) == size


@pytest.mark.parametrize(
    ("format", "document"),
    [
        ("ttl", b"<a:s> <a:p> " + b"[ <a:p> " * 100_000),
        ("ttl", b"<a:s> <a:p> " + b"( " * 100_000),
        ("trig", b"<a:g> { <a:s> <a:p> " + b"( " * 100_000),
        ("jsonld", b'{"a:p":' * 100_000),
        ("jsonld", b"[" * 100_000),
        ("jsonld", b'{"a:p":' * 2_000 + b"1" + b"}" * 2_000),
        ("rdf", XML[: XML.index(b"<e:p")] + b"<e:p><e:C>" * 100_000),
    ],
)
def test_deep_documents_end_with_an_error_or_are_read(format: str, document: bytes) -> None:
    with suppress(FormatError):
        list(read_triples(document, format, name="f"))


def test_relative_iris_are_resolved(tmp_path: Path) -> None:
    path = tmp_path / "a b.ttl"
    path.write_text("<> <a:p> <#x> .")
    ((s, _, o),) = read_triples(path)
    assert (s, o) == (IRI(path.as_uri()), IRI(f"{path.as_uri()}#x"))
    ((s, _, o),) = read_triples(path, base="http://e/base")
    assert (s, o) == (IRI("http://e/base"), IRI("http://e/base#x"))
    with pytest.raises(FormatError, match="the base is not an absolute IRI: base"):
        list(read_triples(path, base="base"))


def test_graphs_are_merged_or_picked() -> None:
    graphs = {graph for *_, graph in read_quads(TRIG, "trig")}
    assert graphs == {None, G}
    assert {o for _, _, o in read_triples(TRIG, "trig", graph="default")} == {B}
    assert len(list(read_triples(TRIG, "trig", graph="http://e/g"))) == 2


def test_unlabelled_nodes_get_the_same_labels_every_time(tmp_path: Path) -> None:
    text = "<a:s> <a:p> [ <a:q> _:x , ( 1 ) ] ."
    for name in ("one.ttl", "two.ttl"):
        (tmp_path / name).write_text(text)
    one, again, two = (list(read_triples(tmp_path / n)) for n in ("one.ttl", "one.ttl", "two.ttl"))
    assert one == again

    def nodes(triples: list[tuple[Term, Term, Term]]) -> set[Term]:
        return {term for triple in triples for term in triple if isinstance(term, BlankNode)}

    assert len(nodes(one)) == 3
    assert not nodes(one) & nodes(two)


# ---- timestamped graphs ----------------------------------------------------------------------

TIMED_TRIG = """\
@prefix e: <http://e/> . @prefix prov: <http://www.w3.org/ns/prov#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
e:g { e:a e:p e:b }
e:g prov:generatedAtTime "1970-01-01T00:00:01Z"^^xsd:dateTime ; e:from e:sensor .
e:h prov:generatedAtTime 2000 .
e:h { e:a e:p 7 }
"""


def test_timestamped_graphs_in_trig() -> None:
    expected = [TimedFact((A, P, B), 1000), TimedFact((A, P, SEVEN), 2000)]
    assert list(read_timed(TIMED_TRIG.encode(), "trig")) == expected


def test_timestamped_graphs_in_json_ld() -> None:
    document = {
        "@context": {
            "@vocab": "http://e/",
            "at": {
                "@id": "http://www.w3.org/ns/prov#generatedAtTime",
                "@type": "http://www.w3.org/2001/XMLSchema#dateTime",
            },
        },
        "@graph": [
            {
                "@id": "_:1",
                "at": "1970-01-01T00:00:01",
                "@graph": [{"@id": "http://e/a", "p": {"@id": "http://e/b"}}],
            },
        ],
    }
    data = json.dumps(document).encode()
    assert list(read_timed(data, "jsonld")) == [TimedFact((A, P, B), 1000)]
    data = data.replace(b"http://www.w3.org/ns/prov#generatedAtTime", b"http://e/seen")
    assert list(read_timed(data, "jsonld", dated_by=IRI("http://e/seen"))) == [
        TimedFact((A, P, B), 1000)
    ]


def test_what_has_no_instant_is_bad() -> None:
    text = TIMED_TRIG.replace("2000", "'noon'") + "e:i { e:a e:p e:b , 7 } e:x e:y e:z , e:w ."
    fact, *bad = read_timed(text.encode(), "trig", name="f.trig")
    assert fact == TimedFact((A, P, B), 1000)
    assert all(isinstance(each, BadLine) for each in bad)
    assert sorted(map(str, bad)) == [
        "f.trig:5:1: not an instant (milliseconds or ISO 8601): 'noon'",
        "f.trig:6:1: the graph <http://e/h> of 1 facts has no "
        "<http://www.w3.org/ns/prov#generatedAtTime>",
        "f.trig:7:1: outside every graph, so without an instant: "
        "<http://e/x> <http://e/y> <http://e/z> and 1 more",
        "f.trig:7:1: the graph <http://e/i> of 2 facts has no "
        "<http://www.w3.org/ns/prov#generatedAtTime>",
    ]


def test_a_graph_has_one_instant() -> None:
    text = TIMED_TRIG + "e:g prov:generatedAtTime 5 ."
    *facts, bad = read_timed(text.encode(), "trig")
    assert len(facts) == 2
    assert str(bad).endswith("the graph <http://e/g> has two instants")


# ---- properties: what rdflib writes, we read ---------------------------------------------------

LEXICALS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
OBJECTS = st.one_of(
    st.builds(rdflib.URIRef, st.sampled_from(["http://e/a", "http://e/é#x", "urn:x:y"])),
    st.builds(rdflib.Literal, LEXICALS),
    st.builds(rdflib.Literal, LEXICALS, st.sampled_from(["en", "fi-FI"])),
    # Beyond 2^53 the numbers of JSON are not exact.
    st.builds(rdflib.Literal, st.integers(-(2**53), 2**53)),
    st.builds(rdflib.Literal, st.booleans()),
)
SUBJECTS = st.builds(rdflib.URIRef, st.sampled_from(["http://e/a", "http://e/b"]))


@pytest.mark.parametrize(
    ("format", "theirs"),
    [("nt", "nt"), ("ttl", "turtle"), ("rdf", "xml"), ("jsonld", "json-ld")],
)
@given(triples=st.lists(st.tuples(SUBJECTS, SUBJECTS, OBJECTS), max_size=5))
def test_what_rdflib_writes_is_read(
    format: str, theirs: str, triples: list[tuple[rdflib.URIRef, rdflib.URIRef, rdflib.term.Node]]
) -> None:
    graph = rdflib.Graph()
    for triple in triples:
        graph.add(triple)
    data = graph.serialize(format=theirs).encode()
    from ebbtide.terms import to_term

    expected = {(to_term(s), to_term(p), to_term(o)) for s, p, o in graph}
    assert set(read_triples(data, format)) == expected
