"""Peers come from PyPI, into the environment this runs in, and only when they are asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

from ebbtide.cli.errors import InputError


def install_peers() -> None:
    """Install the peers that are missing, and say so."""
    from ebbtide.benches.regimes.contenders import PEERS

    missing = [name for name in PEERS if find_spec(name) is None]
    if not missing:
        return
    print(f"ebbtide: installing {', '.join(missing)} from PyPI", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", *missing]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        reason = (ended.stderr.strip().splitlines() or ["pip ended without a word"])[-1]
        raise InputError(f"the peers could not be installed: {reason}")
