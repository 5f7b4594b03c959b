"""Spark: sources, stages, placements and sinks of one Structured Streaming query.

    files ──► timed facts ──► units ──► rows ──► outputs
    sources   stages          placements        sinks        file: says all of it; run: runs it

Only this room and the dataframe engine import pyspark; `pip install 'ebbtide[spark]'` brings it.
"""
