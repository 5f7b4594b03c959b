"""The native engine: the Rust kernel behind the engine protocol.

Names stay on this side: relations, streams and rules go to the kernel by position, terms as their
N-Triples texts. Answers come back as facts, or as Arrow record batches without a Python object a
fact.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ebbtide._kernel import BareTable, BudgetExceeded, Kernel, Reader, SnapshotError, Table
from ebbtide.engines.abilities import Part
from ebbtide.engines.budget import Budget
from ebbtide.engines.derivation import Node, as_it_is, prove
from ebbtide.engines.proof import Proof
from ebbtide.engines.protocol import Delta, LateFact
from ebbtide.program import (
    TRIPLE,
    Aggregate,
    Always,
    AlwaysAt,
    Atom,
    Fact,
    Guard,
    Operator,
    Program,
    Rule,
    Variable,
    find_builtin,
)
from ebbtide.program.reserved import STEP
from ebbtide.program.user import UserBuiltin, asking
from ebbtide.terms import Term, parse_term
from ebbtide.time import LATEST, Count, Instant, Landmark, Session, Sliding, Tumbling, Window

__all__ = ["BudgetExceeded", "NativeEngine", "SnapshotError"]


class NativeEngine:
    """The kernel, fed facts and asked for facts.

    `step` and `origin` are the grid of ticks; ticks beside it are evaluated just as exactly, only
    expiry is cheapest on it.

    >>> from ebbtide.program import Atom, Program, Rule, Variable
    >>> x, y, z = map(Variable, "xyz")
    >>> isin = lambda a, b: Atom("isIn", (a, b))
    >>> engine = NativeEngine(
    ...     Program([Rule("R", (isin(x, z),), (isin(x, y), isin(y, z)))]), {"default": Sliding(10)}
    ... )
    >>> a, b, c = (f"<http://example/{name}>" for name in "abc")
    >>> engine.push(Fact.of("isIn", a, b), at=1)
    >>> engine.push(Fact.of("isIn", b, c), at=2)
    >>> engine.advance(2).entered[Fact.of("isIn", a, c)]
    11
    """

    def __init__(
        self,
        program: Program,
        windows: Mapping[str, Window],
        *,
        strategy: str = "expiry",
        step: int = 1,
        origin: Instant = 0,
        budget: Budget | None = None,
    ) -> None:
        self.program = program
        self.windows = dict(windows)
        self.strategy = strategy
        budget = budget or Budget()
        self._relations = list(program.relations)
        self._relation_ids = {name: position for position, name in enumerate(self._relations)}
        self._stream_ids = {name: position for position, name in enumerate(self.windows)}
        self._kernel = Kernel(
            list(program.relations.items()),
            [
                self._lower_rule(rule, stratum)
                for rule, stratum in zip(program.rules, program.strata, strict=True)
            ],
            [
                self._lower_operator(operator, stratum)
                for operator, stratum in zip(
                    program.operators, program.operator_strata, strict=True
                )
            ]
            + self._spanned(),
            [_lower_window(window) for window in self.windows.values()],
            strategy,
            (step, origin),
            (budget.facts, budget.bytes, budget.derivations, budget.go_on),
        )

    def _lower_rule(self, rule: Rule, stratum: int) -> Any:
        numbers: dict[Variable, int] = {}

        def arguments(part: Atom | Guard) -> list[int | str]:
            return [
                numbers.setdefault(each, len(numbers)) if isinstance(each, Variable) else each.text
                for each in part.arguments
            ]

        ids = self._relation_ids
        return (
            rule.name,
            stratum,
            [(ids[atom.relation], arguments(atom)) for atom in rule.heads],
            [(ids[atom.relation], arguments(atom)) for atom in rule.positives],
            [(ids[part.atom.relation], arguments(part.atom)) for part in rule.negations],
            [(_lower_builtin(rule, guard), arguments(guard)) for guard in rule.guards],
        )

    def _lower_operator(self, operator: Operator, stratum: int) -> tuple[Any, ...]:
        input, output = self._relation_ids[operator.input], self._relation_ids[operator.output]
        match operator:
            case Aggregate(function, group=group, value=value):
                return "aggregate", function, input, output, list(group), value, stratum
            case Always(span=span, start=start):
                return "always", input, output, span, start, stratum
            case AlwaysAt(width=width, step=step, start=first, pane=pane):
                return "always_at", input, output, (width, step, first, pane), stratum

    def _spanned(self) -> list[tuple[Any, ...]]:
        """The relations of equal pairs and of the steps between them, if the program has steps."""
        ids = self._relation_ids
        return [("spanned", ids[TRIPLE], ids[STEP])] if STEP in ids else []

    def _relation(self, fact: Fact) -> int:
        position = self._relation_ids.get(fact.relation)
        if position is None:
            known = ", ".join(self._relations)
            raise ValueError(f"the program has no relation {fact.relation}; it has {known}")
        return position

    def _stream(self, name: str) -> int:
        position = self._stream_ids.get(name)
        if position is None:
            raise ValueError(f"there is no stream {name!r}; there are {', '.join(self.windows)}")
        return position

    def add(self, fact: Fact) -> None:
        """State a background fact. It is seen from the next tick on."""
        self._kernel.add(self._relation(fact), [term.text for term in fact.terms])

    def push(self, fact: Fact, at: Instant, stream: str = "default") -> None:
        """State a fact that happens at `at` on a stream; `LateFact` if that tick is over."""
        refused = self._kernel.push(
            self._stream(stream), self._relation(fact), [term.text for term in fact.terms], at
        )
        if refused == "late":
            raise LateFact(f"{fact} happens at {at}, and that tick is over")

    def retract(self, fact: Fact, at: Instant) -> None:
        """Take back every statement of the fact made at or before `at`."""
        texts = [term.text for term in fact.terms]
        if self._kernel.retract(self._relation(fact), texts, at) == "late":
            raise LateFact(f"{fact} is retracted at {at}, and that tick is over")

    def push_arrow(
        self, data: Any, stream: str, relation: str, time_column: str, columns: Sequence[str]
    ) -> list[int]:
        """State the facts of Arrow data; the numbers of the rows that came late."""
        late, _outside = self._kernel.push_arrow(
            self._stream(stream),
            self._relation_ids[relation],
            data,
            time_column,
            list(columns),
        )
        return late

    def add_arrow(self, data: Any, relation: str, columns: Sequence[str]) -> None:
        """State background facts from Arrow data."""
        self._kernel.add_arrow(self._relation_ids[relation], data, list(columns))

    def add_read(self, reader: Reader, limit: int) -> int:
        """State up to `limit` triples of a document; how many there were; 0 at its end."""
        return self._kernel.add_read(self._relation_ids[TRIPLE], reader, limit)

    def evaluate(self, tick: Instant) -> bool:
        """Evaluate the tick without making a `Delta`; whether the answers are complete."""
        try:
            self._kernel.advance(tick)
        except BudgetExceeded:
            raise self._exceeded() from None
        return self._kernel.is_complete

    def _exceeded(self) -> BudgetExceeded:
        """The budget that was hit last, in the words of the program."""
        assert self._kernel.exceeded is not None
        resource, limit, rule, at_hand = self._kernel.exceeded
        by = "the input" if rule is None else f"rule {self._rule_named(self.program.rules[rule])}"
        fact = None if at_hand is None else self._fact_named(self._fact(*at_hand))
        at = "" if fact is None else f", at {fact}"
        return BudgetExceeded(f"the budget of {limit} {resource} was hit by {by}{at}")

    def _rule_named(self, rule: Rule) -> str:
        """A rule as its author knows it."""
        return f"{rule.name} ({rule.origin})"

    def _fact_named(self, fact: Fact) -> str | None:
        """A fact as its author knows it, if that is so."""
        return str(fact)

    @property
    def has_changes(self) -> bool:
        """Whether the last tick changed anything."""
        return self._kernel.has_changes

    def quiet_until(self) -> Instant:
        """Before this no tick after the last one changes anything, unless something is said."""
        until = self._kernel.quiet_until
        return LATEST if until is None else until

    def advance(self, tick: Instant) -> Delta:
        """Evaluate the tick. Ticks must ascend."""
        return self.delta(tick, self.evaluate(tick), self._relations)

    def delta(self, tick: Instant, complete: bool, relations: Collection[str]) -> Delta:
        """What the last tick, which it was, changed in some relations."""
        entered: dict[Fact, Instant] = {}
        left: dict[Fact, Instant] = {}
        renewed: dict[Fact, Instant] = {}
        changes = self._kernel.changes() if relations else ()
        for relation, texts, before, after in changes:
            if self._relations[relation] not in relations:
                continue
            fact = self._fact(relation, texts)
            if before is None and after is not None:
                entered[fact] = after
            elif before is not None and after is None:
                left[fact] = before
            elif after is not None:
                renewed[fact] = after
        return Delta(tick, entered, left, renewed, complete)

    def _fact(self, relation: int, texts: Iterable[str]) -> Fact:
        return Fact(self._relations[relation], tuple(map(parse_term, texts)))

    def facts(self, relations: Collection[str] | None = None) -> Mapping[Fact, Instant]:
        """The materialisation at the last tick, of some relations or all; each fact's `until`."""
        return {
            self._fact(relation, texts): until
            for relation, name in enumerate(self._relations)
            if relations is None or name in relations
            for texts, until in self._kernel.facts(relation)
        }

    def texts(self, relation: str) -> list[list[str]]:
        """The texts of the terms of one relation's facts."""
        return [texts for texts, _ in self._kernel.facts(self._relation_ids[relation])]

    def facts_arrow(self, relation: str) -> Table:
        """One relation's facts as Arrow: columns c0, c1, ..., until."""
        return self._kernel.facts_arrow(self._relation_ids[relation])

    def matching(self, relation: str, pattern: Sequence[Term | None]) -> Iterator[tuple[Term, ...]]:
        """The terms of one relation's facts that have these terms; None is any."""
        texts = [None if term is None else term.text for term in pattern]
        for found in self._kernel.matching(self._relation_ids[relation], texts):
            yield tuple(map(parse_term, found))

    def seen(self, relation: str, after: Instant) -> tuple[Kernel, int, Instant]:
        """A relation without the facts that have ended then, as `SparqlQuery` takes it."""
        return self._kernel, self._relation_ids[relation], after

    def mirror(
        self, relation: str, other: NativeEngine, source: str, by: int, *, whole: bool
    ) -> None:
        """Let a relation hold what one of another engine does, all of it ending `by` earlier.

        What the other one's last tick changed is taken over, or the whole. It holds here from the
        next tick on; nobody else may state facts of the relation.
        """
        self._kernel.mirror(
            self._relation_ids[relation], other._kernel, other._relation_ids[source], by, whole
        )

    def triples_arrow(self, part: Part, invented: bool) -> tuple[Table, int]:
        """The triples that RDF can say, in the order of their texts, and how many others hold."""
        return self._kernel.triples_arrow(self._relation_ids[TRIPLE], part, invented)

    def changes_arrow(self, relation: str) -> Table:
        """What the last tick changed in one relation: as `facts_arrow`, and diff +1, 0 or -1."""
        return self._kernel.changes_arrow(self._relation_ids[relation])

    def change_counts(self) -> tuple[int, int, int]:
        """How many facts the last tick brought, renewed and took."""
        return self._kernel.change_counts()

    def until(self, fact: Fact) -> Instant | None:
        """Until when a fact holds; None if it does not."""
        return self._kernel.until(self._relation(fact), [term.text for term in fact.terms])

    def is_stated(self, fact: Fact) -> bool:
        """Whether a fact that holds is stated, and not only derived."""
        return self._kernel.is_stated(self._relation(fact), [term.text for term in fact.terms])

    def counted_at(self, fact: Fact) -> list[Instant]:
        """The instants at which a fact entered the count windows that hold it."""
        return self._kernel.counted_at(self._relation(fact), [term.text for term in fact.terms])

    def why(self, fact: Fact) -> Proof:
        """A proof of a fact that holds; KeyError if it does not."""
        return prove(self.derivation(fact), as_it_is)

    def derivation(self, fact: Fact) -> list[Node]:
        """How a fact that holds was derived, the fact itself first; KeyError if it does not."""
        nodes = self._kernel.why(self._relation(fact), [term.text for term in fact.terms])
        return [
            Node(
                self._fact(relation, texts),
                until,
                None if rule is None else self.program.rules[rule],
                premises,
            )
            for relation, texts, until, rule, premises in nodes
        ]

    @property
    def fingerprint(self) -> str:
        """A digest of the program and the windows: what a snapshot must agree with."""
        windows = "".join(f"\n{name} {window}" for name, window in self.windows.items())
        return hashlib.sha256((self.program.fingerprint + windows).encode()).hexdigest()[:32]

    def adopt(self, other: NativeEngine) -> None:
        """Take over what was stated to another engine of other rules, but the same windows.

        This engine must be fresh. It goes on from the other one's last tick, which it evaluates
        anew for its own rules. Sliding windows may be longer or shorter, all by the same span: what
        the other engine still holds then stays as much longer, or ends as much earlier.
        """
        self._kernel.adopt(other._kernel, _longer(other.windows, self.windows))
        if other._kernel.tick is not None:
            self._kernel.advance(other._kernel.tick)

    def snapshot(self) -> bytes:
        """Everything the engine needs to go on."""
        return self._kernel.snapshot(self.fingerprint)

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot of the same program and windows; the engine must be fresh."""
        self._kernel.restore(data, self.fingerprint)

    def explain(self) -> str:
        """The plan: strata, join orders and the indexes they need."""
        return self._kernel.explain()

    def bare_table(self, relation: str) -> Callable[[], tuple[int, int]]:
        """A bare hash table of a relation's facts, for benchmarks.

        Call what it returns after every tick: the table follows, and you get the nanoseconds that
        the removes and inserts took, and how many facts were inserted.
        """
        table = BareTable(self._kernel, self._relation_ids[relation])
        return lambda: table.follow(self._kernel)

    def stats(self) -> Mapping[str, int]:
        """Totals since the start (ticks, stated, lookups, derivations, ...) and sizes now."""
        return self._kernel.stats()

    def count(self, relations: Iterable[str]) -> int:
        """How many facts of some relations hold."""
        return sum(len(self._kernel.facts(self._relation_ids[name])) for name in relations)

    def __len__(self) -> int:
        return len(self._kernel)


_Asked: TypeAlias = Callable[..., bool | str | None]


def _lower_builtin(rule: Rule, guard: Guard) -> str | tuple[str, bool, _Asked]:
    """The name of a builtin that the kernel has; else how to ask it, terms being texts."""
    builtin = find_builtin(guard.builtin)
    if not isinstance(builtin, UserBuiltin):
        return guard.builtin
    ask = asking(rule.name, guard)

    def asked(*texts: str) -> bool | str | None:
        answer = ask([parse_term(text) for text in texts])
        return answer if answer is None or isinstance(answer, bool) else answer.text

    return builtin.name, builtin.is_function, asked


def _longer(before: Mapping[str, Window], after: Mapping[str, Window]) -> int:
    """By how much every window is longer than it was; less than nothing if it is shorter."""
    spans, is_other = set(), False
    for name, window in after.items():
        match before.get(name), window:
            case Sliding(shorter), Sliding(longer):
                spans.add(longer - shorter)
            case Landmark() as other, _ if other == window:
                pass  # What is in it holds for ever, whatever the others do.
            case other, _:
                spans.add(0)
                is_other = is_other or other != window
    if before.keys() != after.keys() or len(spans) > 1 or is_other:
        raise ValueError(
            "an engine can only adopt the statements of one with the same windows, or with sliding "
            "windows that are all shorter or longer by the same span"
        )
    return max(spans, default=0)


def _lower_window(window: Window) -> tuple[Any, ...]:
    match window:
        case Sliding(range):
            return "sliding", range
        case Tumbling(width, origin):
            return "tumbling", width, origin
        case Landmark(start):
            return "landmark", start
        case Count(size, group):
            return "count", size, list(group)
        case Session(gap, group):
            return "session", gap, list(group)
