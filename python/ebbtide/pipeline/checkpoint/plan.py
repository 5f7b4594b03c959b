"""What the plan of a checkpoint was made of, so that a refusal can say what is different.

    plan.json    the version that wrote it, and the pieces of the plan (`units.pieces`)

Whether a checkpoint is refused its identity decides; this is for the words. Invariant: a plan that
is missing, or cannot be read, changes the words and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import takewhile
from typing import Final

import msgspec

from ebbtide.pipeline.units.pieces import BACKGROUND, BUILTINS, RULE, SETTING, Piece
from ebbtide.pipeline.units.unit import differing

#: The key of an identity that says how files are to be read.
FORMAT_KEY: Final = "format"
#: Differences that are told, characters of a text, and words around what has changed in it.
MOST_TOLD: Final = 4
MOST_SHOWN: Final = 100
AROUND: Final = 2
#: Kinds whose pieces are what they say, whatever they are called, and what they are together.
_BY_TEXT: Final = {
    RULE: "the rules",
    BACKGROUND: "the files of the background",
    BUILTINS: "the files of builtins",
}


class Plan(msgspec.Struct, frozen=True):
    """The pieces of a plan, and the version of Ebbtide that began with it."""

    version: str
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> Plan:
        """A plan of this version; what several units are made of it has once."""
        return cls(version("ebbtide"), tuple(dict.fromkeys(pieces)))

    @classmethod
    def read(cls, data: bytes | str) -> Plan | None:
        """A plan that was written; None if it cannot be read."""
        try:
            return msgspec.json.decode(data, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def written(self) -> bytes:
        """A plan as `read` takes it."""
        return msgspec.json.encode(self)


def difference(
    known: Mapping[str, str], identity: Mapping[str, str], before: Plan | None, now: Plan | None
) -> str | None:
    """What is different in what was kept, as identities say; None if nothing is.

    If both plans are known it is what the user has changed, else what the identities have.
    """
    plain = differing(known, identity)
    if plain is None or before is None or now is None:
        return plain
    told = list(dict.fromkeys(_differences(before.pieces, now.pieces)))
    if len(told) > MOST_TOLD:
        told[MOST_TOLD:] = [f"and {len(told) - MOST_TOLD} more"]
    if before.version != now.version:
        told.append(f"it was written by Ebbtide {before.version}, this is {now.version}")
    elif known.get(FORMAT_KEY) != identity.get(FORMAT_KEY):
        told.append(plain)
    return "; ".join(told or [plain])


def _differences(before: Sequence[Piece], now: Sequence[Piece]) -> Iterator[str]:
    """A sentence each."""
    gone, new = _without(before, now), _without(now, before)
    for piece in new:
        same = next((each for each in gone if _names(each) == _names(piece)), None)
        if same is not None:
            gone.remove(same)
            yield _changed(same, piece)
        elif piece.kind != SETTING:
            yield f"{_placed(piece)} is not in the checkpoint"
    for piece in gone:
        if piece.kind != SETTING:
            yield f"{_placed(piece)} of the checkpoint is gone"
    if not (gone or new):
        for kind, together in _BY_TEXT.items():
            orders = (
                [piece.text for piece in each if piece.kind == kind] for each in (before, now)
            )
            if next(orders) != next(orders):
                yield f"{together} are in another order"


def _without(some: Sequence[Piece], others: Sequence[Piece]) -> list[Piece]:
    """The pieces that others lack. Those of a whole that they lack are not told one by one."""
    titles = {piece.title for piece in others}
    left = Counter(map(_says, others))
    found = []
    for piece in some:
        if left[_says(piece)]:
            left[_says(piece)] -= 1
        elif not piece.of or piece.of in titles:
            found.append(piece)
    return found


def _says(piece: Piece) -> tuple[str, ...]:
    name = "" if piece.kind in _BY_TEXT else piece.name
    return piece.kind, name, piece.of, piece.text


def _names(piece: Piece) -> tuple[str, ...]:
    return piece.kind, piece.name, piece.of


def _placed(piece: Piece) -> str:
    return f"{piece.title} ({piece.place})" if piece.place else piece.title


def _changed(before: Piece, now: Piece) -> str:
    if now.kind == SETTING:
        was, is_ = shortened(before.text.split(), now.text.split())
        return f"{now.name} was {was}, is {is_}"
    if now.kind in (BACKGROUND, BUILTINS):
        return f"{now.title} has changed"
    old, new = ((each.shown or each.text).split() for each in (before, now))
    if old == new:
        # A prefix means something else, for example.
        old, new = before.text.split(), now.text.split()
    return f"{_placed(now)} changed: {' → '.join(shortened(old, new))}"


def shortened(before: Sequence[str], now: Sequence[str], most: int = MOST_SHOWN) -> tuple[str, str]:
    """Two texts in words; if they are long, without most of what they have alike at their ends.

    >>> shortened("SELECT ?x { ?x :p 1 }".split(), "SELECT ?x { ?x :p 23 }".split(), most=16)
    ('… ?x :p 1 }', '… ?x :p 23 }')
    """
    if all(len(" ".join(words)) <= most for words in (before, now)):
        return " ".join(before), " ".join(now)
    head = _alike(before, now)
    tail = _alike(before[head:][::-1], now[head:][::-1])
    first, left = max(0, head - AROUND), max(0, tail - AROUND)
    return _cut(before, first, left, most), _cut(now, first, left, most)


def _alike(some: Sequence[str], others: Sequence[str]) -> int:
    """With how many equal words two texts begin."""
    pairs = zip(some, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _cut(words: Sequence[str], first: int, left: int, most: int) -> str:
    """A text without the first words and those that are left at its end."""
    inner = " ".join(words[first : len(words) - left])
    is_whole = not left and len(inner) <= most
    return ("… " if first else "") + inner[:most] + ("" if is_whole else " …")
