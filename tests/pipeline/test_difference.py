"""A checkpoint of another pipeline is refused in the words of whoever changed it, without Spark."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.terminal import on_a_terminal

from ebbtide.pipeline.build import units_of
from ebbtide.pipeline.checkpoint import Checkpoint, Plan
from ebbtide.pipeline.errors import CheckpointError
from ebbtide.pipeline.file import load_pipeline
from ebbtide.pipeline.placements.choose import Choice
from ebbtide.pipeline.run import _identity, _plan, check_start

FILES = {
    "site.rules": """@prefix ex: <http://e/>.
[inside: (?x ex:isIn ?y) (?y ex:isIn ?z) -> (?x ex:isIn ?z)]
[near: (?x ex:near ?y) -> (?y ex:near ?x)]
""",
    "calls.py": "import ebbtide\n",
    "places.nt": "<http://e/a> <http://e/isIn> <http://e/b> .\n",
    "warmth.rq": """REGISTER QUERY warmth AS
PREFIX ex: <http://e/>
SELECT ?room (AVG(?v) AS ?mean) FROM STREAM <http://e/doors> [RANGE 10s STEP 1s]
WHERE { ?sensor ex:isIn ?room . ?sensor ex:value ?v . FILTER(?v > 20) } GROUP BY ?room
""",
    "hot.lars": "alarm :- door(open) in [3 s].\ncalm :- not alarm, door(X).\n",
    "pipeline.toml": """
[time]
step = "1 s"
[streams.doors]
from = "memory"
iri = "http://e/doors"
window = "3 s"
[background]
files = ["places.nt"]
[rules]
use = ["site.rules"]
builtins = ["calls.py"]
[queries]
use = ["warmth.rq"]
[programs]
use = ["hot.lars"]
[outputs.screen]
to = "console"
""",
}


@dataclass
class Site:
    """A pipeline in a folder, whose files a test changes."""

    folder: Path

    def change(self, file: str, before: str, now: str) -> None:
        path = self.folder / file
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, now))

    def open(self, placement: str = "driver", shards: int | None = None) -> None:
        """What a run does before it starts Spark."""
        pipeline = load_pipeline(self.folder / "pipeline.toml")
        units, choice = units_of(pipeline), Choice(placement, "", shards)
        if placement != "driver":
            units = units[:1]
        plan = _plan(pipeline, choice, units)
        path = self.folder / "checkpoint"
        checkpoint = Checkpoint(path, _identity(pipeline, choice, units), plan)
        checkpoint.spark.mkdir(exist_ok=True)
        checkpoint.close()

    def checked(self) -> str:
        """How `--check` refuses to go on; the checkpoint stays as it is."""
        before = {file: file.read_bytes() for file in self._kept()}
        with pytest.raises(CheckpointError) as error:
            check_start(load_pipeline(self.folder / "pipeline.toml"))
        assert {file: file.read_bytes() for file in self._kept()} == before
        return str(error.value)

    def _kept(self) -> list[Path]:
        return [each for each in (self.folder / "checkpoint").rglob("*") if each.is_file()]

    def refused(self, placement: str = "driver", shards: int | None = None) -> str:
        """How a run is refused: what stands between the beginning and the end of the sentence."""
        with pytest.raises(CheckpointError) as error:
            self.open(placement, shards)
        said = str(error.value).replace(f"{self.folder}/", "")
        said = said.removeprefix("checkpoint belongs to another pipeline: ")
        return said.partition("; --reset starts anew")[0]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    site = Site(tmp_path)
    site.open()
    return site


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("site.rules", "[near:", "[far: (?x ex:far ?y) -> (?y ex:far ?x)]\n[near:"),
            "rule far (site.rules:3:1) is not in the checkpoint",
        ),
        (
            ("site.rules", FILES["site.rules"].splitlines()[2], ""),
            "rule near (site.rules:3:1) of the checkpoint is gone",
        ),
        (
            ("site.rules", "(?y ex:near ?x)]", "(?y ex:close ?x)]"),
            "rule near (site.rules:3:1) changed: [near: (?x ex:near ?y) -> (?y ex:near ?x)] → "
            "[near: (?x ex:near ?y) -> (?y ex:close ?x)]",
        ),
        (("pipeline.toml", 'step = "1 s"', 'step = "500 ms"'), "the step was 1 s, is 500 ms"),
        (
            ("pipeline.toml", 'window = "3 s"', "window = { tumbling = '1 min' }"),
            "the window of stream doors was 3 s, is tumbling 1 min",
        ),
        (
            ("pipeline.toml", "[background]", "[streams.trains]\nfrom = 'memory'\n[background]"),
            "stream trains is not in the checkpoint",
        ),
        (("places.nt", "<http://e/b>", "<http://e/c>"), "background places.nt has changed"),
        (("calls.py", "import", "# what rules call\nimport"), "builtins calls.py has changed"),
        (
            ("warmth.rq", "RANGE 10s", "RANGE 20s"),
            "the window of query warmth on http://e/doors was 10 s, step 1 s, is 20 s, step 1 s",
        ),
        (
            ("warmth.rq", "?v > 20", "?v > 30"),
            "query warmth (warmth.rq:1:1) changed: "
            "… FILTER(?v > 20) } GROUP … → … FILTER(?v > 30) } GROUP …",
        ),
        (
            ("warmth.rq", "QUERY warmth", "QUERY heat"),
            "query heat (warmth.rq:1:1) is not in the checkpoint; "
            "query warmth (warmth.rq:1:1) of the checkpoint is gone",
        ),
        (
            ("hot.lars", "[3 s]", "[4 s]"),
            "rule alarm of program hot (hot.lars:1:1) changed: "
            "alarm :- door(open) in [3 s]. → alarm :- door(open) in [4 s].",
        ),
        (
            ("pipeline.toml", "[programs]\nuse = ['hot.lars']".replace("'", '"'), ""),
            "program hot of the checkpoint is gone",
        ),
        (
            ("pipeline.toml", '[outputs.screen]\nto = "console"',
             '[outputs.screen]\nto = "console"\nof = "warmth"'),
            "output of rules of the checkpoint is gone",
        ),
        (
            ("site.rules", "\n".join(FILES["site.rules"].splitlines()[1:]),
             "\n".join(FILES["site.rules"].splitlines()[:0:-1])),
            "the rules are in another order",
        ),
    ],
)  # fmt: skip
def test_what_changed_is_named(site: Site, change: tuple[str, str, str], said: str) -> None:
    site.open()
    site.change(*change)
    assert site.refused() == said


def test_a_prefix_that_means_something_else(site: Site) -> None:
    """What was written is the same."""
    site.change("site.rules", "http://e/>", "http://f/>")
    first = site.refused()
    assert first.startswith("rule inside (site.rules:2:1) changed: ")
    assert "<http://e/isIn>" in first
    assert "<http://f/isIn>" in first


def test_placements_and_shards(site: Site) -> None:
    Checkpoint.reset(site.folder / "checkpoint")
    (site.folder / "hot.lars").write_text("")
    for key in ("queries", "programs"):
        table = f'[{key}]\nuse = ["{"warmth.rq" if key == "queries" else "hot.lars"}"]\n'
        site.change("pipeline.toml", table, "")
    site.open("sharded", 2)
    assert site.refused("sharded", 4) == "the number of shards was 2, is 4"
    assert site.refused("dataframe") == "the placement was sharded, is dataframe"
    site.change("pipeline.toml", "[outputs.screen]", '[run]\nkey = "s"\n[outputs.screen]')
    assert site.refused("sharded", 2) == "the key of shards was none, is s"
    site.change("pipeline.toml", 'key = "s"', f'key = "concat(s, {", ".join(99 * "p")})"')
    said = site.refused("sharded", 2)
    assert said.startswith("the key of shards was none, is concat(s, p, p, ")
    assert len(said) < 150


def test_there_is_an_end_to_it(site: Site) -> None:
    site.change("site.rules", "[near:", "".join(f"[r{n}: (?x ex:p{n} ?y) -> (?y ex:q ?x)]\n"
                                                for n in range(9)) + "[near:")  # fmt: skip
    said = site.refused()
    assert said.endswith("rule r3 (site.rules:6:1) is not in the checkpoint; and 5 more")


def test_texts_are_cut(site: Site) -> None:
    many = " ".join(f"(?x ex:p{number} ?y)" for number in range(99))
    site.change("site.rules", "(?x ex:near ?y)", many)
    said = site.refused()
    assert len(said) < 400
    assert said.endswith("…")


def rewrite(file: Path, **values: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_bytes()), **values}))


def test_other_versions(site: Site) -> None:
    checkpoint = site.folder / "checkpoint"
    rewrite(checkpoint / "plan.json", version="0.0.9")
    # A version that reads files in the same way goes on.
    site.open()
    site.change("pipeline.toml", 'step = "1 s"', 'step = "500 ms"')
    assert site.refused() == (
        "the step was 1 s, is 500 ms; it was written by Ebbtide 0.0.9, this is 0.1.0"
    )
    site.change("pipeline.toml", 'step = "500 ms"', 'step = "1 s"')
    rewrite(checkpoint / "identity.json", format="3")
    assert site.refused() == "it was written by Ebbtide 0.0.9, this is 0.1.0"
    rewrite(checkpoint / "plan.json", version=Plan.of(()).version)
    assert site.refused() == "its format is 3, not 4"


@pytest.mark.parametrize("content", [None, b"", b"{", b'{"version": 1}', b"\xff", b"[]"])
def test_without_a_plan_it_is_what_identities_say(site: Site, content: bytes | None) -> None:
    """As checkpoints of earlier builds have none; it decides nothing."""
    plan = site.folder / "checkpoint/plan.json"
    plan.unlink()
    if content is not None:
        plan.write_bytes(content)
    site.open()
    site.change("pipeline.toml", 'step = "1 s"', 'step = "500 ms"')
    assert site.refused() == "its step is 1000, not 500"


def test_where_pieces_have_no_words_for_it(site: Site) -> None:
    """Two plans that seem to be the same, and are not."""
    rewrite(site.folder / "checkpoint/identity.json", rules="another")
    assert site.refused().startswith("its rules is another, not ")


def test_a_file_that_seems_to_be_as_it_was(site: Site) -> None:
    """Written anew with the same size and time, in the same process, as a notebook may do it."""
    places = site.folder / "places.nt"
    before = places.stat()
    site.change("places.nt", "<http://e/b>", "<http://e/c>")
    os.utime(places, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert site.refused() == "background places.nt has changed"


def test_a_check_says_what_a_run_would(site: Site) -> None:
    site.change(
        "pipeline.toml", "[outputs.screen]", '[checkpoint]\npath = "checkpoint"\n[outputs.screen]'
    )
    pipeline = load_pipeline(site.folder / "pipeline.toml")
    check_start(pipeline)
    site.change("pipeline.toml", 'step = "1 s"', 'step = "500 ms"')
    said = "belongs to another pipeline: the step was 1 s, is 500 ms; --reset starts anew and "
    assert said in site.checked()
    check_start(load_pipeline(site.folder / "pipeline.toml"), reset=True)
    rewrite(site.folder / "checkpoint/identity.json", format="3")
    rewrite(site.folder / "checkpoint/plan.json", version="0.0.9")
    assert "500 ms; it was written by Ebbtide 0.0.9, this is 0.1.0; --reset" in site.checked()
    (site.folder / "checkpoint/identity.json").write_text("{")
    assert "identity.json is damaged: it is not JSON; --reset" in site.checked()


def test_the_command_tells_it(site: Site) -> None:
    site.change("pipeline.toml", "[outputs", '[checkpoint]\npath = "checkpoint"\n[outputs')
    seen = on_a_terminal("run", "--check", "pipeline.toml", folder=site.folder)
    assert (seen.code, seen.out.strip()) == (0, "pipeline.toml is right")
    site.change("site.rules", "(?y ex:near ?x)]", "(?y ex:close ?x)]")
    seen = on_a_terminal("run", "--check", "pipeline.toml", folder=site.folder)
    assert (seen.code, seen.out) == (1, "")
    assert "belongs to another pipeline: rule near (" in seen.picture
    assert "Traceback" not in seen.picture
    seen = on_a_terminal("run", "--check", "--reset", "pipeline.toml", folder=site.folder)
    assert (seen.code, seen.out.strip()) == (0, "pipeline.toml is right")


def test_what_does_not_matter(site: Site) -> None:
    """Names of rules, and where things stand."""
    site.change("site.rules", "[near:", "\n# nearness\n[nearness:")
    site.change("hot.lars", "calm", "\ncalm")
    (site.folder / "sites").mkdir()
    (site.folder / "places.nt").rename(site.folder / "sites/here.nt")
    site.change("pipeline.toml", "places.nt", "sites/here.nt")
    site.open()


def test_a_plan_is_read_as_it_was_written(site: Site) -> None:
    written = (site.folder / "checkpoint/plan.json").read_bytes()
    plan = Plan.read(written)
    assert plan is not None
    assert plan.written() == written
    pieces: Sequence[Any] = msgspec.json.decode(written)["pieces"]
    assert ["stream", "doors", "", "", "", ""] in pieces
    Checkpoint.reset(site.folder / "checkpoint")
    assert not (site.folder / "checkpoint").exists()
