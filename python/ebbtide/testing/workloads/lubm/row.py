"""A row: the N-Triples texts of one triple. Any size is made of rows, without an object a term."""

from __future__ import annotations

from typing import Final, TypeAlias

from ebbtide.terms.term import RDF

Row: TypeAlias = tuple[str, str, str]

UB: Final = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
TYPE: Final = f"<{RDF}type>"


def ub(local: str) -> str:
    """The text of a name of Univ-Bench.

    >>> ub("Chair")
    '<http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#Chair>'
    """
    return f"<{UB}{local}>"
