"""`--reset` deletes what runs of its checkpoint wrote, and refuses what others did, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.pipeline.checkpoint import Checkpoint
from ebbtide.pipeline.errors import CheckpointInUse, PipelineError
from ebbtide.pipeline.file import Pipeline, load_pipeline
from ebbtide.pipeline.owner import NAME, forget, take_outputs
from ebbtide.pipeline.run import check_start

PIPELINE = """
name = "{name}"
[streams.reports]
from = "memory"
[outputs.answers]
to = "jsonl"
path = "out"
[outputs.table]
to = "spark"
format = "csv"
path = "table"
[dead_letters]
path = "dead"
"""
CHECKPOINT = '[checkpoint]\npath = "{}"\n'
PARTS = ("out/part-00000003.jsonl", "table/batch=3/part-0.csv", "dead/part-00000003.jsonl")


def written(
    folder: Path, name: str, checkpoint: str | None, *, called: str | None = None
) -> Pipeline:
    """The pipeline of a file NAME.toml, which has another name if it is `called` otherwise."""
    file = folder / f"{name}.toml"
    more = "" if checkpoint is None else CHECKPOINT.format(checkpoint)
    file.write_text(PIPELINE.format(name=called or name) + more)
    return load_pipeline(file)


def checkpoint_of(pipeline: Pipeline, folder: Path) -> Path:
    return Path(pipeline.checkpoint.path or folder / "somewhere-in-tmp")


def run(pipeline: Pipeline, folder: Path) -> None:
    """What a run does to its folders."""
    checkpoint = Checkpoint(checkpoint_of(pipeline, folder), {"rules": "abc"})
    try:
        take_outputs(pipeline, checkpoint)
        checkpoint.spark.mkdir(exist_ok=True)
        write(folder)
    finally:
        checkpoint.close()
    if pipeline.checkpoint.path is None:
        Checkpoint.reset(checkpoint.folder)


def write(folder: Path) -> None:
    for part in PARTS:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        (folder / part).write_text("{}\n")


def take_away(folder: Path) -> None:
    for part in PARTS:
        (folder / part).unlink()
    (folder / "table/batch=3").rmdir()


def reset(pipeline: Pipeline, folder: Path) -> None:
    forget(pipeline, checkpoint_of(pipeline, folder))


def there(folder: Path) -> list[str]:
    return [part for part in PARTS if (folder / part).exists()]


@pytest.mark.parametrize("checkpoint", ["mine", None])
def test_what_its_runs_wrote_is_deleted(tmp_path: Path, checkpoint: str | None) -> None:
    mine = written(tmp_path, "mine", checkpoint)
    run(mine, tmp_path)
    (tmp_path / "out/notes.txt").write_text("mine")
    reset(mine, tmp_path)
    assert there(tmp_path) == []
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["notes.txt"]
    assert list((tmp_path / "table").iterdir()) == []
    run(mine, tmp_path)


@pytest.mark.parametrize("mine", ["mine", None])
@pytest.mark.parametrize("theirs", ["theirs", None])
def test_what_others_wrote_is_not(tmp_path: Path, mine: str | None, theirs: str | None) -> None:
    run(written(tmp_path, "theirs", theirs), tmp_path)
    pipeline = written(tmp_path, "mine", mine)
    whose = (
        rf"theirs with the checkpoint {tmp_path}/theirs"
        if theirs
        else rf"theirs \({tmp_path}/theirs\.toml\) without a checkpoint"
    )
    said = rf"outputs\.answers\.path: {tmp_path}/out holds the output of the pipeline {whose}"
    with pytest.raises(PipelineError, match=rf"{said}; choose another folder$"):
        run(pipeline, tmp_path)
    with pytest.raises(PipelineError, match=rf"{said}; --reset deletes what runs of this check"):
        reset(pipeline, tmp_path)
    assert there(tmp_path) == list(PARTS)


def test_nothing_is_deleted_if_something_must_not_be(tmp_path: Path) -> None:
    """Neither the checkpoint, nor the outputs before the one of others."""
    mine = written(tmp_path, "mine", "mine")
    run(mine, tmp_path)
    (tmp_path / "dead" / NAME).write_text('{"pipeline":"theirs","checkpoint":"../theirs"}')
    with pytest.raises(PipelineError, match=r"dead_letters\.path: .* of the pipeline theirs"):
        reset(mine, tmp_path)
    assert there(tmp_path) == list(PARTS)
    assert (tmp_path / "mine/identity.json").exists()


def test_a_folder_that_others_have_taken_over(tmp_path: Path) -> None:
    """Its owner had emptied it; the checkpoint still knows it as its own."""
    mine, theirs = (written(tmp_path, name, name) for name in ("mine", "theirs"))
    run(mine, tmp_path)
    take_away(tmp_path)
    run(theirs, tmp_path)
    for again in (run, reset):
        with pytest.raises(PipelineError, match="holds the output of the pipeline theirs"):
            again(mine, tmp_path)
    assert there(tmp_path) == list(PARTS)
    reset(theirs, tmp_path)
    run(mine, tmp_path)


def test_a_checkpoint_that_was_deleted(tmp_path: Path) -> None:
    """Its outputs are known by their marks."""
    mine = written(tmp_path, "mine", "mine")
    run(mine, tmp_path)
    Checkpoint.reset(tmp_path / "mine")
    with pytest.raises(PipelineError, match="another run: choose another folder, or start anew"):
        run(mine, tmp_path)
    reset(mine, tmp_path)
    assert there(tmp_path) == []


def test_outputs_without_a_mark(tmp_path: Path) -> None:
    """Earlier builds made none: what the checkpoint knows as its own is."""
    mine = written(tmp_path, "mine", "mine")
    write(tmp_path)
    with pytest.raises(PipelineError, match="or take away that output"):
        run(mine, tmp_path)
    with pytest.raises(PipelineError, match=r"the output of another run; --reset deletes what"):
        reset(mine, tmp_path)
    assert there(tmp_path) == list(PARTS)
    take_away(tmp_path)
    run(mine, tmp_path)
    for mark in tmp_path.glob(f"*/{NAME}"):
        mark.unlink()
    run(mine, tmp_path)
    assert len(list(tmp_path.glob(f"*/{NAME}"))) == 3
    (tmp_path / "out" / NAME).write_text("{")
    reset(mine, tmp_path)
    assert there(tmp_path) == []


def test_all_moved_together(tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    run(written(here, "mine", "mine"), here)
    here.rename(elsewhere)
    mine = load_pipeline(elsewhere / "mine.toml")
    run(mine, elsewhere)
    reset(mine, elsewhere)
    assert there(elsewhere) == []


def test_of_the_same_name_and_without_a_checkpoint(tmp_path: Path) -> None:
    """As when somebody has copied the file, or none has a name: runs are known by their file."""
    run(written(tmp_path, "theirs", None, called="ebbtide"), tmp_path)
    mine = written(tmp_path, "mine", None, called="ebbtide")
    for again in (run, reset):
        with pytest.raises(
            PipelineError, match=r"holds the output of the pipeline ebbtide \(.*the"
        ):
            again(mine, tmp_path)
    assert there(tmp_path) == list(PARTS)
    # It may be called otherwise, and go elsewhere with its outputs.
    theirs = written(tmp_path, "theirs", None, called="trains")
    reset(theirs, tmp_path)
    assert there(tmp_path) == []
    run(theirs, tmp_path)
    elsewhere = tmp_path.with_name(f"{tmp_path.name}-elsewhere")
    tmp_path.rename(elsewhere)
    reset(load_pipeline(elsewhere / "theirs.toml"), elsewhere)
    assert there(elsewhere) == []


def test_a_mark_of_earlier_builds(tmp_path: Path) -> None:
    """It has a name alone, which may be that of others."""
    mine = written(tmp_path, "mine", None)
    write(tmp_path)
    (tmp_path / "out" / NAME).write_text('{"pipeline":"mine","checkpoint":null}')
    with pytest.raises(PipelineError, match="of the pipeline mine without a checkpoint; --reset"):
        reset(mine, tmp_path)
    assert there(tmp_path) == list(PARTS)


@pytest.mark.parametrize("is_marked", [True, False])
def test_nobody_knows_which_folders_were_written_to(tmp_path: Path, is_marked: bool) -> None:
    """What is said to be the way out is one."""
    mine = written(tmp_path, "mine", "mine")
    run(mine, tmp_path)
    if not is_marked:
        for mark in tmp_path.glob(f"*/{NAME}"):
            mark.unlink()
    (tmp_path / "mine/outputs.json").write_text("{")
    way = "start anew with --reset, which deletes" if is_marked else "take away"
    said = rf"holds output, nobody knows whose \({tmp_path}/mine/outputs\.json is damaged\)"
    with pytest.raises(PipelineError, match=rf"{said}: choose another folder, or {way} that"):
        run(mine, tmp_path)
    if is_marked:
        reset(mine, tmp_path)
    else:
        with pytest.raises(PipelineError, match=rf"{said}; --reset deletes what runs of this"):
            reset(mine, tmp_path)
        assert there(tmp_path) == list(PARTS)
        take_away(tmp_path)
    run(mine, tmp_path)
    run(mine, tmp_path)


def test_looking_changes_nothing(tmp_path: Path) -> None:
    """What `--check` asks makes no folder and no mark."""
    mine = written(tmp_path, "mine", "mine")
    check_start(mine)
    check_start(mine, reset=True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
    write(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(PipelineError, match="or take away that output"):
        check_start(mine)
    with pytest.raises(PipelineError, match="--reset deletes what runs of this checkpoint wrote"):
        check_start(mine, reset=True)
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_deleted_while_another_run_writes(tmp_path: Path) -> None:
    mine = written(tmp_path, "mine", "mine")
    run(mine, tmp_path)
    checkpoint = Checkpoint(tmp_path / "mine", {"rules": "abc"})
    with pytest.raises(CheckpointInUse):
        reset(mine, tmp_path)
    assert there(tmp_path) == list(PARTS)
    checkpoint.close()
