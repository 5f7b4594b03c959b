"""The program of a view: the user's rules, and on top of them what queries have maintained.

    triple ──► rules ──► answer:X ──► narrow ──► answer:X@range ──► aggregate ──► answer:X@range/...

Patterns are kept for the widest window. What is filtered when it is read needs no narrowing; what
is grouped, or followed change by change, is narrowed to the windows of its query first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.program import Aggregate, Narrow, Operator, Program
from ebbtide.queries.lowering import Grouped, Maintained

if TYPE_CHECKING:
    from ebbtide.queries.view import View


def narrowed_name(view: View, widest: int, pattern: Maintained) -> str:
    """The relation of a pattern as windows of a widest range have it."""
    if widest == view.widest:
        return pattern.relation
    return f"{pattern.relation}@{widest}"


def group_name(view: View, widest: int, grouped: Grouped) -> str:
    """The relation of a function of groups, in windows of a widest range."""
    return f"{grouped.relation}@{widest}"


def compiled(view: View) -> Program:
    """The program for all that the readers of a view want."""
    rules = dict.fromkeys(view.program.written)
    relations = dict(view.program.relations)
    operators: dict[str, Operator] = {}

    def narrowed(widest: int, pattern: Maintained) -> str:
        name = narrowed_name(view, widest, pattern)
        if name != pattern.relation:
            operators[name] = Narrow(pattern.relation, name, view.widest - widest)
            relations[name] = pattern.arity
        return name

    for reader in view.readers:
        grouped = (each.pattern for each in reader.groups)
        followed = () if reader.follows is None else (reader.follows,)
        for pattern in (*reader.patterns, *grouped, *followed):
            rules.update(dict.fromkeys(pattern.rules))
            relations[pattern.relation] = pattern.arity
        if reader.follows is not None:
            narrowed(reader.widest, reader.follows)
        for group in reader.groups:
            name = group_name(view, reader.widest, group)
            input = narrowed(reader.widest, group.pattern)
            operators[name] = Aggregate(group.function, input, name, group.group, group.value)
    if len(rules) == len(view.program.written) and not operators:
        return view.program
    return Program(rules, relations, operators=(*view.program.operators, *operators.values()))
