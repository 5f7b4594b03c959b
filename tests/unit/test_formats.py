"""N-Triples and timed N-Triples: every line is a fact, a bad line, or nothing."""

import gzip
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.terms import IRI, BlankNode, Literal, parse_term
from ebbtide.terms.formats import (
    MAX_LINE,
    BadLine,
    FormatError,
    TimedFact,
    parse_timed,
    read_ntriples,
    read_timed,
)

A, P, B = IRI("http://e/a"), IRI("http://e/p"), IRI("http://e/b")


def timed(text: str | bytes) -> list[TimedFact | BadLine]:
    data = text.encode() if isinstance(text, str) else text
    return list(parse_timed(BytesIO(data), "f.tnt"))


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
    ],
)
def test_bad_lines_say_where_and_why(line, column, reason):
    good = "8\t<http://e/a> <http://e/p> <http://e/b> ."
    bad, after = timed(f"\n{line}\n{good}\n")
    assert isinstance(bad, BadLine)
    assert (bad.line, bad.column, bad.text) == (2, column, line)
    assert bad.reason.startswith(reason)
    assert str(bad) == f"f.tnt:2:{column}: {bad.reason}"
    assert after == TimedFact((A, P, B), 8)


def test_bytes_that_are_not_utf8():
    (bad,) = timed(b'7\t<http://e/a> <http://e/p> "\xc3\xa9\xff" .\n')
    assert isinstance(bad, BadLine)
    assert (bad.line, bad.column) == (1, 31)
    assert bad.reason == "the line is not UTF-8"


def test_a_line_may_not_be_endless():
    line = b'7\t<http://e/a> <http://e/p> "' + b"x" * (2 * MAX_LINE) + b'" .\n'
    bad, after = timed(line + b"8\t<http://e/a> <http://e/p> <http://e/b> .")
    assert isinstance(bad, BadLine)
    assert bad.reason == f"the line is longer than {MAX_LINE} bytes"
    assert after == TimedFact((A, P, B), 8)


def test_files_plain_and_compressed(tmp_path):
    text = b"<http://e/a> <http://e/p> <http://e/b> .\n\n# done\n"
    (tmp_path / "a.nt").write_bytes(text)
    (tmp_path / "a.nt.gz").write_bytes(gzip.compress(text))
    assert list(read_ntriples(tmp_path / "a.nt")) == [(A, P, B)]
    assert list(read_ntriples(tmp_path / "a.nt.gz")) == [(A, P, B)]


def test_ntriples_raise_at_the_first_bad_line(tmp_path):
    path = tmp_path / "a.nt"
    path.write_text("<http://e/a> <http://e/p> <http://e/b> .\n<http://e/a> <http://e/p> .\n")
    with pytest.raises(FormatError, match=r"a\.nt:2:27: expected an object") as caught:
        list(read_ntriples(path))
    assert caught.value.bad.line == 2


def test_a_missing_file(tmp_path):
    with pytest.raises(FormatError, match=r"none\.tnt:1:1: cannot read the file: No such file"):
        list(read_timed(tmp_path / "none.tnt"))


def test_a_compressed_file_that_was_cut(tmp_path):
    lines = b"".join(b"%d\t<http://e/a> <http://e/p> <http://e/b> .\n" % n for n in range(9_999))
    path = tmp_path / "a.tnt.gz"
    path.write_bytes(gzip.compress(lines)[:-200])
    *facts, bad = read_timed(path)
    assert isinstance(bad, BadLine)
    assert bad.reason.startswith("the file is damaged")
    assert bad.line == len(facts) + 1 > 1


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
