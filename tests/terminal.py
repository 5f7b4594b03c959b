"""A command on a terminal: what somebody who looks at it sees."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Seen(NamedTuple):
    """How it ended, its standard output, and all that the terminal showed, without colours."""

    code: int
    out: str
    picture: str


def on_a_terminal(*arguments: str, folder: Path) -> Seen:
    """Run `ebbtide ARGUMENTS` in a folder, with a terminal for its standard error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from ebbtide.cli import main; main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=theirs,
        cwd=folder,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
        text=True,
    )
    os.close(theirs)
    shown = b""
    # Reading a terminal that nobody writes to any more is an error on Linux.
    try:
        while block := os.read(ours, 65_536):
            shown += block
    except OSError:
        pass
    finally:
        os.close(ours)
    out, _ = process.communicate()
    return Seen(process.returncode, out, re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", shown.decode()))
