"""What some engines can do beyond the protocol, and how an engine is opened by name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from ebbtide.engines.budget import Budget
from ebbtide.engines.proof import Proof
from ebbtide.engines.protocol import Delta, Engine
from ebbtide.plan.make import can_be_planned, needed_part
from ebbtide.program import Atom, Fact, Program
from ebbtide.terms import Term
from ebbtide.time import Instant, Window

if TYPE_CHECKING:
    from ebbtide._kernel import Reader, Table

#: Which facts: those that are stated, even if they follow as well, or those that only follow.
Part: TypeAlias = Literal["all", "stated", "inferred"]


class Unsupported(NotImplementedError):
    """The engine cannot do what was asked; another one can."""


@runtime_checkable
class LooksUp(Protocol):
    """Can answer about one fact, and count, without handing out the materialisation."""

    def until(self, fact: Fact) -> Instant | None:
        """Until when a fact holds; None if it does not."""

    def matching(self, relation: str, pattern: Sequence[Term | None]) -> Iterator[tuple[Term, ...]]:
        """The terms of one relation's facts that have these terms; None is any."""

    def __len__(self) -> int: ...


@runtime_checkable
class Explains(Protocol):
    """Can say why a fact holds, and how the rules are run."""

    def why(self, fact: Fact) -> Proof:
        """A proof of a fact that holds at the last tick."""

    def explain(self) -> str:
        """What became of each rule, if there is a plan; join orders and indexes."""


@runtime_checkable
class Snapshots(Protocol):
    """Can be put away and brought back."""

    def snapshot(self) -> bytes:
        """Everything the engine needs to go on."""

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot of the same program and windows; the engine must be fresh."""


@runtime_checkable
class TakesArrow(Protocol):
    """Takes a column of instants and columns of terms, without a Python object per fact."""

    def push_arrow(
        self, data: Any, stream: str, relation: str, time_column: str, columns: Sequence[str]
    ) -> list[int]:
        """State the facts of a batch; the numbers of the rows that came late."""

    def add_arrow(self, data: Any, relation: str, columns: Sequence[str]) -> None:
        """State background facts."""


@runtime_checkable
class ReadsDocuments(Protocol):
    """Takes the triples of a document as background, without a Python object per fact."""

    def add_read(self, reader: Reader, limit: int) -> int:
        """State up to `limit` triples of a document; how many there were; 0 at its end."""


@runtime_checkable
class GivesTriples(Protocol):
    """Tells stated triples from inferred ones, without a Python object per fact."""

    def triples_arrow(self, part: Part, invented: bool) -> tuple[Table, int]:
        """The triples that RDF can say, in the order of their texts, and how many others hold.

        The columns are s, p, o and until. Those with invented terms are left out, unless
        `invented`.
        """

    def is_stated(self, fact: Fact) -> bool:
        """Whether a fact that holds is stated, even if it follows as well."""


@runtime_checkable
class Settles(Protocol):
    """Can evaluate a tick without telling what it changed."""

    def evaluate(self, tick: Instant) -> bool:
        """Evaluate the tick; whether the answers are complete."""


@runtime_checkable
class GivesChanges(Settles, Protocol):
    """Tells what a tick changed relation by relation, without a Python object per fact."""

    def delta(self, tick: Instant, complete: bool, relations: Collection[str]) -> Delta:
        """What the last tick, which it was, changed in some relations."""

    def changes_arrow(self, relation: str) -> Table:
        """What the last tick changed in one relation: its columns, until and diff."""

    def quiet_until(self) -> Instant:
        """Before this no tick after the last one changes anything, unless something is said."""


def open_engine(
    name: str,
    program: Program,
    windows: Mapping[str, Window],
    strategy: str,
    *,
    step: int = 1,
    origin: Instant = 0,
    budget: Budget | None = None,
    specialise: bool = False,
    wanted: Collection[Atom] | None = None,
) -> Engine:
    """A fresh engine: `native` (the kernel) or `reference` (the oracle: no strategy, no budget).

    `step` and `origin` are the grid that ticks are expected on. With `specialise` the kernel runs a
    plan for the schema of the background, if the rules ask for schema. Facts that match no `wanted`
    pattern need not be concluded. The oracle concludes everything, by the rules as they are.
    """
    match name:
        case "native":
            from ebbtide.engines.native import NativeEngine
            from ebbtide.engines.planned import PlannedEngine

            if specialise and (wanted is not None or can_be_planned(program)):
                return PlannedEngine(
                    program,
                    windows,
                    strategy=strategy,
                    step=step,
                    origin=origin,
                    budget=budget,
                    wanted=wanted,
                )
            if wanted is not None:
                program = needed_part(program, wanted)
            return NativeEngine(
                program, windows, strategy=strategy, step=step, origin=origin, budget=budget
            )
        case "reference":
            from ebbtide.engines.reference import ReferenceEngine

            if budget is not None:
                raise Unsupported("only the native engine keeps a budget")
            return ReferenceEngine(program, windows)
    raise ValueError(f"there is no engine {name!r}; there are native and reference")
