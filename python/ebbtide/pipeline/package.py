"""What executors need of this environment, in one archive that Spark hands to them.

    spark-submit --archives ebbtide.tar.gz#ebbtide --conf spark.executorEnv.PYTHONPATH=ebbtide ...

In it: Ebbtide as it is imported here, and what it needs there but pyspark, which executors have.
They need a Python of this version, and the machines the same kind of processor.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tarfile
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from ebbtide.extras import MissingLibrary

#: What is imported on executors: to parse, to reason and to keep state.
NEEDED: Final = ("lark", "rich", "msgspec", "pyarrow", "pandas", "protobuf")

#: Archives that are kept from run to run: of this environment, and of some before it.
MOST_KEPT: Final = 3


def kept_archive(packing: Callable[[], None]) -> Path:
    """The archive of this environment: packed now, or when a run before this one was.

    `packing` is called before it is packed.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ebbtide"
    archive = folder / f"{environment()}.tar.gz"
    if archive.exists():
        # Those that were not used for the longest time go first.
        archive.touch()
        return archive
    packing()
    folder.mkdir(parents=True, exist_ok=True)
    aside = archive.with_suffix(f".{os.getpid()}")
    pack(aside)
    aside.replace(archive)
    by_use = sorted(folder.glob("*.tar.gz"), key=lambda each: each.stat().st_mtime)
    for old in by_use[:-MOST_KEPT]:
        old.unlink(missing_ok=True)
    return archive


def environment() -> str:
    """What tells an archive from another: Python, the files of Ebbtide, what else is packed.

    >>> environment() == environment()
    True
    """
    digest = hashlib.sha256(sys.version.encode())
    home = _home()
    for file in sorted(home.rglob("*")):
        if file.is_file() and not _is_made(str(file)):
            found = file.stat()
            digest.update(f"{file.relative_to(home)} {found.st_size} {found.st_mtime_ns}".encode())
    for each in sorted(f"{each.name} {each.version}" for each in requirements()):
        digest.update(each.encode())
    return digest.hexdigest()[:32]


def _home() -> Path:
    import ebbtide

    return Path(ebbtide.__file__).parent


def pack(archive: Path) -> None:
    """Write the archive, gzip'd."""
    packed = list(requirements())
    # Quickly rather than small: it is read once a machine. A link leads nowhere there.
    with tarfile.open(archive, "w:gz", compresslevel=1, dereference=True) as tar:
        tar.add(_home(), "ebbtide", filter=lambda entry: None if _is_made(entry.name) else entry)
        for each in packed:
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
        name = waiting.pop()
        try:
            found = distribution(name)
        except PackageNotFoundError:
            if name in NEEDED:
                raise MissingLibrary("a pipeline", name, "spark") from None
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
