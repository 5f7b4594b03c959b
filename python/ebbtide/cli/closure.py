"""The closure of some files under some rules, at one tick."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ebbtide.cli.builtins import import_builtins
from ebbtide.cli.progress import bar, step

if TYPE_CHECKING:
    from ebbtide.reasoner import Reasoner

Data = Annotated[list[Path], typer.Argument(help="RDF files, plain or .gz.", metavar="DATA")]
RuleNames = Annotated[
    str,
    typer.Option(
        "--rules",
        help="Regimes and rule files, joined by commas: owl2rl,site.rules",
        metavar="RULES",
    ),
]


def closure(data: Iterable[Path], rules: str, builtins: Iterable[str] | None) -> Reasoner:
    """A reasoner that holds every fact of the files and all that follows."""
    from ebbtide.reasoner import Reasoner

    import_builtins(builtins)

    # Standard output is for answers. For one tick, planning costs more than it saves.
    reasoner = Reasoner(rules, printer=partial(print, file=sys.stderr), specialise=False)
    for path in data:
        with bar(f"reading {path}") as progress:
            reasoner.parse(path, progress=progress)
    with step("reasoning"):
        reasoner.settle()
    return reasoner
