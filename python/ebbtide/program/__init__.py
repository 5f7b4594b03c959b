"""The program IR: relation, atom, guard, rule, program, strata, origin."""

from ebbtide.program.atom import QUAD, TRIPLE, Argument, Atom, Fact, Negation, Variable
from ebbtide.program.guard import BUILTINS, Builtin, Guard, builtin_names, find_builtin
from ebbtide.program.operator import Aggregate, Always, AlwaysAt, Operator
from ebbtide.program.origin import IN_PYTHON, Origin, ProgramError
from ebbtide.program.program import Program
from ebbtide.program.reserved import RESERVED, is_event, is_hidden
from ebbtide.program.rule import BodyPart, Lineage, Rule
from ebbtide.program.user import BuiltinError, builtin

__all__ = [
    "BUILTINS",
    "IN_PYTHON",
    "QUAD",
    "RESERVED",
    "TRIPLE",
    "Aggregate",
    "Always",
    "AlwaysAt",
    "Argument",
    "Atom",
    "BodyPart",
    "Builtin",
    "BuiltinError",
    "Fact",
    "Guard",
    "Lineage",
    "Negation",
    "Operator",
    "Origin",
    "Program",
    "ProgramError",
    "Rule",
    "Variable",
    "builtin",
    "builtin_names",
    "find_builtin",
    "is_event",
    "is_hidden",
]
