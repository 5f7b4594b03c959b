"""The dataframe engine: the maintenance program of expiry, executed as joins of DataFrames.

    relation R of arity n    a DataFrame with the columns a0 ... a(n-1), N-Triples texts, and until

For any positive program and any size: highest throughput, highest latency. State and results are
DataFrames; nothing is collected.
"""

from ebbtide.engines.dataframe.engine import DataFrameEngine

__all__ = ["DataFrameEngine"]
