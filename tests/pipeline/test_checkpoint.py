"""A checkpoint that cannot be trusted is refused, and says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.cli.errors import explain
from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.checkpoint.sealed import Damaged, aside_of, seal, unseal
from ebbtide.pipeline.errors import CheckpointError, CheckpointInUse

IDENTITY = {"rules": "abc", "step": "1000"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    for batch in range(8):
        checkpoint.states.save_batch(batch, b"batch %d" % batch)
        if batch % 3 == 2:
            checkpoint.states.save_snapshot(batch, b"snapshot %d" % batch)
    checkpoint.close()
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name.lstrip("0") for path in (folder / "reasoner").iterdir())


def test_two_snapshots_are_kept_and_the_batches_since(folder: Path) -> None:
    assert names(folder) == ["2.snapshot", "3.batch", "4.batch", "5.batch", "5.snapshot", "6.batch",
                             "7.batch"]  # fmt: skip
    checkpoint = Checkpoint(folder, IDENTITY)
    assert checkpoint.states.last == 7
    assert checkpoint.states.snapshot_before(8) == (5, b"snapshot 5")
    assert list(checkpoint.states.batches(6, 8)) == [b"batch 6", b"batch 7"]
    # The last batch before the commit was lost comes again.
    assert checkpoint.states.snapshot_before(5) == (2, b"snapshot 2")


def test_of_the_first_snapshot_every_batch_is_kept(tmp_path: Path) -> None:
    """The batch that it is of comes again if the commit was lost."""
    checkpoint = Checkpoint(tmp_path, IDENTITY)
    for batch in range(3):
        checkpoint.states.save_batch(batch, b"batch %d" % batch)
    checkpoint.states.save_snapshot(2, b"snapshot 2")
    checkpoint.states.check_before(2)
    assert checkpoint.states.snapshot_before(2) is None
    assert list(checkpoint.states.batches(0, 2)) == [b"batch 0", b"batch 1"]


def test_spark_must_go_on_where_the_reasoner_did(folder: Path) -> None:
    checkpoint = Checkpoint(folder, IDENTITY)
    checkpoint.states.check_next(7)
    checkpoint.states.check_next(8)
    for batch in (0, 6, 9):
        with pytest.raises(CheckpointError, match=f"Spark goes on with batch {batch}, .* is 7"):
            checkpoint.states.check_next(batch)


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        ({"rules": "xyz", "step": "1000"}, "its rules is abc, not xyz"),
        ({"rules": "abc"}, "its step is 1000, not there"),
        ({**IDENTITY, "start": "5"}, "its start is not there, not 5"),
    ],
)
def test_a_foreign_checkpoint(folder: Path, identity: dict[str, str], said: str) -> None:
    with pytest.raises(CheckpointError, match=f"{said}; --reset starts anew"):
        Checkpoint(folder, identity)


@pytest.mark.parametrize("file", ["00000005.snapshot", "00000007.batch"])
def test_a_damaged_file(folder: Path, file: str) -> None:
    path = folder / "reasoner" / file
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    checkpoint = Checkpoint(folder, IDENTITY)
    with pytest.raises(CheckpointError, match=f"{file} is damaged: its checksum does not match"):
        assert [checkpoint.states.snapshot_before(8), *checkpoint.states.batches(6, 8)]


@pytest.mark.parametrize(
    ("file", "is_needed"),
    [
        ("00000002.snapshot", False),
        ("00000004.batch", False),
        ("00000005.snapshot", True),
        ("00000006.batch", True),
    ],
)
def test_states_are_looked_at_before_a_run(folder: Path, file: str, is_needed: bool) -> None:
    """Those that it would read: batch 6 was the last that Spark has committed."""
    (folder / "spark/commits").mkdir(parents=True)
    for batch in range(7):
        (folder / f"spark/commits/{batch}").touch()
    Checkpoint.check_states(folder)
    (folder / "reasoner" / file).write_bytes(b"what?")
    if not is_needed:
        Checkpoint.check_states(folder)
        return
    with pytest.raises(CheckpointError, match=f"{file} is damaged: it does not begin"):
        Checkpoint.check_states(folder)
    # A run has it: it has seen what there is.
    running = Checkpoint(folder, IDENTITY)
    Checkpoint.check_states(folder)
    running.close()


def test_a_missing_file(folder: Path) -> None:
    (folder / "reasoner/00000006.batch").unlink()
    with pytest.raises(CheckpointError, match=r"00000006\.batch is missing"):
        list(Checkpoint(folder, IDENTITY).states.batches(6, 8))


def test_a_checkpoint_in_which_nothing_was_done_is_anybodys(tmp_path: Path) -> None:
    Checkpoint(tmp_path, IDENTITY).close()
    assert Checkpoint.known(tmp_path) == {}
    checkpoint = Checkpoint(tmp_path, {"rules": "xyz"})
    checkpoint.spark.mkdir()
    checkpoint.close()
    assert Checkpoint.known(tmp_path)["rules"] == "xyz"
    with pytest.raises(CheckpointError, match="its rules is xyz, not abc"):
        Checkpoint(tmp_path, IDENTITY)


def test_a_damaged_or_missing_identity(folder: Path) -> None:
    (folder / "spark").mkdir()
    (folder / "identity.json").write_text("{")
    with pytest.raises(CheckpointError, match="not JSON"):
        Checkpoint(folder, IDENTITY)
    for strange in ("[]", '{"format": 4}'):
        (folder / "identity.json").write_text(strange)
        assert Checkpoint.known(folder) == {}
        with pytest.raises(CheckpointError, match="no object of texts"):
            Checkpoint(folder, IDENTITY)
    (folder / "identity.json").unlink()
    with pytest.raises(CheckpointError, match=r"identity\.json is missing"):
        Checkpoint(folder, IDENTITY)


def test_outputs_are_known_by_their_place(folder: Path) -> None:
    checkpoint = Checkpoint(folder, IDENTITY)
    checkpoint.will_write_to([folder.parent / "out"])
    checkpoint.close()
    moved = folder.parent / "elsewhere/checkpoint"
    moved.parent.mkdir()
    folder.rename(moved)
    assert Checkpoint.writes_to(moved, moved.parent / "out")
    assert not Checkpoint.writes_to(moved, folder.parent / "out")
    for strange in ("{", "7", "[[]]"):
        (moved / "outputs.json").write_text(strange)
        with pytest.raises(Damaged, match=r"outputs\.json is damaged"):
            Checkpoint.writes_to(moved, moved.parent / "out")


def test_one_run_at_a_time(folder: Path) -> None:
    first = Checkpoint(folder, IDENTITY)
    with pytest.raises(CheckpointInUse, match="in use by another run"):
        Checkpoint(folder, IDENTITY)
    with pytest.raises(CheckpointInUse, match="in use by another run"):
        Checkpoint.reset(folder)
    first.close()
    Checkpoint.reset(folder)
    assert not folder.exists()


def test_one_that_is_refused_is_let_go(folder: Path) -> None:
    """In a notebook the error, and what it knows, stays while its user puts things right."""
    with pytest.raises(CheckpointError, match="its rules is abc") as kept:
        Checkpoint(folder, {**IDENTITY, "rules": "xyz"})
    Checkpoint(folder, IDENTITY).close()
    assert kept.value


def test_a_reset_leaves_what_is_not_of_the_checkpoint(folder: Path) -> None:
    """`path = "."` is the folder of the pipeline file, and maybe of the streams."""
    strangers = [folder / name for name in ("pipeline.toml", "incoming/0.tnt", ".git/config")]
    for file in strangers:
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
    (folder / ".identity.json.tmp").write_text("half of o")
    Checkpoint.reset(folder)
    assert sorted(each for each in folder.rglob("*") if each.is_file()) == sorted(strangers)
    (folder / "spark").mkdir()
    Checkpoint.reset(folder)
    assert (folder / "spark").exists(), "no checkpoint was ever here"
    (folder / "spark").rmdir()
    Checkpoint(folder, IDENTITY).close()


def test_a_file_for_which_there_is_no_space_is_named(tmp_path: Path) -> None:
    """A device that is always full stands for the disk."""
    file = tmp_path / "0.batch"
    aside_of(file).symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as caught:
        seal(file, b"facts")
    explained = explain(caught.value)
    assert explained is not None
    assert explained.message == f"{file}: No space left on device"


def test_sealed_files(tmp_path: Path) -> None:
    file = tmp_path / "a"
    seal(file, b"content")
    assert unseal(file) == b"content"
    file.write_bytes(b"something else")
    with pytest.raises(Damaged, match="does not begin as it should"):
        unseal(file)
    seal(file, b"content")
    file.write_bytes(file.read_bytes().replace(b"\x01", b"\x02", 1))
    with pytest.raises(Damaged, match="another version"):
        unseal(file)
