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
