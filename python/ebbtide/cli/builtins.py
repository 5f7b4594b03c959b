"""`--builtins`: the Python files and modules that define what rules call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from ebbtide.cli.errors import InputError

Builtins = Annotated[
    list[str] | None,
    typer.Option(
        "--builtins",
        help="A Python file or module with builtins that the rules call. May be repeated.",
        metavar="FILE.py|MODULE",
    ),
]


def import_builtins(names: Iterable[str] | None) -> None:
    """Run the files and modules; what is wrong in them is told with its place."""
    from ebbtide.program.user_module import NoModule, UserModule

    for name in names or ():
        try:
            UserModule.of(name).run()
        except NoModule as error:
            raise InputError(f"--builtins: {error}") from error
