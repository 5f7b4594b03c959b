"""What holds in a reasoner, read like a set: facts, each with its `until`, proofs and events.

Facts of hidden relations are not in the set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ebbtide.engines.abilities import Explains, LooksUp, Unsupported
from ebbtide.engines.events import Event, Inconsistency
from ebbtide.engines.proof import Proof
from ebbtide.engines.protocol import Engine
from ebbtide.program import TRIPLE, Fact, Program
from ebbtide.reasoner.intake import FactLike, as_fact, check_relation
from ebbtide.reasoner.watch import Watch
from ebbtide.terms import Term, TermError, to_term
from ebbtide.time import Instant

if TYPE_CHECKING:
    from ebbtide.plan.sharding import Sharding


class Answers:
    """The part of a reasoner that is read."""

    program: Program
    engine: Engine
    _watch: Watch

    # ---- facts -------------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of facts that hold.

        >>> from ebbtide import Reasoner
        >>> len(Reasoner())
        0
        """
        visible = self.program.visible
        if not isinstance(self.engine, LooksUp):
            return len(self.engine.facts(visible))
        hidden = self.program.relations.keys() - visible
        return len(self.engine) - len(self.engine.facts(hidden))

    def __contains__(self, fact: FactLike) -> bool:
        """Whether a fact holds.

        >>> from ebbtide import Reasoner
        >>> reasoner = Reasoner()
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", 1), at=7)
        >>> _ = reasoner.finish()
        >>> ("<http://e/a>", "<http://e/p>", 1) in reasoner
        True
        """
        return self.until(fact) is not None

    def __iter__(self) -> Iterator[Fact]:
        """The facts that hold.

        >>> from ebbtide import Reasoner
        >>> reasoner = Reasoner()
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", "x"), at=7)
        >>> _ = reasoner.finish()
        >>> for fact in reasoner:
        ...     print(fact)
        triple(<http://e/a>, <http://e/p>, "x")
        """
        return iter(self.engine.facts(self.program.visible))

    def facts(self) -> dict[Fact, Instant]:
        """The facts that hold, each with its `until`.

        >>> from ebbtide import Reasoner, Sliding
        >>> reasoner = Reasoner(window=Sliding(5_000))
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", "x"), at=700)
        >>> _ = reasoner.finish()
        >>> [until for fact, until in reasoner.facts().items()]
        [5700]
        """
        return dict(self.engine.facts(self.program.visible))

    def triples(self, pattern: tuple[Any, Any, Any]) -> Iterator[tuple[Term, Term, Term]]:
        """The triples that hold and match; None matches everything.

        >>> from ebbtide import Reasoner
        >>> reasoner = Reasoner()
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", "x"), at=7)
        >>> _ = reasoner.finish()
        >>> for s, p, o in reasoner.triples((None, "<http://e/p>", None)):
        ...     print(s, o)
        <http://e/a> "x"
        """
        if not isinstance(pattern, tuple | list) or len(pattern) != 3:
            raise TermError(f"not a pattern (a tuple of three terms or None): {pattern!r}")
        wanted = [None if value is None else to_term(value) for value in pattern]
        if isinstance(self.engine, LooksUp):
            found = self.engine.matching(TRIPLE, wanted)
        else:
            found = (fact.terms for fact in self if fact.relation == TRIPLE)
        for terms in found:
            if all(want in (None, term) for want, term in zip(wanted, terms, strict=True)):
                subject, predicate, object_ = terms
                yield subject, predicate, object_

    def until(self, fact: FactLike) -> Instant | None:
        """The instant at which the fact ceases to hold; None if it does not hold.

        >>> from ebbtide import Reasoner, Sliding
        >>> reasoner = Reasoner(window=Sliding(5_000))
        >>> reasoner.push(("<http://e/a>", "<http://e/p>", "x"), at=700)
        >>> _ = reasoner.finish()
        >>> reasoner.until(("<http://e/a>", "<http://e/p>", "x"))
        5700
        """
        found = self._fact(fact)
        if isinstance(self.engine, LooksUp):
            return self.engine.until(found)
        return self.engine.facts().get(found)

    def explain(self) -> str:
        """How the rules are run: what a plan made of each, join orders and indexes.

        Before the first tick the plan is made now, for what was stated so far.
        """
        if not isinstance(self.engine, Explains):
            raise Unsupported("only the native engine has a plan")
        return self.engine.explain()

    def sharding(self) -> Sharding:
        """How the rules can be cut into shards, for the schema that was stated so far.

        >>> from ebbtide import Reasoner
        >>> print(Reasoner("[r: (?x <a:p> ?y), (?x <a:q> ?z) -> (?x <a:r> ?z)]").sharding())
        r (<rules>:1:1): joins on ?x
        """
        from ebbtide.engines.planned import PlannedEngine
        from ebbtide.plan.sharding import sharding

        if not isinstance(self.engine, PlannedEngine):
            return sharding(self.program)
        # The plan is made with the kernel.
        assert self.engine.native is not None
        return sharding(self.program, self.engine.plan)

    def why(self, fact: FactLike) -> Proof:
        """Why the fact holds: a tree of rules and facts, down to what was stated.

        >>> from ebbtide import Reasoner
        >>> reasoner = Reasoner("[r: (?x <http://e/in> ?y) -> (?y <http://e/has> ?x)]")
        >>> reasoner.push(("<http://e/a>", "<http://e/in>", "<http://e/b>"), at=700)
        >>> _ = reasoner.finish()
        >>> print(reasoner.why(("<http://e/b>", "<http://e/has>", "<http://e/a>")))
        triple(<http://e/b>, <http://e/has>, <http://e/a>) until 10700: by r (<rules>:1:1)
          triple(<http://e/a>, <http://e/in>, <http://e/b>) until 10700: stated
        """
        found = self._fact(fact)
        if not isinstance(self.engine, Explains):
            raise Unsupported("only the native engine explains facts")
        if found not in self:
            raise LookupError(f"{found} does not hold")
        return self.engine.why(found)

    # ---- events ------------------------------------------------------------------------------

    def events(self) -> list[Event]:
        """The inconsistencies and malformed lists that hold, oldest first."""
        return list(self._watch.holding())

    def inconsistencies(self) -> list[Inconsistency]:
        """The inconsistencies that hold, oldest first. Deltas say which began and ended.

        >>> from ebbtide import IRI, Reasoner, Rule
        >>> from ebbtide.program import Atom, Variable
        >>> x = Variable("x")
        >>> on, off = (Atom("triple", (x, IRI("http://e/is"), IRI(f"http://e/{state}")))
        ...            for state in ("on", "off"))
        >>> reasoner = Reasoner([Rule("both", (Atom("inconsistency:both", (x,)),), (on, off))])
        >>> reasoner.push(("<http://e/lamp>", "<http://e/is>", "<http://e/on>"), at=1_000)
        >>> reasoner.push(("<http://e/lamp>", "<http://e/is>", "<http://e/off>"), at=4_000)
        >>> deltas = reasoner.advance(to=11_000)
        >>> [(delta.tick, len(delta.began), len(delta.ended)) for delta in deltas
        ...  if delta.began or delta.ended]
        [(4000, 1, 0), (11000, 0, 1)]
        """
        return [each for each in self.events() if isinstance(each, Inconsistency)]

    def _fact(self, fact: FactLike) -> Fact:
        return check_relation(as_fact(fact), self.program)
