"""Fetch the outside parts into the cache folder: `make parts`.

    connector/*.jar   Spark's Kafka connector        Maven
    broker/*.jar      Apache Kafka                   Maven
    mosquitto/        an MQTT broker, unpacked       Debian, if it is not installed

Needs a Java runtime, and for mosquitto Debian's apt-get and dpkg. What is there is left alone.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import pyspark

from .parts import PARTS, connector, kafka_jars, mosquitto

DEBIAN_PACKAGES: Final = (
    "mosquitto",
    "libcjson1",
    "libdlt2",
    "libev4",
    "libmosquitto1",
    "libuv1",
    "libwebsockets17",
    "libwrap0",
)


def say(what: str) -> None:
    print(f"parts: {what}", flush=True)


def fetch_jars(configuration: str) -> None:
    (ivy,) = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    pattern = PARTS / configuration / "[artifact]-[revision].[ext]"
    options = ["-ivy", Path(__file__).with_name("ivy.xml"), "-confs", configuration]
    cache = ["-cache", PARTS / "ivy", "-types", "jar", "bundle", "-retrieve", pattern]
    command = [str(each) for each in ("java", "-jar", ivy, *options, *cache)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"parts: Ivy could not fetch {configuration}:\n{ended.stdout}")


def fetch_mosquitto() -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        say("no mosquitto, since there is no apt-get: install it, or do without tests of MQTT")
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["apt-get", "download", "-qq", *DEBIAN_PACKAGES], cwd=folder, check=True)
        for package in Path(folder).glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, PARTS / "mosquitto"], check=True)


def main() -> None:
    PARTS.mkdir(parents=True, exist_ok=True)
    if not connector():
        say("fetching Spark's Kafka connector")
        fetch_jars("connector")
    if not kafka_jars():
        say("fetching Apache Kafka (45 MB)")
        fetch_jars("broker")
    if mosquitto() is None:
        say("fetching mosquitto")
        fetch_mosquitto()
    say(f"everything is in {PARTS}")


if __name__ == "__main__":
    main()
