"""The demo: the paper's mobility scenario as a Structured Streaming query on local Spark."""

from ebbtide.pipeline.demo.commuters import run_demo
from ebbtide.pipeline.demo.summary import Summary

__all__ = ["Summary", "run_demo"]
