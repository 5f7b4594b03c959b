"""Facts from real sockets: every line once and in order, and no faster than they are taken."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.unit.conftest import Ebbtide, Ended

from ebbtide.queries import QueryEngine
from ebbtide.queries.socket import SocketSource, pour
from ebbtide.terms import parse_term
from ebbtide.terms.formats import MAX_LINE, BadLine, FormatError, TimedFact, Triple
from ebbtide.time import Instant


def line(at: int, name: str = "a") -> bytes:
    return f"{at}\t<http://e/{name}> <http://e/at> _:b .\n".encode()


@contextmanager
def producing(produce: Callable[[socket.socket], object]) -> Iterator[SocketSource]:
    """A source, and at the other end of its connection a producer in a thread."""

    def run() -> None:
        # A consumer may hang up before the producer is done.
        with server.accept()[0] as connection, suppress(ConnectionError):
            produce(connection)

    with socket.create_server(("localhost", 0)) as server:
        thread = Thread(target=run, daemon=True)
        thread.start()
        with SocketSource.connect(*server.getsockname(), name="doors") as source:
            yield source
        thread.join(10)
        assert not thread.is_alive()


def instants(source: SocketSource) -> list[Instant]:
    return [item.at for item in source if isinstance(item, TimedFact)]


def test_every_line_in_order() -> None:
    with producing(lambda to: to.sendall(b"".join(map(line, range(10_000))))) as source:
        assert instants(source) == list(range(10_000))
        assert source.is_over


@pytest.mark.parametrize("size", [1, 7, 64])
def test_lines_in_pieces(size: int) -> None:
    """Lines may be cut anywhere, also within a character, and the last one needs no end."""
    text = b"".join(line(at, "caf\u00e9") for at in range(20)).rstrip(b"\n")

    def produce(to: socket.socket) -> None:
        to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(text), size):
            to.sendall(text[start : start + size])

    with producing(produce) as source:
        items = list(source)
    assert [item.at for item in items if isinstance(item, TimedFact)] == list(range(20))
    assert {str(item.triple[0]) for item in items if isinstance(item, TimedFact)} == {
        "<http://e/caf\u00e9>"
    }


def test_a_blank_node_is_the_same_in_every_piece() -> None:
    more = Event()

    def produce(to: socket.socket) -> None:
        to.sendall(line(1))
        assert more.wait(60)
        to.sendall(line(2))

    with producing(produce) as source:
        first = source.take()
        more.set()
        (one,), (other, *_) = first, source.take()
    assert isinstance(one, TimedFact)
    assert isinstance(other, TimedFact)
    assert one.triple == other.triple


def test_bad_lines_have_their_numbers() -> None:
    more = Event()

    def produce(to: socket.socket) -> None:
        to.sendall(line(1) + b"noon\n" + line(2))
        assert more.wait(60)
        to.sendall(b"# a comment\n\n7\t<http://e/a .\n" + line(3))

    with producing(produce) as source:
        items = source.take()
        more.set()
        items += list(source)
    bad = [str(item) for item in items if isinstance(item, BadLine)]
    assert [text[:9] for text in bad] == ["doors:2:1", "doors:6:3"]
    assert len(items) == 5


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    def produce(to: socket.socket) -> None:
        for _ in range(3):
            to.sendall(b"x" * MAX_LINE)
        to.sendall(b"\n" + line(1))

    with producing(produce) as source:
        most = 0
        items = []
        while not source.is_over:
            items += source.take()
            most = max(most, len(source._begun))
    bad, fact = items
    assert isinstance(bad, BadLine)
    assert bad.reason == f"the line is longer than {MAX_LINE} bytes"
    assert isinstance(fact, TimedFact)
    assert most <= MAX_LINE + 1


def test_the_producer_waits_for_the_consumer() -> None:
    """Far more than the buffers hold: what is not taken is not sent."""
    total = 64 * 2**20
    text = line(1) * (2**20 // len(line(1)))
    sent = 0
    is_stuck = Event()

    def produce(to: socket.socket) -> None:
        nonlocal sent
        to.settimeout(0.5)
        while sent < total:
            try:
                sent += to.send(text[sent % len(text) :])
            except TimeoutError:
                is_stuck.set()
                to.settimeout(10)

    with producing(produce) as source:
        assert is_stuck.wait(60)
        held = sent
        assert held < total / 2
        source.take()
        while not source.is_over and sent == held:
            source.take()
        assert sent > held


class Recorder:
    """Facts in the order in which they were pushed."""

    def __init__(self) -> None:
        self.facts: list[tuple[str, Instant]] = []
        self.has_four = Event()

    def push(self, stream: str, facts: Triple, at: Instant) -> None:
        self.facts.append((stream, at))
        if at == 4:
            self.has_four.set()


def test_pour_takes_from_whichever_source_has_something() -> None:
    """A source that is silent does not hold up another one."""
    go_on = Event()
    recorder = Recorder()

    def wait(to: socket.socket) -> None:
        to.sendall(line(1))
        assert go_on.wait(60)
        to.sendall(line(2))

    def send(to: socket.socket) -> None:
        to.sendall(line(3) + line(4))
        assert recorder.has_four.wait(60)
        go_on.set()

    with producing(wait) as slow, producing(send) as quick:
        pour({"slow": slow, "quick": quick}, recorder)
    assert [at for stream, at in recorder.facts if stream == "slow"] == [1, 2]
    assert [at for stream, at in recorder.facts if stream == "quick"] == [3, 4]
    assert recorder.facts[-1] == ("slow", 2)


def test_pour_raises_bad_lines_unless_told_otherwise() -> None:
    def produce(to: socket.socket) -> None:
        to.sendall(line(1) + b"noon\n" + line(2))

    with producing(produce) as source, pytest.raises(FormatError, match="doors:2:1"):
        pour({"doors": source}, Recorder())
    recorder = Recorder()
    bad: list[BadLine] = []
    with producing(produce) as source:
        pour({"doors": source}, recorder, on_bad=bad.append)
    assert [each.line for each in bad] == [2]
    assert recorder.facts == [("doors", 1), ("doors", 2)]


def test_a_producer_connects_to_us() -> None:
    with socket.create_server(("localhost", 0)) as server:
        with socket.create_connection(server.getsockname()) as producer:
            producer.sendall(line(1))
        with SocketSource.accept(server) as source:
            assert source.name.startswith("tcp://127.0.0.1:")
            assert instants(source) == [1]


QUERY = """
REGISTER QUERY crowded AS
SELECT (COUNT(?door) AS ?open) FROM STREAM <http://e/doors> [RANGE 10s STEP 5s]
FROM STREAM <http://e/gates> [RANGE 10s STEP 5s]
WHERE { ?door <http://e/at> ?somewhere }
"""


def test_a_query_over_two_sockets() -> None:
    engine = QueryEngine(lateness=60_000)
    answers = []
    engine.register(QUERY).subscribe(lambda each: answers.append((each.tick, each.rows)))

    def of(name: str, *at: int) -> Callable[[socket.socket], None]:
        return lambda to: to.sendall(b"".join(line(each, name) for each in at))

    with producing(of("front", 1_000, 16_000)) as doors, producing(of("back", 2_000)) as gates:
        pour({"http://e/doors": doors, "http://e/gates": gates}, engine)
    engine.finish()
    counts = [(tick, int(parse_term(rows[0][0] or "").lexical)) for tick, rows in answers]  # type: ignore[union-attr]
    assert counts == [(5_000, 2), (10_000, 2), (15_000, 0), (20_000, 1)]


def test_a_socket_on_the_command_line(ebbtide: Ebbtide) -> None:
    Path("q.rq").write_text(
        "SELECT ?s FROM STREAM <http://e/doors> [RANGE 5s STEP 5s] { ?s ?p ?o }"
    )

    def run(produced: bytes) -> Ended:
        def produce() -> None:
            with server.accept()[0] as connection:
                connection.sendall(produced)

        with socket.create_server(("localhost", 0)) as server:
            Thread(target=produce, daemon=True).start()
            source = f"http://e/doors=tcp://localhost:{server.getsockname()[1]}"
            return ebbtide("query", "q.rq", "--stream", source)

    ended = run(line(1_000) + line(6_000))
    assert ended.code == 0
    assert [json.loads(each)["t"] for each in ended.out.splitlines()][:2] == [5_000, 10_000]
    ended = run(line(1_000) + b"noon\n")
    assert ended.code == 1
    assert re.search(r"tcp://localhost:\d+:2:1: expected an instant", ended.err)
    nowhere = ebbtide("query", "q.rq", "--stream", "http://e/doors=tcp://localhost:1")
    assert nowhere.code == 1
    assert nowhere.err.startswith("ebbtide: tcp://localhost:1: ")
