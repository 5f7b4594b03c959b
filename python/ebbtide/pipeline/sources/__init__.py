"""Where streams come from: streaming DataFrames of parsed, timed facts.

Whatever the source, a row is as `stages.parse` makes it. A source that Spark cannot ask again (a
socket) is spooled to files, which it can.
"""
