"""What made a query fail: a damaged checkpoint is one, and a row's value is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.pipeline.errors import CheckpointError, PipelineError
from ebbtide.pipeline.failed import explained

BEGINS = "[STREAM_FAILED] Query [id = 1] terminated with exception: "
CAST = "[CAST_INVALID_INPUT] The value '{}' cannot be cast because"


@pytest.mark.parametrize(
    "said",
    [
        f"{CAST.format('yesterday')} it is malformed. SQLSTATE: 22018",
        f"{CAST.format('state store checksum')} it is malformed. SQLSTATE: 22018",
        "job aborted\nCaused by: java.lang.NumberFormatException: For input string: postal zip",
        "[FAILED_READ_FILE] Malformed file incoming/0.zip. SQLSTATE: KD001",
    ],
)
def test_a_value_is_no_checkpoint(said: str) -> None:
    assert explained(f"{BEGINS}{said} SQLSTATE: XXKST", Path("checkpoint")) is None


@pytest.mark.parametrize(
    "said",
    [
        "Log file was malformed: failed to read correct log version from w1",
        "[CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED] Checksum verification failed",
        "cannot read /tmp/c/spark/state/0/0/3.zip",
        "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state",
    ],
)
def test_a_damaged_checkpoint_is_told(said: str) -> None:
    told = f"{BEGINS}job aborted\nCaused by: org.apache.spark.SparkException: {said}.\n"
    found = explained(told, Path("checkpoint"))
    assert isinstance(found, CheckpointError)
    assert said in str(found)


@pytest.mark.parametrize(
    "said",
    [
        "java.io.IOException: No space left on device SQLSTATE: XXKST",
        "job aborted\nOSError: [Errno 28] No space left on device\n",
    ],
)
def test_a_full_disk_is_told(said: str) -> None:
    found = explained(f"{BEGINS}{said}", Path("/data/checkpoint/spark"))
    assert type(found) is PipelineError
    assert str(found).startswith("No space left on the device of /data/checkpoint/spark, or of")


def test_a_checkpoint_that_is_deleted_is_told() -> None:
    said = f"{BEGINS}File file:/data/checkpoint/spark/offsets does not exist SQLSTATE: XXKST\n"
    found = explained(said, Path("/data/checkpoint/spark"))
    assert isinstance(found, CheckpointError)
    assert str(found).startswith("/data/checkpoint/spark/offsets was deleted while the run went on")
    assert explained(said, Path("/other/checkpoint/spark")) is None


UNREADABLE = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file {}.  SQLSTATE: KD001"


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("file:///data/in/a%20b.parquet", PipelineError),
        ("file:///data/checkpoint/frames/00000003/whole-0/a.parquet", CheckpointError),
    ],
)
def test_a_file_that_cannot_be_read_is_named(file: str, kind: type[PipelineError]) -> None:
    said = f"{BEGINS}org.apache.spark.SparkException: {UNREADABLE.format(file)} SQLSTATE: XXKST\n"
    found = explained(said, Path("/data/checkpoint/spark"))
    assert type(found) is kind
    assert str(found).startswith(file.removeprefix("file://").replace("%20", " "))


def test_why_a_file_cannot_be_opened_is_told(tmp_path: Path) -> None:
    """Spark says the same of what is not there, what may not be read, and what is a folder."""
    updated = "It is possible the underlying files have been updated"
    said = "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file {}. "
    said += f"File does not exist. {updated}.\nYou can explicitly invalidate SQLSTATE: KD001"
    (tmp_path / "folder").mkdir()
    (tmp_path / "there again").touch()
    for name, why in (
        ("nothing", "No such file or directory"),
        ("folder", "Is a directory"),
        ("there again", f"File does not exist. {updated}"),
    ):
        file = tmp_path / name
        found = explained(f"{BEGINS}{said.format(file.as_uri())}", Path("/data/checkpoint/spark"))
        assert str(found).startswith(f"{file} cannot be read: {why}; when it is put right")


GONE = """Some data may have been lost because they are not available in Kafka any more;
either the data was aged out by Kafka or the topic may have been deleted before all the data in the
topic was processed.
Reason: Partition trains-0 offset was changed from 109 to 10.

=== Streaming Query ===
"""


def test_what_is_gone_from_kafka_is_told() -> None:
    found = explained(f"{BEGINS}{GONE}", Path("checkpoint"))
    assert isinstance(found, CheckpointError)
    assert "any more: Partition trains-0 offset was changed from 109 to 10; the option" in str(
        found
    )
