"""A query that is started again when Spark does not wait for its Python.

A stateful operator asks for its state in a process of its own, which Spark gives ten seconds to
connect, whatever is set. Invariant: only what was not begun is begun again; any other end is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from ebbtide.pipeline.failed import is_late

#: How often a query is started at most.
STARTS: Final = 4
AGAIN: Final = "Spark waited for Python in vain: starting the query again"


def run_query(
    writer: DataStreamWriter,
    attend: Callable[[StreamingQuery], object] = StreamingQuery.awaitTermination,
    say: Callable[[str], object] = lambda sentence: None,
) -> StreamingQuery:
    """Start a query and attend to it, up to four times if Spark gives up on a Python worker.

    `attend` is what is to be done with the query once it is started, such as waiting for its end;
    it lets the error of the query through. The query that was attended to last is returned.
    """
    for starts_left in reversed(range(STARTS)):
        query = writer.start()
        try:
            attend(query)
            break
        except StreamingQueryException as error:
            if not (starts_left and is_late(error)):
                raise
            say(AGAIN)
    return query
