"""What runs inside Spark's own process: Java, compiled when Spark starts, and how it starts sooner.

The compiler is Janino, which Spark brings to compile queries with. So neither a JDK nor a jar is
needed, and nothing is fetched.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from py4j.protocol import Py4JJavaError

#: Hadoop's local file system without its forks, for sessions of one process.
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
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(loader)
    compiler.cook((files(__name__) / f"{name}.java").read_text())
    # Spark's loader takes classes from folders. Once they are loaded nobody reads them again.
    with TemporaryDirectory(prefix="ebbtide-") as folder:
        for each, code in compiler.getBytecodes().items():
            file = Path(folder, *each.split(".")).with_suffix(".class")
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(code)
        loader.addURL(jvm.java.io.File(folder).toURI().toURL())
        for each in compiler.getBytecodes():
            loader.loadClass(each)
