"""A Spark session, quiet and tuned for small micro-batches.

Every setting stands with what it brings; a user who brings an own session (spark-submit, a
notebook) keeps theirs, nothing here is required for correctness.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.failed import not_started
from ebbtide.pipeline.jvm import LOCAL_FILES, archive_options, load_java, send_java
from ebbtide.pipeline.noise import without_noise

OLDEST_JAVA: Final = 17


class JavaMissing(PipelineError):
    """Spark runs on a Java virtual machine, and there is none that it can use."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"Spark needs a Java runtime of version {OLDEST_JAVA} or newer and {found}: install "
            "one (Debian: apt install openjdk-17-jre-headless) or set JAVA_HOME"
        )


# Nothing listens beyond this machine, and start-up does not wait for a name service.
LOOPBACK: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}

SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A micro-batch of a few hundred facts is one task; more partitions only cost start-up time.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # The state store writes what a batch changed, not all that it keeps: a commit took 90 ms of two
    # tasks, and takes 10.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Over TCP a task in Python takes 40 ms longer, probably for acknowledgements held back.
    "spark.python.unix.domain.socket.enabled": "true",
    # Python may take its time to connect on a busy machine; after 15 s Spark would give up.
    "spark.python.authenticate.socketTimeout": "5m",
    # Arrow, not pickled rows, between the JVM and Python.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}

# Start-up and the first micro-batch of a small job are compilation more than work: stopping at the
# first compiler, with the simplest collector, halves their processor time (docs/decisions.md).
JVM_OPTIONS: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# Joins of large data run long enough for the best compiler, and make much garbage.
JVM_FOR_JOINS: Final = "-XX:+UseParallelGC"

LOGGING: Final = (
    f"-Dlog4j2.configurationFile=file:{files('ebbtide.pipeline') / 'log4j2.properties'}"
)


def find_java() -> Path:
    """The java command Spark will use; `JavaMissing` if there is none or it is too old."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin" if home else None)
    if found is None:
        raise JavaMissing("none was found")
    # On standard error, for example: openjdk version "17.0.15" 2025-04-15
    told = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', told)
    if version is None or int(version[1]) < OLDEST_JAVA:
        raise JavaMissing(f"{found} is not one")
    return Path(found)


def open_session(
    name: str = "ebbtide",
    master: str = "local[2]",
    settings: Mapping[str, str] | None = None,
    *,
    jvm: str = JVM_OPTIONS,
) -> SparkSession:
    """Start Spark, or join the session there is. Starting takes some seconds.

    `settings` go before those of this module. `jvm` is what the JVM is told: to start small
    batches soon, or to be fast in the end (`JVM_FOR_JOINS`).
    """
    find_java()
    # Executors parse with this very interpreter and what is installed in it.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    options = {"spark.driver.extraJavaOptions": java_options(jvm), **SETTINGS}
    is_local = re.fullmatch(r"local(\[.*\])?", master) is not None
    # The executors of a cluster elsewhere must find the driver.
    if is_local or re.match(r"spark://(127\.0\.0\.1|localhost)\b", master):
        options |= LOOPBACK
    given = settings or {}
    is_first = SparkContext._active_spark_context is None
    with _without_noise(), _one_sentence(master, is_first):
        if is_first:
            # Where jars are named, Spark looks at files before it can know the classes.
            SparkContext._ensure_initialized(conf=_conf(name, master, {**options, **given}))
            load_java(SparkContext._jvm, "LocalFs")
            options |= LOCAL_FILES
        conf = _conf(name, master, {**options, **given})
        spark = SparkSession.builder.config(conf=conf).getOrCreate()
        if is_first and not is_local:
            send_java(spark.sparkContext, "LocalFs")
        for setting in given:
            # Spark looks at some of them only when they are asked for.
            spark.conf.get(setting, None)
        return spark


@contextmanager
def _one_sentence(master: str, is_first: bool) -> Iterator[None]:
    """Let what keeps Spark from starting be a sentence, and nothing stay that has started."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        if is_first and (spark := SparkSession.getActiveSession()) is not None:
            close_session(spark)
        raise not_started(error, master) from None


def close_session(spark: SparkSession) -> None:
    """Stop Spark, and before it the Python workers of this machine.

    A worker that waits for its next task when Spark closes its socket may end with a traceback, at
    the end of a run that went well. The daemon that it came from ends it quietly when told to.
    """
    context = spark.sparkContext
    if context._jsc is not None:
        children = context._jvm.java.lang.ProcessHandle.current().children()  # type: ignore[union-attr]
        for daemon in children.toArray():
            daemon.destroy()
            daemon.onExit().get()
    spark.stop()


def java_options(jvm: str = JVM_OPTIONS) -> str:
    """What the JVM of a session is told when it starts."""
    return " ".join((LOGGING, jvm, *archive_options()))


@contextmanager
def unchanged(spark: SparkSession, *names: str) -> Iterator[None]:
    """Let settings of a session be what they were, whatever was set within."""
    before = {name: spark.conf.get(name, None) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def _conf(name: str, master: str, options: Mapping[str, str]) -> SparkConf:
    conf = SparkConf(loadDefaults=False).setAll(list(options.items()))
    return conf.setMaster(master).setAppName(name)


def warm_up(spark: SparkSession) -> None:
    """Let the first micro-batch not wait for Python workers and class loading."""

    def parsed(batches: Iterable[Any]) -> Iterator[Any]:
        import ebbtide.terms.formats  # noqa: F401  (what a worker will need)

        yield from batches

    spark.range(1).mapInArrow(parsed, "id long").toArrow()


@contextmanager
def _without_noise() -> Iterator[None]:
    """Let the JVM that starts within write its standard error through a filter.

    What tells somebody something is passed on, for as long as it lives.
    """
    sys.stderr.flush()
    stderr = os.dup(2)
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)

    def pass_on() -> None:
        with os.fdopen(reading, "rb") as lines, os.fdopen(stderr, "wb", buffering=0) as out:
            for line in without_noise(lines):
                out.write(line)

    threading.Thread(target=pass_on, name="jvm-stderr", daemon=True).start()
    try:
        yield
    finally:
        os.dup2(stderr, 2)
