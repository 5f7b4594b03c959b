"""OWL 2 RL, case by case."""

import pytest
from tests.conformance.case import Case, parameters, run
from tests.conformance.owl2_rl import cases


@pytest.mark.parametrize("case", parameters(cases))
def test_owl2_rl(case: Case) -> None:
    run(case)
