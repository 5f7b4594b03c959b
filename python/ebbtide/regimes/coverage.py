"""What each regime covers, rule by rule, as Markdown: written from the files, never by hand.

A row for each rule of a regime, helpers aside, and for each rule of its source that it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ebbtide.regimes.regime import Regime, regimes


def coverage() -> str:
    """A section for each regime, with a table of its rules."""
    return "\n\n".join("\n".join(_section(regime)) for regime in regimes())


def _section(regime: Regime) -> Iterator[str]:
    yield f"### {regime.name}: {regime.title}"
    yield ""
    yield f"Source: {regime.source}."
    yield ""
    yield f"Covers {regime.covers}."
    yield ""
    if included := [other.name for other in regimes() if other.path in _sources(regime)]:
        yield f"Includes {', '.join(included)}."
        yield ""
    yield "| rule | here |"
    yield "|---|---|"
    for name in source_rules(regime):
        yield f"| {name} | {regime.deviations.get(name, 'as in the source')} |"
    for name, reason in regime.leaves_out.items():
        yield f"| {name} | **left out**: {reason} |"


def _sources(regime: Regime) -> set[Path]:
    """The other files that rules of the regime come from."""
    return {Path(rule.origin.source) for rule in regime.program.written} - {regime.path}


def source_rules(regime: Regime) -> list[str]:
    """The names of the rules of a regime's own file, without helpers.

    >>> from ebbtide.regimes import find
    >>> source_rules(find("rdfs-sparkwave"))[:2]
    ['rdfs2', 'rdfs3']
    """
    own = (rule for rule in regime.program.written if rule.origin.source == str(regime.path))
    return list(dict.fromkeys(rule.name for rule in own if "." not in rule.name))
