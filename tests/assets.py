"""`make assets`: builds or fetches, once, what tests on real parts need; with CI=true nothing may lack."""

import os
import sys
from collections.abc import Callable
from typing import Final

from tests.browser import chromium, fonts
from tests.real.control_plane import assets
from tests.real.scheduler_filters import SchedulerFilters
from tests.terraform.linter import tflint
from tests.terraform.module_runs import with_providers, without_providers

BUILDERS: Final[tuple[Callable[[], object], ...]] = (
    chromium.locate,
    fonts.locate,
    lambda: with_providers(without_providers("terraform")),
    lambda: tflint(build=True),
    SchedulerFilters,
    assets.locate,
)


def main() -> int:
    """Build what is missing; return 1 if something cannot be had where nothing may be skipped."""
    failed = [sentence for build in BUILDERS if (sentence := _failure(build))]
    for sentence in failed:
        sys.stdout.write(f"missing: {sentence}\n")
    return 1 if failed and os.environ.get("CI") == "true" else 0


def _failure(build: Callable[[], object]) -> str | None:
    try:
        build()
    except RuntimeError as failed:
        return str(failed)
    return None


if __name__ == "__main__":
    sys.exit(main())
