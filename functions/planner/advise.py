"""Warns once a day of what is odd about policy and pods; the cluster's document remembers when.

Odd are pools that the cluster does not have, what `ebb policy check` warns of, a dry run excepted, and costs on pods
that cannot be read. Must not decide and must not write: what is to be remembered is returned, for a pass writes that
document anyway.
"""

from dataclasses import replace

from functions.planner.pass_inputs import PassInputs
from shared.core.planning.unknown_pools import is_advice_due, unknown_pools
from shared.core.policy.warnings import warnings
from shared.core.records.state import Advised
from shared.core.rules.pod_costs import unread_costs
from shared.ports import Log, Ports


def advise(ports: Ports, inputs: PassInputs) -> Advised | None:
    """Log a line for each oddity, and return what is to be remembered; None where nothing is to be said now."""
    policy, now = inputs.policy, inputs.now
    if not policy or not is_advice_due(inputs.state.advised, policy.hash, now):
        return None
    in_earnest = replace(policy, dry_run=False)  # a dry run is meant, and each pass says it: would_order, run_summary
    unknown, hardly_meant = unknown_pools(policy, inputs.snapshot), warnings(in_earnest)
    for pool, sentence in unknown.items():
        _warn(ports.log, sentence, pool=pool, reason="unknown_pool")
    for sentence in hardly_meant:
        _warn(ports.log, sentence, reason="hardly_meant")
    unread = unread_costs(inputs.snapshot)
    for sentence in unread:
        _warn(ports.log, sentence, reason="unread_cost")
    return Advised(policy.hash, now) if unknown or hardly_meant or unread else None


def _warn(log: Log, sentence: str, **labels: str) -> None:
    log.event("policy_warning", sentence, severity="WARNING", **labels)
