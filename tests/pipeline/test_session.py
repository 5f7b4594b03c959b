"""Java is found, or its absence is one clear sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.terminal import on_a_terminal

from ebbtide.pipeline.session import JavaMissing, find_java


def java_that_says(home: Path, version: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return java


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = java_that_says(tmp_path, "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == java


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.21"])
def test_java_may_be_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    java = java_that_says(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissing, match=f"{java} is not one"):
        find_java()


def test_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaMissing, match="apt install"):
        find_java()


def test_the_demo_without_java_ends_with_one_sentence(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path)}
    environment.pop("JAVA_HOME", None)
    command = Path(sys.executable).with_name("ebbtide")
    ended = subprocess.run(
        [sys.executable, command, "demo"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("ebbtide: Spark needs a Java runtime")
    assert "Traceback" not in ended.stderr


@pytest.mark.spark
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("spark.driver.memory", "Java gateway process exited"),
        ("spark.serializer", "ClassNotFoundException nonsense"),
        ("spark.sql.shuffle.partitions", "The value 'nonsense' in the config"),
    ],
)
def test_settings_that_keep_spark_from_starting(tmp_path: Path, setting: str, said: str) -> None:
    """A sentence, and no traceback, whoever looks at the setting: Java, Spark, or its SQL."""
    (tmp_path / "p.toml").write_text(
        f'[streams.s]\nfrom = "memory"\n[outputs.o]\nto = "console"\n[run]\nends = "when read"\n'
        f'[spark.settings]\n"{setting}" = "nonsense"\n'
    )
    seen = on_a_terminal("run", "p.toml", folder=tmp_path)
    assert seen.code == 1
    assert f"ebbtide: Spark does not start with the master local[2]: {said}" in seen.picture
    assert "Traceback" not in seen.picture


@pytest.mark.spark
def test_a_session_takes_jars_and_closes_quietly(tmp_path: Path) -> None:
    """Spark looks at jars before it can know a class of ours, and is closed after its workers.

    In a process of its own: a closed session is gone for everybody.
    """
    with zipfile.ZipFile(tmp_path / "some.jar", "w") as jar:
        jar.writestr("some.txt", "")
    program = (
        "import os\n"
        "from ebbtide.pipeline.session import close_session, open_session, warm_up\n"
        f"spark = open_session(settings={{'spark.jars': {str(tmp_path / 'some.jar')!r}}})\n"
        "warm_up(spark)\n"
        "print(spark.range(3).count(), spark.conf.get('spark.hadoop.fs.file.impl'))\n"
        "java = spark.sparkContext._jvm.java.lang\n"
        "workers = [each.pid() for each in java.ProcessHandle.current().children().toArray()]\n"
        "close_session(spark)\n"
        "print(workers != [], [pid for pid in workers if os.path.exists(f'/proc/{pid}/exe')])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == ["3 ebbtide.LocalFs$Checked", "True []"]
