"""The closure of some files under some rules, at one tick."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ebbtide.cli.builtins import import_builtins
from ebbtide.cli.errors import InputError
from ebbtide.cli.progress import bar, step

if TYPE_CHECKING:
    from ebbtide.reasoner import Reasoner


class Format(StrEnum):
    """The formats that facts without instants are read and written in."""

    NT = "nt"
    NQ = "nq"
    TTL = "ttl"
    TRIG = "trig"
    RDF = "rdf"
    JSONLD = "jsonld"


STANDARD_INPUT: Final = Path("-")

Data = Annotated[
    list[Path],
    typer.Argument(
        help="RDF files, plain or .gz, by their suffixes; - for standard input.", metavar="DATA"
    ),
]
ReadAs = Annotated[
    Format | None,
    typer.Option(
        help="The format of DATA, whatever its suffixes say. Standard input is else read as ttl, "
        "which nt is, too."
    ),
]
RuleNames = Annotated[
    str,
    typer.Option(
        "--rules",
        help="Regimes and rule files, joined by commas: owl2rl,site.rules",
        metavar="RULES",
    ),
]


def closure(
    data: Iterable[Path], rules: str, builtins: Iterable[str] | None, read_as: Format | None
) -> Reasoner:
    """A reasoner that holds every fact of the files and all that follows."""
    from ebbtide.reasoner import Reasoner

    import_builtins(builtins)

    # Standard output is for answers. For one tick, planning costs more than it saves.
    reasoner = Reasoner(rules, printer=partial(print, file=sys.stderr), specialise=False)
    for path in data:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name the files in it")
        if path == STANDARD_INPUT:
            text = sys.stdin.buffer.read()
            reasoner.parse(text, read_as or Format.TTL, name="<standard input>")
            continue
        with bar(f"reading {path}") as progress:
            reasoner.parse(path, read_as, progress=progress)
    with step("reasoning"):
        reasoner.settle()
    return reasoner
