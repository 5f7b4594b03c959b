"""A regime: a rule file, and what the comments in it say.

The file opens with a header, one key a line; what is indented goes on from the line above:

    # title: RDFS without the reflexive rules
    # source: W3C, RDF 1.1 Semantics (2014), section 9.2.1
    # covers: the entailment patterns of the table
    # leaves out: rdfs6, rdfs10: they only say that everything is below itself; see rdfs-full
    #   if you want them

Later on, a comment `# deviates: ...` right above a rule says how it differs from the rule of that
name in the source. A name with a dot, `cls-int1.next`, is a helper of the rule before the dot.

Invariant: every regime has a title, a source and what it covers, so that no name promises more than
the file does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from ebbtide.languages.jena import load_rules
from ebbtide.program import Origin, Program, ProgramError
from ebbtide.program.wording import did_you_mean

HOME: Final = Path(__file__).parent
SUFFIX: Final = ".rules"

_KEY: Final = re.compile(r"# (title|source|covers|leaves out|deviates): (.*)")
_MORE: Final = re.compile(r"#   (.*)")


@dataclass(frozen=True)
class Regime:
    """A set of rules with a name and a source.

    `leaves_out` gives the reason for each rule of the source that is not here, and `deviations` the
    difference for each that is here, but otherwise than in the source.

    >>> regime = find("rhodf")
    >>> regime.title
    'rho-df, the minimal RDFS'
    >>> len(regime.program.rules)
    17
    """

    name: str
    title: str
    source: str
    covers: str
    leaves_out: Mapping[str, str]
    deviations: Mapping[str, str]
    path: Path

    @cached_property
    def program(self) -> Program:
        """The rules, read when they are first asked for."""
        return load_rules(self.path)

    @property
    def text(self) -> str:
        """The file as it is."""
        return self.path.read_text(encoding="utf-8")


@cache
def regimes() -> tuple[Regime, ...]:
    """Every regime there is, by name.

    >>> [regime.name for regime in regimes() if regime.name.startswith("owl2rl")][0]
    'owl2rl'
    """
    return tuple(map(_read, sorted(HOME.glob(f"*{SUFFIX}"), key=lambda path: path.stem)))


def find(name: str) -> Regime:
    """The regime of that name, in whatever case.

    >>> find("owl2rll")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ebbtide.program.origin.ProgramError: ... there is no regime owl2rll; did you mean owl2rl?
    """
    known = {regime.name: regime for regime in regimes()}
    if name.lower() not in known:
        hint = did_you_mean(name.lower(), known) or f"; there are {', '.join(known)}"
        raise ProgramError(f"there is no regime {name}{hint}", Origin(name, 1, 1))
    return known[name.lower()]


def _read(path: Path) -> Regime:
    header: dict[str, str] = {}
    leaves_out: dict[str, str] = {}
    deviations: dict[str, str] = {}
    for key, value, rule in _notes(path.read_text(encoding="utf-8").splitlines()):
        match key:
            case "leaves out":
                names, _, reason = value.partition(": ")
                leaves_out.update({name.strip(): reason for name in names.split(",")})
            case "deviates":
                deviations[rule] = value
            case _:
                header[key] = value
    return Regime(
        path.name.removesuffix(SUFFIX),
        header["title"],
        header["source"],
        header["covers"],
        leaves_out,
        deviations,
        path,
    )


def _notes(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Each comment with a key, its whole value, and the name of the rule right below it."""
    for number, line in enumerate(lines):
        if not (found := _KEY.fullmatch(line)):
            continue
        key, value = found.groups()
        below = number + 1
        while below < len(lines) and (more := _MORE.fullmatch(lines[below])):
            value += " " + more[1]
            below += 1
        rule = re.match(r"\[(\w[\w.-]*)", lines[below]) if below < len(lines) else None
        yield key, value, rule[1] if rule else ""
