"""Engines: protocol, reference (the oracle), native (the kernel), dataframe (Spark)."""
