"""MQTT as a source and as a sink, with a real broker."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from tests.pipeline.stream import FACTS, in_order, oracle, rows_of, write_pipeline

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.file import load_pipeline, model
from ebbtide.pipeline.mqtt import Broker
from ebbtide.pipeline.sinks.mqtt import MqttSink
from ebbtide.pipeline.sources.mqtt import delivered
from ebbtide.terms.writing import timed_line

from .parts import Guarded

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

LINES = [timed_line(at, fact.terms) for fact, at in FACTS]
COMMAND = [sys.executable, "-c", "from ebbtide.cli import main; main()", "run"]
PATIENCE = 300.0


@contextmanager
def client(port: int) -> Iterator[Client]:
    connected = Client(CallbackAPIVersion.VERSION2)
    connected.connect("127.0.0.1", port)
    connected.loop_start()
    yield connected
    connected.disconnect()
    connected.loop_stop()


def publish(port: int, topic: str, payloads: Iterable[str]) -> None:
    with client(port) as publisher:
        for payload in payloads:
            publisher.publish(topic, payload, 1).wait_for_publish(30)


def open_session(port: int, name: str, topic: str) -> None:
    """Let the broker know a client that is away: it keeps messages for it."""
    session = Client(CallbackAPIVersion.VERSION2, name, protocol=MQTTv5)
    properties = Properties(PacketTypes.CONNECT)
    properties.SessionExpiryInterval = 3600
    subscribed = threading.Event()
    session.on_subscribe = lambda *given: subscribed.set()
    session.connect("127.0.0.1", port, clean_start=False, properties=properties)
    session.loop_start()
    session.subscribe(topic, 1)
    assert subscribed.wait(30)
    session.disconnect()
    session.loop_stop()


def mqtt_pipeline(folder: Path, port: int, topic: str) -> Path:
    file = write_pipeline(folder)
    given = file.read_text().replace(
        'from = "files"\npath = "incoming"\n',
        f'from = "mqtt"\nport = {port}\ntopics = ["{topic}/#"]\nclient = "{topic}"\n',
    )
    given = given.replace("files_a_batch = 2\n", "").replace('ends = "when read"', 'ends = "never"')
    given += f'\n[outputs.topic]\nto = "mqtt"\nport = {port}\ntopic = "{topic}-answers"\n'
    file.write_text(given.replace("snapshot_every = 3", "snapshot_every = 1"))
    return file


@contextmanager
def running(file: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([*COMMAND, str(file)], stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def said_until(process: subprocess.Popen[str], pattern: str) -> None:
    """Read what a run says until a line matches."""
    assert process.stderr is not None
    said = []
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    for line in process.stderr:
        said.append(line)
        if re.search(pattern, line) is not None:
            timer.cancel()
            return
    raise AssertionError("".join(said))


def lines(folder: Path) -> list[dict[str, Any]]:
    parts = sorted(folder.glob("part-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def expected() -> list[dict[str, Any]]:
    """Of a stream that goes on: what waits for later facts is not there yet."""
    return rows_of(oracle().run(FACTS))


def test_nothing_is_lost_over_kill_and_stop(mqtt: int, tmp_path: Path) -> None:
    file = mqtt_pipeline(tmp_path, mqtt, "trains")
    open_session(mqtt, "trains", "trains/#")
    shown: list[dict[str, Any]] = []
    half = len(LINES) // 2
    with client(mqtt) as subscriber:
        subscriber.on_message = lambda *given: shown.append(json.loads(given[2].payload))
        subscriber.subscribe("trains-answers", 1)
        publish(mqtt, "trains/1", LINES[:half])
        with running(file) as process:
            # Between its sinks and Spark's commit, or a little later.
            said_until(process, r"batch \d+: [1-9]\d* facts")
            os.kill(process.pid, signal.SIGKILL)
        # While nobody is there.
        publish(mqtt, "trains/2", LINES[half:])
        with running(file) as process:
            said_until(process, f"ticks to {max(row['t'] for row in expected())},")
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        time.sleep(0.5)
    assert in_order(lines(tmp_path / "out/answers")) == expected()
    changes = in_order(row for row in expected() if row["op"] != "~")
    seen = [dict(items) for items in {tuple(row.items()) for row in shown}]
    assert in_order(seen) == changes
    # What was read is not kept for ever.
    assert len(list((tmp_path / "checkpoint/spool/reports").iterdir())) <= 2


def test_no_broker_is_one_sentence(tmp_path: Path) -> None:
    file = mqtt_pipeline(tmp_path, 1, "nowhere")
    ended = subprocess.run([*COMMAND, str(file)], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("ebbtide: the MQTT broker at 127.0.0.1:1 ")


GUARDS = """
host = "127.0.0.1"
port = {port}
login = {{ user = "{user}", password_from = "CITY_PASSWORD" }}
tls = {{ ca = "{ca}" }}
"""


def guarded_pipeline(folder: Path, broker: Guarded) -> Path:
    guards = GUARDS.format(port=broker.port, user=broker.user, ca=broker.ca)
    file = mqtt_pipeline(folder, broker.port, "guarded")
    file.write_text(file.read_text().replace(f"port = {broker.port}\n", guards.lstrip()))
    return file


def test_a_client_shows_its_password_to_the_broker_alone(
    guarded_mqtt: Guarded, tmp_path: Path
) -> None:
    file = guarded_pipeline(tmp_path, guarded_mqtt)
    pipeline = load_pipeline(file)
    stream, output = pipeline.streams["reports"], pipeline.outputs["topic"]
    assert isinstance(stream, model.Mqtt)
    assert isinstance(output, model.MqttTopic)
    environment = {**os.environ, "CITY_PASSWORD": guarded_mqtt.password}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CITY_PASSWORD", guarded_mqtt.password)
        stop = threading.Event()
        pieces = delivered(Broker.of(stream, ""), stream.topics, "guarded", "tnt", stop)
        sink = MqttSink(Broker.of(output, ""), "guarded/1", lambda rows: rows.encode())
        received: list[str] = []
        reading = threading.Thread(target=lambda: received.append(next(pieces).text))
        reading.start()
        time.sleep(1.0)
        sink.write(0, LINES[0])
        reading.join(30)
        assert received == [LINES[0]]
        stop.set()
        assert list(pieces) == []
        sink.close()
    ended = subprocess.Popen(
        [*COMMAND, str(file)], stderr=subprocess.PIPE, text=True, env=environment
    )
    said_until(ended, "reading reports")
    time.sleep(2)
    ended.send_signal(signal.SIGTERM)
    _, said = ended.communicate(timeout=PATIENCE)
    assert ended.returncode == 0, said
    assert guarded_mqtt.password not in said
    kept = [each for each in (tmp_path / "checkpoint").rglob("*") if each.is_file()]
    assert kept
    assert not any(guarded_mqtt.password.encode() in each.read_bytes() for each in kept)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("CITY_PASSWORD", "NO_PASSWORD", "login.password_from: the environment variable NO_PASS"),
        ('user = "city"', 'user = "town"', "refuses the client: Not authorized"),
        ("tls = {", "# tls = {", "does not answer"),
    ],
)
def test_who_is_not_let_in_is_told_so(
    guarded_mqtt: Guarded, tmp_path: Path, before: str, after: str, said: str
) -> None:
    file = guarded_pipeline(tmp_path, guarded_mqtt)
    file.write_text(file.read_text().replace(before, after))
    output = load_pipeline(file).outputs["topic"]
    assert isinstance(output, model.MqttTopic)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CITY_PASSWORD", guarded_mqtt.password)
        patch.setattr("ebbtide.pipeline.sinks.mqtt._SECONDS", 3.0)
        with pytest.raises(PipelineError, match=said):
            MqttSink(Broker.of(output, "outputs.topic"), "a", lambda rows: b"")
