"""`python -m tests.conformance`: write docs/conformance.md and docs/conformance-by-regime.md."""

from tests.conformance import by_regime, report
from tests.conformance.data import ABSENT, PRESENT

if not PRESENT:
    raise SystemExit(ABSENT)
for part in (report, by_regime):
    part.PAGE.write_text(part.page(), encoding="utf-8")
    print(f"wrote {part.PAGE}")
