"""The parse stage: every line that is not blank becomes a row."""

from __future__ import annotations

import pyarrow as pa

from ebbtide.pipeline.stages.parse import parse_batches

GOOD = '1500\t<http://e/a> <http://e/says> "tab\\tquote\\"" .'
COLUMNS = ["t", "s", "p", "o", "error"]


def rows(*lines: str) -> list[dict[str, object]]:
    batch = pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], names=["value"])
    return [row for parsed in parse_batches([batch]) for row in parsed.to_pylist()]


def test_a_fact_is_a_row_of_texts() -> None:
    (row,) = rows(GOOD)
    assert row == {
        "t": 1500,
        "s": "<http://e/a>",
        "p": "<http://e/says>",
        "o": '"tab\tquote\\""',
        "error": None,
    }


def test_a_bad_line_says_why_and_what() -> None:
    line = "noon\t<http://e/a> <http://e/p> <http://e/b> ."
    first, second = rows(line, GOOD)
    assert first["t"] is first["s"] is first["p"] is first["o"] is None
    assert first["error"] == {
        "column": 1,
        "reason": "not an instant (milliseconds or ISO 8601): 'noon'",
        "line": line,
    }
    assert second["t"] == 1500


def test_blank_lines_and_comments_are_no_rows() -> None:
    assert rows("", "# a comment", "   ") == []


def test_an_empty_batch_keeps_its_columns() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([], pa.string())], names=["value"])
    (parsed,) = parse_batches([batch])
    assert parsed.schema.names == COLUMNS
    assert parsed.num_rows == 0
