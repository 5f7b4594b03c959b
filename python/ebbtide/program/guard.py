"""Guards: what a rule asks of its terms beyond matching facts.

A guard is a builtin applied to arguments. A *test* holds or does not. A *function* computes a term
from all its arguments but the last, and the last is what it yields: an unbound variable is bound to
it, anything else must equal it in value. A guard over terms that have no meaning for it (a
comparison of an IRI with a number, a quotient by zero, an integer beyond 64 bits) does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from ebbtide.program.atom import Argument, Variable
from ebbtide.program.origin import IN_PYTHON, Origin

#: How deep inventions may be nested: rules that invent from what they invented end.
MAX_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Builtin:
    """How a builtin is called. `arity` counts the result of a function.

    A variadic one takes as many arguments or more.
    """

    name: str
    arity: int
    is_function: bool = False
    is_variadic: bool = False


def _table(*builtins: Builtin) -> Mapping[str, Builtin]:
    return MappingProxyType({builtin.name: builtin for builtin in builtins})


BUILTINS: Final = _table(
    # Comparisons by value: numbers with numbers, strings with strings, instants with instants.
    # `equal` holds of identical terms, too, and `notEqual` is its opposite, for any two terms.
    Builtin("equal", 2),
    Builtin("notEqual", 2),
    Builtin("lessThan", 2),
    Builtin("greaterThan", 2),
    Builtin("le", 2),
    Builtin("ge", 2),
    # Comparisons by identity.
    Builtin("sameTerm", 2),
    Builtin("notSameTerm", 2),
    # Tests of a term's kind.
    Builtin("isLiteral", 1),
    Builtin("notLiteral", 1),
    Builtin("isURI", 1),
    Builtin("isBNode", 1),
    Builtin("notBNode", 1),
    # A plain literal is a string, with or without a language; any other literal is a typed one.
    Builtin("isPLiteral", 1),
    Builtin("isDLiteral", 1),
    # Data values, by the value spaces of XML Schema: a literal and a datatype, two literals. Where
    # a value is not known (another datatype, no literal) neither a test nor its opposite holds.
    Builtin("isDType", 2),
    Builtin("notDType", 2),
    Builtin("sameValue", 2),
    Builtin("differentValue", 2),
    # Holds of whatever is bound, which every input of a guard is.
    Builtin("bound", 1, is_variadic=True),
    Builtin("isFunctor", 1),
    Builtin("notFunctor", 1),
    # Holds of terms that no rule invented: `skolem` and `functor` do.
    Builtin("notInvented", 1),
    # Tests of a literal's lexical form (an IRI counts by its value). `regex` searches, `matches`
    # wants the whole of it.
    Builtin("strStarts", 2),
    Builtin("strEnds", 2),
    Builtin("strContains", 2),
    Builtin("regex", 2),
    Builtin("matches", 2),
    # Functions: the last argument is the result.
    Builtin("sum", 3, is_function=True),
    Builtin("difference", 3, is_function=True),
    Builtin("product", 3, is_function=True),
    Builtin("quotient", 3, is_function=True),
    Builtin("min", 3, is_function=True),
    Builtin("max", 3, is_function=True),
    Builtin("strConcat", 1, is_function=True, is_variadic=True),
    Builtin("strLength", 2, is_function=True),
    Builtin("datatype", 2, is_function=True),
    # A literal's value as a text: that of another is the same exactly if `sameValue` holds.
    Builtin("dataValue", 2, is_function=True),
    Builtin("uriConcat", 1, is_function=True, is_variadic=True),
    # What a group of a pattern that matches the whole text caught, by number; 0 is the whole.
    Builtin("matchGroup", 4, is_function=True),
    # A SPARQL expression as a text over ?1, ?2, ..., which are the arguments after it: whether it
    # holds, and what it yields. Errors are SPARQL's: what has no value holds neither way.
    Builtin("sparqlFilter", 1, is_variadic=True),
    Builtin("sparqlBind", 2, is_function=True, is_variadic=True),
    # Inventions, nested at most `MAX_DEPTH` deep. A blank node: one for each tuple of inputs. A
    # functor: a name and arguments as one term, which `functorArgument(?f, "name/arity", i, ?x)`
    # takes apart.
    Builtin("skolem", 1, is_function=True, is_variadic=True),
    Builtin("functor", 2, is_function=True, is_variadic=True),
    Builtin("functorArgument", 4, is_function=True),
)

#: The builtins whose first argument is an expression.
SPARQL_BUILTINS: Final = frozenset(["sparqlFilter", "sparqlBind"])
#: The builtins whose second argument is a pattern.
PATTERN_BUILTINS: Final = frozenset(["regex", "matches", "matchGroup"])

_registered: Final[dict[str, Builtin]] = {}


def register(builtin: Builtin) -> None:
    """Let programs use a builtin that the house does not have; the last one of a name counts."""
    _registered[builtin.name] = builtin


def find_builtin(name: str) -> Builtin | None:
    """The builtin of that name: one of the house, or a registered one."""
    return BUILTINS.get(name) or _registered.get(name)


def builtin_names() -> list[str]:
    """Every name that `find_builtin` knows."""
    return [*BUILTINS, *_registered]


@dataclass(frozen=True, slots=True)
class Guard:
    """A builtin applied to terms and variables."""

    builtin: str
    arguments: tuple[Argument, ...]
    origin: Origin = field(default=IN_PYTHON, compare=False, repr=False)

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments that must be known before the guard is asked."""
        return self.arguments[:-1] if self._is_function else self.arguments

    @property
    def result(self) -> Variable | None:
        """The variable a function may bind."""
        if not self._is_function:
            return None
        last = self.arguments[-1]
        return last if isinstance(last, Variable) else None

    @property
    def _is_function(self) -> bool:
        builtin = find_builtin(self.builtin)
        return builtin is not None and builtin.is_function

    def __str__(self) -> str:
        return f"{self.builtin}({', '.join(map(str, self.arguments))})"
