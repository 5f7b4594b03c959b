"""Spark: sources, stages, placements and sinks of one Structured Streaming query.

    files ──► lines ──► timed facts ──► reasoner ──► deltas ──► terminal
    sources             stages          placements              sinks

Only this room and the dataframe engine import pyspark; `pip install 'ebbtide[spark]'` brings it.
"""
