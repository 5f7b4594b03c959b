"""From the text of a continuous query, C-SPARQL or RSP-QL, to a `ContinuousQuery`.

The clauses about streams are read by `clauses.py`; the rest is SPARQL and is read by the kernel's
parser, at the same places of the text, so that every error points to what was written.

Engines know queries by short names, so IRIs may be relative without a BASE: they are resolved
against `BASE`. The prefixes rdf, rdfs, owl and xsd need not be declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from ebbtide.languages.files import read_text
from ebbtide.languages.rspql.clauses import Clauses
from ebbtide.languages.rspql.doubts import doubts
from ebbtide.languages.rspql.query import SERVICE, TIMESTAMP, ContinuousQuery, Form, StreamWindow
from ebbtide.languages.sparql import (
    Algebra,
    Declarations,
    Text,
    Token,
    parse_query,
    resolve,
)
from ebbtide.languages.sparql.rewrite import rewritten
from ebbtide.languages.sparql_rules.expression import CASTS
from ebbtide.program import Origin, ProgramError
from ebbtide.program.wording import did_you_mean
from ebbtide.terms import IRI, is_absolute
from ebbtide.terms.writing import STANDARD_PREFIXES

#: What relative IRIs are relative to, if the text does not say.
BASE: Final = "ebbtide:/"

_FORMS: Final[dict[str, Form]] = {
    "SELECT": "select",
    "CONSTRUCT": "construct",
    "ASK": "ask",
    "DESCRIBE": "describe",
}


def parse_continuous_query(
    text: str, source: str = "<query>", *, name: str = "query"
) -> ContinuousQuery:
    """Read a continuous query; `name` is for one that does not register itself.

    >>> query = parse_continuous_query('''
    ...     REGISTER QUERY hot COMPUTE EVERY 1s AS
    ...     PREFIX ex: <http://example/>
    ...     SELECT ?room FROM STREAM ex:sensors [RANGE 10s STEP 1s]
    ...     WHERE { ?room ex:celsius ?c FILTER(?c > 30) }
    ... ''')
    >>> query.name, query.form, query.every
    ('hot', 'select', 1000)
    >>> query.streams[0].stream.value, query.streams[0].window
    ('http://example/sensors', TimeWindow(range=10000, step=1000, bounds='(]'))
    >>> parse_continuous_query("SELECT * FROM STREAM <a:s> [RANGE 10 parsecs STEP 1s] { ?s ?p ?o }")
    Traceback (most recent call last):
    ebbtide.program.origin.ProgramError: <query>:1:35: the unit parsecs is not known; there are ms,
    s, m, h and d
    """
    whole = Text.read(text, source)
    clauses = Clauses.read(whole)
    rest = Text.read(clauses.rest, source)
    declarations, own, body = _prologue(rest)
    form = _form(whole, body)
    streams = _streams(clauses, declarations)
    algebra, written = _algebra(rest, body, declarations)
    _check_calls(rest, body, algebra, declarations)
    graphs, named_graphs = (_graphs(clauses, declarations, named) for named in (False, True))
    windows = [each.name for each in streams if each.name is not None]
    known = {iri.text for iri in (*windows, *named_graphs)}
    if (registration := clauses.registration) is not None:
        name = _name(whole, registration.name, declarations, own)
    return ContinuousQuery(
        name=name,
        form=form,
        emits=clauses.emits or (registration.emits if registration else "RStream"),
        registers=registration.registers if registration else "query",
        every=registration.every if registration else None,
        streams=streams,
        graphs=tuple(graphs),
        named_graphs=tuple(named_graphs),
        text=_added(body, own) + written,
        algebra=algebra,
        timestamps=_calls(algebra, TIMESTAMP.text),
        origin=Origin.at(source, text, whole.tokens[0].start, len(text.rstrip())),
        places=_places(rest, body, {**graphs, **named_graphs}),
        doubts=tuple(doubts(rest, body, algebra, declarations, known, "BASE " in own.text)),
    )


def load_continuous_query(path: str | PathLike[str]) -> ContinuousQuery:
    """Read a continuous query from a file, whose name is the query's if it has none."""
    text = read_text(path, "query")
    return parse_continuous_query(text, fspath(path), name=Path(path).stem)


def _prologue(rest: Text) -> tuple[Declarations, Declarations, list[Token]]:
    """What holds, what the text itself declares, and the tokens after that, comments aside."""
    standard = "".join(f"PREFIX {name}: <{iri}> " for name, iri in STANDARD_PREFIXES.items())
    declarations = Declarations(f"BASE <{BASE}> {standard}", dict(STANDARD_PREFIXES), True)
    own = Declarations(has_base=True)
    position, end = 0, -1
    while position != end:
        end = position
        while position < len(rest.tokens) and rest.tokens[position].kind == "comment":
            position += 1
        own.take(rest, position)
        position = declarations.take(rest, position)
    return declarations, own, [one for one in rest.tokens[position:] if one.kind != "comment"]


def _form(text: Text, body: Sequence[Token]) -> Form:
    if not body:
        raise text.error("the text has no query", len(text.text.rstrip()))
    if body[0].keyword not in _FORMS:
        found = body[0].text[:40]
        raise text.error(
            f"expected SELECT, CONSTRUCT, ASK or DESCRIBE, but found {found!r}", body[0]
        )
    return _FORMS[body[0].keyword]


def _algebra(rest: Text, body: Sequence[Token], declarations: Declarations) -> tuple[Algebra, str]:
    """The algebra of the query, and the text that it was read from."""
    try:
        return parse_query(rest, body, declarations), rest.text
    except ProgramError as error:
        other = Text.read(rewritten(rest, body), rest.source)
        if other.text == rest.text:
            raise
        try:
            tokens = [token for token in other.tokens if token.start >= body[0].start]
            return parse_query(other, tokens, declarations), other.text
        except ProgramError:
            raise error from None


def _check_calls(
    text: Text, body: Sequence[Token], algebra: Algebra, declarations: Declarations
) -> None:
    """Refuse functions that would only fail when the query is asked."""
    for token, bracket in pairwise(body):
        if token.kind in ("iri", "name") and bracket.text == "(":
            iri = resolve(text, token, declarations).text
            if iri not in CASTS and iri != TIMESTAMP.text and _calls(algebra, iri):
                raise text.error(f"the function {token.text} is not known", token)


def _name(text: Text, token: Token, declarations: Declarations, own: Declarations) -> str:
    if token.kind == "word":
        return token.text
    iri = resolve(text, token, declarations)
    return iri.value if "BASE " in own.text else iri.value.removeprefix(BASE)


def _streams(clauses: Clauses, declarations: Declarations) -> tuple[StreamWindow, ...]:
    """The windows, each name of which is there once, and of which the body uses no other."""
    text = clauses.text
    found: list[StreamWindow] = []
    names: dict[str, str] = {}
    for place, iri, name, window in clauses.sources:
        if window is None:
            continue
        named = None if name is None else resolve(text, name, declarations)
        if name is not None and name is not iri and named is not None:
            if named.value in names:
                raise text.error(f"there is a window {name.text} already", name)
            names[named.value] = name.text
        stream = resolve(text, iri, declarations)
        found.append(StreamWindow(stream, named, window, text.origin(place)))
    for use in clauses.uses:
        if use.kind != "variable" and resolve(text, use, declarations).value not in names:
            hint = did_you_mean(use.text, names.values())
            raise text.error(f"there is no window {use.text}{hint}", use)
    return tuple(found)


def _graphs(clauses: Clauses, declarations: Declarations, named: bool) -> dict[IRI, Origin]:
    """The static graphs, and where each is asked for first."""
    found: dict[IRI, Origin] = {}
    for source in clauses.sources:
        if source.window is None and (source.name is not None) == named:
            iri = resolve(clauses.text, source.iri, declarations)
            found.setdefault(iri, clauses.text.origin(source.iri))
    return found


def _places(
    text: Text, body: Sequence[Token], graphs: Mapping[IRI, Origin]
) -> dict[IRI | str, Origin]:
    """Where the static graphs are named first, and where another server is asked, if one is."""
    places: dict[IRI | str, Origin] = dict(graphs.items())
    word = next((token for token in body if token.keyword == SERVICE), None)
    return places if word is None else {**places, SERVICE: text.origin(word)}


def _added(body: Sequence[Token], own: Declarations) -> str:
    """The declarations that the text needs and does not have."""
    names = {token.text.partition(":")[0] for token in body if token.kind == "name"}
    missing = [name for name in STANDARD_PREFIXES if name in names - own.prefixes.keys()]
    prefixes = "".join(f"PREFIX {name}: <{STANDARD_PREFIXES[name]}> " for name in missing)
    needs_base = "BASE " not in own.text and any(
        token.kind == "iri" and not is_absolute(token.text[1:-1]) for token in body
    )
    return f"BASE <{BASE}> {prefixes}" if needs_base else prefixes


def _calls(algebra: Any, function: str) -> bool:
    """Whether an expression anywhere in the algebra calls a function."""
    if not isinstance(algebra, tuple | list):
        return False
    return (len(algebra) > 1 and algebra[0] == function) or any(
        _calls(one, function) for one in algebra
    )
