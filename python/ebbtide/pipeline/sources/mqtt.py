"""Messages of an MQTT broker, in pieces of what has arrived within a tenth of a second.

A message is acknowledged when it is spooled. What the process had not spooled when it died, and
what comes while it is away, the broker sends again: it keeps the session of a client by its name. A
message that comes twice changes nothing, as a fact that is said twice is one fact.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Final

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.mqtt import Broker
from ebbtide.pipeline.sources.spool import Arrival

SECONDS_A_PIECE: Final = 0.1
MESSAGES_A_PIECE: Final = 20_000
QOS: Final = 1
#: How many messages the broker may send before it waits, and for how long it keeps a session.
_UNACKNOWLEDGED: Final = 65_535
_FOR_EVER: Final = 0xFFFF_FFFF


def delivered(
    broker: Broker, topics: Sequence[str], client: str, format: str, stop: threading.Event
) -> Iterator[Arrival]:
    """What a broker delivers, until `stop`. Lines are put together, graphs are a piece each."""
    arrived: SimpleQueue[Any] = SimpleQueue()
    session = _subscribed(broker, topics, client, arrived)
    try:
        while not stop.is_set():
            messages = list(_within(arrived, SECONDS_A_PIECE))
            yield from _pieces(messages, format)
            # They are on the disk now.
            for message in messages:
                session.ack(message.mid, message.qos)
    finally:
        session.disconnect()
        session.loop_stop()


def _subscribed(broker: Broker, topics: Sequence[str], client: str, arrived: Any) -> Any:
    from paho.mqtt.client import Client, MQTTv5
    from paho.mqtt.enums import CallbackAPIVersion
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties

    session = Client(CallbackAPIVersion.VERSION2, client, protocol=MQTTv5, manual_ack=True)
    session.on_message = lambda client, data, message: arrived.put(message)
    wanted = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
    wanted.ReceiveMaximum = _UNACKNOWLEDGED
    wanted.SessionExpiryInterval = _FOR_EVER

    def subscribe() -> None:
        session.subscribe([(each, QOS) for each in topics])

    broker.connect(session, subscribe, arrived.put, clean_start=False, properties=wanted)
    return session


def _within(arrived: SimpleQueue[Any], seconds: float) -> Iterator[Any]:
    """What arrives within some time, or as much as makes a piece."""
    end = time.monotonic() + seconds
    for _ in range(MESSAGES_A_PIECE):
        try:
            found = arrived.get(timeout=max(0.0, end - time.monotonic()))
        except Empty:
            return
        if isinstance(found, PipelineError):
            raise found
        yield found


def _pieces(messages: Sequence[Any], format: str) -> Iterator[Arrival]:
    texts = [message.payload.decode(errors="replace") for message in messages]
    if format == "json":
        # A row a line: in JSON a line break within a text is always escaped.
        texts = [" ".join(text.splitlines()) for text in texts]
    if format in ("tnt", "atoms", "json") and texts:
        texts = ["".join(f"{text.removesuffix(chr(10))}\n" for text in texts)]
    for text in texts:
        yield Arrival(format, text)
