"""Contenders: the reasoners that are compared, each in a process of its own.

    python -m ebbtide.benches.regimes.contenders '{"name": "reasonable", "data": "lubm.ttl"}'

prints what it took as JSON. A process of its own, because peak memory is of a process, and because
nobody should profit from what another one has warmed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Final, NamedTuple

CONTENDERS: Final = ("ebbtide", "reasonable", "owlrl")
PEERS: Final = CONTENDERS[1:]


@dataclass(frozen=True, slots=True)
class Job:
    """What a contender is asked to do.

    `closure` is a file for all triples that hold in the end. `wanted` says that only the answers of
    LUBM's queries are wanted, which only Ebbtide can make use of.
    """

    name: str
    data: str
    closure: str = ""
    wanted: bool = False


class Took(NamedTuple):
    """What it took, in seconds of processor time.

    `load` is reading the file, `reason` from there to all triples that follow. `hand_out` is making
    Python objects or texts of them: after `reason`, or, for reasonable, which knows no other way,
    within it. `peak_bytes` is the most memory the process held up to the end of `reason`.
    """

    load: float
    reason: float
    hand_out: float
    facts: int
    peak_bytes: int


class Ended(NamedTuple):
    """A contender at its end: what it took, and the N-Triples texts of everything that holds."""

    took: Took
    closure: Callable[[], Iterable[tuple[str, str, str]]]


class ContenderFailed(RuntimeError):
    """A contender's process ended with an error."""


def run(job: Job) -> Took:
    """Let a contender run in a process of its own."""
    command = [sys.executable, "-m", __name__, json.dumps(asdict(job))]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise ContenderFailed(f"{job.name} on {job.data}: {ended.stderr.strip()[-2_000:]}")
    return Took(**json.loads(ended.stdout))


def contend(job: Job) -> Took:
    """Be the contender, in this process."""
    module = import_module(f"{__name__}.by_{job.name}")
    ended: Ended = module.contend(job)
    if job.closure:
        with Path(job.closure).open("w", encoding="utf-8") as file:
            file.writelines(f"{s} {p} {o} .\n" for s, p, o in ended.closure())
    return ended.took


class Stopwatch:
    """Processor time, lap by lap."""

    def __init__(self) -> None:
        self._since = process_time()

    def lap(self) -> float:
        """Seconds since the last lap."""
        since, self._since = self._since, process_time()
        return self._since - since


def peak_memory() -> int:
    """The most bytes this process was resident with.

    Not by getrusage, which counts what the parent held when it made this process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
