"""A standalone Spark cluster on this machine, for as long as a block lasts."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

PATIENCE: Final = 60.0
#: Go on as another command, on one core.
ON_CORE: Final = (
    "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])}); "
    "os.execvp(sys.argv[2], sys.argv[2:])"
)
DEPLOY: Final = "org.apache.spark.deploy"


class Cluster(NamedTuple):
    """Where the master listens, and where the workers work."""

    address: str
    work_folders: tuple[Path, ...]


def spark_home() -> Path:
    """The folder of the pyspark package."""
    found = find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


@contextmanager
def spark_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and workers of one core each, from the pyspark package, on loopback.

    Spark counts the tasks of a worker, not its cores: a task in its JVM and the Python that this
    feeds would run side by side. Where the system can, a worker is held to a core of its own.
    """
    work_folders = tuple(folder / f"work-{number}" for number in range(workers))
    port = free_port()
    spark_class = str(spark_home() / "bin/spark-class")
    environment = {"SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    # What workers know of Ebbtide must come with the job.
    environment |= {"PYTHONPATH": "", "SPARK_DAEMON_MEMORY": "384m"}
    # Master and workers have little to do; they should be there soon.
    environment |= {"SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    address = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        master = (f"{DEPLOY}.master.Master", "--host", "127.0.0.1", "--port", str(port))
        process = stack.enter_context(
            running(folder / "master.log", spark_class, *master, environment=environment)
        )
        wait_for(port, process)
        for number, work_folder in enumerate(work_folders):
            own = free_port()
            where = ("--host", "127.0.0.1", "--port", str(own), "--webui-port", "0")
            what = ("--cores", "1", "--memory", "1g", "--work-dir", str(work_folder))
            worker = (f"{DEPLOY}.worker.Worker", *where, *what, address)
            log = work_folder.with_suffix(".log")
            process = stack.enter_context(
                running(log, *on_core(number), spark_class, *worker, environment=environment)
            )
            wait_for(own, process)
        yield Cluster(address, work_folders)


def on_core(number: int) -> tuple[str, ...]:
    """What a command begins with to be held to one core, with all that it starts."""
    if not hasattr(os, "sched_getaffinity"):
        return ()
    cores = sorted(os.sched_getaffinity(0))
    return (sys.executable, "-c", ON_CORE, str(cores[number % len(cores)]))


@contextmanager
def running(
    log: Path, *command: str, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that writes to a log and ends with the block."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})}
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until somebody answers at a port."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, f"{process.args!r} has ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"nobody answers at port {port}")


def free_port() -> int:
    """A port of loopback that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
