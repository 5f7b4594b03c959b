"""Continuous queries: registered, sharing materialisations, answered at every tick."""

from ebbtide.queries.answers import Answers
from ebbtide.queries.engine import QueryEngine
from ebbtide.queries.registered import RegisteredQuery
from ebbtide.queries.report import Report

__all__ = ["Answers", "QueryEngine", "RegisteredQuery", "Report"]
