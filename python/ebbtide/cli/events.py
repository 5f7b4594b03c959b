"""Inconsistencies and malformed lists, told on standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from ebbtide.cli.errors import WRONG_INPUT

if TYPE_CHECKING:
    from ebbtide.reasoner import Reasoner


def tell_events(reasoner: Reasoner) -> None:
    """Tell every event that holds, a line each; an inconsistency makes the exit code 1.

    To be called when the answers are written: they are complete all the same.
    """
    for event in reasoner.events():
        print(f"ebbtide: {event}", file=sys.stderr)
    if reasoner.inconsistencies():
        raise typer.Exit(WRONG_INPUT)
