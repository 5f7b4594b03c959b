"""docs/conformance.md is what the cases and the skip lists say."""

import pytest
from tests.conformance.data import ABSENT, PRESENT
from tests.conformance.report import PAGE, page


@pytest.mark.skipif(not PRESENT, reason=ABSENT)
def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make conformance`"
