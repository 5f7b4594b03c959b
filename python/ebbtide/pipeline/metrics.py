"""What a run has done so far, as Prometheus reads it, on a port of this machine only.

curl http://127.0.0.1:PORT/metrics
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.progress import Latency, Progress

#: Names, what they count, and whether they only grow.
METRICS: Final = (
    ("facts", "facts that were taken in", True),
    ("bad", "lines that are no facts", True),
    ("late", "facts that came too late", True),
    ("ticks", "ticks that were evaluated", True),
    ("entered", "facts that entered", True),
    ("left", "facts that left", True),
    ("answers", "answers of queries", True),
    ("holding", "facts that hold", False),
    ("batches", "batches", True),
    ("tick", "the last tick that was evaluated, milliseconds of event time", False),
)

BY_STREAM: Final = (
    ("facts_total", "facts that a stream brought", "counter", "facts"),
    ("facts_per_second", "facts that a stream brings, of the last ten seconds", "gauge", "rate"),
    ("event_time", "the latest event time of a stream, in milliseconds", "gauge", "latest"),
    ("lag", "what waits to be read, in messages of Kafka or bytes of a spool", "gauge", "lag"),
)


def as_text(progress: Progress) -> str:
    """The numbers in Prometheus' text format.

    >>> print(as_text(Progress(facts=3)).splitlines()[2])
    ebbtide_facts_total 3
    """
    lines = []
    for name, meaning, grows in METRICS:
        value = getattr(progress, name)
        if value is not None:
            whole = f"ebbtide_{name}{'_total' if grows else ''}"
            kind = "counter" if grows else "gauge"
            lines += [f"# HELP {whole} {meaning}", f"# TYPE {whole} {kind}", f"{whole} {value}"]
    for name, meaning, kind, attribute in BY_STREAM:
        lines += [f"# HELP ebbtide_stream_{name} {meaning}", f"# TYPE ebbtide_stream_{name} {kind}"]
        values = {each: getattr(known, attribute) for each, known in progress.streams.items()}
        lines += [
            f'ebbtide_stream_{name}{{stream="{_escaped(each)}"}} {value}'
            for each, value in values.items()
            if value is not None
        ]
    lines += [
        "# HELP ebbtide_rows_total rows of rules and queries",
        "# TYPE ebbtide_rows_total counter",
    ]
    lines += [
        f'ebbtide_rows_total{{of="{_escaped(each)}"}} {count}'
        for each, count in progress.rows.items()
    ]
    latency = Latency.of(progress.tick_milliseconds)
    lines += [
        "# HELP ebbtide_tick_milliseconds how long ticks took",
        "# TYPE ebbtide_tick_milliseconds summary",
        f'ebbtide_tick_milliseconds{{quantile="0.5"}} {latency.p50:.3f}',
        f'ebbtide_tick_milliseconds{{quantile="0.95"}} {latency.p95:.3f}',
    ]
    return "\n".join(lines) + "\n"


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
        raise PipelineError(f"run.metrics_port: port {port} cannot be had: {error}") from None
    with made as server:
        threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
