"""Report policies: at which of its ticks a query answers.

    window-close       at every close of a window (the default)
    content-change     ... unless every window holds the same timed facts as at the last report
    non-empty          ... unless every window is empty
    periodic:PERIOD    at every PERIOD instead, the windows ending there

They can be combined: `content-change,non-empty`, `periodic:5s,non-empty`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ebbtide.time import parse_duration

_PERIODIC: Final = "periodic:"


class ReportError(ValueError):
    """A text that is not a report policy."""


@dataclass(frozen=True, slots=True)
class Report:
    """When a query reports.

    >>> Report.parse("periodic:5s,non-empty")
    Report(on_change=False, non_empty=True, period=5000)
    """

    on_change: bool = False
    non_empty: bool = False
    period: int | None = None

    @property
    def looks_at_content(self) -> bool:
        """Whether what is in the windows decides."""
        return self.on_change or self.non_empty

    @classmethod
    def parse(cls, text: str) -> Report:
        """Read policies, separated by commas."""
        on_change = non_empty = False
        period: int | None = None
        for policy in filter(None, (part.strip().lower() for part in text.split(","))):
            match policy:
                case "window-close":
                    pass
                case "content-change":
                    on_change = True
                case "non-empty":
                    non_empty = True
                case _ if policy.startswith(_PERIODIC):
                    period = parse_duration(policy.removeprefix(_PERIODIC))
                case _:
                    raise ReportError(
                        f"unknown report policy {policy!r}; there are window-close, "
                        "content-change, non-empty and periodic:PERIOD"
                    )
        return cls(on_change, non_empty, period)
