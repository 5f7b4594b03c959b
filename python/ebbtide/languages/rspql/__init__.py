"""Continuous queries in C-SPARQL and RSP-QL: text to `ContinuousQuery`."""

from ebbtide.languages.rspql.query import (
    TIMESTAMP,
    ContinuousQuery,
    CountWindow,
    StreamWindow,
    TimeWindow,
)

__all__ = ["TIMESTAMP", "ContinuousQuery", "CountWindow", "StreamWindow", "TimeWindow"]
