"""Python workers that do not clean up again and again what they will need for ever.

A worker of Spark collects garbage after each task, and looks at every object of every module that
is loaded: 30 ms of processor time, of which a small micro-batch has no more than two or three.
"""

from __future__ import annotations

import gc


def settle() -> None:
    """Take what this process has loaded out of the collector's sight; the first call counts.

    >>> settle()
    >>> gc.get_freeze_count() > 0
    True
    """
    if not gc.get_freeze_count():
        gc.freeze()
