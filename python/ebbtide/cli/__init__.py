"""The command line: one file per command, and one place where errors become exit codes.

Exit codes: 0 done, 1 the user's input is wrong (one line on standard error, with file, line and
column where there are any) or inconsistent, 2 usage, 3 a budget was hit. Anything else is a bug and
keeps its traceback. A command imports what it needs when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
import warnings


def main() -> None:
    """The command `ebbtide`. Ends the process, with 0 and 2 by way of typer."""
    from ebbtide.cli.app import app

    plain, warnings.formatwarning = warnings.formatwarning, _as_a_line
    try:
        app(prog_name="ebbtide")
    except Exception as error:
        from ebbtide.cli.errors import explain

        explained = explain(error)
        if explained is None:
            raise
        print(f"ebbtide: {explained.message}", file=sys.stderr)
        sys.exit(explained.exit_code)
    finally:
        warnings.formatwarning = plain


def _as_a_line(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """What a user is warned of, told as errors are; where in our code is not their concern."""
    return f"ebbtide: {message}\n"
