"""One drain, seen as a reconciler: from what stands now to the one next step.

Asked again it gives the same answer, so a killed, doubled or late step does no harm (docs/decisions/claims.md).
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from shared.core.draining import completion, cordon
from shared.core.draining.drain import Await, Drain, Observation, ReturnNode, Step
from shared.core.draining.evicting import evict, pod_blocks, refused_for_good
from shared.core.draining.surging import surge, surge_ended
from shared.core.policy import Policy
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord


def next_step(record: DrainRecord, observed: Observation, now: datetime) -> Step:
    """Return the next step of a drain whose claim was granted (phases claimed to drained)."""
    drain = Drain(record, observed, now)
    steps = (rule(drain) for rule in RULES[record.phase])
    step = next((step for step in steps if step is not None), Await())
    return cordon.kept_for_others(drain, step) or step


def must_stop(policy: Policy | None, pool: str, *, paused: bool) -> str:
    """Return why running drains stop now (`paused`, `dryRun`, `enabled`), or an empty string."""
    if paused:
        return "pause flag"
    if policy is None:
        return ""
    reasons = {"paused": policy.paused, "dryRun": policy.dry_run, "enabled: false": not policy.pool(pool).enabled}
    return next((word for word, holds in reasons.items() if holds), "")


def _must_stop_now(drain: Drain) -> Step | None:
    observed = drain.observed
    word = must_stop(observed.policy, observed.claim.pool if observed.claim else "", paused=observed.paused)
    return ReturnNode(ReturnReason.PAUSED, word) if word else None


DrainRule = Callable[[Drain], Step | None]
RULES: Final[dict[DrainPhase, tuple[DrainRule, ...]]] = {
    DrainPhase.CLAIMED: (
        cordon.node_gone, cordon.claim_ended, cordon.already_cordoned, cordon.taken_back, _must_stop_now,
        cordon.going_away, cordon.cordoned_by_other, completion.late, cordon.cordon,
    ),
    DrainPhase.CORDONED: (
        # the world moved on without us
        cordon.node_gone, cordon.claim_ended, cordon.person_overruled,
        # we must stop
        _must_stop_now, refused_for_good, completion.replacement_pending, surge_ended, completion.buffer_fell,
        # the cordon has to be seen by all before pods are counted
        cordon.cordon_settles,
        # the end: what is empty, or becomes so without us, is no failure at the deadline
        cordon.autoscaler_deletes, completion.all_pods_moved, completion.late,
        # work
        pod_blocks, completion.await_place, surge, evict,
    ),
    DrainPhase.DRAINED: (
        cordon.node_gone, cordon.claim_ended, cordon.person_overruled, completion.replacement_pending,
        completion.buffer_fell, completion.replacements_start, completion.leave,
    ),
}  # fmt: skip
"""What may happen in each phase, in order; the first rule that speaks decides."""
