"""How long a call to a stand-in may take."""

from shared.errors import EbbError, Retryable


def patience(expected: type[EbbError]) -> float:
    """A failure that may pass is asked for until the time is over, so it is short; a final one may come late."""
    return 0.5 if issubclass(expected, Retryable) else 60.0
