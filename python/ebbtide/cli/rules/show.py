"""`ebbtide rules show`: the text of a regime."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

Name = Annotated[str, typer.Argument(help="The regime.", metavar="NAME")]


def show(name: Name) -> None:
    """Print the rule file of the regime NAME."""
    from ebbtide.regimes import find

    sys.stdout.write(find(name).text)
