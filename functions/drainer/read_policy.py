"""The policy as a drain step reads it: anew each time, and missing rather than in the way of a drain that has begun.

Must not judge by it.
"""

from functions.drainer.session import DrainSession
from shared.core.policy import Policy
from shared.errors import BadPolicy, EbbError


def read_policy(session: DrainSession) -> Policy | None:
    """Return the policy, or None when it is missing or invalid, which is said in the log."""
    try:
        return session.ports.policy.read()
    except BadPolicy as fault:
        session.log_event("policy_invalid", str(fault), severity="ERROR")
        return None


def policy_in_reach(session: DrainSession) -> Policy | None:
    """A drain that has begun does not hang on the policy's bucket: it ends by its claim's settings meanwhile."""
    try:
        return read_policy(session)
    except EbbError as fault:
        session.log_event("drain_step", f"The drain goes on as it was begun: {fault}", severity="WARNING")
        return None
