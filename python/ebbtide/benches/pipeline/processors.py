"""Processor time of a cluster on this machine, by what its processes do.

    driver                the job: Python, its JVM, and the Python that plans
    master and workers    the daemons of the cluster
    executors, JVM        tasks: shuffle, state store, rows to and from Arrow
    executors, Python     tasks: parsing, routing, reasoning

Neighbours on a busy machine change it far less than they change the time that passes.
"""

from __future__ import annotations

from typing import Any, Final

DRIVER: Final = "driver"
DAEMONS: Final = "master and workers"
JVM: Final = "executors, JVM"
PYTHON: Final = "executors, Python"
KINDS: Final = (DRIVER, DAEMONS, JVM, PYTHON)


def processor_time(root: int) -> dict[str, float]:
    """Milliseconds so far, of a job and the processes below it, those that have ended not."""
    import psutil

    sums = dict.fromkeys(KINDS, 0.0)
    waiting: list[tuple[Any, str]] = [(psutil.Process(root), DRIVER)]
    while waiting:
        process, above = waiting.pop()
        try:
            kind = _kind(" ".join(process.cmdline()), above)
            times = process.cpu_times()
            waiting += [(each, kind) for each in process.children()]
        except psutil.NoSuchProcess:
            continue
        sums[kind] += 1000 * (times.user + times.system)
    return sums


def _kind(command: str, above: str) -> str:
    """What a process does, by its command, or by what the one above it does.

    >>> _kind("python -m pyspark.daemon", JVM)
    'executors, Python'
    """
    if "CoarseGrainedExecutorBackend" in command:
        return JVM
    if "org.apache.spark.deploy.master" in command or "org.apache.spark.deploy.worker" in command:
        return DAEMONS
    return PYTHON if above in (JVM, PYTHON) else above
