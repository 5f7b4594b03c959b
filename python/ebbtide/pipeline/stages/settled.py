"""Python workers that do not clean up again and again what they will need for ever.

A worker of Spark collects garbage after each task, and looks at every object of every module that
is loaded: 30 ms of processor time, of which a small micro-batch has no more than two or three.
"""

from __future__ import annotations

import gc
from functools import cache


@cache
def settle() -> None:
    """Take what this process has loaded out of the collector's sight; the first call counts.

    Asking the collector whether that is done takes milliseconds: it counts what is out of sight.

    >>> settle()
    >>> gc.get_freeze_count() > 0
    True
    """
    gc.freeze()
