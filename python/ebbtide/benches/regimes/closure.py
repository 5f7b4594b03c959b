"""What each contender derived, compared with ours: less is easily faster.

Blank nodes have other names in every reader, so triples with one are left aside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from ebbtide.benches.results import Measurement


def compare(closures: Mapping[str, Path], ours: str) -> Iterable[Measurement]:
    """For each contender, how many triples it has that ours lacks, and the other way round."""
    known = _triples(closures[ours])
    for name, path in closures.items():
        found = known if name == ours else _triples(path)
        yield Measurement(
            "closure",
            {
                "contender": name,
                "lacks": len(known - found),
                "lacks_mostly": _mostly(known - found),
                "has_beyond_ours": len(found - known),
                "beyond_mostly": _mostly(found - known),
            },
            len(found),
            "triples",
        )


def _triples(path: Path) -> set[str]:
    with path.open(encoding="utf-8") as file:
        return {line for line in file if "_:" not in line}


def _mostly(lines: Iterable[str]) -> str:
    """The commonest predicates among some triples."""
    counts = Counter(_local(line.split(" ", 2)[1]) for line in lines)
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common(3))


def _local(iri: str) -> str:
    """The name of an IRI without its namespace.

    >>> _local("<http://www.w3.org/2002/07/owl#sameAs>")
    'sameAs'
    """
    return iri.strip("<>").replace("#", "/").rpartition("/")[2]
