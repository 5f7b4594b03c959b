"""Two shards on a standalone cluster of one worker and of two, and what the state of one costs.

A worker has one core, JVM and Python together, so that with one of them the two shards take turns.
What a second one can bring depends on the cores there are: driver, master and workers share this
machine, and the driver's part of a batch is serial, however large the batch is. Both clusters are
there all along and take turns, round by round, so that both see the same machine.

A kernel stays in its worker process as a cache: a hit takes what a batch brings, a miss builds the
kernel again from the pages of the state.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

import pyarrow as pa

from ebbtide.benches.pipeline.files import write_files
from ebbtide.benches.pipeline.processors import KINDS
from ebbtide.benches.pipeline.settings import Rounds, Settings
from ebbtide.benches.pipeline.shards_job import FILES, RULES, WINDOW
from ebbtide.benches.results import Goal, Measurement, Results, Say
from ebbtide.pipeline.placements.routing import ARROW
from ebbtide.pipeline.placements.shard import Page, Shards
from ebbtide.pipeline.units.rules import Rules
from ebbtide.reasoner.intake import as_program
from ebbtide.terms.formats import read_tables
from ebbtide.time import Sliding

#: The keys by which facts are cut. What has no department, such as a university, is everywhere.
KEYS: Final = {
    "terms": None,
    "departments": "nullif(regexp_extract(s, '(Department[0-9]+[.]University[0-9]+)', 1), '')",
}


#: So many of them send at once where they are the keys.
DEPARTMENTS: Final = 100


def measure_shards(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """The speed-up by a second worker, and the cost of the state with and without the cache."""
    by_terms = [("terms", sizes) for sizes in settings.shards]
    for cut, sizes in (*by_terms, ("departments", settings.keyed)):
        place = folder / f"{cut}-{sizes.facts}"
        place.mkdir()
        batches = sizes.warm + sizes.rounds * sizes.batches
        # Of departments one after the other a batch would have sixteen, which no hash can spread.
        at_once = DEPARTMENTS if KEYS[cut] else 1
        files, count = FILES * batches, sizes.facts // FILES
        write_files(place, count, files, settings.seed, a_second=FILES, at_once=at_once)
        _measure_workers(cut, sizes, results, place, say)
    first = settings.shards[0]
    _measure_cache(first, results, folder / f"terms-{first.facts}", say)


def _measure_workers(cut: str, sizes: Rounds, results: Results, folder: Path, say: Say) -> None:
    timed: dict[int, list[list[dict[str, float]]]] = {1: [], 2: []}
    spent: dict[int, list[dict[str, float]]] = {1: [], 2: []}
    with ExitStack() as stack:
        starts = {workers: Job.started(workers, folder, KEYS[cut]) for workers in timed}
        jobs = {workers: stack.enter_context(start) for workers, start in starts.items()}
        what = f"shards by {cut}: {sizes.facts:,} facts a batch"
        for workers, job in jobs.items():
            say(f"{what}, warming up, workers: {workers}")
            job.go(sizes.warm)
        for number in range(sizes.rounds):
            say(f"{what}, round {number + 1} of {sizes.rounds}")
            for workers in (1, 2) if number % 2 == 0 else (2, 1):
                found = jobs[workers].go(sizes.batches)
                timed[workers].append(found["batches"])
                spent[workers].append(found["processors"])
    whole = {workers: [_median(each, "batch") for each in timed[workers]] for workers in timed}
    speed_up = median(one / two for one, two in zip(whole[1], whole[2], strict=True))
    given: dict[str, str | int | float] = {"cut by": cut, "facts a batch": sizes.facts}
    given["cores of the machine"] = os.cpu_count() or 0
    for workers, batches_of in timed.items():
        results.extend(
            [
                Measurement(
                    "shards",
                    {**given, "workers": workers},
                    median(whole[workers]),
                    "ms",
                    ratio=speed_up if workers == 2 else None,
                    ratio_of="times faster than one worker" if workers == 2 else None,
                    goal=Goal("at least", 1.7) if workers == 2 else None,
                ),
                *(
                    Measurement(
                        "tasks of shards",
                        {**given, "workers": workers, "what": what},
                        median(_median(each, what) for each in batches_of),
                        "ms",
                    )
                    for what in ("reasoning and updates", "commit")
                ),
                *(
                    Measurement(
                        "processor time of shards",
                        {**given, "workers": workers, "process": who},
                        _median(spent[workers], who),
                        "ms",
                    )
                    for who in KINDS
                ),
            ]
        )


class Job:
    """A job on a cluster of so many workers, which does batches when it is told to."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log

    @classmethod
    @contextmanager
    def started(cls, workers: int, folder: Path, key: str | None) -> Iterator[Job]:
        """One that ends with the block."""
        place = folder / f"cluster-{workers}"
        place.mkdir()
        job = "ebbtide.benches.pipeline.shards_job"
        command = [sys.executable, "-m", job, str(workers), str(folder), str(place)]
        command += [] if key is None else [key]
        log = place / "job.log"
        with log.open("w") as errors:
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True)
            with process:
                yield cls(process, log)
                # Its input ends, and so does it.

    def go(self, batches: int) -> dict[str, Any]:
        """Let as many batches arrive: how long each took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(batches, file=self._process.stdin, flush=True)
        for line in self._process.stdout:
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                return found
        raise RuntimeError(f"the job has ended:\n{self._log.read_text()}")


def _median(batches: Iterable[dict[str, float]], what: str) -> float:
    return median(each[what] for each in batches)


# ---- the cache, without Spark ------------------------------------------------------------------


class Kept:
    """The state of a shard in memory: what Spark's store adds is measured on the cluster."""

    def __init__(self) -> None:
        self._head: str | None = None
        self._pages: dict[int, Page] = {}

    def head(self) -> str | None:
        """What was kept."""
        return self._head

    def set_head(self, head: str) -> None:
        """Keep it."""
        self._head = head

    def pages(self) -> Iterable[tuple[int, Page]]:
        """All of them."""
        return self._pages.items()

    def page(self, number: int) -> Page | None:
        """One of them."""
        return self._pages.get(number)

    def set_page(self, number: int, page: Page) -> None:
        """Keep it."""
        self._pages[number] = page

    def drop_page(self, number: int) -> None:
        """Forget it."""
        del self._pages[number]


def _measure_cache(sizes: Rounds, results: Results, folder: Path, say: Say) -> None:
    say("shards: the state of one, with the cache and without")
    windows = {"default": Sliding(WINDOW)}
    unit = Rules(as_program(RULES), windows, background=[folder / "ontology.nt"])
    unit.begin()
    carried, state = unit.portable(), Kept()
    shards = Shards("0", carried, windows)
    times: dict[str, list[float]] = {"hit": [], "miss": []}
    files = sorted((folder / "files").iterdir())
    for number in range(0, len(files), FILES):
        rows = _routed(files[number : number + FILES])
        kind = "miss" if number // FILES % 2 else "hit"
        if kind == "miss":
            # A worker that never met this job.
            shards = Shards(str(number), carried, windows)
        began = perf_counter()
        shards.feed(0, state, rows)
        # The first fills the window.
        if number >= FILES * WINDOW // 1_000:
            times[kind].append(1000 * (perf_counter() - began))
    hit = median(times["hit"])
    given = {"facts a batch": sizes.facts, "batches in the window": WINDOW // 1_000}
    results.extend(
        Measurement(
            "batch of a shard",
            {**given, "kernel in the worker": kind},
            median(found),
            "ms",
            ratio=median(found) / hit,
            ratio_of="hit",
        )
        for kind, found in times.items()
    )


def _routed(files: Iterable[Path]) -> pa.Table:
    """The rows of files as routing hands them to the only shard."""
    tables = [pa.table(each) for file in files for each in read_tables(file, timed=True)]
    facts = pa.concat_tables(tables)
    columns = {
        "shard": pa.repeat(0, facts.num_rows),
        "kind": pa.repeat("fact", facts.num_rows),
        "stream": pa.repeat("default", facts.num_rows),
        "source": pa.repeat("", facts.num_rows),
        "line": pa.nulls(facts.num_rows, pa.int32()),
        **{name: facts[name] for name in ("t", "s", "p", "o")},
    }
    return pa.table([columns[field.name] for field in ARROW], ARROW.names).cast(ARROW)
