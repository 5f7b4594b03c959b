"""The parse stage: every line that is not blank becomes a row."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pytest

from ebbtide.pipeline.stages.parse import Documents, parser

GOOD = '1500\t<http://e/a> <http://e/says> "tab\\tquote\\"" .'
COLUMNS = ["source", "line", "t", "s", "p", "o", "error"]


def batches(
    content: bytes, name: str = "a b.tnt", longest_term: int = 1_000
) -> list[pa.RecordBatch]:
    batch = pa.RecordBatch.from_pydict({"path": [f"file:/data/in/{name}"], "content": [content]})
    return list(parser("/data/in", Documents(longest_term=longest_term))([batch]))


def rows(content: bytes | str, name: str = "a b.tnt", longest_term: int = 1_000):
    data = content.encode() if isinstance(content, str) else content
    return [row for batch in batches(data, name, longest_term) for row in batch.to_pylist()]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_fact_is_a_row_of_texts(pack) -> None:
    (row,) = rows(pack(GOOD.encode()))
    assert row == {
        "source": "a b.tnt",
        "line": 1,
        "t": 1500,
        "s": "<http://e/a>",
        "p": "<http://e/says>",
        "o": '"tab\tquote\\""',
        "error": None,
    }


def test_a_bad_line_says_where_and_why_and_what() -> None:
    line = "noon\t<http://e/a> <http://e/p> <http://e/b> ."
    good, bad = rows(f"# first\n{line}\n{GOOD}\n")
    assert (good["line"], good["t"]) == (3, 1500)
    assert bad["t"] is bad["s"] is bad["p"] is bad["o"] is None
    assert bad["source"] == "a b.tnt"
    assert bad["error"] == {
        "line": 2,
        "column": 1,
        "reason": "not an instant (milliseconds or ISO 8601): 'noon'",
        "text": line,
    }


@pytest.mark.parametrize("name", ["a.tnt", "a.nq"])
def test_the_text_of_a_bad_line_has_no_end_of_the_line(name: str) -> None:
    found = rows(f"noon\r\n{GOOD}\r\nno tab at all\r\n", name)
    letters = [row["error"] for row in found if row["error"]]
    assert [letter["text"] for letter in letters][:1] == ["noon"]
    assert not any("\r" in letter["text"] for letter in letters)


def test_blank_lines_and_comments_are_no_rows() -> None:
    assert rows("\n# a comment\n   \n") == []


TRIG = """@prefix ex: <http://e/> . @prefix prov: <http://www.w3.org/ns/prov#> .
ex:g { ex:a ex:p ex:b } ex:g prov:generatedAtTime "1970-01-01T00:00:02Z" ."""
JSON_LD = """{"@id": "http://e/g",
    "http://www.w3.org/ns/prov#generatedAtTime": {"@value": "1970-01-01T00:00:02Z",
        "@type": "http://www.w3.org/2001/XMLSchema#dateTime"},
    "@graph": [{"@id": "http://e/a", "http://e/p": {"@id": "http://e/b"}}]}"""


@pytest.mark.parametrize(("text", "name"), [(TRIG, "graphs.trig"), (JSON_LD, "graphs.jsonld")])
def test_graphs_are_streams_too(text: str, name: str) -> None:
    (row,) = rows(text, name)
    assert (row["t"], row["s"], row["o"]) == (2000, "<http://e/a>", "<http://e/b>")


DATED = """@prefix ex: <http://e/> . @prefix prov: <http://www.w3.org/ns/prov#> .
ex:g { ex:a ex:p ex:b ;
            ex:q "1" , 2
}
ex:g prov:generatedAtTime "1970-01-01T00:00:02Z" .
ex:h { ex:a ex:p ex:b }
ex:i prov:generatedAtTime "noon" .
ex:j ex:p ex:b .
ex:k { ex:a ex:p ; }
"""


def test_facts_and_faults_of_graphs_have_their_lines() -> None:
    found = rows(DATED, "graphs.trig")
    assert [row["line"] for row in found if row["error"] is None] == [2, 3, 3]
    faults = [row["error"] for row in found if row["error"] is not None]
    assert [(each["line"], each["column"]) for each in faults] == [(7, 1), (9, 18), (6, 1), (8, 1)]
    texts = DATED.splitlines()
    assert [each["text"] for each in faults] == [texts[each["line"] - 1] for each in faults]


DATED_JSON = """{"@context": {"ex": "http://e/", "at": "http://www.w3.org/ns/prov#generatedAtTime"},
"@graph": [
  {"@id": "ex:g", "at": "1970-01-01T00:00:02Z", "@graph": [
    {"@id": "ex:a", "ex:p": {"@id": "ex:b"},
                    "ex:q": ["1",
                             2]},
    {"@id": "ex:c", "ex:has": {"ex:p": 3}}]},
  {"@id": "ex:h", "@graph": [{"@id": "ex:a", "ex:p": {"@id": "ex:b"}}]},
  {"@id": "ex:i", "at": "noon"},
  {"@id": "ex:j", "ex:p": {"@id": "ex:b"}},
  {"@id": "ex:g", "at": "1970-01-01T00:00:03Z"}
]}
"""


def test_facts_and_faults_of_json_ld_have_their_lines() -> None:
    found = rows(DATED_JSON, "graphs.jsonld")
    assert [row["line"] for row in found if row["error"] is None] == [4, 5, 6, 7, 7]
    faults = [row["error"] for row in found if row["error"] is not None]
    assert [each["line"] for each in faults] == [9, 11, 8, 10]
    texts = DATED_JSON.splitlines()
    assert [each["text"] for each in faults] == [texts[each["line"] - 1] for each in faults]


def test_json_ld_that_means_nothing_has_a_line() -> None:
    (row,) = rows('{"@id": "http://e/g",\n "http://e/p": {"@value": {}}}', "graphs.jsonld")
    assert (row["error"]["line"], row["source"]) == (2, "graphs.jsonld")


def test_json_ld_whose_context_is_last_is_read_as_well() -> None:
    context, graph = DATED_JSON[1:].strip().removesuffix("}").split(",\n", 1)
    turned = f"{{{graph},\n{context}}}"
    expected = [row for row in rows(DATED_JSON, "graphs.jsonld") if row["error"] is None]
    found = [row for row in rows(turned, "graphs.jsonld") if row["error"] is None]
    assert [(row["t"], row["p"]) for row in found] == [(row["t"], row["p"]) for row in expected]


def test_a_document_that_breaks_off_is_one_bad_row() -> None:
    (row,) = rows("@prefix ex: <http://e/> . ex:g { ex:a ", "graphs.trig")
    assert row["error"]["line"] == 1
    assert "source" in row


def test_a_format_nobody_knows_is_a_bad_row() -> None:
    (row,) = rows("1 2 3", "numbers.csv")
    assert "csv" in row["error"]["reason"]


def test_terms_may_be_too_long() -> None:
    long = f'1600\t<http://e/a> <http://e/says> "{"x" * 2_000}" .'
    bad, good = rows(f"{long}\n{GOOD}\n")
    assert bad["error"]["reason"] == "a term is longer than 1000 bytes"
    assert len(bad["error"]["text"]) == 1_000
    assert (good["line"], good["t"]) == (2, 1500)
    assert bad["error"]["line"] == 1


def test_columns_are_always_the_same() -> None:
    for content in (GOOD, "noon", f"noon\n{GOOD}"):
        for batch in batches(content.encode()):
            assert batch.schema.names == COLUMNS
