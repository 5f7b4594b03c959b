"""The checkpoint of a pipeline: what it belongs to, and where everything in it is.

Invariant: nobody goes on from what another pipeline has left, and only one process at a time.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from ebbtide.pipeline.checkpoint.plan import FORMAT_KEY, Plan, difference
from ebbtide.pipeline.checkpoint.sealed import Damaged, aside_of, replace_file
from ebbtide.pipeline.checkpoint.states import States
from ebbtide.pipeline.errors import CheckpointError, CheckpointInUse

#: Of what the files hold. A version that reads them differently has another number.
FORMAT: Final = "4"
#: All that a run puts into the folder.
OWN: Final = (
    *("identity.json", "plan.json", "outputs.json", "lock"),
    *("spark", "reasoner", "frames", "spool", "parcels", "end"),
)


class Checkpoint:
    """A folder that belongs to one pipeline, and to one process at a time.

    The `identity` decides whether it is this pipeline's; the `plan`, if there is one, is what that
    is of, for the words of a refusal.
    """

    def __init__(self, folder: Path, identity: Mapping[str, str], plan: Plan | None = None) -> None:
        self.folder = folder
        self._is_new = not self.spark.exists()
        (folder / "reasoner").mkdir(parents=True, exist_ok=True)
        self.states = States(folder / "reasoner")
        self._lock = _lock(folder / "lock")
        try:
            if self.is_begun(folder):
                self.check(folder, identity, plan)
            else:
                # Nothing was done yet, whoever tried.
                self._begin({FORMAT_KEY: FORMAT, **identity}, plan)
        except BaseException:
            # A notebook keeps the error, and with it this object, while its user puts things right.
            self.close()
            raise

    @staticmethod
    def reset(folder: Path) -> None:
        """Forget everything, and nothing else that may be in the folder."""
        if not (folder / "lock").exists():
            return
        _lock(folder / "lock").close()
        for name in OWN:
            for each in (folder / name, aside_of(folder / name)):
                if each.is_dir():
                    shutil.rmtree(each)
                else:
                    each.unlink(missing_ok=True)
        with suppress(OSError):
            # There may be files of others in it.
            folder.rmdir()

    @staticmethod
    def is_begun(folder: Path) -> bool:
        """Whether a run has done anything with the checkpoint in a folder."""
        return (folder / "spark").exists() or any((folder / "reasoner").glob("[0-9]*"))

    @staticmethod
    def check(folder: Path, identity: Mapping[str, str], plan: Plan | None = None) -> None:
        """Refuse to go on from what is in a folder if it is not of this identity."""
        file = folder / "identity.json"
        if not file.exists():
            raise CheckpointError(f"{file} is missing, so nobody knows what it belongs to")
        try:
            known = json.loads(file.read_bytes())
        except ValueError:
            raise CheckpointError(f"{file} is damaged: it is not JSON") from None
        if not _is_identity(known):
            raise CheckpointError(f"{file} is damaged: it is no object of texts")
        now = {FORMAT_KEY: FORMAT, **identity}
        if found := difference(known, now, _kept_plan(folder), plan):
            raise CheckpointError(f"{folder} belongs to another pipeline: {found}")

    @staticmethod
    def check_states(folder: Path) -> None:
        """Refuse what is damaged of the states that a driver goes on from.

        A run that is under way has read them, and takes away what it needs no more.
        """
        with suppress(CheckpointInUse):
            _lock(folder / "lock").close()
            committed = (folder / "spark/commits").glob("[0-9]*")
            after = 1 + max((int(file.name) for file in committed), default=-1)
            States(folder / "reasoner").check_before(after)

    @staticmethod
    def known(folder: Path) -> Mapping[str, str]:
        """What the checkpoint in a folder belongs to; nothing if that cannot be told.

        Before its first run has got as far as Spark it belongs to nobody.
        """
        if not (folder / "spark").exists():
            return {}
        try:
            found = json.loads((folder / "identity.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return found if _is_identity(found) else {}

    @property
    def spark(self) -> Path:
        """Spark's own part."""
        return self.folder / "spark"

    def spool(self, stream: str) -> Path:
        """Where a stream that cannot be asked again is kept until it is read."""
        folder = self.folder / "spool" / stream
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def close(self) -> None:
        """Let another process have it."""
        self._lock.close()

    # ---- where outputs are -------------------------------------------------------------------

    @staticmethod
    def writes_to(folder: Path, output: Path) -> bool:
        """Whether what is in the folder of an output is of the runs of a checkpoint.

        `Damaged` if that cannot be told.
        """
        known = _outputs(folder)
        # Earlier builds did not write it down.
        return (folder / "spark").exists() if known is None else _seen(folder, output) in known

    def will_write_to(self, outputs: Iterable[Path]) -> None:
        """From now on what is in these folders is of the runs of this checkpoint."""
        known: set[str] = set()
        with suppress(Damaged):
            # Whoever knows it damaged has seen that nothing is in these folders.
            known = _outputs(self.folder) or known
        if more := {_seen(self.folder, output) for output in outputs} - known:
            content = json.dumps(sorted(known | more), indent=2).encode()
            replace_file(self.folder / "outputs.json", content)

    def begun_after(self, batch: int) -> float | None:
        """A time, in seconds since 1970, before which nothing was done of a batch.

        None if this is the first run, so that nothing was done before.
        """
        if self._is_new:
            return None
        before = self.spark / "commits" / str(batch - 1)
        known = before if before.exists() else self.folder / "identity.json"
        return known.stat().st_mtime

    # ---- inside ------------------------------------------------------------------------------

    def _begin(self, identity: Mapping[str, str], plan: Plan | None) -> None:
        file = self.folder / "plan.json"
        if plan is None:
            file.unlink(missing_ok=True)
        else:
            replace_file(file, plan.written())
        content = json.dumps(dict(identity), indent=2).encode()
        replace_file(self.folder / "identity.json", content)


def _kept_plan(folder: Path) -> Plan | None:
    try:
        return Plan.read((folder / "plan.json").read_bytes())
    except FileNotFoundError:
        # Earlier builds did not write it down.
        return None


def _outputs(folder: Path) -> set[str] | None:
    file = folder / "outputs.json"
    try:
        return set(json.loads(file.read_bytes()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        raise Damaged(f"{file} is damaged") from None


def _seen(folder: Path, output: Path) -> str:
    # Checkpoint and outputs may be moved together.
    return os.path.relpath(output, folder)


def _is_identity(found: object) -> bool:
    return isinstance(found, dict) and all(isinstance(value, str) for value in found.values())


def _lock(file: Path) -> IO[bytes]:
    """Hold the checkpoint until the file is closed, or the process ends in whatever way."""
    opened = file.open("wb")
    os.set_inheritable(opened.fileno(), False)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        opened.close()
        raise CheckpointInUse(f"{file.parent} is in use by another run") from None
    return opened
