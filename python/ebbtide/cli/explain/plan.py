"""`ebbtide explain plan`: what becomes of each rule, and how the kernel runs the program."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ebbtide.cli.builtins import Builtins, import_builtins

if TYPE_CHECKING:
    from ebbtide.program import Atom


def plan(
    rules: Annotated[
        str, typer.Argument(help="Regimes and rule files, joined by commas.", metavar="RULES")
    ],
    background: Annotated[
        list[Path] | None,
        typer.Option(help="An RDF file with the schema that the plan is for. May be repeated."),
    ] = None,
    wanted: Annotated[
        list[str] | None,
        typer.Option(
            help="A pattern of the facts that are wanted, as in a rule: '(?x rdf:type <IRI>)', "
            "or the file of a SPARQL query. May be repeated; without any, all facts are wanted.",
            metavar="PATTERN|FILE.rq",
        ),
    ] = None,
    builtins: Builtins = None,
) -> None:
    """Print what becomes of each rule, then the join orders and the indexes the kernel chooses.

    With a background the rules are specialised to its schema. With wanted patterns, rules that
    contribute nothing to them are dropped, or sleep until other schema comes.
    """
    from ebbtide.reasoner import Reasoner

    import_builtins(builtins)
    reasoner = Reasoner(rules, wanted=list(_atoms(wanted)) if wanted else None)
    for path in background or ():
        reasoner.parse(path)
    print(reasoner.explain())


def _atoms(wanted: Iterable[str]) -> Iterable[Atom]:
    from ebbtide.languages.files import read_text
    from ebbtide.languages.jena import parse_rules
    from ebbtide.languages.sparql.asked import asked_by

    for each in wanted:
        if each.lstrip().startswith("("):
            rule = f"[{each} -> (<x:this> <x:is> <x:wanted>)]"
            yield from parse_rules(rule, "--wanted").rules[0].positives
        else:
            yield from asked_by(read_text(each, "query"), each)
