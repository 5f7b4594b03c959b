"""Java is found, or its absence is one clear sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ebbtide.pipeline.session import JavaMissing, find_java


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == java


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
