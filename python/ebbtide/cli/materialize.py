"""`ebbtide materialize`: the closure of files under rules, in any format of RDF."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from ebbtide.cli.builtins import Builtins
from ebbtide.cli.closure import Data, RuleNames, closure
from ebbtide.cli.errors import InputError
from ebbtide.cli.events import tell_events
from ebbtide.cli.progress import step


class Format(StrEnum):
    """The formats that facts without instants are written in."""

    NT = "nt"
    NQ = "nq"
    TTL = "ttl"
    TRIG = "trig"
    RDF = "rdf"
    JSONLD = "jsonld"


def materialize(
    data: Data,
    rules: RuleNames,
    builtins: Builtins = None,
    inferred_only: Annotated[
        bool, typer.Option("--inferred-only", help="Leave out the facts of the files.")
    ] = False,
    format: Annotated[
        Format | None,
        typer.Option(help="How the facts are written: nt, or nq with --inferred-graph."),
    ] = None,
    inferred_graph: Annotated[
        str | None,
        typer.Option(help="Put the inferred facts into a graph of this name.", metavar="IRI"),
    ] = None,
    invented: Annotated[
        bool, typer.Option("--invented", help="Write facts about nodes that rules invented, too.")
    ] = False,
) -> None:
    """Write the closure of DATA under RULES to standard output, sorted.

    Inconsistencies and malformed lists are told on standard error. The closure is written even if
    there are any; the exit code is then 1 for an inconsistency, and 0 for a malformed list.
    """
    from ebbtide.terms.writing import FORMATS_WITH_GRAPHS

    written_as = format or (Format.NT if inferred_graph is None else Format.NQ)
    if inferred_graph is not None and written_as not in FORMATS_WITH_GRAPHS:
        raise InputError(
            f"--format {written_as} has no graphs for --inferred-graph; nq, trig and jsonld have"
        )
    reasoner = closure(data, rules, builtins)
    with step("writing"):
        written = reasoner.write(
            sys.stdout.buffer,
            written_as,
            part="inferred" if inferred_only else "all",
            inferred_graph=inferred_graph,
            invented=invented,
        )
    sys.stdout.buffer.flush()
    if written.left_out:
        print(
            f"ebbtide: left out {written.left_out} facts that RDF cannot say: "
            "their subject is a literal, or their predicate is no IRI",
            file=sys.stderr,
        )
    tell_events(reasoner)
