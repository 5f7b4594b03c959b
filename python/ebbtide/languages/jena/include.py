"""Which file `@include <name>` means: a regime by its name, or a file beside the including one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ebbtide.program import Origin, ProgramError
from ebbtide.program.wording import did_you_mean

#: What Jena includes by name, and the regime that comes next to it.
JENA_NAMES: Final = {"owl": "owl2rl", "owlmini": "owl2rl", "owlmicro": "owl2rl"}


def included_file(name: str, source: str, origin: Origin) -> Path:
    """The file that a name means in the rules of a source."""
    from ebbtide.regimes import regimes

    known = {regime.name: regime.path for regime in regimes()}
    wanted = name.lower()
    if (regime := JENA_NAMES.get(wanted, wanted)) in known:
        return known[regime]
    if "://" in name:
        raise ProgramError(f"rules are included from files, not from {name}", origin)
    path = Path(source).parent / name.removeprefix("file:")
    if not path.is_file():
        hint = did_you_mean(wanted, [*known, *JENA_NAMES])
        raise ProgramError(
            f"there is no file {path} to include, and no regime {name}{hint}", origin
        )
    return path
