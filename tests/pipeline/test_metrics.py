"""Metrics: the numbers of a run, over HTTP to this machine only, and in the terminal."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from itertools import groupby

import pyarrow as pa
import pytest
from rich.console import Console

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.metrics import as_text, exported
from ebbtide.pipeline.progress import BatchProgress, Progress
from ebbtide.pipeline.streams import StreamProgress
from ebbtide.pipeline.view import LAST_LINES, View

BATCH = BatchProgress(
    batch=0, facts=7, bad=1, late=2, ticks=3, tick=3_000, entered=5, left=4, answers=6, holding=9,
    milliseconds=1.0,
)  # fmt: skip


def test_numbers_are_there_while_the_run_lasts() -> None:
    progress = Progress()
    with exported(progress, 0) as port:
        url = f"http://127.0.0.1:{port}"
        progress.add(BATCH)
        progress.add(BATCH)
        with urllib.request.urlopen(f"{url}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        assert "ebbtide_facts_total 14" in lines
        assert "ebbtide_holding 9" in lines
        assert "ebbtide_batches_total 2" in lines
        assert "ebbtide_tick 3000" in lines
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(url)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{url}/metrics")


def test_streams_and_rows_have_their_own(seen: Progress) -> None:
    values = dict(line.rsplit(" ", 1) for line in as_text(seen).splitlines() if line[0] != "#")
    assert values['ebbtide_stream_facts_total{stream="trains"}'] == "4"
    assert values['ebbtide_stream_event_time{stream="trains"}'] == "4000"
    assert values['ebbtide_stream_watermark{stream="trains"}'] == "3500"
    assert values['ebbtide_stream_lag{stream="trains"}'] == "7"
    assert values['ebbtide_tick_milliseconds{quantile="0.95"}'] == "3.000"
    assert values['ebbtide_rows_total{of="the \\"busy\\""}'] == "2"
    assert 'ebbtide_stream_lag{stream="buses"}' not in values


def test_the_lines_of_a_metric_are_one_group(seen: Progress) -> None:
    """The format wants it so, with one HELP and one TYPE before them: two streams have rates."""
    lines = as_text(seen).splitlines()
    names = [re.split(r"[ {]", line.removeprefix("# HELP "))[0] for line in lines]
    groups = [name for name, _ in groupby(name for name in names if name != "#")]
    assert len(groups) == len(set(groups))
    assert [line.split()[2] for line in lines if line.startswith("# TYPE")] == groups
    assert sum(line.startswith("ebbtide_stream_facts_per_second{") for line in lines) == 2


def test_a_port_that_is_taken_is_one_sentence() -> None:
    with (
        exported(Progress(), 0) as port,
        pytest.raises(PipelineError) as refused,
        exported(Progress(), port),
    ):
        pass
    assert str(refused.value) == (
        f"run.metrics_port: port {port} of 127.0.0.1 is taken by another program; "
        "choose another one"
    )


def test_the_view_shows_them(seen: Progress) -> None:
    view = View(seen)
    for number in range(9):
        view.say(f"line {number}")
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        console.print(view)
    shown = captured.get()
    assert re.search(r"trains .* 4 .* 7 messages .* 3\.5 s", shown)
    assert re.search(r"buses .* -, others wait", shown)
    assert re.search(r"the \"busy\" .* 2 ", shown)
    assert "tick 3.0 s, 9 facts hold, 1 bad, 2 late; tick latency p50 2.0 ms, p95 3.0 ms" in shown
    assert "line 8" in shown
    assert "line 2" not in shown


@pytest.mark.parametrize(("height", "left"), [(24, 7), (29, 2), (30, 0)])
def test_the_view_fits_on_the_terminal(height: int, left: int) -> None:
    """Its log is always seen, and so is the stream that the others wait for."""
    streams = {f"line {number}": StreamProgress(latest=2_000) for number in range(12)}
    progress = Progress(streams={**streams, "slow": StreamProgress()})
    progress.told({"rules": [1], "a query": [2]})
    view = View(progress)
    for number in range(LAST_LINES):
        view.say(f"said {number}")
    console = Console(width=100, height=height, force_terminal=False)
    with console.capture() as captured:
        console.print(view)
    shown = captured.get().splitlines()
    assert len(shown) <= height
    assert any("others wait" in line for line in shown)
    assert shown[-1] == f"said {LAST_LINES - 1}"
    more = [re.findall(r"and \d+ more", line) for line in shown if "more" in line]
    assert more == ([[f"and {left} more"]] if left else [])


def test_the_view_shows_names_as_they_are() -> None:
    """Nothing in them is a style, and no style is without its beginning."""
    progress = Progress(streams={"[bold]trains[/red]": StreamProgress()})
    progress.told({"[/x]": [1]})
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        console.print(View(progress))
    assert "[bold]trains[/red]" in captured.get()
    assert "[/x]" in captured.get()


@pytest.fixture
def seen() -> Progress:
    progress = Progress(streams={"trains": StreamProgress(500), "buses": StreamProgress()})
    progress.saw(pa.table({"stream": ["trains"] * 3, "t": [1000, 4000, 2000]}))
    progress.saw(pa.table({"stream": ["trains"], "t": [3000]}))
    progress.add(BATCH)
    progress.told({"rules": pa.table({"op": ["+"] * 5}), 'the "busy"': [1, 2]})
    progress.tick_milliseconds += [1.0, 2.0, 3.0]
    progress.streams["trains"].heard('{"a":{"0":3}}', '{"a":{"0":10}}')
    return progress
