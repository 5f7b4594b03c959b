"""What executors need of this environment, in one archive that Spark hands to them.

    spark-submit --archives ebbtide.tar.gz#ebbtide --conf spark.executorEnv.PYTHONPATH=ebbtide ...

In it: Ebbtide as it is imported here, and what it needs there but pyspark, which executors have.
They need a Python of this version, and the machines the same kind of processor.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

#: What is imported on executors: to parse, to reason and to keep state.
NEEDED: Final = ("lark", "rich", "msgspec", "pyarrow", "pandas", "protobuf")


def pack(archive: Path) -> None:
    """Write the archive, gzip'd."""
    import ebbtide

    # Quickly rather than small: it is read once a machine.
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        home = Path(ebbtide.__file__).parent
        tar.add(home, "ebbtide", filter=lambda entry: None if _is_made(entry.name) else entry)
        for each in requirements():
            for file in each.files or ():
                # What lies beside the packages (commands) is for people, not for executors.
                if file.parts[0] != ".." and not _is_made(str(file)):
                    tar.add(str(each.locate_file(file)), str(file), recursive=False)


def requirements() -> Iterator[Distribution]:
    """The distributions that are packed, each once.

    >>> {"pyarrow", "numpy"} <= {each.name for each in requirements()}
    True
    """
    waiting = list(NEEDED)
    known = set(waiting)
    while waiting:
        try:
            found = distribution(waiting.pop())
        except PackageNotFoundError:
            # Asked for on other systems only.
            continue
        yield found
        for text in found.requires or ():
            name = re.split(r"[^A-Za-z0-9._-]", text)[0].lower()
            if "extra ==" not in text and name not in known:
                known.add(name)
                waiting.append(name)


def _is_made(name: str) -> bool:
    return "__pycache__" in name
