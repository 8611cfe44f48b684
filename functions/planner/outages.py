"""When a pass stops asking: calls that fail one after another because nothing answers are one outage.

What is wrong with one object says nothing about the next one's call. Must not act on it: who asks does.
"""

from typing import Final

from shared.errors import Retryable

AN_OUTAGE: Final = 3
"""So many calls without an answer, and none in between that succeeded: the others wait for the next pass."""


class Outages:
    """Counts the calls that got no answer since the last one that succeeded."""

    def __init__(self) -> None:
        self._in_a_row = 0

    def answered(self) -> None:
        """Note a call that succeeded."""
        self._in_a_row = 0

    def is_one(self, fault: Exception) -> bool:
        """Note a call that failed, and return whether this one makes it an outage."""
        self._in_a_row += isinstance(fault, Retryable)
        return isinstance(fault, Retryable) and self._in_a_row >= AN_OUTAGE
