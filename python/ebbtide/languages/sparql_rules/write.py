"""Rules written as SPARQL operations: what `parse_sparql_rules` reads back as the same rules.

    [rdfs2: (?p rdfs:domain ?c), (?x ?p ?y) -> (?x a ?c)]

        # name: rdfs2
        INSERT { ?x a ?c }
        WHERE { ?p rdfs:domain ?c . ?x ?p ?y } ;

A rule without a body is INSERT DATA, one that concludes `false` is ASK, and a negation is FILTER
NOT EXISTS. A relation whose facts are all written out is VALUES where a body asks for it. Rules of
other relations than `triple` and `quad`, with builtins that have no exact counterpart, or with
terms that SPARQL has no place for are left out, with the reason. SPARQL's templates make no triples
that RDF cannot say, so facts with a literal for a subject do not follow.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import starmap
from typing import Final

from ebbtide.program import QUAD, TRIPLE, Argument, Atom, Guard, Program, Rule, Variable
from ebbtide.program.reserved import INCONSISTENCY
from ebbtide.terms import IRI, BlankNode, Literal
from ebbtide.terms.term import RDF
from ebbtide.terms.writing import STANDARD_PREFIXES

_FILTERS: Final = {
    "isLiteral": "isLiteral({})",
    "notLiteral": "!isLiteral({})",
    "isURI": "isIRI({})",
    "isBNode": "isBlank({})",
    "notBNode": "!isBlank({})",
    "sameTerm": "sameTerm({}, {})",
    "notSameTerm": "!sameTerm({}, {})",
}
_LOCAL: Final = re.compile(r"[A-Za-z][\w-]*", re.ASCII)
_WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class SparqlText:
    """Operations as a text, and for the name of each rule that is not there, the reason."""

    text: str
    left_out: Mapping[str, str]


class _CannotWrite(Exception):
    """A rule that SPARQL cannot say."""


def write_sparql_rules(program: Program) -> SparqlText:
    """The rules that somebody wrote, as SPARQL operations.

    >>> from ebbtide.languages.jena import parse_rules
    >>> rules = parse_rules("[r: (?x ?p ?y), isBNode(?y) -> (?y a rdfs:Resource)]"
    ...                     "[(?x ?p ?y), sum(?y, 1, ?z) -> (?x ?p ?z)]")
    >>> written = write_sparql_rules(rules)
    >>> print(written.text.split("\\n\\n")[1])
    # name: r
    INSERT { ?y a rdfs:Resource }
    WHERE { ?x ?p ?y FILTER(isBlank(?y)) } ;
    >>> dict(written.left_out)
    {'rule2': 'SPARQL has no exact counterpart of sum'}
    """
    operations: list[str] = []
    left_out: dict[str, str] = {}
    tables = _tables(program.written)
    for rule in program.written:
        if all(head.relation in tables for head in rule.heads):
            continue
        try:
            operations.append(f"# name: {rule.name}\n{_operation(rule, tables)}")
        except _CannotWrite as reason:
            left_out[rule.name] = str(reason)
    prefixes = starmap("PREFIX {}: <{}>".format, sorted(STANDARD_PREFIXES.items()))
    return SparqlText("\n\n".join(("\n".join(prefixes), *operations)) + "\n", left_out)


def _tables(rules: Iterable[Rule]) -> dict[str, list[Atom]]:
    """The heads for each relation that only rules without a body conclude."""
    found: defaultdict[str, list[Atom]] = defaultdict(list)
    concluded = set()
    for rule in rules:
        for head in rule.heads:
            found[head.relation].append(head)
            if rule.body or head.relation in (TRIPLE, QUAD):
                concluded.add(head.relation)
    return {relation: heads for relation, heads in found.items() if relation not in concluded}


def _operation(rule: Rule, tables: Mapping[str, list[Atom]]) -> str:
    asked = [atom for atom in rule.positives if atom.relation in tables]
    values = [_values(atom, tables[atom.relation]) for atom in asked]
    triples = " . ".join(_triple(atom) for atom in rule.positives if atom not in asked)
    negations = [f"FILTER NOT EXISTS {{ {_triple(one.atom)} }}" for one in rule.negations]
    where = " ".join(filter(None, (*values, triples, *map(_filter, rule.guards), *negations)))
    if rule.heads[0].relation.startswith(INCONSISTENCY):
        return f"ASK {{ {where} }} ;"
    heads = list(map(_triple, rule.heads))
    if not rule.body:
        return f"INSERT DATA {_group(heads)} ;"
    return f"INSERT {_group(heads)}\nWHERE {{ {where} }} ;"


def _group(triples: Iterable[str]) -> str:
    one_line = f"{{ {' . '.join(triples)} }}"
    return one_line if len(one_line) < _WIDTH else "{\n    " + " .\n    ".join(triples) + "\n}"


def _values(atom: Atom, rows: Iterable[Atom]) -> str:
    names = list(atom.variables())
    if len(set(names)) != len(atom.arguments):
        raise _CannotWrite(f"SPARQL has no VALUES for {atom}")
    texts = [f"({' '.join(map(_text, row.arguments))})" for row in rows]
    return f"VALUES ({' '.join(map(_text, names))}) {{ {' '.join(texts)} }}"


def _triple(atom: Atom) -> str:
    if atom.relation not in (TRIPLE, QUAD):
        raise _CannotWrite(f"SPARQL has no relation {atom.relation}")
    subject, predicate, object_, *graph = atom.arguments
    if isinstance(subject, Literal) or isinstance(predicate, Literal):
        raise _CannotWrite(f"SPARQL has no triple {atom}")
    verb = "a" if predicate == IRI(RDF + "type") else _text(predicate)
    triple = f"{_text(subject)} {verb} {_text(object_)}"
    return f"GRAPH {_text(graph[0])} {{ {triple} }}" if graph else triple


def _filter(guard: Guard) -> str:
    if guard.builtin not in _FILTERS:
        raise _CannotWrite(f"SPARQL has no exact counterpart of {guard.builtin}")
    return f"FILTER({_FILTERS[guard.builtin].format(*map(_text, guard.arguments))})"


def _text(argument: Argument) -> str:
    match argument:
        case Variable(name) if not re.fullmatch(r"\w+", name):
            raise _CannotWrite(f"SPARQL has no variable {argument}")
        case BlankNode():
            raise _CannotWrite(f"SPARQL cannot name the blank node {argument}")
        case IRI(value):
            for prefix, start in STANDARD_PREFIXES.items():
                if value.startswith(start) and _LOCAL.fullmatch(value.removeprefix(start)):
                    return f"{prefix}:{value.removeprefix(start)}"
    return str(argument)
