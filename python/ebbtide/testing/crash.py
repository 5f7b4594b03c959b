"""Crash points: places where a test can end a process as kill -9 does.

    EBBTIDE_CRASH="half written:00000012.snapshot:1"      place, pattern of what, which time

A program passes `crash_point(place, what)`; if the environment asks for that place, and for the
n-th time that `what` matches, the process kills itself there. Otherwise nothing happens.
"""

from __future__ import annotations

import os
import signal
from fnmatch import fnmatch
from typing import Final

VARIABLE: Final = "EBBTIDE_CRASH"

_passed: dict[str, int] = {}


def crash_point(place: str, what: str = "") -> None:
    """Die here, if somebody asked for it.

    >>> crash_point("before the end")
    """
    asked = os.environ.get(VARIABLE)
    if asked is None:
        return
    wanted, pattern, times = asked.split(":")
    if wanted == place and fnmatch(what, pattern):
        _passed[asked] = _passed.get(asked, 0) + 1
        if _passed[asked] == int(times):
            os.kill(os.getpid(), signal.SIGKILL)
