"""The process of one contender."""

from __future__ import annotations

import json
import sys

from ebbtide.benches.regimes.contenders import Job, contend

print(json.dumps(contend(Job(**json.loads(sys.argv[1])))._asdict()))
