"""Drains at once that move pods of one workload without a PodDisruptionBudget: who may, and who leaves room.

No drain sees what another has let go in the same seconds, so a claim writes down how many pods of each such workload
it moves, and each drain leaves room for earlier claims (docs/decisions/evictions.md). A claim that shares a workload
is granted only while all those pods together may be away at once. What a drain has moved leaves its claim.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import mark
from shared.core.reasons import Blocker, Unremovable
from shared.core.records.state import Claim
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pods import movable
from shared.core.rules.situation import Situation

MOST_MOVING_PODS: Final = 2500
"""How many pods all claims may write down: 500 claims stay under 256 KiB (docs/decisions/claims.md)."""


@dataclass(frozen=True, slots=True)
class WorkloadMove:
    name: str
    pods: int
    replicas_away: int  # Replicas that are not available now; 0 where that is not known.
    most: int  # Replicas that may be away at once.


@dataclass(frozen=True)
class OtherClaims:
    older: Mapping[str, int] = field(default_factory=dict)
    younger: Mapping[str, int] = field(default_factory=dict)


def workload_moves(pods: Iterable[Pod], context: DrainContext) -> tuple[WorkloadMove, ...]:
    """Return what a drain of these pods moves of each workload that no PodDisruptionBudget keeps in order."""
    # Of a workload that is not known one pod at a time may be away; a single replica is `singleReplicas`' alone.
    rows: dict[str, WorkloadMove] = {}
    for pod in movable(pods, context.now):
        workload = context.workload_of(pod.spec)
        if context.budgets_of(pod.spec) or workload.single:
            continue
        name, away = workload.name or pod.spec.workload, workload.replicas_away
        most = 1 if away is None else workload.may_be_away(context.policy.unprotected)
        before = rows.get(name)
        rows[name] = WorkloadMove(name, before.pods + 1 if before else 1, away or 0, most)
    return tuple(rows[name] for name in sorted(rows))


def workload_moves_of(node: Node, situation: Situation) -> tuple[WorkloadMove, ...]:
    return situation.about_moving(node, workload_moves)


def moving_pods(given: Iterable[WorkloadMove]) -> dict[str, int]:
    """Return what a claim writes down: pods by the workload's mark."""
    counted: Counter[str] = Counter()
    for share in given:
        counted[mark(share.name)] += share.pods
    return dict(sorted(counted.items()))


def all_moving_pods(claims: Iterable[Claim]) -> Counter[str]:
    total: Counter[str] = Counter()
    for claim in claims:
        total.update(claim.moving_pods)
    return total


def conflict(wanted: Iterable[WorkloadMove], held: Counter[str]) -> Blocker | None:
    """Return the first workload of which too many pods could be away at once; `held` is by mark, of other claims."""
    rows = tuple(wanted)
    for share in rows:
        others = held[mark(share.name)]
        if others and others + share.pods + share.replicas_away > share.most:
            detail = (
                f"{others} pods of other drains and {share.pods} here, {share.replicas_away} away, {share.most} may be"
            )
            return Blocker(Unremovable.WORKLOAD_MOVING, share.name, detail)
    if held and held.total() + sum(share.pods for share in rows) > MOST_MOVING_PODS:
        return Blocker(Unremovable.WORKLOAD_MOVING, detail=f"{held.total()} such pods of other drains")
    return None


def other_claims(claims: Mapping[str, Claim], uid: str) -> OtherClaims:
    """Return the moving pods of the claims besides that of node `uid`, earlier and later ones apart."""
    own = claims.get(uid)
    if own is None:
        return OtherClaims()
    earlier = (claim for key, claim in claims.items() if (claim.since, key) < (own.since, uid))
    later = (claim for key, claim in claims.items() if (claim.since, key) > (own.since, uid))
    return OtherClaims(all_moving_pods(earlier), all_moving_pods(later))
