"""`ebbtide rules export`: a regime as a file of one's own, to edit, as it is or as SPARQL."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ebbtide.cli.errors import InputError
from ebbtide.cli.rules.show import Name

if TYPE_CHECKING:
    from ebbtide.regimes.regime import Regime


class Language(StrEnum):
    """The rule languages that a regime can be written in."""

    RULES = "rules"
    SPARQL = "sparql"


def export(
    name: Name,
    file: Annotated[
        Path | None,
        typer.Argument(help="Where to [NAME.rules or NAME.rq].", dir_okay=False, metavar="FILE"),
    ] = None,
    language: Annotated[
        Language, typer.Option("--as", help="The language that the rules are written in.")
    ] = Language.RULES,
) -> None:
    """Copy the rule file of the regime NAME to FILE, which must not exist yet.

    As SPARQL, the rules of included regimes are written out. Those that SPARQL cannot say are left
    out, and told on standard error.
    """
    from ebbtide.regimes import find

    regime = find(name)
    target = file or Path(regime.name + (".rq" if language == "sparql" else ".rules"))
    text = _as_sparql(regime) if language == "sparql" else regime.text
    try:
        with target.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise InputError(f"{target}: the file exists already; name another one") from None
    print(target)


def _as_sparql(regime: Regime) -> str:
    from ebbtide.languages.sparql_rules import write_sparql_rules

    written = write_sparql_rules(regime.program)
    for rule, reason in written.left_out.items():
        print(f"ebbtide: left out {rule}: {reason}", file=sys.stderr)
    notes = [f"title: {regime.title}", f"source: {regime.source}", f"covers: {regime.covers}"]
    left_out = {**regime.leaves_out, **written.left_out}
    notes += [f"leaves out: {rule}: {reason}" for rule, reason in left_out.items()]
    return "".join(f"# {note}\n" for note in notes) + f"\n{written.text}"
