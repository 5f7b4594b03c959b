"""Jena's builtins that are not builtins of the IR, in terms of what the IR has.

In: a call in a rule. Out: what it adds to the draft of the rule. `docs/languages/jena.md` has a row
for each.

    makeSkolem(?x, a, b...)     skolem(a, b..., ?x): one blank node for these arguments
    makeTemp(?x)                skolem(<the rule and what it matched>, "x", ?x)
    assignAnon(?l, ?x)          skolem(?l, ?x): the blank node allocated to ?l
    makeInstance(?x, p, t, ?v)  skolem(?x, p, t, ?v), and the heads (?x p ?v), (?v a t)
    isDLiteral(?l, ?t)          isDLiteral(?l), datatype(?l, ?t)
    regex(?t, p, ?a, ?b)        matches(?t, p), matchGroup(?t, p, 1, ?a), matchGroup(?t, p, 2, ?b)
    addOne(?a, ?b)              sum(?a, 1, ?b)
    unbound(?x)                 checked when the rule is read
    noValue(?s, ?p)             not (?s ?p ?any)
    listEntry(?l, ?i, ?x)       list(?l, ?i, ?x)
    listContains(?l, ?x)        list(?l, ?any, ?x)
    listNotContains(?l, ?x)     not list(?l, ?any, ?x)
    listMapAsObject(?s, p, ?l)  a second rule, with list(?l, ?any, ?x) and the head (?s p ?x)
    print(a, b...)              the head print:<rule>/n(a, b...), whose facts the reasoner writes
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from ebbtide.languages.jena.draft import Draft
from ebbtide.program import TRIPLE, Argument, Atom, Origin, ProgramError, Variable
from ebbtide.program.reserved import LIST, PRINT
from ebbtide.terms import IRI, Literal, to_term
from ebbtide.terms.term import RDF


@dataclass(frozen=True, slots=True)
class Call:
    """A name applied to arguments in a rule."""

    name: str
    arguments: tuple[Argument, ...]
    draft: Draft
    origin: Origin

    def takes(self, least: int, most: int | None = None) -> None:
        """Refuse any other number of arguments."""
        given = len(self.arguments)
        if given < least or (most is not None and given > most):
            wanted = f"at least {least}" if most is None else f"{least}"
            wanted += f" or {most}" if most not in (None, least) else ""
            s = "" if wanted.endswith("1") else "s"
            raise self.error(f"{self.name} takes {wanted} argument{s}, not {given}")

    def variable(self, position: int) -> Variable:
        """The variable at a place that must be one."""
        argument = self.arguments[position]
        if not isinstance(argument, Variable):
            raise self.error(f"{self.name} takes a variable there, not {argument}")
        return argument

    def ask(self, builtin: str, *arguments: Argument) -> None:
        """The body asks a builtin of the IR."""
        self.draft.ask(builtin, arguments, self.origin)

    def error(self, message: str) -> ProgramError:
        """What is wrong with the call."""
        return ProgramError(message, self.origin)


Form: TypeAlias = Callable[[Call], None]


def _make_skolem(call: Call) -> None:
    call.takes(1)
    call.ask("skolem", *call.arguments[1:], call.variable(0))


def _make_temp(call: Call) -> None:
    call.takes(1, 1)
    made = call.variable(0)
    # Two temporary nodes of one rule are two.
    call.ask("skolem", *call.draft.reason, Literal(made.name), made)


def _assign_anon(call: Call) -> None:
    call.takes(1, 2)
    if len(call.arguments) == 1:
        _make_temp(call)
    else:
        call.ask("skolem", call.arguments[0], call.variable(1))


def _make_instance(call: Call) -> None:
    call.takes(3, 4)
    subject, predicate, *type_, _ = call.arguments
    made = call.variable(-1)
    call.ask("skolem", subject, predicate, *type_, made)
    call.draft.conclude(TRIPLE, (subject, predicate, made), call.origin)
    for one in type_:
        call.draft.conclude(TRIPLE, (made, IRI(RDF + "type"), one), call.origin)


def _is_typed_literal(call: Call) -> None:
    call.takes(1, 2)
    literal, *datatype = call.arguments
    call.ask("isDLiteral", literal)
    if datatype:
        call.ask("datatype", literal, *datatype)


def _regex(call: Call) -> None:
    call.takes(2)
    text, pattern, *groups = call.arguments
    call.ask("matches", text, pattern)
    for number, group in enumerate(groups, start=1):
        call.ask("matchGroup", text, pattern, to_term(number), group)


def _add_one(call: Call) -> None:
    call.takes(2, 2)
    call.ask("sum", call.arguments[0], to_term(1), call.arguments[1])


def _unbound(call: Call) -> None:
    call.takes(1)
    for position in range(len(call.arguments)):
        call.draft.expect_unbound(call.variable(position), call.origin)


def _no_value(call: Call) -> None:
    if len(call.arguments) not in (2, 3):
        raise call.error(
            "noValue takes a subject, a predicate and perhaps an object, "
            f"not {len(call.arguments)} arguments"
        )
    # Local to the negation, and a name that a text cannot contain.
    any_value = () if len(call.arguments) == 3 else (Variable("*"),)
    call.draft.block(TRIPLE, (*call.arguments, *any_value), call.origin)


def _list_entry(call: Call) -> None:
    call.takes(3, 3)
    call.draft.match(LIST, call.arguments, call.origin)


def _list_contains(call: Call) -> None:
    call.takes(2, 2)
    list_, item = call.arguments
    call.draft.match(LIST, (list_, call.draft.fresh(), item), call.origin)


def _list_not_contains(call: Call) -> None:
    call.takes(2, 2)
    list_, item = call.arguments
    call.draft.block(LIST, (list_, Variable("*"), item), call.origin)


def _print(call: Call) -> None:
    relation = f"{PRINT}{call.draft.name}/{len(call.arguments)}"
    call.draft.conclude(relation, call.arguments, call.origin)


def _list_map_as_object(call: Call) -> None:
    call.takes(3, 3)
    subject, predicate, list_ = call.arguments
    item = call.draft.fresh()
    head = Atom(TRIPLE, (subject, predicate, item), call.origin)
    call.draft.conclude_for_items(list_, item, head)


def _list_map_as_subject(call: Call) -> None:
    call.takes(3, 3)
    list_, predicate, object_ = call.arguments
    item = call.draft.fresh()
    head = Atom(TRIPLE, (item, predicate, object_), call.origin)
    call.draft.conclude_for_items(list_, item, head)


def _refused(reason: str) -> Form:
    def refuse(call: Call) -> None:
        raise call.error(f"{call.name} is refused: {reason}")

    return refuse


_RETRACTS: Final = (
    "a rule only adds conclusions, which leave by themselves when their reasons do; retract facts "
    "through the reasoner"
)
_BACKWARD: Final = "every rule is evaluated forward, so there is no goal whose answers are kept"
_COMPARES: Final = "compare the items by listEntry, one rule for what must agree"

#: What may stand in bodies.
FORMS: Final[Mapping[str, Form]] = MappingProxyType(
    {
        "makeSkolem": _make_skolem,
        "makeTemp": _make_temp,
        "assignAnon": _assign_anon,
        "makeInstance": _make_instance,
        "isDLiteral": _is_typed_literal,
        "regex": _regex,
        "addOne": _add_one,
        "unbound": _unbound,
        "noValue": _no_value,
        "listEntry": _list_entry,
        "listContains": _list_contains,
        "listNotContains": _list_not_contains,
        "print": _print,
        "remove": _refused(_RETRACTS),
        "drop": _refused(_RETRACTS),
        "hide": _refused(
            "what is concluded can be asked for; begin the name of a helper relation with an "
            "underscore to keep it out of answers"
        ),
        "table": _refused(_BACKWARD),
        "tableAll": _refused(_BACKWARD),
        "countLiteralValues": _refused("rules of this language do not count"),
        "listEqual": _refused(_COMPARES),
        "listNotEqual": _refused(_COMPARES),
        "assertDisjointPairs": _refused(
            "conclude owl:differentFrom for the items of listEntry whose indexes differ"
        ),
        "listMapAsObject": _refused("it concludes, so it stands in the head"),
        "listMapAsSubject": _refused("it concludes, so it stands in the head"),
    }
)

#: What may stand in heads, beside patterns and atoms.
HEAD_FORMS: Final[Mapping[str, Form]] = MappingProxyType(
    {
        **{name: FORMS[name] for name in ("print", "remove", "drop", "hide", "table", "tableAll")},
        "assertDisjointPairs": FORMS["assertDisjointPairs"],
        "listMapAsObject": _list_map_as_object,
        "listMapAsSubject": _list_map_as_subject,
    }
)

#: What matches facts: their variables are part of a rule's reason.
MATCHING: Final = frozenset({"listEntry", "listContains"})

#: The place of the predicate, where `a` is rdf:type.
PREDICATE_PLACES: Final[Mapping[str, int]] = MappingProxyType(
    {
        TRIPLE: 1,
        "noValue": 1,
        "makeInstance": 1,
        "listMapAsObject": 1,
        "listMapAsSubject": 1,
    }
)
