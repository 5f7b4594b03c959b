"""The in-process reasoner: background facts, timed facts, ticks, answers."""

from ebbtide.reasoner.late import Late
from ebbtide.reasoner.reasoner import Reasoner
from ebbtide.reasoner.snapshot import SnapshotError

__all__ = ["Late", "Reasoner", "SnapshotError"]
