"""`ebbtide explain why`: the proof of a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ebbtide.cli.builtins import Builtins
from ebbtide.cli.closure import Data, ReadAs, RuleNames, closure
from ebbtide.cli.errors import InputError

if TYPE_CHECKING:
    from ebbtide.program import Fact


def why(
    data: Data,
    rules: RuleNames,
    fact: Annotated[str, typer.Option(help="'<s> <p> <o>', as in N-Triples.", metavar="FACT")],
    builtins: Builtins = None,
    read_as: ReadAs = None,
) -> None:
    """Print why FACT is in the closure of DATA under RULES: a tree of rules and facts."""
    wanted = _fact(fact)
    reasoner = closure(data, rules, builtins, read_as)
    if wanted not in reasoner:
        raise InputError(f"{wanted} does not hold")
    print(reasoner.why(wanted))


def _fact(text: str) -> Fact:
    from ebbtide.program import TRIPLE, Fact
    from ebbtide.terms.formats import read_triples

    statement = text.strip()
    if not statement.endswith("."):
        statement += " ."
    found = list(read_triples(statement.encode(), "nt", name="--fact", keep_labels=True))
    if len(found) != 1:
        raise InputError(f"--fact is one statement, not {len(found)}")
    return Fact(TRIPLE, found[0])
