"""The reference engine: the naive specification, and the maintenance programs run literally."""

from ebbtide.engines.reference.engine import ReferenceEngine
from ebbtide.engines.reference.maintained import Maintained, run_dred, run_expiry

__all__ = ["Maintained", "ReferenceEngine", "run_dred", "run_expiry"]
