"""An archive of the classes that Spark loads, from which it starts sooner.

    python -m ebbtide.pipeline.archive FILE      makes it: 160 MB
    EBBTIDE_CLASSES=FILE                         lets every session on this machine start from it

Spark's classes come out of three hundred jars, and Java checks each of them, at every start. What
it found can be kept (class data sharing). Invariant: FILE is a whole archive or is not there; one
of another Java or another Spark does nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark import SparkContext

from ebbtide.pipeline.jvm import ARCHIVE, UNTOLD
from ebbtide.pipeline.session import close_session, java_options, open_session, warm_up


def make_archive(file: Path) -> None:
    """Start Spark, let it do a little, and keep the classes that it loaded."""
    os.environ.pop(ARCHIVE, None)
    aside = file.with_suffix(".tmp")
    options = " ".join((java_options(), f"-XX:ArchiveClassesAtExit={aside}", *UNTOLD))
    spark = open_session("archive", settings={"spark.driver.extraJavaOptions": options})
    warm_up(spark)
    spark.createDataFrame([(1, "a")], "t long, s string").groupBy("s").count().collect()
    gateway = SparkContext._gateway
    assert gateway is not None
    close_session(spark)
    # The JVM writes the archive when it ends, and it ends when nobody holds its standard input.
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    aside.replace(file)


if __name__ == "__main__":
    make_archive(Path(sys.argv[1]))
