"""What can be set of a reasoner: the keywords that its makers hand on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypedDict

from ebbtide.engines.budget import Budget
from ebbtide.reasoner.intake import PatternLike
from ebbtide.time import Instant, Window


class Settings(TypedDict, total=False):
    """The keywords of a `Reasoner`."""

    window: Window
    step: int
    start: Instant | None
    streams: Mapping[str, Window] | None
    lateness: int
    strategy: str
    engine: str
    budget: Budget | None
    specialise: bool
    wanted: Iterable[PatternLike] | None
    printer: Callable[[str], object]
