"""What a run has done so far, as Prometheus reads it, on a port of this machine only.

curl http://127.0.0.1:PORT/metrics
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.progress import COUNTERS, Progress, numbers

#: What the numbers of `numbers` are.
MEANINGS: Final = {
    "facts": "facts that were taken in",
    "bad": "lines that are no facts",
    "late": "facts that came too late",
    "ticks": "ticks that were evaluated",
    "entered": "facts that entered",
    "left": "facts that left",
    "answers": "answers of queries, and rows of programs",
    "batches": "batches",
    "holding": "facts that hold",
    "tick": "the last tick that was evaluated, milliseconds of event time",
    "stream_facts": "facts that a stream brought",
    "stream_facts_per_second": "facts that a stream brings, of the last ten seconds",
    "stream_event_time": "the latest event time of a stream, in milliseconds",
    "stream_watermark": "the event time up to which a stream is complete, in milliseconds",
    "stream_lag": "what waits to be read, in messages of Kafka, bytes of a spool or files",
    "rows": "rows of rules, queries and programs",
    "tick_milliseconds": "how long ticks took",
}
#: Why there is no port, by what the system says.
_REFUSALS: Final = {
    errno.EADDRINUSE: "is taken by another program; choose another one",
    errno.EACCES: "is not open to this user; choose one above 1023",
}
_GROWS: Final = frozenset([*COUNTERS, "stream_facts", "rows"])


def as_text(progress: Progress) -> str:
    """The numbers in Prometheus' text format.

    >>> print(as_text(Progress(facts=3)).splitlines()[2])
    ebbtide_facts_total 3
    """
    lines: list[str] = []
    told: str | None = None
    for name, labels, value in numbers(progress):
        whole = f"ebbtide_{name}{'_total' if name in _GROWS else ''}"
        if value is None:
            continue
        if told != name:
            lines += [f"# HELP {whole} {MEANINGS[name]}", f"# TYPE {whole} {_kind(name)}"]
            told = name
        of = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        lines.append(f"{whole}{{{of}}} {_shown(value)}" if of else f"{whole} {_shown(value)}")
    return "\n".join(lines) + "\n"


def _kind(name: str) -> str:
    if name == "tick_milliseconds":
        return "summary"
    return "counter" if name in _GROWS else "gauge"


def _shown(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@contextmanager
def exported(progress: Progress, port: int) -> Iterator[int]:
    """Answer on a port of the loopback address while the block runs; 0 picks a free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/metrics"
            body = as_text(progress).encode() if found else b"see /metrics\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    try:
        made = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        why = _REFUSALS.get(error.errno or 0, f"cannot be had: {error.strerror}")
        raise PipelineError(f"run.metrics_port: port {port} of 127.0.0.1 {why}") from None
    with made as server:
        threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
