"""A synthetic stream, second by second as its event time passes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from ebbtide.pipeline.sources.spool import Piece
from ebbtide.terms.writing import timed_line
from ebbtide.testing.workloads import Workload

SECOND: Final = 1_000


def paced(workload: Workload, seconds: int, stop: threading.Event) -> Iterator[Piece]:
    """Each of the first seconds of a workload's stream when it has passed, as one piece."""
    for second, reports in groupby(workload.stream(), key=lambda report: report[1] // SECOND):
        if second >= seconds or stop.wait(1.0):
            return
        text = "".join(timed_line(at, fact.terms) for fact, at in reports)
        yield Piece(f"{second:06d}.tnt", text)
