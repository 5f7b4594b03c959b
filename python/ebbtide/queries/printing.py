"""What rules print under queries: a line for each match that begins to hold in a view.

Queries look at several views, and views are shared, so that a match may hold in more than one. It
is told when it begins to hold in one of them and holds in none of the others that run its rules.
Lines of one tick of a view come in the order of their texts.

Invariant: after a tick of a view, the matches that are known to hold in it are those that do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from ebbtide.program import Fact
from ebbtide.reasoner.printing import print_atoms, printed

if TYPE_CHECKING:
    from ebbtide.queries.view import View


class Printing:
    """What the rules of an engine's views print, line by line to a printer."""

    def __init__(self, printer: Callable[[str], object]) -> None:
        self._printer = printer
        self._prints: dict[View, Prints] = {}
        #: In how many views a match of a program holds.
        self._views: Counter[tuple[str, Fact]] = Counter()

    def follow(self, view: View) -> None:
        """Tell what the rules of a new view print."""
        if print_atoms(view.program):
            self._prints[view] = Prints(view, self)
            view.mirrors.append(self._prints[view])

    def leave(self, view: View) -> None:
        """The view is there no longer."""
        if (prints := self._prints.pop(view, None)) is not None:
            self.change(view.key.program, (), prints.holding)

    def change(self, program: str, began: Collection[Fact], ended: Collection[Fact]) -> None:
        """Matches of a program begin, and others cease, to hold in a view."""
        lines = printed(fact for fact in began if not self._views[program, fact])
        for fact in began:
            self._views[program, fact] += 1
        for fact in ended:
            self._views[program, fact] -= 1
            if not self._views[program, fact]:
                del self._views[program, fact]
        for line in lines:
            self._printer(line)


class Prints:
    """The matches that print and hold in one view, whose ticks it follows."""

    def __init__(self, view: View, printing: Printing) -> None:
        self._printing = printing
        self._relations = {atom.relation for atom in print_atoms(view.program)}
        self.holding: set[Fact] = set()

    def take(self, view: View, whole: bool) -> None:
        """The view is at a tick: what it changed counts, or all that holds."""
        began: Collection[Fact]
        ended: Collection[Fact]
        if whole:
            holding = set(view.native.facts(self._relations))
            began, ended = holding - self.holding, self.holding - holding
        else:
            began, ended = view.changed(self._relations)
        self.holding.difference_update(ended)
        self.holding.update(began)
        self._printing.change(view.key.program, began, ended)
