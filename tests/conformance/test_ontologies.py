"""Small real ontologies, case by case."""

import pytest
from tests.conformance.case import Case, parameters, run
from tests.conformance.ontologies import cases


@pytest.mark.parametrize("case", parameters(cases))
def test_ontologies(case: Case) -> None:
    run(case)
