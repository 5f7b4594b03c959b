"""`ebbtide rules table`: rule by rule, what each regime covers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from ebbtide.cli.errors import InputError

MARK: Final = "<!-- from here on written by `make docs` -->"


def table(
    into: Annotated[
        Path | None,
        typer.Option(help="Write it into this page, below its mark.", dir_okay=False),
    ] = None,
) -> None:
    """Print the table of docs/regimes.md: each rule of each source, where it is, how it differs."""
    from ebbtide.regimes.coverage import coverage

    if into is None:
        print(coverage())
        return
    above, mark, _ = into.read_text(encoding="utf-8").partition(MARK)
    if not mark:
        raise InputError(f"{into}: the page has no line {MARK}")
    into.write_text(f"{above}{MARK}\n\n{coverage()}\n", encoding="utf-8")
