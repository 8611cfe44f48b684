"""Mutants that change nothing anybody could see, each with why. They are left out of the share.

A mutant is named by file, function, what stands there and what would; one that no longer exists fails a test.
"""

from typing import Final

EQUIVALENT: Final[dict[tuple[str, str, str, str], str]] = {}
