"""One Spark session for each module that asks for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from ebbtide.pipeline.session import open_session


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    session = open_session("ebbtide tests")
    yield session
    session.stop()
