"""What `ebbtide lars` reads: the program, its stream, the background.

All of them may be gzip'd but the program; the stream may come on standard input. What is wrong with
one of them is an error with its place; what is only odd is said on standard error, once.
"""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ebbtide.cli.errors import InputError

if TYPE_CHECKING:
    from ebbtide.languages.lars import LarsProgram
    from ebbtide.program import Fact
    from ebbtide.time import Instant

STANDARD_INPUT: Final = Path("-")
TIMED_LINES: Final = ".tnt"
TIMED_GRAPHS: Final = (".trig", ".nq", ".jsonld")
ATOMS: Final = (".lars", ".atoms", ".lp", ".txt")
#: What files that are gzip'd begin with; standard input has no name that says so.
_GZIP: Final = b"\x1f\x8b"
#: What Python's `surrogateescape` makes of bytes that are not UTF-8.
_NOT_UTF_8: Final = re.compile("[\udc80-\udcff]")


def read_program(path: Path, stream: Path, background: Iterable[Path]) -> LarsProgram:
    """The program of a file.

    What may be Ticker's arithmetic or a predicate is a predicate if the input has atoms of it. That
    is looked for only if it cannot be arithmetic; what is still to come on standard input is not.
    """
    from ebbtide.languages.lars import load_lars
    from ebbtide.languages.lars.ticker import PerhapsPredicate

    files = [*background, *([] if stream == STANDARD_INPUT else [stream])]
    inputs: set[str] = set()
    while True:
        try:
            return load_lars(path, inputs)
        except PerhapsPredicate as error:
            if not any(_states(file, error.name) for file in files):
                raise
            inputs.add(error.name)


def _states(path: Path, predicate: str) -> bool:
    """Whether a file has atoms of a predicate, as far as one can see without a grammar."""
    if _is_triples(path):
        return False
    atom = re.compile(rf"(?:^|[\s.]){predicate}\(")
    return any(map(atom.search, _lines(path)))


def read_stream(
    path: Path, program: LarsProgram, *, in_order: bool
) -> Iterator[tuple[Instant, list[Fact]]]:
    """The time points of a stream, of atoms or of triples."""
    from ebbtide.languages.lars.stream import parse_stream
    from ebbtide.languages.lars.unread import Unread
    from ebbtide.program import TRIPLE

    unread = Unread(program)
    if _is_triples(path):
        for at, triples in _timed_triples(path, in_order=in_order):
            if said := unread.met(TRIPLE):
                _tell(f"{path}: {said}")
            yield at, triples
        return

    def met(predicate: str, line: int) -> None:
        if said := unread.met(predicate):
            _tell(f"{_name(path)}:{line}: {said}")

    yield from parse_stream(_lines(path), _name(path), program, in_order=in_order, met=met)


def _tell(message: str) -> None:
    print(f"ebbtide: {message}", file=sys.stderr)


def _timed_triples(path: Path, *, in_order: bool) -> Iterator[tuple[Instant, list[Fact]]]:
    from ebbtide.program import TRIPLE, Fact
    from ebbtide.terms.formats import BadLine, FormatError, read_timed

    last: Instant | None = None
    for item in read_timed(path):
        if isinstance(item, BadLine):
            raise FormatError(item)
        if in_order and last is not None and item.at < last:
            is_lines = _plain_name(path).endswith(TIMED_LINES)
            place = f"{path}:{_line_going_back(path)}:1" if is_lines else path
            raise InputError(
                f"{place}: time goes back from {last} to {item.at}; a stream is in order, unless a "
                "lateness is given"
            )
        last = item.at
        yield item.at, [Fact(TRIPLE, item.triple)]


def _line_going_back(path: Path) -> int:
    """The first line of timed triples whose instant comes before that of a line above."""
    from ebbtide.time import InstantError, parse_instant

    last: Instant | None = None
    for number, line in enumerate(_lines(path), 1):
        try:
            at = parse_instant(line.partition("\t")[0].strip())
        except InstantError:
            continue  # A blank line, or a comment.
        if last is not None and at < last:
            return number
        last = at
    raise InputError(f"{path} was changed while it was read")


def read_background(path: Path, program: LarsProgram) -> Iterable[Fact]:
    """Background facts, of a file of atoms or of RDF."""
    from ebbtide.languages.lars import parse_atoms
    from ebbtide.languages.lars.terms import WELL_KNOWN
    from ebbtide.program import TRIPLE, Fact
    from ebbtide.terms.formats import read_triples

    if _plain_name(path).endswith(ATOMS):
        known = {**WELL_KNOWN, **program.prefixes}
        text = "".join(_lines(path))
        return parse_atoms(text, _name(path), known, program.misfit, declares=True)
    return [Fact(TRIPLE, triple) for triple in read_triples(path)]


def _is_triples(path: Path) -> bool:
    """Whether a stream is one of timed triples."""
    return _plain_name(path).endswith((TIMED_LINES, *TIMED_GRAPHS))


def _plain_name(path: Path) -> str:
    return path.name.removesuffix(".gz")


def _name(path: Path) -> str:
    return "<stdin>" if path == STANDARD_INPUT else str(path)


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file in UTF-8, which may be gzip'd; what cannot be read is an error."""
    from ebbtide.program import Origin, ProgramError

    try:
        with _opened(path) as file:
            for number, line in enumerate(file, 1):
                if not line.isascii() and (wrong := _NOT_UTF_8.search(line)):
                    place = Origin(_name(path), number, wrong.start() + 1)
                    raise ProgramError("the text is not UTF-8", place)
                yield line
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{_name(path)} cannot be read: {error}") from None


def _opened(path: Path) -> Any:
    # Bytes that are not UTF-8 are let through here, so that their line is known.
    encoding, errors = "utf-8-sig", "surrogateescape"
    if path == STANDARD_INPUT:
        given = open(sys.stdin.fileno(), "rb", closefd=False)  # noqa: SIM115
        is_packed = given.peek(len(_GZIP))[: len(_GZIP)] == _GZIP
        plain: Any = gzip.GzipFile(fileobj=given) if is_packed else given
        return TextIOWrapper(plain, encoding=encoding, errors=errors)
    opens = gzip.open if path.name.endswith(".gz") else open
    return opens(path, "rt", encoding=encoding, errors=errors)
