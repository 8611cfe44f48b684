"""The policy as a drain step reads it: anew each time, and missing rather than in the way of a drain that has begun.

Must not judge by it.
"""

from functions.drainer.session import Desk
from shared.core.policy import Policy
from shared.errors import BadPolicy, EbbError


def read_policy(desk: Desk) -> Policy | None:
    """Return the policy, or None when it is missing or invalid, which is said in the log."""
    try:
        policy = desk.ports.policy.read()
    except BadPolicy as fault:
        desk.tell("policy_invalid", str(fault), severity="ERROR")
        return None
    desk.policy_hash = policy.hash
    return policy


def policy_in_reach(desk: Desk) -> Policy | None:
    """A drain that has begun does not hang on the policy's bucket: it ends by its claim's settings meanwhile."""
    try:
        return read_policy(desk)
    except EbbError as fault:
        desk.tell("drain_step", f"The drain goes on as it was begun: {fault}", severity="WARNING")
        return None
