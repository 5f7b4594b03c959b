"""The numbers of the lines that facts stand on, which the parser does not tell.

A line of a timed document is a fact, a bad line, or blank or a comment. The parser tells the facts
in order and the numbers of bad lines; those that it passes over are found here, in the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

#: Nothing but space and a comment.
_PASSED_OVER: Final = re.compile(rb"^[ \t]*(?:#.*)?$", re.MULTILINE)
#: How such a line may begin, unless it is the first.
_BEGINNINGS: Final = (b"\n\n", b"\n#", b"\n ", b"\n\t")


class FactLines:
    """Hands out the numbers of the lines of a document's facts, in order.

    >>> lines = FactLines(b"1\\t<a:s> <a:p> <a:o> .\\n# why\\n\\nnoon\\n2\\t<a:s> <a:p> <a:o> .\\n")
    >>> lines.take(2, bad=[4]).tolist()
    [1, 5]
    """

    def __init__(self, content: bytes) -> None:
        self._passed = list(_passed_over(content))
        self._next = 1

    def take(self, facts: int, bad: Iterable[int]) -> Any:
        """Those of the next facts, given all bad lines up to the last of them."""
        import numpy as np

        taken = [line for line in (*self._passed, *bad) if line >= self._next]
        lines = np.arange(self._next, self._next + facts + len(taken), dtype=np.int32)
        if taken:
            lines = lines[~np.isin(lines, taken)][:facts]
        if facts:
            self._next = int(lines[-1]) + 1
        return lines


def _passed_over(content: bytes) -> Iterator[int]:
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # Most documents have no such line, and that is quickly seen.
    if content[:1] not in (b"\n", b"#", b" ", b"\t") and not any(
        beginning in content for beginning in _BEGINNINGS
    ):
        return
    number, counted = 1, 0
    for found in _PASSED_OVER.finditer(content):
        number += content.count(b"\n", counted, found.start())
        counted = found.start()
        yield number
