"""Continuous queries in C-SPARQL and RSP-QL: text to `ContinuousQuery`."""

from ebbtide.languages.rspql.query import (
    SERVICE,
    TIMESTAMP,
    ContinuousQuery,
    CountWindow,
    QueryWindow,
    StreamWindow,
    TimeWindow,
)
from ebbtide.languages.rspql.reader import BASE, load_continuous_query, parse_continuous_query

__all__ = [
    "BASE",
    "SERVICE",
    "TIMESTAMP",
    "ContinuousQuery",
    "CountWindow",
    "QueryWindow",
    "StreamWindow",
    "TimeWindow",
    "load_continuous_query",
    "parse_continuous_query",
]
