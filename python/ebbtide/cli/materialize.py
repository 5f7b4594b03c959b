"""`ebbtide materialize`: the closure of files under rules, in any format of RDF."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from ebbtide.cli.builtins import Builtins, import_builtins
from ebbtide.cli.closure import STANDARD_INPUT, Data, Format, ReadAs, RuleNames, closure
from ebbtide.cli.errors import WRONG_INPUT, InputError
from ebbtide.cli.events import tell_events
from ebbtide.cli.progress import step
from ebbtide.extras import needing

#: Spark's own, which those for small micro-batches of `open_session` replace.
BATCH_SETTINGS: Final = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "200",
}


def materialize(
    data: Data,
    rules: RuleNames,
    builtins: Builtins = None,
    read_as: ReadAs = None,
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
    into: Annotated[
        Path | None,
        typer.Option(
            help="Reason with Spark, as joins of DataFrames, for data of any size, and write "
            "N-Triples into this new folder.",
            metavar="FOLDER",
        ),
    ] = None,
    master: Annotated[
        str, typer.Option(help="Of Spark, with --into.", metavar="MASTER")
    ] = "local[*]",
) -> None:
    """Write the closure of DATA under RULES to standard output, sorted.

    Inconsistencies and malformed lists are told on standard error. The closure is written even if
    there are any; the exit code is then 1 for an inconsistency, and 0 for a malformed list.
    """
    from ebbtide.program.wording import counted
    from ebbtide.terms.writing import FORMATS_WITH_GRAPHS

    if into is not None:
        if inferred_graph is not None or format not in (None, Format.NT):
            raise InputError("--into writes N-Triples")
        if read_as is not None or STANDARD_INPUT in data:
            raise InputError("--into reads files, as what their suffixes say")
        import_builtins(builtins)
        _write_with_spark(data, rules, into, master, inferred_only, builtins or [])
        return
    written_as = format or (Format.NT if inferred_graph is None else Format.NQ)
    if inferred_graph is not None and written_as not in FORMATS_WITH_GRAPHS:
        raise InputError(
            f"--format {written_as} has no graphs for --inferred-graph; nq, trig and jsonld have"
        )
    reasoner = closure(data, rules, builtins, read_as)
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
            f"ebbtide: left out {counted(written.left_out, 'fact')} that RDF cannot say: "
            "their subject is a literal, or their predicate is no IRI",
            file=sys.stderr,
        )
    tell_events(reasoner)


def _write_with_spark(
    data: list[Path],
    rules: str,
    folder: Path,
    master: str,
    inferred_only: bool,
    builtins: Sequence[str],
) -> None:
    if folder.exists():
        raise InputError(f"{folder} is there already")
    from ebbtide.program.reserved import INCONSISTENCY

    with needing("a pipeline", "spark"):
        from ebbtide.pipeline.closure import program_of_joins, write_closure
        from ebbtide.pipeline.session import JVM_FOR_JOINS, close_session, open_session
    program = program_of_joins(rules)
    with step("starting Spark"):
        spark = open_session("ebbtide materialize", master, BATCH_SETTINGS, jvm=JVM_FOR_JOINS)
    try:
        with step("reasoning"):
            found = write_closure(
                spark, data, program, folder, inferred_only=inferred_only, builtins=builtins
            )
    finally:
        close_session(spark)
    print(f"ebbtide: {found.size} facts after {found.rounds} rounds of joins", file=sys.stderr)
    for name, count in found.events.items():
        print(f"ebbtide: {name}: {count} times", file=sys.stderr)
    if any(name.startswith(INCONSISTENCY) for name in found.events):
        raise typer.Exit(WRONG_INPUT)
