"""Which atoms speak of the schema: of classes and properties, and not of the things in the world.

The schema changes seldom, so plans are made for the one that is known. Nothing hangs on the choice
but speed: a plan is exact whatever is called schema, since what it did not foresee is *novel* and
met by the rules as they were written.

An atom speaks of the schema if it is

- a triple with a constant predicate of the RDFS or OWL vocabulary (owl:sameAs too: a few
  equalities are known beforehand, and where there are none, nothing need be tried), rdf:first or
  rdf:rest, or a predicate that the user calls static;
- `?x rdf:type C` with a class C of these vocabularies;
- of a hidden relation that can follow from such atoms alone, such as the items of lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ebbtide.program import TRIPLE, Argument, Atom, Fact, Program, is_hidden
from ebbtide.program.lists import SAME_AS
from ebbtide.terms import IRI
from ebbtide.terms.term import RDF

RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
TYPE: Final = IRI(RDF + "type")

#: A predicate with more facts than this is no schema: an index finds the right one sooner.
MOST_FACTS: Final = 1_000

#: So is owl:sameAs with more than this: of n equalities n * n may follow.
MOST_EQUALITIES: Final = 30

#: Predicates of the vocabularies that speak of things, and classes of things.
_OF_THINGS: Final = frozenset(
    (
        *(RDFS + name for name in ("label", "comment", "seeAlso", "isDefinedBy", "member")),
        *(OWL + name for name in ("differentFrom", "versionInfo", "imports")),
        *(RDFS + name for name in ("Resource", "Literal")),
        *(OWL + name for name in ("Thing", "Nothing", "NamedIndividual", "Ontology")),
        RDF + "Statement",
    )
)
_LISTS: Final = frozenset((RDF + "first", RDF + "rest"))


@dataclass(frozen=True, slots=True)
class Schema:
    """The predicates, the classes of `rdf:type` and the hidden relations that count as schema."""

    predicates: frozenset[IRI]
    classes: frozenset[IRI]
    relations: frozenset[str] = frozenset()

    @classmethod
    def of(cls, program: Program, static: Iterable[IRI] = ()) -> Schema:
        """What the bodies of a program ask about the schema."""
        atoms = [atom for rule in program.rules for atom in rule.positives]
        triples = [atom.arguments for atom in atoms if atom.relation == TRIPLE]
        predicates = {p for _, p, _ in triples if isinstance(p, IRI)}
        classes = {c for _, p, c in triples if p == TYPE and isinstance(c, IRI)}
        schema = cls(
            frozenset(filter(_is_schema_predicate, predicates)).union(static),
            frozenset(iri for iri in classes if _in_vocabulary(iri, (RDF, RDFS, OWL))),
        )
        return schema._with_relations(program)

    def _with_relations(self, program: Program) -> Schema:
        schema = replace(self, relations=frozenset())
        while True:
            found = frozenset(
                head.relation
                for rule in program.rules
                if all(map(schema.has, rule.positives))
                for head in rule.heads
                if is_hidden(head.relation)
            )
            if found == schema.relations:
                return schema
            schema = replace(schema, relations=found)

    def without_large(self, program: Program, facts: Iterable[Fact], most: int) -> Schema:
        """The schema without the predicates and classes that too many of the facts are about."""
        count = Counter(map(topic, facts))
        large = {key for key, times in count.items() if times > most}
        if count[SAME_AS] > MOST_EQUALITIES:
            large.add(SAME_AS)
        small = replace(self, predicates=self.predicates - large, classes=self.classes - large)
        return small._with_relations(program) if large else self

    def facts(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """The triples among the facts that speak of the schema."""
        # Most facts do not: whoever states many of them should not wait for this.
        names = {iri.value for iri in (*self.predicates, TYPE)}
        for fact in facts:
            if (
                fact.relation == TRIPLE
                and isinstance(predicate := fact.terms[1], IRI)
                and predicate.value in names
                and self.has(fact)
            ):
                yield fact

    def has(self, atom: Atom | Fact) -> bool:
        """Whether the atom speaks of the schema.

        >>> from ebbtide.testing import program
        >>> rules = program(f"triple(?x, <{TYPE.value}>, ?d) :-"
        ...     f" triple(?c, <{RDFS}subClassOf>, ?d), triple(?x, <{TYPE.value}>, ?c).")
        >>> [Schema.of(rules).has(atom) for atom in rules.rules[0].positives]
        [True, False]
        """
        if atom.relation != TRIPLE:
            return atom.relation in self.relations
        _, predicate, object_ = atom.terms if isinstance(atom, Fact) else atom.arguments
        return predicate in self.predicates or (predicate == TYPE and object_ in self.classes)


def topic(atom: Atom | Fact) -> Argument:
    """What a triple is about: its predicate, or the class of a type."""
    _, predicate, object_ = atom.terms if isinstance(atom, Fact) else atom.arguments
    return object_ if predicate == TYPE else predicate


def _is_schema_predicate(iri: IRI) -> bool:
    return _in_vocabulary(iri, (RDFS, OWL)) or iri.value in _LISTS


def _in_vocabulary(iri: IRI, vocabularies: tuple[str, ...]) -> bool:
    return iri.value.startswith(vocabularies) and iri.value not in _OF_THINGS
