"""Memory in a burst: lines of a socket come a hundred times as fast as they can be taken.

    before    facts at the rate that can be sustained
    burst     a hundred times as many: the spool grows on the disk
    after     until all that was sent is counted

The resident memory of the driver, of its JVM and of the Python workers is read all the while; that
of the burst, and of the time that it takes to catch up, should be that of before.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Final
from urllib.request import urlopen

from ebbtide.benches.pipeline.recovery import PATIENCE, PROCESSES, Run
from ebbtide.benches.pipeline.settings import Settings
from ebbtide.benches.results import Goal, Measurement, Results, Say

#: Batches a second.
A_SECOND: Final = 2
#: What a run exports: the facts it has taken, and the bytes that wait in the spool.
FACTS: Final = "ebbtide_facts_total"
LAG: Final = 'ebbtide_stream_lag{stream="places"}'
#: Seconds between two readings.
PAUSE: Final = 0.25
LINE: Final = "{t}\t<http://e/x{x:06d}> <http://e/isIn> <http://e/place/{place:03d}> .\n"
PIPELINE: Final = """name = "burst"
[streams.places]
from = "socket"
port = {port}
bytes_a_batch = {bytes}
window = "3 s"
[rules]
use = ["contains.rules"]
[outputs.answers]
to = "jsonl"
path = "out"
[checkpoint]
path = "checkpoint"
[run]
every = "{every} ms"
metrics_port = {metrics}
"""
RULES: Final = "[r: (?x <http://e/isIn> ?y) -> (?y <http://e/contains> ?x)]\n"


def measure_burst(settings: Settings, results: Results, folder: Path, say: Say) -> None:
    """Megabytes before, in and after the burst, and the seconds until it is caught up with."""
    say("burst: the rate that can be sustained")
    burst = settings.burst
    with _run(folder, burst.rate // A_SECOND) as watch:
        # The heap of the JVM grows until it has seen some garbage.
        watch.send(burst.rate, burst.before)
        before = watch.highest()
        say(f"burst: {burst.facts:,} facts at once")
        began = perf_counter()
        watch.send_at_once(burst.facts)
        say("burst: catching up")
        watch.wait_for(watch.sent)
        caught_up = perf_counter() - began
        most = watch.highest()
        lost = watch.sent - watch.number(FACTS)
    given = {"facts": burst.facts, "facts a second before": burst.rate}
    for who in PROCESSES:
        of_who = {**given, "process": who}
        results.extend(
            [
                Measurement("memory before the burst", of_who, before[who], "MB"),
                Measurement(
                    "memory in the burst",
                    of_who,
                    most[who],
                    "MB",
                    ratio=most[who] / before[who],
                    ratio_of="before",
                    goal=Goal("at most", 1.5) if who == "all" else None,
                ),
            ]
        )
    results.extend(
        [
            Measurement("most that waited in the spool", given, most[LAG], "MB"),
            Measurement("caught up with the burst", given, caught_up, "s"),
            Measurement("facts lost", given, lost, "facts", goal=Goal("at most", 0)),
        ]
    )


class Watch:
    """A run that is sent lines, and whose memory is read."""

    def __init__(self, run: Run, metrics: int, connection: socket.socket) -> None:
        self.sent = 0
        self._run = run
        self._metrics = f"http://127.0.0.1:{metrics}/metrics"
        self._connection = connection
        self._highest: dict[str, float] = {}

    def send(self, rate: int, seconds: int) -> None:
        """Lines at a rate, and no more than are taken."""
        for _ in range(seconds):
            self._send(rate)
            self.wait_for(self.sent, at_least=1.0)

    def send_at_once(self, facts: int) -> None:
        """Lines as fast as the spool takes them."""
        self._send(facts)

    def wait_for(self, facts: int, at_least: float = 0.0) -> None:
        """Read memory until so many facts have been taken, and for some seconds."""
        began = perf_counter()
        while (passed := perf_counter() - began) < at_least or self.number(FACTS) < facts:
            if passed > PATIENCE:
                raise RuntimeError(f"{facts} facts were not taken in {PATIENCE} seconds")
            self._read()
            sleep(PAUSE)

    def highest(self) -> Mapping[str, float]:
        """The most memory, and lag, since this was last asked, in megabytes."""
        found, self._highest = self._highest, {}
        return found

    def number(self, name: str) -> int:
        """A number that the run exports; 0 before there is any."""
        with urlopen(self._metrics) as answer:
            text = answer.read().decode()
        found = re.search(rf"^{re.escape(name)} ([0-9.e+]+)$", text, re.MULTILINE)
        return 0 if found is None else int(float(found[1]))

    def _send(self, facts: int) -> None:
        for first in range(self.sent, self.sent + facts, 10_000):
            some = range(first, min(first + 10_000, self.sent + facts))
            # A thousand facts a second of event time, whenever they come.
            lines = (LINE.format(t=n, x=n % 1_000_000, place=n % 1_000) for n in some)
            self._connection.sendall("".join(lines).encode())
            self._read()
        self.sent += facts

    def _read(self) -> None:
        found = {**self._run.memory(), LAG: self.number(LAG) / 1e6}
        for who, megabytes in found.items():
            self._highest[who] = max(megabytes, self._highest.get(who, 0.0))


@contextmanager
def _run(folder: Path, facts_a_batch: int) -> Iterator[Watch]:
    """The pipeline, as a process of its own, and connected."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        metrics = free.getsockname()[1]
        free.close()
        (folder / "contains.rules").write_text(RULES)
        bytes_a_batch = facts_a_batch * len(LINE.format(t=100_000, x=0, place=0))
        settings = {"port": server.getsockname()[1], "bytes": bytes_a_batch, "metrics": metrics}
        (folder / "p.toml").write_text(PIPELINE.format(**settings, every=1_000 // A_SECOND))
        server.settimeout(PATIENCE)
        run = Run(folder)
        try:
            connection, _ = server.accept()
            with connection:
                yield Watch(run, metrics, connection)
        finally:
            run.kill()
