"""Workloads: synthetic background facts and streams, the same for the same seed.

A workload is pure: it makes facts and does no I/O. `ebbtide generate` writes them to files, the
demo drops them into a folder, tests and benches push them straight into a reasoner.
"""

from ebbtide.testing.workloads.atoms import AtomStream, GroundAtom
from ebbtide.testing.workloads.cooling import cooling
from ebbtide.testing.workloads.isin import isin
from ebbtide.testing.workloads.laser import laser
from ebbtide.testing.workloads.lubm import lubm
from ebbtide.testing.workloads.mobility import mobility
from ebbtide.testing.workloads.taxonomy import taxonomy
from ebbtide.testing.workloads.workload import Workload, WorkloadError

__all__ = [
    "AtomStream",
    "GroundAtom",
    "Workload",
    "WorkloadError",
    "cooling",
    "isin",
    "laser",
    "lubm",
    "mobility",
    "taxonomy",
]
