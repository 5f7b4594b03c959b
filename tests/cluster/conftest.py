"""The outside parts, each started once; a test that lacks one is skipped and says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from ebbtide.pipeline.session import open_session
from ebbtide.testing.cluster import Cluster, spark_cluster

from .parts import (
    Guarded,
    connector,
    guarded_mqtt_broker,
    kafka_broker,
    kafka_jars,
    mosquitto,
    mqtt_broker,
)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not kafka_jars() or not connector():
        pytest.skip("Kafka and its connector were not fetched: make parts")
    with kafka_broker(tmp_path_factory.mktemp("kafka")) as address:
        yield address


@pytest.fixture(scope="session")
def broker_program() -> None:
    if mosquitto() is None:
        pytest.skip("mosquitto is not installed and was not fetched: make parts")


@pytest.fixture(scope="session")
def mqtt(broker_program: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with mqtt_broker(tmp_path_factory.mktemp("mqtt")) as port:
        yield port


@pytest.fixture(scope="session")
def guarded_mqtt(
    broker_program: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guarded]:
    with guarded_mqtt_broker(tmp_path_factory.mktemp("guarded")) as broker:
        yield broker


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with spark_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    jars = ",".join(map(str, connector()))
    session = open_session("ebbtide cluster tests", settings={"spark.jars": jars})
    yield session
    session.stop()
