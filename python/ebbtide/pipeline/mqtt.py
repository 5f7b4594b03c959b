"""An MQTT broker, and how a client is let in: with TLS, a user and a password, or neither.

Invariant: the password is in an environment variable until a client needs it; nothing shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ebbtide.pipeline.errors import PipelineError
from ebbtide.pipeline.file import model
from ebbtide.pipeline.secrets import secret


@dataclass(frozen=True)
class Broker:
    """Where a broker is, and what it wants to know of a client; `at` is the key's path."""

    at: str
    host: str
    port: int
    login: model.Login | None = None
    tls: model.Tls | bool = False

    @classmethod
    def of(cls, given: model.Mqtt | model.MqttTopic, at: str) -> Broker:
        """The broker of a stream or of an output."""
        return cls(at, given.host, given.port, given.login, given.tls)

    def __str__(self) -> str:
        return f"the MQTT broker at {self.host}:{self.port}"

    def connect(
        self,
        client: Any,
        welcome: Callable[[], None],
        refused: Callable[[PipelineError], None],
        **how: Any,
    ) -> None:
        """Connect a client, and go on in a thread of it.

        Whenever there is a connection, also after one was lost, the client is welcome or refused.
        """

        def answered(client: Any, data: Any, flags: Any, reason: Any, *rest: Any) -> None:
            if reason.is_failure:
                refused(PipelineError(f"{self} refuses the client: {reason}"))
            else:
                welcome()

        client.on_connect = answered
        if self.login is not None:
            at = f"{self.at}.login.password_from"
            client.username_pw_set(self.login.user, secret(self.login.password_from, at))
        try:
            self._set_tls(client)
            client.connect(self.host, self.port, **how)
        except OSError as error:
            raise PipelineError(f"{self} does not answer: {error}") from None
        client.loop_start()

    def _set_tls(self, client: Any) -> None:
        if isinstance(self.tls, model.Tls):
            client.tls_set(self.tls.ca, self.tls.certificate, self.tls.key)
        elif self.tls:
            client.tls_set()
