"""A snapshot somewhere in a story, from which another engine goes on."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import note

from ebbtide.engines.native import NativeEngine
from ebbtide.program import Program
from ebbtide.testing import Happening, play, rows, show_rows
from ebbtide.time import Window


def changes_nothing(
    rules: Program,
    looking: dict[str, Window],
    story: Sequence[Happening],
    strategy: str,
    *,
    cut: int,
) -> None:
    """Two engines, of which the second begins with a snapshot after `cut`, do what one does."""
    note(f"{rules}\n{looking}\n" + "  ".join(map(str, story)))
    whole = NativeEngine(rules, looking, strategy=strategy)
    expected = play(whole, story)
    first = NativeEngine(rules, looking, strategy=strategy)
    deltas = play(first, story[:cut])
    second = NativeEngine(rules, looking, strategy=strategy)
    second.restore(first.snapshot())
    assert second.facts() == first.facts()
    deltas += play(second, story[cut:])
    assert show_rows(rows(deltas)) == show_rows(rows(expected))
    assert second.facts() == whole.facts()
