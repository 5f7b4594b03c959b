"""What runs inside Spark's own process: Java, compiled when Spark starts, and how it starts sooner.

The compiler is Janino, which Spark brings to compile queries with. So neither a JDK nor a jar is
needed, and nothing is fetched.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext, SparkFiles

#: Hadoop's local file system without its forks.
LOCAL_FILES: Final = {
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "ebbtide.LocalFs",
    "spark.hadoop.fs.file.impl": "ebbtide.LocalFs$Checked",
}

#: The environment names an archive of Spark's classes (`pipeline/archive.py`).
ARCHIVE: Final = "EBBTIDE_CLASSES"
#: An archive of another Java is as none, and no reason to say so.
UNTOLD: Final = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")


def archive_options() -> tuple[str, ...]:
    """What lets a JVM take its classes from the archive, if there is one."""
    file = os.environ.get(ARCHIVE, "")
    return (f"-XX:SharedArchiveFile={file}", *UNTOLD) if Path(file).is_file() else ()


def load_java(jvm: Any, name: str) -> None:
    """Let a JVM know the classes of NAME.java, if it does not yet."""
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        loader.loadClass(f"ebbtide.{name}")
        return
    except Py4JJavaError:
        pass
    # Spark's loader takes classes from folders. Once they are loaded nobody reads them again.
    with TemporaryDirectory(prefix="ebbtide-") as folder:
        classes = _compiled(jvm, name)
        for each, code in classes.items():
            file = Path(folder, _file_of(each))
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(code)
        loader.addURL(jvm.java.io.File(folder).toURI().toURL())
        for each in classes:
            loader.loadClass(each)


def send_java(context: SparkContext, name: str) -> None:
    """Let the executors of a cluster know the classes of NAME.java, from their first task on."""
    # Spark removes this folder when it ends.
    jar = Path(SparkFiles.getRootDirectory(), f"ebbtide-{name}.jar")
    with zipfile.ZipFile(jar, "w") as archive:
        for each, code in _compiled(context._jvm, name).items():
            archive.writestr(_file_of(each), code)
    context._jsc.addJar(str(jar))


def _compiled(jvm: Any, name: str) -> Mapping[str, bytes]:
    """The code of the classes of NAME.java, by their names."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook((files(__name__) / f"{name}.java").read_text())
    return dict(compiler.getBytecodes())


def _file_of(name: str) -> str:
    """Where a class is in a folder or an archive of classes.

    >>> _file_of("ebbtide.LocalFs")
    'ebbtide/LocalFs.class'
    """
    return name.replace(".", "/") + ".class"
