"""RDF lists: the reserved relations `list`, `listLength` and `listNext`, lowered to rules.

In: rules whose bodies use `list(L, I, X)`, `listLength(L, N)` and `listNext(I, J)`. Out: the same
rules, and after them the rules over rdf:first and rdf:rest that conclude these relations, so that
every engine runs them. A list is what the tables of OWL 2 RL mean by LIST[L, X0, ..., Xn]: every
triple of a chain of cells

    L = K0,  Ki rdf:first Xi,  Ki rdf:rest Ki+1,  Kn rdf:rest rdf:nil

so an item holds until the minimum over its whole list, and a list without an end has no items.

    list:wanted(L)          some rule asks for the list L
    list:link(K, M)         the cell K, reached from a wanted list, has a first, and goes on with M
    list:proper(K)          some way along links leads from K to rdf:nil
    list:cell(L, I, K)      K is the I-th cell of the wanted list L
    list:malformed(L, K, R) the wanted list L is malformed at its cell K

Only lists that are wanted cost anything, and they cost in proportion to their length. The recursion
is without negation, because rules with variable predicates may conclude first and rest as well.
It ends for cyclic lists, since only `list:cell` counts, and no further than `LIMIT`. What is wrong
with a list is found by rules that nothing depends on, so that they may negate.

Invariant: lowering what was lowered changes nothing, and programs that were lowered may be joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from ebbtide.program.atom import TRIPLE, Argument, Atom, Negation, Variable
from ebbtide.program.guard import Guard
from ebbtide.program.origin import Origin, ProgramError
from ebbtide.program.reserved import LIST, LIST_LENGTH, LIST_NEXT, MALFORMED
from ebbtide.program.rule import BodyPart, Rule
from ebbtide.terms import IRI, Literal, to_term
from ebbtide.terms.term import RDF

#: Lists with more items than this are reported as malformed, and have no length.
LIMIT: Final = 65_536

WANTED: Final = "list:wanted"
LINK: Final = "list:link"
PROPER: Final = "list:proper"
CELL: Final = "list:cell"
BROKEN: Final = "list:broken"
WALK: Final = "list:walk"
STUCK: Final = "list:stuck"

#: Every relation of the lowering, with its arity.
LIST_RELATIONS: Final = {
    LIST: 3,
    LIST_LENGTH: 2,
    LIST_NEXT: 2,
    WANTED: 1,
    LINK: 2,
    PROPER: 1,
    CELL: 3,
    BROKEN: 1,
    WALK: 2,
    STUCK: 1,
    MALFORMED: 3,
}

FIRST: Final = IRI(RDF + "first")
REST: Final = IRI(RDF + "rest")
NIL: Final = IRI(RDF + "nil")
SAME_AS: Final = IRI("http://www.w3.org/2002/07/owl#sameAs")

_READ: Final = (LIST, LIST_LENGTH, LIST_NEXT)
MADE_FOR_LISTS: Final = "list:"
_L, _I, _J, _K, _M, _N, _X, _Y = map(Variable, "lijkmnxy")
_ANY: Final = Variable("*")
_ONE: Final = to_term(1)


def lower_lists(rules: Sequence[Rule], limit: int = LIMIT) -> tuple[Rule, ...]:
    """The rules, and those that conclude the relations of lists if one of them is read."""
    users = [rule for rule in rules if not made_for_lists(rule)]
    for rule in users:
        _check(rule)
    using = [rule for rule in users if any(True for _ in _list_atoms(rule))]
    if not using:
        return tuple(rules)
    made = list(chain.from_iterable(map(_wanted, using)))
    if len(users) == len(rules):
        origin = using[0].origin
        made += chain(_items(limit, origin), _malformed(limit, origin))
    # A rule made for two users, or made before, is there once.
    there = set(rules)
    return (*rules, *(rule for rule in dict.fromkeys(made) if rule not in there))


def made_for_lists(rule: Rule) -> bool:
    """Whether the rule comes from the lowering, so that nobody wrote it."""
    return rule.name.startswith(MADE_FOR_LISTS)


def _check(rule: Rule) -> None:
    for head in rule.heads:
        if head.relation in LIST_RELATIONS:
            raise ProgramError(
                f"{head.relation} is read from rdf:first and rdf:rest, so a head cannot conclude "
                "it",
                head.origin,
            )
    for atom in _list_atoms(rule):
        arity, given = LIST_RELATIONS[atom.relation], len(atom.arguments)
        if given != arity:
            raise ProgramError(f"{atom.relation} takes {arity} arguments, not {given}", atom.origin)


def _list_atoms(rule: Rule) -> Iterator[Atom]:
    return (atom for atom in rule.asked if atom.relation in _READ)


# ---- which lists are wanted ------------------------------------------------------------------


def _wanted(rule: Rule) -> Iterator[Rule]:
    """The rules that say which lists the list atoms of a rule are about."""
    for atom in _list_atoms(rule):
        head = atom.arguments[0]
        if atom.relation == LIST_NEXT:
            continue
        if not isinstance(head, Variable):
            yield _rule(Atom(WANTED, (head,)), (), rule.origin)
            continue
        source = _source(rule, head, atom.origin)
        if any(not isinstance(argument, Variable) for argument in source.arguments):
            source, head = _canonical(source, head)
            yield _rule(Atom(WANTED, (head,)), (source,), rule.origin)
        else:
            # Nothing says that this must be a list: it is one if it has cells, or is rdf:nil.
            has_cells, head = _canonical(source, head)
            yield _rule(Atom(WANTED, (head,)), (has_cells, _triple(head, REST, _ANY)), rule.origin)
            is_nil, _ = _canonical(source, atom.arguments[0], NIL)
            yield _rule(Atom(WANTED, (NIL,)), (is_nil,), rule.origin)


def _source(rule: Rule, head: Variable, origin: Origin) -> Atom:
    """The atom of a body that binds the head of a list: the one with the most constants."""
    atoms = [
        atom
        for atom in rule.positives
        if head in atom.arguments
        and not (atom.relation in (LIST, LIST_LENGTH) and atom.arguments[0] == head)
    ]
    if not atoms:
        raise ProgramError(
            f"no positive atom says which list {head} is; write the pattern that leads to the list",
            origin,
        )
    return max(atoms, key=lambda atom: len(atom.arguments) - sum(1 for _ in atom.variables()))


def _canonical(atom: Atom, head: Argument, stands_for: Argument = _L) -> tuple[Atom, Argument]:
    """The atom with its variables named by their order, but `head` replaced."""
    names: dict[Argument, Argument] = {head: stands_for}
    arguments = tuple(
        names.setdefault(argument, Variable(f"v{len(names)}"))
        if isinstance(argument, Variable)
        else argument
        for argument in atom.arguments
    )
    return Atom(atom.relation, arguments, atom.origin), stands_for


# ---- what is in them -------------------------------------------------------------------------


def _items(limit: int, origin: Origin) -> Iterator[Rule]:
    """What is in the wanted lists, and how long they are."""

    def rule(head: Atom, *body: BodyPart) -> Rule:
        return _rule(head, body, origin)

    first, rest = _triple(_K, FIRST, _X), _triple(_K, REST, _M)
    # link(K, M) :- wanted(K), K != nil, K first X, K rest M.
    # link(K, M) :- link(N, K), K != nil, K first X, K rest M.
    yield rule(_link(_K, _M), Atom(WANTED, (_K,)), _not_nil(_K), rest, first)
    yield rule(_link(_K, _M), _link(_N, _K), _not_nil(_K), rest, first)
    # proper(nil).
    # proper(K) :- link(K, M), proper(M).
    yield rule(Atom(PROPER, (NIL,)))
    yield rule(Atom(PROPER, (_K,)), _link(_K, _M), Atom(PROPER, (_M,)))
    # cell(L, 0, L)   :- wanted(L), L != nil, proper(L).
    # cell(L, I+1, M) :- cell(L, I, K), I < limit - 1, link(K, M), M != nil, proper(M).
    yield rule(_cell(_L, to_term(0), _L), Atom(WANTED, (_L,)), _not_nil(_L), Atom(PROPER, (_L,)))
    yield rule(
        _cell(_L, _J, _M),
        _cell(_L, _I, _K),
        Guard("lessThan", (_I, to_term(limit - 1))),
        _link(_K, _M),
        _not_nil(_M),
        Atom(PROPER, (_M,)),
        Guard("sum", (_I, _ONE, _J)),
    )
    # list(L, I, X)      :- cell(L, I, K), K first X.
    # listNext(I, I+1)   :- cell(L, I, K).
    # listLength(L, N)   :- cell(L, I, K), link(K, nil), listNext(I, N).
    # listLength(nil, 0) :- wanted(nil).
    yield rule(Atom(LIST, (_L, _I, _X)), _cell(_L, _I, _K), first)
    yield rule(Atom(LIST_NEXT, (_I, _J)), _cell(_L, _I, _K), Guard("sum", (_I, _ONE, _J)))
    yield rule(
        Atom(LIST_LENGTH, (_L, _N)), _cell(_L, _I, _K), _link(_K, NIL), Atom(LIST_NEXT, (_I, _N))
    )
    yield rule(Atom(LIST_LENGTH, (NIL, to_term(0))), Atom(WANTED, (NIL,)))


def _malformed(limit: int, origin: Origin) -> Iterator[Rule]:
    """What is wrong with wanted lists. Nothing depends on it, so it may negate."""

    def rule(heads: Atom | Iterable[Atom], *body: BodyPart) -> Rule:
        return _rule(heads, body, origin)

    # broken(L)  :- wanted(L), L != nil, not proper(L).
    # walk(L, L) :- broken(L).
    # walk(L, M) :- walk(L, K), K rest M, M != nil.
    broken, walk, cell = Atom(BROKEN, (_L,)), Atom(WALK, (_L, _K)), _cell(_L, _I, _K)
    yield rule(broken, Atom(WANTED, (_L,)), _not_nil(_L), Negation(Atom(PROPER, (_L,))))
    yield rule(Atom(WALK, (_L, _L)), broken)
    yield rule(Atom(WALK, (_L, _M)), walk, _triple(_K, REST, _M), _not_nil(_M))
    # stuck(L), malformed(L, K, "has no rdf:rest") :- walk(L, K), not K rest any.
    # malformed(L, L, "never ends")                :- broken(L), not stuck(L).
    stuck = Atom(STUCK, (_L,))
    for predicate, reason in ((REST, "it has no rdf:rest"), (FIRST, "it has no rdf:first")):
        missing = Negation(_triple(_K, predicate, _ANY))
        yield rule((stuck, _because(_L, _K, reason)), walk, missing)
    yield rule(
        _because(_L, _L, "the list goes round in a circle and has no end"), broken, Negation(stuck)
    )
    # malformed(L, K, "two rests") :- walk(L, K), K rest X, K rest Y, X != Y, not X sameAs Y.
    for place in (walk, cell):
        for predicate, reason in (
            (REST, "it has more than one rdf:rest"),
            (FIRST, "it has more than one rdf:first"),
        ):
            yield rule(
                _because(_L, _K, reason),
                place,
                _triple(_K, predicate, _X),
                _triple(_K, predicate, _Y),
                Guard("notEqual", (_X, _Y)),
                Negation(_triple(_X, SAME_AS, _Y)),
            )
    # malformed(L, K, "too long") :- cell(L, limit - 1, K), link(K, M), M != nil, proper(M).
    yield rule(
        _because(_L, _K, f"the list has more than {limit} items"),
        _cell(_L, to_term(limit - 1), _K),
        _link(_K, _M),
        _not_nil(_M),
        Atom(PROPER, (_M,)),
    )


def _rule(heads: Atom | Iterable[Atom], body: Iterable[BodyPart], origin: Origin) -> Rule:
    """A rule named by what it concludes."""
    heads = (heads,) if isinstance(heads, Atom) else tuple(heads)
    name = heads[-1].relation
    name = name if name.startswith(MADE_FOR_LISTS) else MADE_FOR_LISTS + name
    return Rule(name, heads, tuple(body), origin)


def _triple(subject: Argument, predicate: IRI, object_: Argument) -> Atom:
    return Atom(TRIPLE, (subject, predicate, object_))


def _link(cell: Argument, following: Argument) -> Atom:
    return Atom(LINK, (cell, following))


def _cell(head: Argument, index: Argument, cell: Argument) -> Atom:
    return Atom(CELL, (head, index, cell))


def _because(head: Argument, cell: Argument, reason: str) -> Atom:
    return Atom(MALFORMED, (head, cell, Literal(reason)))


def _not_nil(cell: Argument) -> Guard:
    return Guard("notEqual", (cell, NIL))
