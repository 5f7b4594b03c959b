"""Count windows by group: which arguments of an atom make groups, by whatever name.

A window `[#3 per X]` names variables of its atom, `[#3 of ex:isIn]` the predicate of a triple. Two
windows are the same if they group by the same places, so relations are named and shared by places.
"""

from __future__ import annotations

from dataclasses import replace

from ebbtide.languages.lars.formula import CountWindow
from ebbtide.program import Atom, Variable


def group_places(atom: Atom, window: CountWindow) -> tuple[int, ...]:
    """The places of an atom's arguments that make groups."""
    return (*map(atom.arguments.index, window.per), *window.kind)


def window_label(atom: Atom, window: CountWindow) -> str:
    """What tells a count window from others over the same atoms."""
    places = group_places(atom, window)
    group = f" per {','.join(map(str, places))}" if places else ""
    return f"#{window.size}{group}" if window.of_predicate else f"#{window.size} of all"


def by_place(atom: Atom, window: CountWindow, x: tuple[Variable, ...]) -> CountWindow:
    """The window of an atom with other variables."""
    return replace(window, per=tuple(x[place] for place in group_places(atom, window)), kind=())
