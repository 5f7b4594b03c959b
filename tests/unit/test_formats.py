"""Line formats: every line is a fact, a bad line, or nothing; terms come out canonical."""

import gzip
from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.terms import IRI, BlankNode, Literal, parse_term
from ebbtide.terms.formats import (
    MAX_LINE,
    BadLine,
    FormatError,
    TimedFact,
    parse_lines,
    read_quads,
    read_tables,
    read_timed,
    read_triples,
)
from ebbtide.time import InstantError, parse_instant

A, P, B = IRI("http://e/a"), IRI("http://e/p"), IRI("http://e/b")
STATEMENT = "<http://e/a> <http://e/p> <http://e/b> ."


def timed(text: str | bytes) -> list[TimedFact | BadLine]:
    data = text.encode() if isinstance(text, str) else text
    return list(read_timed(data, "tnt", name="f.tnt"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("7\t<http://e/a> <http://e/p> <http://e/b> .", TimedFact((A, P, B), 7)),
        ("-7\t<http://e/a><http://e/p><http://e/b>.", TimedFact((A, P, B), -7)),
        ("7\t_:x.y <http://e/p> _:z. # why", TimedFact((BlankNode("x.y"), P, BlankNode("z")), 7)),
        (
            '7\t<http://e/a> <http://e/p> "x\\n\\u00e9"@en .',
            TimedFact((A, P, Literal("x\né", language="en")), 7),
        ),
        (
            '7\t<http://e/a> <http://e/p> "x"^^<http://e/b> .\r',
            TimedFact((A, P, Literal("x", "http://e/b")), 7),
        ),
        (
            "1970-01-01T00:00:01Z\t<http://e/a> <http://e/p> <http://e/b> .",
            TimedFact((A, P, B), 1000),
        ),
    ],
)
def test_lines(line, expected):
    assert timed(line) == [expected]


@pytest.mark.parametrize("line", ["", "   ", "# a comment", " \t # another"])
def test_blank_lines_and_comments_are_nothing(line):
    assert timed(line + "\n") == []


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        ("7 <http://e/a> <http://e/p> <http://e/b> .", 1, "expected an instant, a TAB and"),
        ("noon\t<http://e/a> <http://e/p> <http://e/b> .", 1, "not an instant"),
        ("1_0\t<http://e/a> <http://e/p> <http://e/b> .", 1, "not an instant"),
        (f"{2**63}\t<http://e/a> <http://e/p> <http://e/b> .", 1, "not an instant"),
        ("7\t", 3, "expected an N-Triples statement after the TAB"),
        ("7\t# nothing", 3, "expected an N-Triples statement after the TAB"),
        ('7\t"x" <http://e/p> <http://e/b> .', 3, "expected a subject"),
        ("7\t<a> <http://e/p> <http://e/b> .", 3, "expected a subject: an absolute IRI"),
        ("7\t<http://e/a> _:p <http://e/b> .", 16, "expected a predicate"),
        ("7\t<http://e/a> <http://e/p> .", 29, "expected an object"),
        ('7\t<http://e/a> <http://e/p> "x .', 29, "expected an object"),
        ('7\t<http://e/a> <http://e/p> "\\ud800" .', 29, "not a Unicode character"),
        ("7\t<http://e/a> <http://e/p> <http://e/b>", 41, "expected a full stop"),
        (
            "7\t<http://e/a> <http://e/p> <http://e/b> . x",
            43,
            "expected nothing after the full stop",
        ),
        ("7\t<http://e/é> <http://e/p> x .", 29, "expected an object"),
    ],
)
def test_bad_lines_say_where_and_why(line, column, reason):
    good = f"8\t{STATEMENT}"
    bad, after = timed(f"\n{line}\n{good}\n")
    assert isinstance(bad, BadLine)
    assert (bad.source, bad.line, bad.column, bad.text) == ("f.tnt", 2, column, line)
    assert bad.reason.startswith(reason)
    assert str(bad) == f"f.tnt:2:{column}: {bad.reason}"
    assert after == TimedFact((A, P, B), 8)


def test_bytes_that_are_not_utf8():
    (bad,) = timed(b'7\t<http://e/a> <http://e/p> "\xc3\xa9\xff" .\n')
    assert isinstance(bad, BadLine)
    assert (bad.line, bad.column) == (1, 31)
    assert bad.reason == "the line is not UTF-8"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", "\r\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_any_line_end_and_a_byte_order_mark(end, mark):
    text = f"{mark}1\t{STATEMENT}{end}2\t{STATEMENT}{end}x{end}"
    one, two, bad = timed(text)
    assert (one.at, two.at) == (1, 2)
    assert bad.line == (3 if len(end) == 1 or end == "\r\n" else 5)


def test_a_huge_term_is_read():
    text = "x" * (MAX_LINE - 100)
    (fact,) = timed(f'7\t<http://e/a> <http://e/p> "{text}" .')
    assert fact == TimedFact((A, P, Literal(text)), 7)


def test_a_line_may_not_be_endless():
    line = b'7\t<http://e/a> <http://e/p> "' + b"x" * (2 * MAX_LINE) + b'" .\n'
    bad, after = timed(line + f"8\t{STATEMENT}".encode())
    assert isinstance(bad, BadLine)
    assert bad.reason == f"the line is longer than {MAX_LINE} bytes"
    assert after == TimedFact((A, P, B), 8)


def test_files_plain_and_compressed(tmp_path):
    text = f"{STATEMENT}\n\n# done\n".encode()
    (tmp_path / "a.nt").write_bytes(text)
    (tmp_path / "a.nt.gz").write_bytes(gzip.compress(text) + gzip.compress(text))
    assert list(read_triples(tmp_path / "a.nt")) == [(A, P, B)]
    assert list(read_triples(tmp_path / "a.nt.gz")) == [(A, P, B)] * 2


def test_quads():
    text = f"{STATEMENT}\n{STATEMENT[:-1]} <http://e/g> .\n".encode()
    assert list(read_quads(text, "nq")) == [(A, P, B, None), (A, P, B, IRI("http://e/g"))]
    assert list(read_triples(text, "nq")) == [(A, P, B)] * 2
    assert list(read_triples(text, "nq", graph="http://e/g")) == [(A, P, B)]
    assert list(read_triples(text, "nq", graph=IRI("http://e/h"))) == []
    assert list(read_triples(text, "nq", graph="default")) == [(A, P, B)]


def test_triples_raise_at_the_first_bad_line_after_what_was_before(tmp_path):
    path = tmp_path / "a.nt"
    path.write_text(f"{STATEMENT}\n<http://e/a> <http://e/p> .\n{STATEMENT}\n")
    triples = read_triples(path)
    assert next(triples) == (A, P, B)
    with pytest.raises(FormatError, match=r"a\.nt:2:27: expected an object") as caught:
        next(triples)
    assert (caught.value.bad.line, caught.value.bad.text) == (2, "<http://e/a> <http://e/p> .")
    assert list(triples) == []


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(FormatError, match=r"none\.tnt:1:1: cannot read the file: No such file"):
        list(read_timed(tmp_path / "none.tnt"))
    (tmp_path / "folder.nt").mkdir()
    with pytest.raises(FormatError, match=r"folder\.nt:1:1: cannot read the file: Is a dir"):
        list(read_triples(tmp_path / "folder.nt"))


def test_formats_that_do_not_fit():
    with pytest.raises(FormatError, match=r"x\.csv:1:1: the name does not tell the format"):
        list(read_triples(b"", name="x.csv"))
    with pytest.raises(ValueError, match="there is no format 'csv'; there are nt"):
        list(read_triples(b"", "csv"))
    with pytest.raises(FormatError, match="the format tnt holds a stream"):
        list(read_triples(b"", "tnt"))
    with pytest.raises(FormatError, match="the format ttl has no instants"):
        list(read_timed(b"", "ttl"))


def test_a_compressed_file_that_was_cut(tmp_path):
    lines = b"".join(b"%d\t%b\n" % (n, STATEMENT.encode()) for n in range(9_999))
    path = tmp_path / "a.tnt.gz"
    path.write_bytes(gzip.compress(lines)[:-200])
    *facts, bad = read_timed(path)
    assert isinstance(bad, BadLine)
    assert bad.reason.startswith("the file is damaged")
    assert bad.line == len(facts) + 1 > 1


def test_tables_collect_bad_lines():
    lines = [STATEMENT, "x", STATEMENT, "_:b"]
    bad: list[BadLine] = []
    tables = read_tables("\n".join(lines).encode(), "nt", name="f.nt", bad=bad)
    (table,) = map(pa.table, tables)
    assert table.to_pylist() == [{"s": A.text, "p": P.text, "o": B.text}] * 2
    assert [(each.line, each.text) for each in bad] == [(2, "x"), (4, "_:b")]
    with pytest.raises(FormatError, match=r"f\.nt:1:1"):
        list(read_tables(b"x", "nt", name="f.nt"))


def test_timed_tables():
    (table,) = map(pa.table, read_tables(f"7\t{STATEMENT}".encode(), "tnt", timed=True))
    assert table.to_pylist() == [{"t": 7, "s": A.text, "p": P.text, "o": B.text}]


def test_columns_of_lines():
    lines = pa.table({"value": [f"7\t{STATEMENT}", "# no", None, "noon", f"8\t{STATEMENT}\n9"]})
    rows = pa.table(parse_lines(lines)).to_pylist()
    fact = {"s": A.text, "p": P.text, "o": B.text, "error": None}
    assert [rows[0], rows[2]] == [{"t": 7} | fact, {"t": 8} | fact]
    reason = "expected an instant, a TAB and an N-Triples statement"
    assert [row["error"] for row in (rows[1], rows[3])] == [
        {"column": 1, "reason": reason, "line": "noon"},
        {"column": 1, "reason": reason, "line": "9"},
    ]
    assert rows[1]["t"] is rows[1]["s"] is None
    quads = parse_lines(pa.table({"value": [f"{STATEMENT[:-1]} <http://e/g> ."]}), "nq")
    assert pa.table(quads).column_names == ["s", "p", "o", "g", "error"]
    with pytest.raises(ValueError, match="'ttl' has no lines"):
        parse_lines(lines, "ttl")
    with pytest.raises(TypeError, match="lines are strings or bytes, not Int64"):
        parse_lines(pa.table({"value": [1]}))


def test_columns_of_bytes():
    """Of what is no text its line alone is bad."""
    line = f"7\t{STATEMENT}".encode()
    bad = '8\t<http://e/ä> "caf'.encode() + b"\xe9"
    rows = pa.table(parse_lines(pa.table({"value": [line, None, line + b"\n" + bad]}))).to_pylist()
    assert [row["t"] for row in rows] == [7, 7, None]
    assert rows[2]["error"] == {
        "column": 20,
        "reason": "the line is not UTF-8",
        "line": '8\t<http://e/ä> "caf\ufffd',
    }


def test_blank_nodes_are_local_to_their_document():
    text = b"_:x <http://e/p> _:y ."
    ((x, _, y),) = read_triples(text, "nt", name="one")
    assert [(x, P, y)] == list(read_triples(text, "nt", name="two")), "the content is the scope"
    ((other, _, _),) = read_triples(text + b"\n", "nt")
    assert isinstance(x, BlankNode)
    assert x.label.endswith("-x")
    assert len({x, y, other}) == 3
    assert list(read_triples(text, "nt", keep_labels=True)) == [(BlankNode("x"), P, BlankNode("y"))]


def test_invented_labels_are_renamed():
    (fact,) = timed("7\t_:invented-1-ab <http://e/p> _:given-invented-1-ab .")
    assert fact.triple[0] == BlankNode("given-invented-1-ab")
    assert fact.triple[2] == BlankNode("given-given-invented-1-ab")


# ---- properties: our scanner against the terms of Python -------------------------------------

CHARACTERS = st.characters(exclude_categories=["Cs"])
IRI_CHARACTERS = st.characters(
    min_codepoint=0x21, exclude_categories=["Cs"], exclude_characters='<>"{}|^`\\'
)
TERMS = (
    st.builds(Literal, st.text(CHARACTERS))
    | st.builds(Literal, st.text(CHARACTERS), st.just("http://e/t"))
    | st.builds(Literal, st.text(CHARACTERS), language=st.sampled_from(["en", "fi-FI"]))
    | st.builds(BlankNode, st.text("abcXYZ019_", min_size=1))
    | st.builds(lambda tail: IRI(f"http://e/{tail}"), st.text(IRI_CHARACTERS))
)


@given(TERMS)
def test_a_term_survives_its_text_and_a_line(term):
    assert parse_term(term.text) == term
    assert timed(f"1\t<http://e/a> <http://e/p> {term.text} .\n") == [TimedFact((A, P, term), 1)]


def escaped(text: str, hard: bool) -> st.SearchStrategy[str]:
    """The text, its characters escaped in any of the ways that N-Triples has."""

    def ways(character: str) -> st.SearchStrategy[str]:
        code = ord(character)
        found = [f"\\U{code:08x}"]
        if code < 0x10000:
            found.append(f"\\u{code:04X}")
        if not hard or character not in '"\\\n\r':
            found.append(character)
        if hard and character in (short := dict(zip("\t\b\n\r\f\"'\\", "tbnrf\"'\\", strict=True))):
            found.append("\\" + short[character])
        return st.sampled_from(found)

    return st.tuples(*map(ways, text)).map("".join)


WRITTEN = (
    st.text(CHARACTERS, max_size=8).flatmap(lambda text: escaped(text, True)).map('"{}"'.format)
    | st.text(IRI_CHARACTERS, max_size=8)
    .flatmap(lambda text: escaped(text, False))
    .map("<http://e/{}>".format)
    | st.builds(
        '"{}"^^<http://www.w3.org/2001/XMLSchema#{}>'.format,
        st.sampled_from(["", "7", "\\t"]),
        st.sampled_from(["string", "\\u0073tring", "integer"]),
    )
    | st.builds("_:{}".format, st.text(CHARACTERS, max_size=4))
    | st.builds('"x"@{}'.format, st.text("aB1-", max_size=6))
)


@given(WRITTEN)
def test_terms_come_out_as_python_reads_them(written):
    """Whatever one parser takes for a term the other takes for the same."""
    line = f"<http://e/a> <http://e/p> {written} ."
    try:
        expected = parse_term(written)
    except ValueError:
        expected = None
    try:
        found = [triple[2] for triple in read_triples(line.encode(), "nt", keep_labels=True)]
    except FormatError:
        found = [None]
    reserved = written.startswith(("_:invented-", "_:given-"))
    assert found == [expected] or reserved or expected is None


@given(
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)),
    st.none() | st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m))),
    st.sampled_from(["auto", "hours", "minutes", "seconds", "milliseconds", "microseconds"]),
    st.sampled_from("T "),
)
def test_instants_are_those_of_datetime(moment, zone, precision, separator):
    text = moment.replace(tzinfo=zone).isoformat(separator, precision)
    expected = datetime.fromisoformat(text)
    if expected.tzinfo is None:
        expected = expected.replace(tzinfo=UTC)
    since = expected - datetime(1970, 1, 1, tzinfo=UTC)
    assert parse_instant(text) == since // timedelta(milliseconds=1)


@given(st.text("0123456789-+:TZ. "))
def test_texts_that_datetime_refuses_are_refused(text):
    try:
        found = parse_instant(text)
    except InstantError:
        return
    if not text.lstrip("+-").isdigit():
        moment = datetime.fromisoformat(text.replace("z", "Z"))
        assert found == (moment.replace(tzinfo=moment.tzinfo or UTC)).timestamp() * 1000 // 1


def test_an_archive_that_is_no_archive() -> None:
    with pytest.raises(FormatError, match="fuzz:1:1: the file is damaged: unexpected end of file"):
        list(read_timed(b"\x1f\x8b", "tnt", name="fuzz"))
