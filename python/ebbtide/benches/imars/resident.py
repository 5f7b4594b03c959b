"""A process that streams ever-new terms through a window and says how much memory it holds.

    python -m ebbtide.benches.imars.resident SETTINGS

SETTINGS is a `Settings` as JSON. It prints a line a window full of facts: the facts so far, a tab,
the resident bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import psutil

from ebbtide.benches.imars.feed import Feed
from ebbtide.benches.imars.settings import Settings


def stream(settings: Settings) -> Iterator[tuple[int, int]]:
    """The facts so far and the resident bytes, once a window."""
    turn = settings.window // settings.churn
    ticks = turn * (settings.turns - 1)
    feed = Feed(settings, window=settings.window, churn=settings.churn, ticks=ticks)
    process = psutil.Process()
    feed.fill()
    yield settings.window, process.memory_info().rss
    for tick in range(1, ticks + 1):
        feed.tick()
        if tick % turn == 0:
            yield settings.window + tick * settings.churn, process.memory_info().rss


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    for facts, resident in stream(Settings(**{**given, "shares": tuple(given["shares"])})):
        print(facts, resident, sep="\t", flush=True)
