"""Fuzz targets: a parser meets any bytes with an answer or with the error it promises.

`make test` runs each target on some hundred inputs; `make fuzz` goes on for as long as it is told.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.languages.jena import parse_rules
from ebbtide.languages.lars import parse_lars, show_fact
from ebbtide.languages.lars.lower import lower
from ebbtide.languages.lars.stream import parse_stream
from ebbtide.languages.rspql import parse_continuous_query
from ebbtide.languages.sparql_rules import parse_sparql_rules
from ebbtide.pipeline.errors import PipelineFileError
from ebbtide.pipeline.file import load_pipeline
from ebbtide.program import Origin, ProgramError
from ebbtide.terms import TermError, parse_term
from ebbtide.terms.formats import BadLine, FormatError, read_quads, read_timed


def assert_inside(place: Origin, text: str) -> None:
    """The place of an error is in the text it is about."""
    lines = text.split("\n")
    assert place.source == "fuzz"
    assert 1 <= place.line <= len(lines)
    assert 1 <= place.column <= len(lines[place.line - 1]) + 1


def fuzz_jena(data: bytes) -> None:
    """Rules are read, or refused at a place inside the text."""
    text = data.decode(errors="replace")
    try:
        program = parse_rules(text, "fuzz")
    except ProgramError as error:
        place = error.origin
    else:
        own = (rule.origin for rule in program.rules if rule.origin.source == "fuzz")
        assert all(origin.text in text for origin in own)
        return
    assert_inside(place, text)


def fuzz_sparql(data: bytes) -> None:
    """Operations are read, or refused at a place inside the text."""
    text = data.decode(errors="replace")
    try:
        rules = parse_sparql_rules(text, "fuzz").joined().rules
    except ProgramError as error:
        place = error.origin
    else:
        assert all(rule.origin.text in text for rule in rules)
        return
    assert_inside(place, text)


def fuzz_rspql(data: bytes) -> None:
    """A continuous query is read, or refused at a place inside the text."""
    text = data.decode(errors="replace")
    try:
        query = parse_continuous_query(text, "fuzz")
    except ProgramError as error:
        place = error.origin
    else:
        assert parse_continuous_query(query.text, "fuzz").form == query.form
        return
    assert_inside(place, text)


def fuzz_lars(data: bytes) -> None:
    """A program is read and lowered, or refused at a place inside the text."""
    text = data.decode(errors="replace")
    try:
        lower(parse_lars(text, "fuzz"), start=0)
    except ProgramError as error:
        assert_inside(error.origin, text)


def fuzz_atoms(data: bytes) -> None:
    """The time points of a LARS stream come back as they were written."""
    text = data.decode(errors="replace")
    lines = text.split("\n")
    try:
        points = list(parse_stream(lines, "fuzz"))
    except ProgramError as error:
        assert_inside(error.origin, text)
        return
    written = [f"{at}\t{' '.join(show_fact(fact) + '.' for fact in facts)}" for at, facts in points]
    assert list(parse_stream(written, "fuzz")) == points


def fuzz_pipeline(data: bytes) -> None:
    """A pipeline file is read, or refused by its name."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "fuzz.toml")
        path.write_bytes(data)
        try:
            load_pipeline(path)
        except PipelineFileError as error:
            said = str(error)
        else:
            return
        assert said.startswith(str(path))


def fuzz_timed(data: bytes) -> None:
    """No line is lost, and what was read can be written and read again."""
    if data.startswith(b"\x1f\x8b"):
        # The lines of a damaged archive cannot be known: it is refused as a whole, at a place.
        with suppress(FormatError):
            list(read_timed(data, "tnt", name="fuzz"))
        return
    found = list(read_timed(data, "tnt", name="fuzz"))
    lines = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = lines.split(b"\n")
    meaningful = [
        line for line in lines if line.strip(b" \t") and not line.lstrip(b" \t").startswith(b"#")
    ]
    assert len(meaningful) <= len(found) <= len(lines)
    for item in found:
        if isinstance(item, BadLine):
            assert 1 <= item.line <= len(lines)
            assert 1 <= item.column <= len(item.text) + 1
        else:
            terms = " ".join(term.text for term in item.triple)
            (again,) = read_timed(f"{item.at}\t{terms} .".encode(), "tnt")
            assert not isinstance(again, BadLine)
            assert again.at == item.at
            if "_:given-" not in terms:
                assert again == item


def fuzz_document(data: bytes, format: str) -> None:
    """Facts, or one error at a place; and the facts survive N-Quads."""
    quads = []
    try:
        for quad in read_quads(data, format, name="fuzz", base="http://e/"):
            quads.append(quad)
    except FormatError as error:
        bad = error.bad
    else:
        bad = None
    assert bad is None or (bad.line >= 1 and bad.column >= 1 and bad.reason)
    lines = [" ".join(term.text for term in quad if term) + " .\n" for quad in quads]
    assert list(read_quads("".join(lines).encode(), "nq", keep_labels=True)) == quads


def fuzz_term(data: bytes) -> None:
    """A text that is read as a term comes back as that term."""
    with suppress(TermError):
        term = parse_term(data.decode(errors="replace"))
        assert parse_term(term.text) == term


TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = {
    "jena": fuzz_jena,
    "sparql": fuzz_sparql,
    "rspql": fuzz_rspql,
    "lars": fuzz_lars,
    "atoms": fuzz_atoms,
    "pipeline": fuzz_pipeline,
    "timed": fuzz_timed,
    "term": fuzz_term,
    "turtle": partial(fuzz_document, format="ttl"),
    "trig": partial(fuzz_document, format="trig"),
    "rdfxml": partial(fuzz_document, format="rdf"),
    "jsonld": partial(fuzz_document, format="jsonld"),
    "nquads": partial(fuzz_document, format="nq"),
}

# Pieces that parsers care about; pure noise never gets past the first token.
PIECES: Final[Mapping[str, bytes]] = {
    "rspql": (
        b"REGISTER QUERY STREAM RSTREAM ISTREAM COMPUTE EVERY AS q <q> SELECT * ?x (COUNT(?x)AS?n) "
        b"(?n+1AS?m) CONSTRUCT ASK DESCRIBE { } FROM NAMED GRAPH WINDOW ON [ ] RANGE STEP TUMBLING "
        b"TRIPLES LANDMARK 10s 5 ms PT0.5S [RANGE1sSTEP1s] <a:s> <w> ex: PREFIX ex: <a:b> BASE "
        b"GROUP BY HAVING WHERE{ }GROUP ?s?p?o # FROM \n ''' \" ( ) \0 \xff SELECT*FROMSTREAM "
        b"<a:s>[RANGE SELECT*{?s?p?o} CONSTRUCT{?x?y?z}WHERE{?x?y?z}GROUP"
    ),
    "sparql": (
        b"INSERT{ CONSTRUCT{ ASK{ } }WHERE{ WHERE{ DATA{ { ( ) [ ] ; . , ?x ?y $z <http://e/> <a> "
        b"a PREFIX ex: ex:p ex:p* ^ex:p ex:p/ex:q|ex:r+ !(ex:p) BASE <http://e/> # name: ''' \" "
        b"'y' FILTER( NOT EXISTS{ MINUS{ OPTIONAL{ UNION{ GRAPH SELECT * VALUES UNDEF BIND( AS "
        b"?b) && ! || < > = + - / IN( BOUND( STR( NOW() LIMIT 1 2.5e0 true @en ^^ xsd:int _:b \n "
        b"\0 \xff CONSTRUCT{?x<http://e/>?y}WHERE{?x<http://e/>?y INSERT{?x<http://e/>[]}WHERE{"
    ),
    "jena": (
        b"[ ] ( ) -> , . : r: ?x ?y ?z a not noValue sum lessThan p q @prefix @relation ex: ex:a "
        b'rdf:type <http://e/> <a 5 2.5 -1e3 true "x" \'y\' "\\u00 @en ^^ xsd:int / /2 # // _:b <-'
        b" @include false f(?x) print makeTemp regex bound remove http://e/x urn:x list now"
        b" \n \0 \xc3\xa9 \xff \\ (?x,a,?y) [(?x,?p,?y)->q(?x)]"
    ),
    "lars": (
        b"p(X) q(X,Y) r alarm :- <- , . not always some diamond box in [3] [#3] [20s] "
        b"[3]tumbling per X @T @5 T+1 X>=2 X=Y+1 count(X) sum min of #count % @prefix ex: "
        b"<http://e/> . ex:p(X,_) a:b triple(S,P,O) 7 -1.5 2e3 \"x\" 'y' true [ ] ( ) \n \0 "
        b"\xff \\ p(X):-q(X,Y)in[3],notr(Y). alarm:-alwaysrin[2]."
    ),
    "atoms": (
        b"7 -1 8 1970-01-01T00:00:00Z 9999999999999999999 \t 7\t 8\t p(a,b). q(7). r. p( ) , . "
        b'"x" -1.5 2e3 true ex:p(a). <http://e/>(a). triple(a,b,c). X % \n 7\tp(a). \0 \xff \\ '
        b"' p'(a)."
    ),
    "pipeline": (
        b'name="x"\n [streams.s]\n from="files"\n from="rows"\n from="socket"\n path="." '
        b'path="/no"\n window="3\x20s"\n window={count=3}\n window={session=3,group=["s"]}\n '
        b'[rules]\n use="rdfs"\n use=["x"]\n [outputs.o]\n to="console"\n to="kafka"\n of="q"\n '
        b'[run]\n placement="auto"\n = [ ] { } " \n # 1 true [spark]\n master="local[1]"\n '
        b'[background]\n files=["x"]\n \0 \xff [time]\n lateness="1\x20s"\n [queries]\n '
        b"[programs.p]\n"
    ),
    "timed": (
        b"7 -1 1970-01-01T00:00:00Z 99999999999999999999 7\t \t <http://e/a> <a> <http://e _:b _:b."
        b' "x" "\\u00e9" "\\ud800" "\\x" " @en ^^ <http://e/t> . # \n \r\n \r \0 \xc3\xa9 \xff \\'
        b" 7\t<http://e/a><http://e/p>_:b."
    ),
    "turtle": (
        b"@prefix e: <http://e/> . e:a e:b a <x> <http://e/y> _:b [ ] ( ) ; , . 7 -1.5 2e3 true 'x'"
        b' """ \'\'\' "y" @en ^^ \\u00e9 # \n PREFIX BASE \xc3\xa9 \xff \0 e:a<p>[<q>(1)].'
    ),
    "trig": (
        b"@prefix e: <http://e/> . GRAPH e:g { } e:a <x> _:b [ ] ( ) ; , . 7 'x' @en { <a><b>1} \n"
    ),
    "rdfxml": (
        b'<?xml?> <rdf:RDF\nxmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"\nxmlns:e="e:"> '
        b'<e:C> </e:C> <rdf:Description\nrdf:about="a"> <e:p/> <e:p\nrdf:parseType="Collection"> '
        b"</e:p> </rdf:Description> </rdf:RDF> <!-- --> <![CDATA[ ]]> &amp; &x; <!DOCTYPE [ ]> < >"
    ),
    "jsonld": (
        b'{ } [ ] , : "@id" "@context" "@vocab" "@graph" "@type" "@value" "@language" "e:p" '
        b'"http://e/" "_:b" "x" -1.5e3 true null {"@id":"e:a","e:p":[1,"x",{"@id":"_:b"}]} "\\u00e9'
    ),
    "nquads": b'<http://e/a> <http://e/p> _:b _:invented-1 "x" "\\t" @en ^^ <http://e/t> . # \n \r',
    "term": b'< > http://e/ a _: . : " @en ^^ \\u00e9 \\ud800 \\n \\ \0 \xff \n',
}


def inputs(target: str) -> st.SearchStrategy[bytes]:
    """Noise, and pieces with and without spaces between them."""
    piece = st.sampled_from(PIECES[target].split(b" ")) | st.binary(max_size=3)
    pieces = st.lists(piece, max_size=15)
    return st.binary() | st.builds(bytes.join, st.sampled_from([b"", b" "]), pieces)


@pytest.mark.parametrize("target", TARGETS)
def test_any_bytes(target):
    @settings(max_examples=500)
    @given(inputs(target))
    def run(data):
        TARGETS[target](data)

    run()
