"""Passwords, which are in environment variables: the file names them, and nothing keeps them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ebbtide.pipeline.errors import PipelineError


def secret(variable: str, at: str) -> str:
    """The value of an environment variable that a key of the pipeline file names."""
    try:
        return os.environ[variable]
    except KeyError:
        raise PipelineError(f"{at}: the environment variable {variable} is not set") from None


def with_secrets(
    options: Mapping[str, str], secrets: Mapping[str, str], at: str
) -> Mapping[str, str]:
    """Options, and those whose values are in environment variables."""
    found = {name: secret(variable, f"{at}.secrets.{name}") for name, variable in secrets.items()}
    return {**options, **found}
