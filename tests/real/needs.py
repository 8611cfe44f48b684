"""Whether a test that needs a real component may be skipped here: on a laptop yes, in CI never."""

import os
from collections.abc import Mapping
from typing import NoReturn

import pytest


def skip_or_fail(reason: str, env: Mapping[str, str] = os.environ) -> NoReturn:
    """Skip the test with one line that says what would enable it; with CI=true fail it instead."""
    if env.get("CI") == "true":
        pytest.fail(f"CI=true allows no skip: {reason}", pytrace=False)
    pytest.skip(reason)


def require(missing: str | None) -> None:
    """Go on if nothing is missing; otherwise skip or fail with the sentence."""
    if missing is not None:
        skip_or_fail(missing)
