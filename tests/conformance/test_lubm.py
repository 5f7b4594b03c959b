"""LUBM(1), query by query."""

import pytest
from tests.conformance.case import Case, parameters, run
from tests.conformance.lubm import cases


@pytest.mark.parametrize("case", parameters(cases))
def test_lubm(case: Case) -> None:
    run(case)
