"""`ebbtide materialize`: the closure of files under rules, as N-Triples."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ebbtide.cli.closure import Data, RuleNames, closure
from ebbtide.cli.events import tell_events


def materialize(
    data: Data,
    rules: RuleNames,
    inferred_only: Annotated[
        bool, typer.Option("--inferred-only", help="Leave out the facts of the files.")
    ] = False,
) -> None:
    """Write the closure of DATA under RULES to standard output, as sorted N-Triples.

    Inconsistencies and malformed lists are told on standard error. The closure is written even if
    there are any; the exit code is then 1 for an inconsistency, and 0 for a malformed list.
    """
    from ebbtide.program import TRIPLE
    from ebbtide.terms.formats import read_triples
    from ebbtide.terms.writing import ntriples_line

    reasoner = closure(data, rules)
    triples = {fact.terms for fact in reasoner if fact.relation == TRIPLE}
    if inferred_only:
        for path in data:
            triples.difference_update(read_triples(path))
    sys.stdout.writelines(sorted(map(ntriples_line, triples)))
    tell_events(reasoner)
