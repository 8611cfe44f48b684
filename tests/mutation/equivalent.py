"""Mutants that change nothing anybody could see, each with why. They are left out of the share.

A mutant is named by file, function, what stands there and what would; one that no longer exists fails a test.
"""

from typing import Final

EQUIVALENT: Final[dict[tuple[str, str, str, str], str]] = {
    (
        "shared/core/claims.py",
        "settled",
        "claim is None or why is None or why in _NO_BACKOFF",
        "claim is None or why in _NO_BACKOFF",
    ): "a claim without a halt has returned before; the part is there for the types",
    (
        "shared/core/schedule.py",
        "_end_of_gap",
        "local.replace(tzinfo=zone, fold=0)",
        "local.replace(tzinfo=zone)",
    ): "a local time of a schedule has fold 0 already; written beside its twin with fold 1",
}
