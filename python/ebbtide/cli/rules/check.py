"""`ebbtide rules check`: is this file right, and what is in it?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ebbtide.cli.builtins import Builtins, import_builtins
from ebbtide.cli.errors import WRONG_INPUT

if TYPE_CHECKING:
    from ebbtide.program import Atom, Program


def check(
    files: Annotated[
        list[str],
        typer.Argument(help="Rule files or regimes; commas join several.", metavar="FILE"),
    ],
    builtins: Builtins = None,
) -> None:
    """Say what is wrong in each FILE, or else what it has: rules, relations, strata.

    Names joined by commas are checked as the one program they make together.
    """
    from ebbtide.program import ProgramError
    from ebbtide.regimes import load

    import_builtins(builtins)
    wrong = False
    for name in files:
        try:
            program = load(name)
        except ProgramError as error:
            wrong = True
            print(f"ebbtide: {error}", file=sys.stderr)
        else:
            print("\n".join((f"{name}: {_size(program)}", *_only_stated(program))))
    if wrong:
        raise typer.Exit(WRONG_INPUT)


def _size(program: Program) -> str:
    from ebbtide.program.wording import counted

    used = {atom.relation for rule in program.written for atom in rule.atoms}
    return ", ".join(
        (
            counted(len(program.written), "rule"),
            counted(len(used), "relation"),
            counted(len(set(program.strata)), "stratum", "strata"),
        )
    )


def _only_stated(program: Program) -> Iterator[str]:
    """What the rules ask for and no rule concludes, so that it can only be stated."""
    from ebbtide.program.strata import unifies

    # The rules that lists were lowered to are among them: what these conclude is not stated.
    heads = {head for rule in program.rules for head in rule.heads}
    asked = dict.fromkeys(atom for rule in program.written for atom in rule.asked)
    missing = dict.fromkeys(
        _what(atom) for atom in asked if not any(unifies(atom, head) for head in heads)
    )
    if missing:
        yield f"  never concluded, only stated: {', '.join(missing)}"


def _what(atom: Atom) -> str:
    from ebbtide.program import TRIPLE, Variable

    if atom.relation != TRIPLE:
        return f"{atom.relation}/{len(atom.arguments)}"
    places = ("_" if isinstance(term, Variable) else term.text for term in atom.arguments)
    return f"({' '.join(places)})"
