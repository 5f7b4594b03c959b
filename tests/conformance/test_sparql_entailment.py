"""SPARQL 1.1 entailment, case by case."""

import pytest
from tests.conformance.case import Case, parameters, run
from tests.conformance.sparql_entailment import cases


@pytest.mark.parametrize("case", parameters(cases))
def test_sparql_entailment(case: Case) -> None:
    run(case)
