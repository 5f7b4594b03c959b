"""Reasoning units: what a pipeline feeds with batches of timed facts, and what comes out."""

from ebbtide.pipeline.units.unit import Fed, Unit

__all__ = ["Fed", "Unit"]
