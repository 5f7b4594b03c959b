"""What made a query of Spark fail, in a sentence, where it is something a user can put right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pyspark.logger import PySparkLogger

from ebbtide.pipeline.errors import CheckpointError, PipelineError
from ebbtide.pipeline.stages.parse import path_of, read_path

#: The last line of what a worker says when Python code of ours refuses something there.
_REFUSED: Final = re.compile(r"^ebbtide\.[\w.]+: (?P<said>.+)$", re.MULTILINE)
#: How Spark speaks of its logs and its state when they are not as it wrote them.
_DAMAGED: Final = re.compile(
    r"checksum|log file|state.?store|state schema|state directory|RocksDB|/state/\S+\.zip|\.sst"
    r"|checkpoint location|checkpoint offsets|batch \d+ doesn't exist"
    # Of its logs, which are JSON. That of rows and messages is never an error.
    r"|^Unexpected (end-of-input|character)",
    re.IGNORECASE,
)
#: What Spark says of a row's values, which may have any words in them.
_OF_DATA: Final = "SQLSTATE: 22"
#: What Spark says of a file that it cannot read, and sometimes why.
_UNREADABLE: Final = re.compile(
    r"\[FAILED_READ_FILE[.\w]*\] Encountered error while reading file (?P<file>.+?)\. "
    r"(?P<why>.*?)\.? *(?:SQLSTATE|$)",
    re.MULTILINE,
)
#: What Spark says when the last batch had files of another folder than that of their stream.
_ELSEWHERE: Final = re.compile(
    r"Wrong basePath (?P<folder>.+) for the root path: (?P<file>\S.*?)( SQLSTATE|$)", re.MULTILINE
)
#: What Spark says of files and folders of its own that somebody has deleted.
_DELETED: Final = re.compile(r"File file:(?P<file>/.+?) does not exist")
#: What Kafka says of a topic that is not there, and Spark of messages that are not there any more.
_NO_TOPIC: Final = "UnknownTopicOrPartitionException"
_GONE: Final = re.compile(
    r"Some data may have been lost because .*?^Reason: (?P<why>.+?)\.?$", re.MULTILINE | re.DOTALL
)
#: What Spark says of a Python process that it waited for; how long it waits cannot be set.
_LATE: Final = "Python worker failed to connect back"
#: What a worker or the JVM says when it cannot write.
_FULL: Final = re.compile(r"(?:IOException: |\[Errno 28\] )No space left on device")
#: How Spark says what is wrong with an expression: [ITS.NAME] A sentence. SQLSTATE: 42703; line 1
_SENTENCE: Final = re.compile(
    r"\s*(?:\[[\w.]+\] )?(?P<said>.+?)\.?(?: SQLSTATE: .*)?$", re.MULTILINE
)
#: Who writes every error about an expression to standard error, whoever catches it.
_LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
#: Causes as Java tells them, the first of which Python begins with a colon.
_CAUSE: Final = re.compile(
    r"^(?:Caused by)?: (?:(?:[\w$]+\.)*(?P<kind>[\w$]+): )?(?P<said>.+)$", re.MULTILINE
)
#: What Spark says when it was told to start with a master that it has asked in vain.
_GIVEN_UP: Final = "stopped SparkContext"


def is_late(error: Exception) -> bool:
    """Whether Spark gave up waiting for a Python process: nothing was done, it can begin again.

    A stateful operator asks for its state in a process of its own, which is given ten seconds.
    """
    return _LATE in str(error)


@contextmanager
def untold() -> Iterator[None]:
    """Let PySpark not write errors that are raised within: who catches them tells them."""
    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was_disabled in zip(loggers, before, strict=True):
            logger.disabled = was_disabled


def sentence_of(error: Exception) -> str:
    """What Spark says of an expression that it does not understand.

    >>> sentence_of(Exception("[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'. SQLSTATE: 42601"))
    "Syntax error at or near 'x'"
    """
    found = _SENTENCE.match(str(error))
    return str(error) if found is None else found["said"]


def not_started(error: Exception, master: str) -> PipelineError:
    """Why Spark does not start: a setting that cannot be, or a cluster that is not there.

    >>> print(not_started(Exception('''An error occurred while calling None.JavaSparkContext.
    ... : org.apache.spark.SparkException: Asked to run locally with 0 threads'''), "local[0]"))
    Spark does not start with the master local[0]: Asked to run locally with 0 threads
    >>> print(not_started(Exception(": java.lang.ClassNotFoundException: mine.Serializer"), "yarn"))
    Spark does not start with the master yarn: ClassNotFoundException mine.Serializer
    """
    causes = list(_CAUSE.finditer(str(error)))
    said = causes[-1]["said"] if causes else sentence_of(error)
    if _GIVEN_UP in said:
        said = "it does not answer"
    elif causes and " " not in said:
        # No sentence, without what it is of.
        said = f"{causes[-1]['kind'] or ''} {said}".strip()
    return PipelineError(f"Spark does not start with the master {master}: {said}")


def unreadable(file: str, why: str) -> PipelineError:
    """A file of a stream that cannot be read, and what can be done."""
    return PipelineError(
        f"{file} cannot be read: {why}; when it is put right, or taken away, the next run goes "
        "on from here"
    )


def explained(told: str, checkpoint: Path) -> PipelineError | None:
    """What the message of a failed query means; None if it is no fault of the user's.

    >>> print(explained('''[STREAM_FAILED] Query [id = 1] terminated with exception: job aborted
    ...   File "routing.py", line 80, in _without_schema
    ... ebbtide.pipeline.errors.PipelineError: schema must not come on a stream: <a:x>
    ... ''', Path("checkpoint")))
    schema must not come on a stream: <a:x>
    >>> print(explained('''[STREAM_FAILED] Query [id = 1] terminated with exception: Python worker
    ... failed to connect back. SQLSTATE: XXKST'''.replace("\\n", " "), Path("checkpoint")))
    Spark waited for Python in vain: the machine may be too busy; the next run goes on from here
    """
    meanings = (_of_workers, _of_the_disk, _of_ours, _of_kafka, _of_files, _of_the_checkpoint)
    return next((found for each in meanings if (found := each(told, checkpoint))), None)


# ---- what a message may mean: the first that knows it ------------------------------------------


def _of_workers(told: str, checkpoint: Path) -> PipelineError | None:
    if _LATE not in told:
        return None
    return PipelineError(
        "Spark waited for Python in vain: the machine may be too busy; "
        "the next run goes on from here"
    )


def _of_the_disk(told: str, checkpoint: Path) -> PipelineError | None:
    if not _FULL.search(told):
        return None
    return PipelineError(
        f"No space left on the device of {checkpoint}, or of Spark's temporary files; "
        "the next run goes on from here"
    )


def _of_ours(told: str, checkpoint: Path) -> PipelineError | None:
    refused = list(_REFUSED.finditer(told))
    return PipelineError(refused[-1]["said"]) if refused else None


def _of_kafka(told: str, checkpoint: Path) -> PipelineError | None:
    if _NO_TOPIC in told:
        return PipelineError(
            "Kafka has not all the topics that are read; when it has, the next run goes on"
        )
    if found := _GONE.search(told):
        return CheckpointError(
            f"what was to be read next is not in Kafka any more: {found['why']}; the option "
            'failOnDataLoss = "false" goes on without it'
        )
    return None


def _of_files(told: str, checkpoint: Path) -> PipelineError | None:
    if found := _UNREADABLE.search(told):
        is_local = found["file"].startswith("file:")
        file = path_of(found["file"]) if is_local else found["file"]
        why = _why_closed(Path(file)) if is_local else None
        why = why or found["why"] or "it is damaged, or of another format"
        if Path(file).is_relative_to(checkpoint.parent):
            return CheckpointError(f"{file} is damaged: {why}")
        return unreadable(file, why)
    if found := _ELSEWHERE.search(told):
        return PipelineError(
            f"{found['folder']} is not where the files of the last batch were, such as "
            f"{read_path(found['file'])}: move the folder back, or start anew with --reset"
        )
    return None


def _of_the_checkpoint(told: str, checkpoint: Path) -> PipelineError | None:
    found = _DELETED.search(told)
    if found and Path(found["file"]).is_relative_to(checkpoint):
        return CheckpointError(f"{found['file']} was deleted while the run went on")
    first = told.splitlines()[0]
    causes = [first.partition("terminated with exception: ")[2] or first]
    causes += [found["said"] for found in _CAUSE.finditer(told)]
    causes = [cause for cause in causes if _OF_DATA not in cause]
    damaged = [cause.rstrip(".") for cause in causes if _DAMAGED.search(cause)]
    if damaged:
        return CheckpointError(f"Spark cannot go on from {checkpoint}: {damaged[-1]}")
    return None


def _why_closed(file: Path) -> str | None:
    """Why a file cannot be opened: of any such file Spark says that it does not exist."""
    try:
        file.open("rb").close()
    except OSError as error:
        return error.strerror
    return None
