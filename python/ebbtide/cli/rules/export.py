"""`ebbtide rules export`: a regime as a file of one's own, to edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ebbtide.cli.errors import InputError
from ebbtide.cli.rules.show import Name


def export(
    name: Name,
    file: Annotated[
        Path | None, typer.Argument(help="Where to [NAME.rules].", dir_okay=False, metavar="FILE")
    ] = None,
) -> None:
    """Copy the rule file of the regime NAME to FILE, which must not exist yet."""
    from ebbtide.regimes import find

    regime = find(name)
    target = file or Path(regime.path.name)
    try:
        with target.open("x", encoding="utf-8") as out:
            out.write(regime.text)
    except FileExistsError:
        raise InputError(f"{target}: the file exists already; name another one") from None
    print(target)
