"""Spark: sources, stages, placements and sinks of one Structured Streaming query.

    files ──► timed facts ──► units ──► rows ──► outputs
    sources   stages          placements        sinks        file: says all of it; run: runs it
    frames    ──────────────► api ────► frames               as a step of anybody's Spark program

Only this room and the dataframe engine import pyspark; `pip install 'ebbtide[spark]'` brings it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebbtide.pipeline.api import answer, materialize, read_rdf, reason, run_query, solutions

__all__ = ["answer", "materialize", "read_rdf", "reason", "run_query", "solutions"]


def __getattr__(name: str) -> Any:
    """The functions of the API, when they are asked for: pyspark is imported with them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ebbtide.pipeline import api

    return getattr(api, name)
