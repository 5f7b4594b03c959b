"""The outside parts that were fetched, and how each is started, on loopback and for a while."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ebbtide.testing.cluster import free_port, running, wait_for

PARTS = Path(os.environ.get("EBBTIDE_PARTS", Path.home() / ".cache/ebbtide/parts"))
JVM = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

BROKER = """
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller}
log.dirs={folder}/logs
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
num.partitions=2
"""
MOSQUITTO = """
listener {port} 127.0.0.1
allow_anonymous true
max_queued_messages 0
"""


GUARDED = """
listener {port} 127.0.0.1
allow_anonymous false
password_file {folder}/passwords
cafile {folder}/ca.pem
certfile {folder}/ca.pem
keyfile {folder}/key.pem
user root
"""


class Mosquitto(NamedTuple):
    program: Path
    libraries: Path | None


def connector() -> list[Path]:
    """The jars of Spark's Kafka connector, if they were fetched."""
    return sorted((PARTS / "connector").glob("*.jar"))


def kafka_jars() -> list[Path]:
    """The jars of Apache Kafka, if they were fetched."""
    return sorted((PARTS / "broker").glob("*.jar"))


def mosquitto() -> Mosquitto | None:
    """The MQTT broker that is installed, or else was fetched."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    if (installed := shutil.which("mosquitto", path=path)) is not None:
        return Mosquitto(Path(installed), None)
    fetched = PARTS / "mosquitto/usr/sbin/mosquitto"
    libraries = next((PARTS / "mosquitto/usr/lib").glob("*-linux-*"), None)
    return Mosquitto(fetched, libraries) if fetched.exists() else None


@contextmanager
def kafka_broker(folder: Path) -> Iterator[str]:
    """A broker in KRaft mode; its address."""
    port, controller = free_port(), free_port()
    settings = folder / "server.properties"
    settings.write_text(BROKER.format(port=port, controller=controller, folder=folder))
    java = ("java", *JVM, "-cp", f"{PARTS / 'broker'}/*")
    identity = ("-t", "MkU3OEVBNTcwNTJENDM2Qk")
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", *identity, "-c", settings],
        check=True,
        capture_output=True,
    )
    with running(folder / "broker.log", *java, "kafka.Kafka", str(settings)) as process:
        wait_for(port, process)
        yield f"127.0.0.1:{port}"


class Guarded(NamedTuple):
    """A broker that lets in one user, over TLS."""

    port: int
    ca: Path
    user: str
    password: str


@contextmanager
def guarded_mqtt_broker(folder: Path) -> Iterator[Guarded]:
    """A broker with a certificate of its own making."""
    found = mosquitto()
    assert found is not None
    made = Guarded(free_port(), folder / "ca.pem", "city", "correct horse")
    subject = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    request = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject)
    key = folder / "key.pem"
    subprocess.run([*request, "-keyout", key, "-out", made.ca], check=True, capture_output=True)
    passwords = folder / "passwords"
    passwords.write_text(f"{made.user}:{made.password}\n")
    hashing = found.program.parents[1] / "bin/mosquitto_passwd"
    libraries = {} if found.libraries is None else {"LD_LIBRARY_PATH": str(found.libraries)}
    subprocess.run([hashing, "-U", passwords], check=True, env={**os.environ, **libraries})
    text = GUARDED.format(port=made.port, folder=folder)
    with _mosquitto(folder, text, made.port):
        yield made


@contextmanager
def mqtt_broker(folder: Path) -> Iterator[int]:
    """A broker; its port."""
    port = free_port()
    with _mosquitto(folder, MOSQUITTO.format(port=port), port):
        yield port


@contextmanager
def _mosquitto(folder: Path, text: str, port: int) -> Iterator[None]:
    found = mosquitto()
    assert found is not None
    settings = folder / "mosquitto.conf"
    settings.write_text(text)
    environment = {} if found.libraries is None else {"LD_LIBRARY_PATH": str(found.libraries)}
    log = folder / "mosquitto.log"
    with running(log, str(found.program), "-c", str(settings), environment=environment) as process:
        wait_for(port, process)
        yield
