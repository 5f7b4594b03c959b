"""Rules with very long bodies: planned in little time, or refused with their place."""

from __future__ import annotations

import time

import pytest

from ebbtide.reasoner.lars import LarsReasoner

# Planning took n^4 steps: 400 atoms 40 seconds.
ATOMS = 400


def chain(n: int) -> tuple[str, str]:
    body = ", ".join(f"p{i}(X{i},X{i + 1}) in [5]" for i in range(n))
    return f"q(X0,X{n}) :- {body}.", " ".join(f"p{i}(x{i},x{i + 1})." for i in range(n))


def star(n: int) -> tuple[str, str]:
    body = ", ".join(f"p{i}(X,Y{i}) in [5]" for i in range(n))
    return f"q(X) :- {body}.", " ".join(f"p{i}(x,y{i})." for i in range(n))


def mixed(n: int) -> tuple[str, str]:
    """Every other atom is denied, and numbers grow from one to the next."""
    body = ", ".join(
        f"p{i}(X{i}) in [5], X{i + 1} = X{i} + 1, not n{i}(X{i + 1}) in [5]" for i in range(n // 2)
    )
    return f"q(X0) :- {body}.", " ".join(f"p{i}({i})." for i in range(n // 2))


@pytest.mark.parametrize("shape", [chain, star, mixed])
def test_hundreds_of_windowed_atoms_are_planned_in_no_time(shape: object) -> None:
    assert callable(shape)
    rule, atoms = shape(ATOMS)
    started = time.process_time()
    reasoner = LarsReasoner(rule)
    reasoner.push(atoms, at=1)
    answers = [len(answer.texts()) for answer in reasoner.advance(to=7)]
    assert time.process_time() - started < 10
    assert answers == [1, 1, 1, 1, 1, 1, 0]
