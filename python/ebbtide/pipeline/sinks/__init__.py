"""Where rows go."""

from ebbtide.pipeline.sinks.sink import Sink

__all__ = ["Sink"]
