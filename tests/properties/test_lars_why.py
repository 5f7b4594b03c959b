"""Every atom of an answer has an explanation, whose times are those of the input."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hypothesis import given, note

from ebbtide.engines.lars import LarsEngine
from ebbtide.engines.lars_why import Explanation
from ebbtide.languages.lars import LarsProgram, show_fact
from ebbtide.program import Fact
from ebbtide.testing.lars import INPUT, LAST, lars_programs, lars_streams

EXTENDED = re.compile(r"(?:@(?P<at>\d+) )?(?P<always>always )?(?P<atom>.*?)(?: in \[.*\])?")
DENIED = re.compile(
    r"not (?:@\S+ )?(?:always )?(?P<atom>.*?)(?: in \[.*?\])?: "
    r"(?P<where>(?:not )?at (?P<at>\d+)|.*? (?:from (?P<first>\d+) to (?P<last>\d+)|of the window))"
    r"(?P<counted> among the last \d+)?"
)
RUN = re.compile(r"at every time point from (\d+) to (\d+)")


def nodes(explanation: Explanation) -> Iterator[Explanation]:
    yield explanation
    for premise in explanation.premises:
        yield from nodes(premise)


@given(lars_programs(), lars_streams())
def test_explanations_tell_the_times_of_the_input(
    program: LarsProgram, atoms: dict[int, set[Fact]]
) -> None:
    note(f"{program}\n{program.background}\n{atoms}")
    known = set(map(show_fact, program.background))
    said = {at: known | set(map(show_fact, facts)) for at, facts in atoms.items()}
    engine = LarsEngine(program, start=0)
    for now in range(LAST + 1):
        for fact in atoms.get(now, ()):
            engine.take(fact, now)
        for fact in engine.tick().atoms or ():
            explanation = engine.explain_atom(fact)
            note(str(explanation))
            assert explanation.text == show_fact(fact)
            for node in nodes(explanation):
                assert now < node.until
                _check(node, now, known, said)
                for absent in node.absent:
                    _check_absent(absent, now, known, said)


def _check(node: Explanation, now: int, known: set[str], said: dict[int, set[str]]) -> None:
    match = EXTENDED.fullmatch(node.text)
    assert match is not None
    atom, reason = match["atom"], node.reason
    if reason == "background":
        assert atom in known
    elif (run := RUN.fullmatch(reason)) and atom.partition("(")[0] in INPUT:
        assert int(run[2]) == now
        assert all(atom in said.get(at, known) for at in range(int(run[1]), now + 1))
    elif reason.startswith("input"):
        times = [int(at) for at in re.findall(r"\d+", reason) or [match["at"]]]
        assert all(atom in said[at] for at in times)
        if node.text.endswith(" in [ever]") and match["at"] is None:
            assert times == [min(at for at in said if atom in said[at])]
    else:
        assert reason.startswith(("by r", "because", "at every", "worked out"))


def _check_absent(text: str, now: int, known: set[str], said: dict[int, set[str]]) -> None:
    """Of input without variables, there is none at the time points told, or not at all of them."""
    denied = DENIED.fullmatch(text)
    assert denied is not None
    atom, where = denied["atom"], denied["where"]
    first, last = (int(denied[group] or denied["at"] or now) for group in ("first", "last"))
    if "is no time point" in where:
        assert last == now or where.endswith("of the window")
    elif atom.partition("(")[0] in INPUT and "_" not in atom:
        assert first <= last <= now
        # A count window may leave out atoms of its first time point.
        certain = range(first + 1 if denied["counted"] else first, last + 1)
        is_there = [atom in said.get(at, known) for at in certain]
        if where.startswith("not at every"):
            assert denied["counted"] or not all(is_there)
        else:
            assert not any(is_there)
