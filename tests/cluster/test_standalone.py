"""The example on a standalone cluster: a master, two workers, and a packaged environment.

The executors run a Python that knows nothing of Ebbtide, so that what they use came in the archive.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.pipeline.stream import FACTS as STREAM
from tests.pipeline.stream import LOCAL, in_order, oracle, rows_of, write_pipeline
from tests.pipeline.test_api import FACTS
from tests.pipeline.test_shards import CAMPUS

import ebbtide
from ebbtide.pipeline.package import kept_archive, pack
from ebbtide.reasoner import Reasoner
from ebbtide.testing.cluster import Cluster, spark_home
from ebbtide.time import Sliding

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

EXAMPLE = Path(__file__).parents[2] / "examples/cluster/campus.py"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("package") / "ebbtide.tar.gz"
    pack(file)
    return file


def bare_python() -> str:
    """The interpreter behind this environment, without its packages."""
    python = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    if not subprocess.run(
        [python, "-c", "import pyarrow"], capture_output=True, check=False
    ).returncode:
        pytest.skip(f"{python} has pyarrow of its own, so that nothing would be shown")
    return python


def test_the_example_runs_on_two_workers(cluster: Cluster, archive: Path, tmp_path: Path) -> None:
    incoming = tmp_path / "in"
    incoming.mkdir()
    lines = [f"{t}\t{s} {p} {o} .\n" for t, s, p, o in FACTS]
    for number, first in enumerate(range(0, len(lines), 6)):
        file = incoming / f"{number:02d}.tnt"
        file.write_text("".join(lines[first : first + 6]))
        os.utime(file, (60 * number, 60 * number))
    settings = {
        "spark.executorEnv.PYTHONPATH": "ebbtide",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.executor.memory": "700m",
        "spark.pyspark.python": bare_python(),
        "spark.pyspark.driver.python": sys.executable,
    }
    command = [spark_home() / "bin/spark-submit", "--master", cluster.address]
    command += ["--archives", f"{archive}#ebbtide"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += [EXAMPLE, incoming, tmp_path / "checkpoint", tmp_path / "out"]
    # Spark plans with that Python, too, in the driver, which is installed and needs no archive.
    installed = f"{Path(ebbtide.__file__).parents[1]}:{sysconfig.get_path('purelib')}"
    environment = {**os.environ, "SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["PYTHONPATH"] = installed
    ended = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, check=False
    )
    wrong = [line for line in ended.stderr.splitlines() if " INFO " not in line]
    assert ended.returncode == 0, "\n".join(wrong[:60])
    found = pq.read_table(tmp_path / "out").select(["t", "op", "s", "p", "o", "until"]).to_pylist()
    rows = ({name: value for name, value in row.items() if value is not None} for row in found)
    assert in_order(rows) == expected()
    # Both workers had a part in it.
    assert all(list(folder.glob("app-*/*/stderr")) for folder in cluster.work_folders)


SETTINGS = """
[spark]
master = "{master}"
[spark.settings]
"spark.pyspark.python" = "{python}"
"spark.executor.memory" = "700m"
"""


def test_a_pipeline_file_runs_on_two_workers(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ebbtide run` packs what the executors need, and chooses shards, as the rules can be cut."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = write_pipeline(tmp_path, 4, rules=LOCAL, step="4 s", placement="auto")
    settings = SETTINGS.format(master=cluster.address, python=bare_python())
    file.write_text(file.read_text() + settings)
    ended = subprocess.run(
        [sys.executable, "-c", "from ebbtide.cli import main; main()", "run", str(file)],
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-6_000:]
    assert "packing Ebbtide for the executors" in ended.stderr
    # The next run would find the archive.
    assert kept_archive(packing=lambda: pytest.fail("packed again")).stat().st_size > 10_000_000
    assert "placement sharded (2 shards): no rule is global" in ended.stderr
    parts = sorted((tmp_path / "out/answers").glob("*.jsonl"))
    rows = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
    expected = oracle(LOCAL, step=4_000)
    assert in_order(rows) == rows_of([*expected.run(STREAM), *expected.finish()])
    # Executors were sent our file system, and wrote with it what a batch changed.
    assert any(list(folder.glob("app-*/*/ebbtide-LocalFs.jar")) for folder in cluster.work_folders)
    assert list((tmp_path / "checkpoint").rglob("*.changelog"))


def expected() -> list[dict[str, Any]]:
    """What the reference engine says, fact by fact."""
    reasoner = Reasoner("rdfs-sparkwave", window=Sliding(10_000), lateness=500, engine="reference")
    reasoner.parse(CAMPUS)
    return rows_of(reasoner.run(((s, p, o), t) for t, s, p, o in FACTS))
