"""The query texts of the engines' own tests: which ones are read, and why the others are not.

python -m tests.unit.rspql.shared_texts PAGE     rewrites the table below the mark of the page
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.conformance.data import FOLDER

from ebbtide.languages.rspql import load_continuous_query
from ebbtide.program import ProgramError

FOLDERS: Final = ("csparql-queries", "citybench/csparql_query")
MARK: Final = "<!-- from here on written by `make docs` -->"
PAGE: Final = Path(__file__).parents[3] / "docs/languages/rspql.md"

#: What is wrong with each text that is refused, as a reader would say it.
WRONG: Final = {
    "csparql-engine__Application__03": "the subquery projects ?p and does not group by it",
    "csparql-engine__ExternalTimestampTests__01": "${width} is a place in a Java template",
    "rsp4j-csparql2__citybench-q12": "projects ?p and does not group by it",
    "rsp4j__FilterTest__04": "value2 lacks its question mark, and the brackets cross",
    "rsp4j__MultipleWindowQueryTest__02": "uses <window1>, and has <window2>",
    "rsp4j__MultipleWindowTest__03": "${...} is a place in a Java template",
    "rsp4j__TestRSPQLParserCB__01": "projects ?a and does not group",
    "rsp4j__TestRSPQLParser__01": "SELECT2",
    "rspql-spec-example__01": "a draft: BEGIN AT, WITH DURATION, AGGREGATE are no grammar",
    "rspql-spec-samples__01": "a draft: : is not declared, COUNT without brackets, :win for :wind",
    "rspql-spec-samples__03": "a draft: the stream s is no IRI, full stops and a bracket lack",
    "rspql-spec-samples__04": "a draft: : and units: are not declared",
    "rspql-spec-samples__06": "a draft: : is not declared",
    "rspql-spec-samples__07": "a draft: : is not declared, full stops lack, a window of the past",
    "rspql-srbench__01": "a draft: ends after WHERE {",
    "rspql-srbench__02": "a draft: : and srbench: are not declared",
    "rspql-srbench__04": "a draft: : and srbench: are not declared, :w for :win",
}


def texts() -> list[Path]:
    """Every text, in order."""
    return [path for folder in FOLDERS for path in sorted((FOLDER / folder).glob("*.rq"))]


def refused() -> Iterator[tuple[Path, ProgramError]]:
    """The texts that are not read, each with its error."""
    for path in texts():
        try:
            load_continuous_query(path)
        except ProgramError as error:
            yield path, error


def table() -> str:
    """How many texts are read, and a row for each that is not."""
    wrong = list(refused())
    rows = [
        f"| {path.name} | {WRONG[path.stem]} | {_place(error)}: {error.message} |".replace(
            "<", "\\<"
        )
        for path, error in wrong
    ]
    count = f"{len(texts()) - len(wrong)} of {len(texts())} texts are read. The others:"
    return "\n".join(
        (count, "", "| text | what is wrong | the error |", "|---|---|---|", *rows)
    ).replace("<", "\\<")


def _place(error: ProgramError) -> str:
    return f"{error.origin.line}:{error.origin.column}"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    above, _, _ = page.read_text(encoding="utf-8").partition(MARK)
    page.write_text(f"{above}{MARK}\n\n{table()}\n", encoding="utf-8")
