"""Tells once a day which pools of the policy the cluster does not have; the cluster's document remembers when.

Must not decide and must not write: what is to be remembered is returned, for a pass writes that document anyway.
"""

from functions.planner.looking import Sight
from shared.core.state import Advised
from shared.core.unknown_pools import is_due, unknown_pools
from shared.ports import Ports


def advise(ports: Ports, sight: Sight) -> Advised | None:
    """Log a line for each such pool, and return what is to be remembered; None where nothing is to be said now."""
    policy, state = sight.policy, sight.state
    found = unknown_pools(policy, sight.snapshot) if policy else {}
    if not policy or not found or not is_due(state.advised, policy.hash, sight.now):
        return None
    for pool, sentence in found.items():
        ports.log.event("policy_warning", sentence, severity="WARNING", pool=pool, reason="unknown_pool")
    return Advised(policy.hash, sight.now)
