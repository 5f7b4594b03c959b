"""What SPARQL rules cannot do, by the word that says it, and why.

The parser's algebra has no places, but every construct that is refused has a word of its own, and
every occurrence of such a word is refused; so the first one in the text is the place.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_NOT_FACTS: Final = "yields no facts; a rule is INSERT, CONSTRUCT or ASK"
_DELETES: Final = (
    "takes facts away, and the rules could conclude them again: conclusions go by themselves when "
    "what they rest on goes"
)
_ONE_SHOT: Final = "acts once on a store, while rules hold all the time; load data as background"
_AGGREGATE: Final = "aggregates rows, and rules conclude from rows one by one"
_CUTS: Final = "cuts an order of rows, and the facts of a window have none"
_CHANGES: Final = "gives another value at every evaluation, so conclusions could not be kept"

#: The reason for each word, as the end of a sentence that begins with the word.
REASONS: Final = MappingProxyType(
    {
        "SELECT": _NOT_FACTS,
        "DESCRIBE": _NOT_FACTS,
        "REGISTER": "makes a continuous query, which is registered and not a rule",
        **dict.fromkeys(("DELETE", "CLEAR", "DROP"), _DELETES),
        **dict.fromkeys(("LOAD", "CREATE", "ADD", "MOVE", "COPY"), _ONE_SHOT),
        **dict.fromkeys(("GROUP", "HAVING", "COUNT", "SUM", "AVG", "MIN", "MAX"), _AGGREGATE),
        **dict.fromkeys(("SAMPLE", "GROUP_CONCAT"), _AGGREGATE),
        **dict.fromkeys(("ORDER", "LIMIT", "OFFSET"), _CUTS),
        **dict.fromkeys(("NOW", "RAND", "UUID", "STRUUID"), _CHANGES),
        "BNODE": "makes a node a row; a blank node in the template is one node for each solution",
        "SERVICE": "asks another server, whose answers no delta tells of",
        "NAMED": "chooses among graphs; GRAPH reads a named graph without it",
    }
)

#: The words with which an operation can begin.
OPERATIONS: Final = frozenset(
    (
        *("INSERT", "CONSTRUCT", "ASK", "WITH", "SELECT", "DESCRIBE", "REGISTER", "DELETE"),
        *("CLEAR", "DROP", "LOAD", "CREATE", "ADD", "MOVE", "COPY"),
    )
)
