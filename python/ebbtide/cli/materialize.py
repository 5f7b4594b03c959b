"""`ebbtide materialize`: the closure of files under rules, as N-Triples."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ebbtide.cli.closure import Data, RuleNames, closure


def materialize(
    data: Data,
    rules: RuleNames,
    inferred_only: Annotated[
        bool, typer.Option("--inferred-only", help="Leave out the facts of the files.")
    ] = False,
) -> None:
    """Write the closure of DATA under RULES to standard output, as sorted N-Triples."""
    from ebbtide.program import TRIPLE
    from ebbtide.terms.formats import read_ntriples
    from ebbtide.terms.writing import ntriples_line

    triples = {fact.terms for fact in closure(data, rules) if fact.relation == TRIPLE}
    if inferred_only:
        for path in data:
            triples.difference_update(read_ntriples(path))
    sys.stdout.writelines(sorted(map(ntriples_line, triples)))
