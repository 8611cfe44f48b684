"""The system's clock, for durations and waiting, and for the embedded state that lives on this machine.

The time of day is the state's read time, on which all instances agree.
"""

import time
from datetime import UTC, datetime


class SystemClock:
    """The port `Clock` over the operating system."""

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait; a negative time is no wait."""
        time.sleep(max(0.0, seconds))


def system_time() -> datetime:
    """Return the machine's time of day; only a state that is a file here, and a person's tool, may ask for it."""
    return datetime.now(UTC)  # noqa: TID251 - the clock adapter is where the system is asked
