"""Inconsistencies and malformed lists, told on standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from ebbtide.cli.errors import WRONG_INPUT

if TYPE_CHECKING:
    from ebbtide.reasoner import Reasoner


def tell_events(reasoner: Reasoner) -> None:
    """Tell every event that holds, a line each, and below an inconsistency its proof.

    An inconsistency makes the exit code 1. To be called when the answers are written: they are
    complete all the same.
    """
    from ebbtide.engines.events import Inconsistency

    for event in reasoner.events():
        print(f"ebbtide: {event}", file=sys.stderr)
        if isinstance(event, Inconsistency) and event.proof is not None:
            # The first line is the inconsistency itself, which has just been told in words.
            for line in str(event.proof).split("\n")[1:]:
                print(line, file=sys.stderr)
    if reasoner.inconsistencies():
        raise typer.Exit(WRONG_INPUT)
