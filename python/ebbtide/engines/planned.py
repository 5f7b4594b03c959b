"""The planned engine: the kernel, running a plan that was made for the schema of the background.

What is stated before the first tick waits in a kernel without rules. Then the plan is made for the
schema among it, and the kernel that runs the plan takes over what waits. Schema that comes later is
novel to the plan, which is as exact, and slower; when schema that the plan was made for is
retracted, the plan is taken back, and the rules run as they were written.

Invariant: nobody outside sees the plan. Facts of its own relations are in no answer, and proofs are
by the rules as they were written, from the schema facts that the plan worked them out with.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, Final

from ebbtide._kernel import Reader, Table
from ebbtide.engines.abilities import Part
from ebbtide.engines.budget import Budget
from ebbtide.engines.derivation import Node, as_it_is, prove
from ebbtide.engines.native import BudgetExceeded, NativeEngine, SnapshotError
from ebbtide.engines.proof import Proof
from ebbtide.engines.protocol import Delta
from ebbtide.engines.reference.closure import Binding, ground, guarded, match
from ebbtide.plan.assemble import RETRACTED, is_novel
from ebbtide.plan.equality import Stepped, step_by_step
from ebbtide.plan.make import make_plan
from ebbtide.plan.plan import Plan
from ebbtide.plan.report import report
from ebbtide.plan.schema import Schema
from ebbtide.plan.specialise import Rows
from ebbtide.program import TRIPLE, Atom, Fact, Lineage, Program, Rule
from ebbtide.program.reserved import ENDS, STEP
from ebbtide.terms import Term, parse_term
from ebbtide.terms.formats import TERM_COLUMNS
from ebbtide.time import EARLIEST, FOREVER, Instant, Landmark, Window

#: A schema from which more facts follow is not worked out.
MOST_FOLLOWING: Final = 100_000
#: How a snapshot begins: the last byte is the version of what stands in front of the kernel's own.
_MAGIC: Final = b"PLANNED\x01"
_LENGTH: Final = 8
#: Relations of pairs that are equal: a proof shows the pairs.
_PAIRS: Final = frozenset((STEP, ENDS))
#: The stream of what holds for ever from an instant on.
_FROM_NOW_ON: Final = "schema:"


class PlannedEngine:
    """As the native engine, but what the kernel runs is a plan.

    With `wanted` patterns, only facts that match one of them are sure to be concluded.

    >>> from ebbtide.languages.jena import parse_rules
    >>> from ebbtide.time import Sliding
    >>> rules = parse_rules("[sub: (?c rdfs:subClassOf ?d), (?x a ?c) -> (?x a ?d)]")
    >>> engine = PlannedEngine(rules, {"default": Sliding(10)})
    >>> sub_class_of, a = (atom.arguments[1] for atom in rules.rules[0].positives)
    >>> student, person, ann = (f"<http://example/{name}>" for name in ("Student", "Person", "ann"))
    >>> engine.add(Fact.triple(student, sub_class_of, person))
    >>> engine.push(Fact.triple(ann, a, student), at=1)
    >>> engine.advance(1).entered[Fact.triple(ann, a, person)]
    11
    >>> print(engine.plan.program.rules[0])
    triple(?x, <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>, <http://example/Person>) :-
    triple(?x, <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>, <http://example/Student>),
    not schema:retracted().
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
        wanted: Collection[Atom] | None = None,
    ) -> None:
        self.program = program
        self.plan = Plan(program)
        self._wanted = wanted

        def opened(program: Program, planned: int) -> NativeEngine:
            allowed = budget
            if budget is not None and budget.facts is not None:
                # What the plan states is not the user's.
                allowed = replace(budget, facts=budget.facts + planned)
            return NativeEngine(
                program,
                {**windows, _FROM_NOW_ON: Landmark(EARLIEST)},
                strategy=strategy,
                step=step,
                origin=origin,
                budget=allowed,
            )

        self._opened = opened
        #: The kernel that runs the plan, or, before the first tick, one without rules.
        self._engine = opened(Program((), program.relations), 0)
        self._is_planned = False
        self._schema = Schema.of(program)
        self._planned_for: Sequence[Fact] = ()
        self._is_taken_back = False
        self._known: dict[Fact, None] = {}
        self._doubtful: set[Fact] = set()

    # ---- facts in ----------------------------------------------------------------------------

    def add(self, fact: Fact) -> None:
        """State a background fact. It is seen from the next tick on."""
        self._engine.add(fact)
        if not self._is_planned and fact.relation == TRIPLE and self._schema.has(fact):
            self._known[fact] = None

    def push(self, fact: Fact, at: Instant, stream: str = "default") -> None:
        """State a fact that happens at `at` on a stream; `LateFact` if that tick is over."""
        self._engine.push(fact, at, stream)

    def retract(self, fact: Fact, at: Instant) -> None:
        """Take back every statement of the fact made at or before `at`."""
        self._engine.retract(fact, at)
        if not self._is_planned:
            self._doubtful.add(fact)
        elif fact in self.plan.known:
            self._is_taken_back = True
            for settled in self.plan.settled:
                self._engine.retract(settled, at)
            if RETRACTED.relation in self.plan.program.relations:
                self._engine.push(RETRACTED, at, _FROM_NOW_ON)

    def push_arrow(
        self, data: Any, stream: str, relation: str, time_column: str, columns: Sequence[str]
    ) -> list[int]:
        """State the facts of Arrow data; the numbers of the rows that came late."""
        return self._engine.push_arrow(data, stream, relation, time_column, columns)

    def add_arrow(self, data: Any, relation: str, columns: Sequence[str]) -> None:
        """State background facts from Arrow data."""
        if not self._is_planned and relation == TRIPLE:
            # Two want to look into data that may be readable once only.
            data = Table(data)
            self._known.update(dict.fromkeys(_schema_rows(data, list(columns), self._schema)))
        self._engine.add_arrow(data, relation, columns)

    def add_read(self, reader: Reader, limit: int) -> int:
        """State up to `limit` triples of a document; how many there were; 0 at its end."""
        if self._is_planned:
            return self._engine.add_read(reader, limit)
        table = reader.table(limit)
        self.add_arrow(table, TRIPLE, TERM_COLUMNS)
        return len(table)

    # ---- ticks and answers -------------------------------------------------------------------

    @property
    def native(self) -> NativeEngine:
        """The kernel with its plan, which is made now if there was no tick yet."""
        if not self._is_planned:
            self._plan_for([fact for fact in self._known if fact not in self._doubtful])
        return self._engine

    def _plan_for(self, known: Sequence[Fact]) -> None:
        """Make the plan for a schema, and give its kernel what waits."""
        waiting = self._engine
        self._open_plan(known)
        self._engine.adopt(waiting)
        for fact in self.plan.settled:
            self._engine.add(fact)

    def _open_plan(self, known: Sequence[Fact]) -> None:
        """Make the plan for a schema, and a kernel for it to which nothing was stated."""
        self._planned_for = known
        with _collector_paused():
            self.plan = make_plan(self.program, known, close, self._wanted)
            self._engine = self._opened(self.plan.program, len(self.plan.settled))
        self._is_planned = True
        self._known.clear()

    def evaluate(self, tick: Instant) -> bool:
        """Evaluate the tick without making a `Delta`; whether the answers are complete."""
        return self.native.evaluate(tick)

    def advance(self, tick: Instant) -> Delta:
        """Evaluate the tick. Ticks must ascend."""
        return self.delta(tick, self.evaluate(tick), self.program.relations)

    def delta(self, tick: Instant, complete: bool, relations: Collection[str]) -> Delta:
        """What the last tick, which it was, changed in some relations that were written."""
        return self.native.delta(tick, complete, relations)

    def changes_arrow(self, relation: str) -> Table:
        """What the last tick changed in one relation: its columns, until and diff."""
        return self.native.changes_arrow(relation)

    def quiet_until(self) -> Instant:
        """Before this no tick after the last one changes anything, unless something is said."""
        return self.native.quiet_until()

    def facts(self, relations: Collection[str] | None = None) -> Mapping[Fact, Instant]:
        """The materialisation at the last tick, of some relations or all; each fact's `until`."""
        return self.native.facts(self.program.relations if relations is None else relations)

    def triples_arrow(self, part: Part, invented: bool) -> tuple[Table, int]:
        """The triples that RDF can say, in the order of their texts, and how many others hold."""
        return self.native.triples_arrow(part, invented)

    def is_stated(self, fact: Fact) -> bool:
        """Whether a fact that holds is stated, even if it follows as well."""
        return self.native.is_stated(fact)

    def until(self, fact: Fact) -> Instant | None:
        """Until when a fact holds; None if it does not."""
        return self.native.until(fact)

    def matching(self, relation: str, pattern: Sequence[Term | None]) -> Iterator[tuple[Term, ...]]:
        """The terms of one relation's facts that have these terms; None is any."""
        return self.native.matching(relation, pattern)

    def __len__(self) -> int:
        own = self.plan.program.relations.keys() - self.program.relations
        return len(self.native) - self.native.count(own)

    def explain(self) -> str:
        """What became of each rule, then how the kernel runs what became of them."""
        native = self.native
        return f"{report(self.plan)}\n\n{native.explain()}"

    def adopt(self, other: PlannedEngine) -> None:
        """Take over what was stated to another engine: as `NativeEngine.adopt`.

        The plan is made for the same schema, or for none if the other one's was taken back.
        """
        self._known.update(other._known)
        self._doubtful |= other._doubtful
        self._is_taken_back = other._is_taken_back
        if other._is_planned:
            self._plan_for(() if other._is_taken_back else other._planned_for)
        self._engine.adopt(other._engine)

    # ---- proofs ------------------------------------------------------------------------------

    def why(self, fact: Fact) -> Proof:
        """A proof of a fact that holds, by the rules as they were written; KeyError if not."""
        return prove(self.native.derivation(fact), self._as_written)

    def _as_written(self, node: Node, premises: Sequence[Proof]) -> Proof:
        rule = node.rule
        if rule is None or rule.lineage is None:
            if node.fact.relation in _PAIRS:
                return self._pair(node, premises[0])
            # What is novel holds because it does, whether it is novel or not.
            return premises[0] if is_novel(node.fact) else as_it_is(node, premises)
        binding: Binding = {}
        for atom, premise in zip(rule.positives, premises, strict=True):
            binding = match(atom, premise.fact.terms, binding) or binding
        return self._by(
            rule.lineage, node.fact, guarded(rule.name, rule.guards, binding) or binding, premises
        )

    def _by(
        self, lineage: Lineage, fact: Fact, binding: Binding, premises: Sequence[Proof]
    ) -> Proof:
        """The proof by a written rule, from those of the premises of a rewritten one."""

        def proof(premise: int | Fact | Lineage) -> Proof:
            match premise:
                case int():
                    return premises[premise]
                case Lineage():
                    return self._by(premise, ground(premise.head, binding), binding, premises)
            # Which steps there are is for each kernel to say; the pairs are the same for all.
            known = Fact(TRIPLE, premise.terms) if premise.relation in _PAIRS else premise
            return prove(self._of_schema.derivation(known), self._as_written)

        rule, proofs = lineage.rule, tuple(map(proof, lineage.premises))
        until = min((each.until for each in proofs), default=FOREVER)
        absent = tuple(str(negation.atom) for negation in rule.negations)
        return Proof(fact, until, rule.name, rule.origin, proofs, absent)

    @cached_property
    def _of_schema(self) -> NativeEngine:
        """What follows from the known schema alone, to prove it."""
        positive = [rule for rule in self._stepped.program.rules if not rule.negations]
        return _closed(positive, self.plan.known)

    @cached_property
    def _stepped(self) -> Stepped:
        return step_by_step(self.program)

    def _pair(self, step: Node, premise: Proof) -> Proof:
        """The proof that the terms of a step are equal: it is that of the pair, or it turns it."""
        pair = Fact(TRIPLE, step.fact.terms)
        turn = self._stepped.symmetry
        if premise.fact == pair or turn is None:
            return premise
        return Proof(pair, step.until, turn.name, turn.origin, (premise,))

    # ---- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Everything the engine needs to go on: what the plan was made for, and the kernel's."""
        native = self.native
        known = [[term.text for term in fact.terms] for fact in self._planned_for]
        text = json.dumps([known, self._is_taken_back]).encode()
        return _MAGIC + len(text).to_bytes(_LENGTH, "big") + text + native.snapshot()

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot of the same program and windows; the engine must be fresh."""
        if not data.startswith(_MAGIC):
            raise SnapshotError("the plan was written by another version of Ebbtide")
        rest = data[len(_MAGIC) :]
        end = _LENGTH + int.from_bytes(rest[:_LENGTH], "big")
        known, self._is_taken_back = json.loads(rest[_LENGTH:end])
        self._open_plan([Fact(TRIPLE, tuple(map(parse_term, texts))) for texts in known])
        self._engine.restore(rest[end:])


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Planning makes many objects and hardly any garbage, and somebody waits for it.

    To look through everything that the process holds, again and again, took a fifth of its time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _schema_rows(table: Table, columns: list[str], schema: Schema) -> list[Fact]:
    """What in a table speaks of the schema."""
    predicates = {predicate.text for predicate in schema.predicates}
    classes = {each.text for each in schema.classes}
    rows = table.rows_with(columns, 1, predicates) + table.rows_with(columns, 2, classes)
    facts = (Fact(TRIPLE, tuple(map(parse_term, row))) for row in rows)
    return list(schema.facts(facts))


def close(rules: Sequence[Rule], facts: Collection[Fact], relations: Sequence[str]) -> Rows | None:
    """The terms of the facts of some relations in a closure; None if it is too large."""
    try:
        engine = _closed(rules, facts, Budget(facts=max(MOST_FOLLOWING, 8 * len(facts))))
    except BudgetExceeded:
        return None
    # The same few terms again and again.
    read = cache(parse_term)
    return {
        relation: [tuple(map(read, texts)) for texts in engine.texts(relation)]
        for relation in relations
    }


def _closed(
    rules: Sequence[Rule], facts: Iterable[Fact], budget: Budget | None = None
) -> NativeEngine:
    engine = NativeEngine(Program().rewritten(rules), {}, budget=budget)
    for fact in facts:
        engine.add(fact)
    engine.evaluate(0)
    return engine
