"""How long a call of Google's clients lasts, and which of its failures are met by another attempt: once for all.

Must not name failures: `google_failures` does.
"""

from typing import Any, Final

CALL_SECONDS: Final = 10.0
"""For one call with its retries; a tick or step has many, and answers 503 rather than hang."""
FIRST_WAIT: Final = 0.1
LONGEST_WAIT: Final = 1.0


def call_options(call_seconds: float) -> dict[str, Any]:
    """Return the options of a call: another attempt while the service is unavailable or asks for less haste."""
    from google.api_core.exceptions import ServiceUnavailable, TooManyRequests
    from google.api_core.retry import Retry, if_exception_type

    passing = if_exception_type(ServiceUnavailable, TooManyRequests)
    return {"timeout": call_seconds, "retry": Retry(passing, FIRST_WAIT, LONGEST_WAIT, timeout=call_seconds)}
