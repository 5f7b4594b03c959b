"""What a session needs if its executors are not processes of this one: a Python, and Ebbtide.

Executors run the Python that `spark.pyspark.python` names, at the same place on every machine, else
the one of this process. Ebbtide comes to them in an archive, which is packed and kept for the next
run unless the settings say where it is (`spark.archives`, or a PYTHONPATH of theirs).
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

PYTHON: Final = "spark.pyspark.python"
ARCHIVES: Final = "spark.archives"
PYTHONPATH: Final = "spark.executorEnv.PYTHONPATH"


def cluster_settings(given: Mapping[str, str], say: Callable[[str], None]) -> Mapping[str, str]:
    """The settings of a session on a cluster, with the archive of this environment."""
    use_python(given.get(PYTHON))
    if ARCHIVES in given or PYTHONPATH in given:
        return given
    from ebbtide.pipeline.package import kept_archive

    archive = kept_archive(lambda: say("packing Ebbtide for the executors"))
    return {**given, ARCHIVES: f"{archive}#ebbtide", PYTHONPATH: "ebbtide"}


def use_python(python: str | None) -> None:
    """Let Spark run a Python, on this machine, too, where it plans: it finds what is installed."""
    if python is None:
        return
    import ebbtide

    os.environ["PYSPARK_PYTHON"] = python
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    here = [str(Path(ebbtide.__file__).parents[1]), sysconfig.get_path("purelib")]
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([*here, *([before] if before else [])])
