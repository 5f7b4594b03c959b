"""Engines by name: a test that takes `engine` runs on every engine and strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, settings

from ebbtide.engines.abilities import open_engine
from ebbtide.engines.protocol import Engine
from ebbtide.engines.reference import ReferenceEngine
from ebbtide.program import Program
from ebbtide.time import Window

MakeEngine: TypeAlias = Callable[[Program, Mapping[str, Window]], Engine]

NATIVE_STRATEGIES = ("expiry", "dred", "naive")

# The naive engine decides how long an example takes, so no single one has a deadline.
# `pytest --hypothesis-profile=thorough` looks longer.
for profile, examples in (("default", 40), ("thorough", 2000)):
    settings.register_profile(
        profile,
        deadline=None,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
settings.load_profile("default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests with Spark come first: they take longest, and short ones fill the end."""
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)


def opening(name: str, strategy: str) -> MakeEngine:
    return lambda program, windows: open_engine(name, program, windows, strategy)


ENGINES: Mapping[str, MakeEngine] = {
    "reference": ReferenceEngine,
    **{f"native-{strategy}": opening("native", strategy) for strategy in NATIVE_STRATEGIES},
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> MakeEngine:
    """Makes engines of one kind: `engine(program, windows)`."""
    return ENGINES[request.param]


@pytest.fixture(params=[name for name in ENGINES if name != "reference"])
def other_engine(request: pytest.FixtureRequest) -> MakeEngine:
    """Makes engines of one kind, for a test that compares them with the reference engine."""
    return ENGINES[request.param]
