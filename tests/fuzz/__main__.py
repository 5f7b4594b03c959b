"""`python -m tests.fuzz --seconds 60 [TARGET...]`: fuzz each parser for a while.

With atheris installed the inputs follow the coverage; without it they are those of hypothesis.
"""

import argparse
import subprocess
import sys
import time

from hypothesis import HealthCheck, given, settings
from tests.fuzz.test_parsers import TARGETS, inputs


def by_coverage(target: str, seconds: int) -> None:
    """Run a target under atheris. It ends the process, so this is one."""
    import atheris

    atheris.instrument_all()
    arguments = [sys.argv[0], f"-max_total_time={seconds}", "-max_len=4096"]
    atheris.Setup(arguments, TARGETS[target])
    atheris.Fuzz()


def by_grammar(target: str, seconds: int) -> None:
    """Run a target on generated inputs until the time is over."""

    @settings(
        max_examples=2_000,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs(target))
    def run(data: bytes) -> None:
        TARGETS[target](data)

    end = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < end:
        run()
        rounds += 1
        print(f"{target}: {rounds * 2_000} inputs", flush=True)


def main() -> None:
    """Fuzz the targets one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--by-coverage", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.targets) - TARGETS.keys():
        parser.error(f"unknown targets: {', '.join(sorted(unknown))}")
    try:
        import atheris  # noqa: F401
    except ImportError:
        has_atheris = False
    else:
        has_atheris = True
    for target in options.targets or TARGETS:
        if options.by_coverage:
            by_coverage(target, options.seconds)
        elif has_atheris:
            command = ["-m", "tests.fuzz", target, f"--seconds={options.seconds}", "--by-coverage"]
            subprocess.run([sys.executable, *command], check=True)
        else:
            by_grammar(target, options.seconds)


if __name__ == "__main__":
    main()
