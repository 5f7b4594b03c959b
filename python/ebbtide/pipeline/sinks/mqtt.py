"""A topic of an MQTT broker: a message a row, in JSON, each acknowledged before the batch is done.

The broker cannot be asked what it has: after a crash the rows of the last batch are sent again.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import Any, Final

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.mqtt import Broker
from ebbtide.pipeline.sinks.parts import Encode

QOS: Final = 1
_SECONDS: Final = 30.0


class MqttSink:
    """Publishes rows."""

    def __init__(self, broker: Broker, topic: str, encode: Encode) -> None:
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion

        self._topic = topic
        self._encode = encode
        self._broker = broker
        self._client = Client(CallbackAPIVersion.VERSION2)
        # All of a batch may be on its way; how many at a time the broker has seen is its matter.
        self._client.max_queued_messages_set(0)
        answers: SimpleQueue[PipelineError | None] = SimpleQueue()
        broker.connect(self._client, lambda: answers.put(None), answers.put)
        try:
            refusal = answers.get(timeout=_SECONDS)
        except Empty:
            refusal = PipelineError(f"{broker} does not answer")
        if refusal is not None:
            self.close()
            raise refusal

    def write(self, batch: int, rows: Any) -> None:
        """Publish the rows of a batch, and wait until the broker has them."""
        lines = self._encode(rows).splitlines()
        sent = [self._client.publish(self._topic, line, QOS) for line in lines]
        for message in sent:
            message.wait_for_publish(_SECONDS)
            if not message.is_published():
                raise PipelineError(f"{self._broker} did not take batch {batch}")

    def close(self) -> None:
        """Say goodbye."""
        self._client.disconnect()
        self._client.loop_stop()
