"""What giving up a wish would add to a policy at rest, one wish at a time, planned anew and not guessed.

A wish is only tried where it alone keeps a node: two that keep the same node are two decisions.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.plan import NodeDecision
from shared.core.policy import Jobs, Limit, LocalStorage, Policy, PoolPolicy
from shared.core.reasons import PodBlock, Reason, Unremovable

MOST_BUDGETS: Final = 3
"""Of PodDisruptionBudgets those that keep most nodes are tried."""


@dataclass(frozen=True)
class Relaxation:
    """A wish given up: its word, what it is about, and the policy and the picture without it."""

    word: str
    about: str
    policy: Policy
    snapshot: Snapshot


@dataclass(frozen=True)
class _Wish:
    """A setting of pools that keeps nodes, by which reasons, and the setting without it."""

    word: str
    reasons: frozenset[Reason]
    without: Callable[[PoolPolicy], PoolPolicy]


_WISHES: Final = (
    _Wish(
        "jobs",
        frozenset({PodBlock.JOB, PodBlock.JOB_RUNNING}),
        lambda pool: replace(pool, jobs=Jobs.MOVE),
    ),
    _Wish(
        "limits",
        frozenset(
            {
                Unremovable.CPU_ABOVE_LIMIT,
                Unremovable.MEMORY_ABOVE_LIMIT,
                Unremovable.ACCELERATOR_ABOVE_LIMIT,
            }
        ),
        lambda pool: replace(pool, cpu_limit=Fraction(1), memory_limit=Fraction(1)),
    ),
    _Wish(
        "required_count",
        frozenset({Unremovable.TOO_FEW_UNDERUTILIZED}),
        lambda pool: replace(pool, required_count=1),
    ),
    _Wish(
        "excess",
        frozenset({Unremovable.NO_EXCESS}),
        lambda pool: replace(pool, excess_threshold=Fraction(0)),
    ),
    _Wish(
        "pools",
        frozenset({Unremovable.POOL_DISABLED}),
        lambda pool: replace(pool, enabled=True),
    ),
    _Wish(
        "local_storage",
        frozenset({PodBlock.LOCAL_STORAGE}),
        lambda pool: replace(pool, local_storage=LocalStorage.EVICT),
    ),
)
_OF_BUDGETS: Final = frozenset({PodBlock.PDB_EXHAUSTED, PodBlock.PDB_NEVER_ALLOWS})


def relaxations(policy: Policy, snapshot: Snapshot, decisions: Sequence[NodeDecision]) -> Iterator[Relaxation]:
    """Yield the wishes that alone keep a node; `decisions` are those of the policy at rest."""
    for wish in _WISHES:
        if any(_is_kept_by(each, wish.reasons) for each in decisions):
            yield Relaxation(wish.word, "", _changed(policy, wish.without), snapshot)
    counted = Counter(key for each in decisions if (key := _budget_of(each)))
    for key, _ in counted.most_common(MOST_BUDGETS):
        yield Relaxation("pdb", key, policy, _with_room_in(snapshot, key))


def _is_kept_by(decision: NodeDecision, reasons: frozenset[Reason]) -> bool:
    found = {each.reason for each in decision.blockers} - {Unremovable.BLOCKED_BY_POD}
    return bool(found) and found <= reasons


def _budget_of(decision: NodeDecision) -> str:
    """Return the one PodDisruptionBudget that keeps the node; empty where there are none or several."""
    if not _is_kept_by(decision, _OF_BUDGETS):
        return ""
    keys = {each.detail.partition(",")[0] for each in decision.blockers if each.reason in _OF_BUDGETS}
    return keys.pop() if len(keys) == 1 else ""


def _changed(policy: Policy, change: Callable[[PoolPolicy], PoolPolicy]) -> Policy:
    pools = {name: change(pool) for name, pool in policy.pools.items()}
    return replace(policy, pools=pools, other_pools=change(policy.other_pools))


def _with_room_in(snapshot: Snapshot, key: str) -> Snapshot:
    """Return the picture in which that budget lets one pod go at a time."""
    budgets = (
        replace(each, max_unavailable=Limit(count=1), min_available=None, disruptions_allowed=1, observed=True)
        if each.key == key
        else each
        for each in snapshot.disruption_budgets
    )
    return replace(snapshot, disruption_budgets=tuple(budgets))
