"""The Python files and modules that define what rules call.

A name that ends in .py is a file, any other one a module that Python can import. Both are run, so
that their functions under `@ebbtide.builtin` are known before any rule is read. A file is kept with
its text, so that it can be run again in another process, where the file is not.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from ebbtide.program.origin import IN_PYTHON, Origin, ProgramError


class NoModule(ValueError):
    """A module that Python cannot find."""


@dataclass(frozen=True, slots=True)
class UserModule:
    """A module by its name, or a file by its path and its text."""

    name: str
    text: str | None = None

    @classmethod
    def of(cls, name: str) -> UserModule:
        """The file or the module of a name."""
        if not name.endswith(".py"):
            return cls(name)
        try:
            return cls(name, Path(name).read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise ProgramError(f"this is no Python: {error}", Origin(name, 1, 1)) from None

    def run(self) -> None:
        """Run it, a file again if need be; what is wrong in it is told with its place."""
        try:
            import_module(self.name) if self.text is None else self._run_text(self.text)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{self.name}.".startswith(f"{error.name}."):
                raise _wrong(error) from error
            hint = f"; the file is {self.name}.py" if Path(f"{self.name}.py").is_file() else ""
            raise NoModule(f"there is no module {self.name}{hint}") from error
        except (OSError, ProgramError):
            raise
        except Exception as error:
            raise _wrong(error) from error

    def _run_text(self, text: str) -> None:
        module = ModuleType(f"ebbtide_builtins_{Path(self.name).stem}")
        module.__file__ = self.name
        # Dataclasses and pickle look a module up by its name.
        sys.modules[module.__name__] = module
        exec(compile(text, self.name, "exec"), module.__dict__)


def _wrong(error: Exception) -> Exception:
    """The error with the place in the user's text that it comes from."""
    if isinstance(error, SyntaxError):
        place = Origin(error.filename or "<python>", error.lineno or 1, error.offset or 1)
        return ProgramError(f"this is no Python: {error.msg}", place)
    return ProgramError(f"{type(error).__name__}: {error}", _place(error))


def _place(error: Exception) -> Origin:
    """The last line of the user's that ran: below it are the import machinery and the house."""
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
