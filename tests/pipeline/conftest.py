"""One Spark session for the tests of a worker, and processes that end with their test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from ebbtide.pipeline.session import open_session

from .command import Command


@pytest.fixture(scope="session")
def whole_session() -> Iterator[SparkSession]:
    """With the user interface, which one test reads."""
    settings = {"spark.ui.enabled": "true", "spark.ui.port": "0"}
    session = open_session("ebbtide tests", settings=settings)
    yield session
    session.stop()


@pytest.fixture
def spark(whole_session: SparkSession) -> SparkSession:
    """The session, with the settings it began with."""
    whole_session.conf.set("spark.sql.shuffle.partitions", 1)
    return whole_session


@pytest.fixture
def commands() -> Iterator[list[Command]]:
    """Whatever a test started is gone when it ends."""
    started: list[Command] = []
    yield started
    for command in started:
        if command.process.poll() is None:
            command.kill()
