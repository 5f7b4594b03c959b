"""Which errors are the user's, and how each is told: one line and an exit code."""

from __future__ import annotations

from typing import Final, NamedTuple

WRONG_INPUT: Final = 1
BUDGET_HIT: Final = 3


class Explained(NamedTuple):
    """How a command ends."""

    exit_code: int
    message: str


def explain(error: Exception) -> Explained | None:
    """The end of a command that raised `error`; None for a bug."""
    from ebbtide.engines.native import BudgetExceeded
    from ebbtide.extras import MissingLibrary
    from ebbtide.pipeline.errors import PipelineError
    from ebbtide.program import ProgramError
    from ebbtide.queries.report import ReportError
    from ebbtide.queries.sources import SourceError
    from ebbtide.terms import TermError
    from ebbtide.terms.formats import FormatError
    from ebbtide.testing.workloads import WorkloadError
    from ebbtide.time import DurationError, InstantError, WindowError

    match error:
        case BudgetExceeded():
            return Explained(BUDGET_HIT, _one_line(error))
        case ProgramError() | TermError() | FormatError() | InstantError() | WindowError():
            return Explained(WRONG_INPUT, _one_line(error))
        case DurationError() | ReportError() | SourceError():
            return Explained(WRONG_INPUT, _one_line(error))
        case WorkloadError() | InputError() | PipelineError() | MissingLibrary():
            return Explained(WRONG_INPUT, _one_line(error))
        case OSError(filename=filename, strerror=reason) if filename is not None and reason:
            return Explained(WRONG_INPUT, f"{filename}: {reason}")
        case _:
            return None


class InputError(ValueError):
    """Something a user gave that a command cannot work with."""


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
