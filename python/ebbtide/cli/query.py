"""`ebbtide query`: the answers of continuous queries over streams, as JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ebbtide.cli.builtins import Builtins, import_builtins
from ebbtide.cli.errors import InputError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ebbtide.queries import Answers, QueryEngine, RegisteredQuery

Queries = Annotated[
    list[Path], typer.Argument(help="Queries in C-SPARQL or RSP-QL.", metavar="QUERY...")
]
Background = Annotated[
    list[str] | None,
    typer.Option(
        help="An RDF file that holds for ever: in the default graph, or as the graph IRI. "
        "May be repeated.",
        metavar="[IRI=]FILE",
    ),
]
RuleNames = Annotated[
    str | None,
    typer.Option(help="Regimes and rule files, joined by commas.", metavar="RULES"),
]
Start = Annotated[
    str | None,
    typer.Option(help="The instant that windows are aligned to, and time begins at."),
]
ReportPolicy = Annotated[
    str,
    typer.Option(
        help="window-close, content-change, non-empty, periodic:DURATION; joined by commas.",
        metavar="POLICY",
    ),
]


def query(
    queries: Queries,
    stream: Annotated[
        list[str] | None,
        typer.Option(
            help="Where the facts of a stream come from: a file, - for standard input, or "
            "tcp://HOST:PORT. May be repeated, also for one stream.",
            metavar="IRI=SOURCE",
        ),
    ] = None,
    background: Background = None,
    rules: RuleNames = None,
    builtins: Builtins = None,
    lateness: Annotated[
        str | None,
        typer.Option(help="How far out of order facts may arrive: 5s, PT5S.", metavar="DURATION"),
    ] = None,
    late: Annotated[
        Path | None,
        typer.Option(help="Where facts that came too late are written.", metavar="FILE.tnt"),
    ] = None,
    t0: Start = None,
    report: ReportPolicy = "window-close",
    until: Annotated[
        bool,
        typer.Option("--until", help="Tell until when each answer holds, where that is known."),
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Show the latest answers in a table.")
    ] = False,
) -> None:
    """Register the queries, read the streams, and write answers as ticks happen, a line each."""
    from ebbtide.program.wording import counted
    from ebbtide.queries.sources import merged

    import_builtins(builtins)
    engine = make_engine(background, rules, lateness, t0, report)
    handles = register(engine, queries)
    sources = [_pair(each, "--stream") for each in stream or ()]
    read = {each.stream.value for one in handles for each in one.query.streams}
    for name, _ in sources:
        if name not in read:
            others = f"; they read {' and '.join(sorted(read))}" if read else ""
            raise InputError(f"--stream {name}: no query reads this stream{others}")
    _tell_of_silent(handles, {name for name, _ in sources})
    show, shown = _table(until) if follow else (_writing(until), nullcontext())
    for handle in handles:
        handle.subscribe(show if handle.is_ordered else lambda answers: show(answers.in_order()))
    with shown, nullcontext() if late is None else late.open("w", encoding="utf-8") as out:
        for name, (triple, at) in merged(sources):
            engine.push(name, triple, at)
            _hand_out_late(engine, out)
        engine.finish()
    if engine.late:
        kept = f"see {late}" if late else "--late FILE keeps them, --lateness waits for them"
        print(f"ebbtide: {counted(engine.late, 'fact')} came too late: {kept}", file=sys.stderr)


def _tell_of_silent(handles: list[RegisteredQuery], sources: Collection[str]) -> None:
    """Say on standard error which streams nobody feeds: a query that waits for them is silent."""
    from ebbtide.queries.network import fed_stream

    read = {each.stream.value for handle in handles for each in handle.query.streams}
    fed = {stream.value for handle in handles if (stream := fed_stream(handle.query)) is not None}
    for name in sorted(read - fed - set(sources)):
        print(f"ebbtide: nothing happens on {name}: give --stream {name}=FILE", file=sys.stderr)


def _hand_out_late(engine: QueryEngine, out: TextIO | None) -> None:
    from ebbtide.terms.writing import timed_line

    for fact, at, *_ in engine.take_late():
        if out is not None:
            out.write(timed_line(at, fact.terms))


def make_engine(
    background: list[str] | None,
    rules: str | None,
    lateness: str | None,
    t0: str | None,
    report: str,
) -> QueryEngine:
    """The engine that the options ask for."""
    from ebbtide.queries import QueryEngine
    from ebbtide.time import parse_instant

    plain = [each for each in background or () if not _is_named(each)]
    named = dict(_pair(each, "--background") for each in background or () if _is_named(each))
    return QueryEngine(
        rules or (),
        background=plain,
        graphs=named,
        lateness=0 if lateness is None else _told("--lateness", lateness, _lateness),
        t0=None if t0 is None else _told("--t0", t0, parse_instant),
        report=report,
        printer=partial(print, file=sys.stderr),
    )


def _lateness(text: str) -> int:
    from ebbtide.time import parse_duration

    return parse_duration(text, least=0)


def _told(option: str, text: str, parse: Callable[[str], int]) -> int:
    """What the text of an option says; a mistake in it is told with the option."""
    try:
        return parse(text)
    except ValueError as error:
        raise InputError(f"{option} {text}: {error}") from None


def register(engine: QueryEngine, queries: list[Path]) -> list[RegisteredQuery]:
    """The queries of some files, registered."""
    from ebbtide.languages.rspql import load_continuous_query

    return [engine.register(load_continuous_query(path)) for path in queries]


def _is_named(background: str) -> bool:
    name, separator, _ = background.partition("=")
    return bool(separator) and ":" in name


def _pair(option: str, name: str) -> tuple[str, str]:
    # An IRI may contain =, but what follows its last one is the source.
    iri, separator, source = option.rpartition("=")
    if not separator or not iri or not source:
        raise InputError(f"{name} {option}: expected IRI=SOURCE")
    return iri.removeprefix("<").removesuffix(">"), source


def _writing(until: bool) -> Callable[[Answers], None]:
    """A function that writes answers as lines of JSON."""
    import json

    def write(answers: Answers) -> None:
        print(json.dumps(answers.json(until), ensure_ascii=False), flush=True)

    return write


def _table(until: bool) -> tuple[Callable[[Answers], None], AbstractContextManager[object]]:
    """A function that shows answers, and the screen they are on."""
    from rich.console import Group
    from rich.live import Live
    from rich.table import Table

    from ebbtide.program.wording import counted
    from ebbtide.time import FOREVER

    most_rows = 20
    latest: dict[str, Group] = {}
    live = Live(refresh_per_second=8)

    def show(answers: Answers) -> None:
        changed = {"+": ", new", "-": ", gone", None: ""}[answers.op]
        many = counted(len(answers), "answer")
        title = f"{answers.query} at {answers.tick}: {many}{changed}"
        ends = answers.until if until else None
        table = Table(*answers.variables, *(() if ends is None else ("until",)))
        for place, row in enumerate(answers.rows[:most_rows]):
            more = () if ends is None else ("" if ends[place] == FOREVER else str(ends[place]),)
            table.add_row(*map(_shown, row), *more)
        if len(answers) > most_rows:
            table.caption = f"and {len(answers) - most_rows} more"
        latest[answers.query] = Group(title, table)
        live.update(Group(*latest.values()))

    return show, live


def _shown(text: str | None) -> str:
    """A term for people: literals as what they say."""
    from ebbtide.terms import Literal, parse_term

    term = None if text is None else parse_term(text)
    return term.lexical if isinstance(term, Literal) else text or ""
