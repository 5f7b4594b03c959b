"""RDF 1.1 Semantics, case by case."""

import pytest
from tests.conformance.case import Case, parameters, run
from tests.conformance.rdf_mt import cases


@pytest.mark.parametrize("case", parameters(cases))
def test_rdf_semantics(case: Case) -> None:
    run(case)
