"""`--builtins`: the Python files and modules that define what rules call.

A name that ends in .py is a file, any other one a module that Python can import. Both are run, so
that their functions under `@ebbtide.builtin` are known before any rule is read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Annotated

import typer

from ebbtide.cli.errors import InputError

if TYPE_CHECKING:
    from ebbtide.program import Origin

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
    from ebbtide.program import ProgramError

    for name in names or ():
        try:
            _run_file(Path(name)) if name.endswith(".py") else import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise _wrong(error) from error
            hint = f"; the file is {name}.py" if Path(f"{name}.py").is_file() else ""
            raise InputError(f"--builtins: there is no module {name}{hint}") from error
        except (OSError, ProgramError):
            raise
        except Exception as error:
            raise _wrong(error) from error


def _run_file(path: Path) -> None:
    name = f"ebbtide_builtins_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None, "the name of a Python file ends in .py"
    assert spec.loader is not None, "a Python file has a loader"
    module = module_from_spec(spec)
    # Dataclasses and pickle look a module up by its name.
    sys.modules[name] = module
    spec.loader.exec_module(module)


def _wrong(error: Exception) -> Exception:
    """The error with the place in the user's text that it comes from."""
    from ebbtide.program import ProgramError

    if isinstance(error, SyntaxError):
        return ProgramError(f"this is no Python: {error.msg}", _place_in_text(error))
    return ProgramError(f"{type(error).__name__}: {error}", _place(error))


def _place_in_text(error: SyntaxError) -> Origin:
    from ebbtide.program import Origin

    return Origin(error.filename or "<python>", error.lineno or 1, error.offset or 1)


def _place(error: Exception) -> Origin:
    """The last line of the user's that ran: below it are the import machinery and the house."""
    from ebbtide.program import IN_PYTHON, Origin

    house = str(Path(__file__).parents[1])
    frames = [
        frame
        for frame in extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<frozen", house))
    ]
    if not frames:
        return IN_PYTHON
    last = frames[-1]
    return Origin(last.filename, last.lineno or 1, (last.colno or 0) + 1)
