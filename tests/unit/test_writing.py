"""Documents that are written are read back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.terms import IRI, BlankNode, Literal
from ebbtide.terms.formats import Quad, open_document, read_quads
from ebbtide.terms.writing import STANDARD_PREFIXES, document

FORMATS = ("nt", "nq", "ttl", "trig", "rdf", "jsonld")
GRAPHS = ("nq", "trig", "jsonld")
PREFIXES = {**STANDARD_PREFIXES, "e": "http://e/", "x-y": "http://e/x#", "": "urn:"}


def written(quads: list[Quad], format: str) -> bytes:
    """Each quad as a table of its own."""
    graphs = []
    for s, p, o, g in quads:
        line = f"{s} {p} {o} .".encode()
        table = open_document(line, "nt", keep_labels=True).table(1)
        graphs.append((table, g.text if g else None))
    return b"".join(document(graphs, format, PREFIXES))


IRIS = st.sampled_from(
    [
        "http://e/a",
        "http://e/é",
        "http://e/a.b",
        "http://e/x#1",
        "http://e/",
        "http://e/%20'()",
        "urn:x:y",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#_1",
        "http://www.w3.org/2002/07/owl#Class",
    ]
).map(IRI)
# The last name of a predicate in XML is a name of XML.
PREDICATES = IRIS.filter(lambda iri: iri.value[-1].isalpha())
BLANKS = st.sampled_from(["b", "0", "b.0", "f12-x", "é", "B_b-"]).map(BlankNode)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
DATATYPES = st.sampled_from(
    [
        "http://www.w3.org/2001/XMLSchema#integer",
        "http://www.w3.org/2001/XMLSchema#decimal",
        "http://www.w3.org/2001/XMLSchema#double",
        "http://www.w3.org/2001/XMLSchema#boolean",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral",
        "http://e/t",
    ]
)
LEXICALS = TEXTS | st.sampled_from(
    ["01", "+7", "-0", "1.", ".5", "1e3", "1E3", "true", "0", "TRUE"]
)
LITERALS = (
    st.builds(Literal, TEXTS)
    | st.builds(Literal, LEXICALS, DATATYPES)
    | st.builds(Literal, TEXTS, language=st.sampled_from(["en", "fi-fi"]))
)
SUBJECTS = IRIS | BLANKS
OBJECTS = IRIS | BLANKS | LITERALS


def said_by_xml(quad: Quad) -> bool:
    """XML has no control characters, and reads a carriage return as a line end."""
    o = quad[2]
    return not isinstance(o, Literal) or all(
        c in "\t\n" or (c >= " " and c not in "\ufffe\uffff") for c in o.lexical
    )


@pytest.mark.parametrize("format", FORMATS)
@given(
    triples=st.lists(st.tuples(SUBJECTS, PREDICATES, OBJECTS), max_size=6),
    graph=st.none() | SUBJECTS,
)
def test_what_is_written_is_read(format, triples, graph):
    graph = graph if format in GRAPHS else None
    quads = [(*triple, graph) for triple in triples]
    if format == "rdf":
        quads = [quad for quad in quads if said_by_xml(quad)]
    found = set(read_quads(written(quads, format), format, keep_labels=True))
    if format == "rdf":
        found = {tuple(map(unprefixed, quad)) for quad in found}
    assert found == set(quads)


def unprefixed(term):
    """The labels of blank nodes begin with a letter in XML, so that they get one."""
    return BlankNode(term.label[1:]) if isinstance(term, BlankNode) else term


A, P = IRI("http://e/a"), IRI("http://e/p")


def test_what_a_format_cannot_say():
    with pytest.raises(ValueError, match="the format ttl has no named graphs"):
        written([(A, P, A, A)], "ttl")
    with pytest.raises(ValueError, match=r"XML cannot hold the character U\+0008"):
        written([(A, P, Literal("\b"), None)], "rdf")
    for name in ("1", "", "p(x)"):
        with pytest.raises(ValueError, match="RDF/XML has no name for the predicate <http"):
            written([(A, IRI(f"http://e/{name}"), A, None)], "rdf")
    with pytest.raises(ValueError, match="only N-Triples and N-Quads have labels with colons"):
        written([(A, P, BlankNode("a:b"), None)], "ttl")
    with pytest.raises(ValueError, match="timed facts have a writer of their own"):
        written([], "tnt")
    with pytest.raises(ValueError, match="there is no format 'csv'"):
        written([], "csv")
    with pytest.raises(ValueError, match="the prefix e stands for no IRI"):
        b"".join(document([], "ttl", {"e": "no iri"}))


def test_turtle_is_brief():
    quads = [(A, P, Literal("x"), None), (A, P, A, None), (P, P, Literal("é", language="fr"), None)]
    text = written(quads, "ttl").decode()
    assert text.endswith('e:a e:p "x" , e:a .\ne:p e:p "é"@fr .\n')
