"""One Spark session for each module that asks for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from ebbtide.pipeline.session import open_session

from .command import Command


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    session = open_session("ebbtide tests")
    yield session
    session.stop()


@pytest.fixture
def commands() -> Iterator[list[Command]]:
    """Whatever a test started is gone when it ends."""
    started: list[Command] = []
    yield started
    for command in started:
        if command.process.poll() is None:
            command.kill()
