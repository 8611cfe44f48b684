"""Whose the node is: what a drain does about its cordon and its taint, and when the node is no longer its own.

An upgrade of a pool takes hours, and GKE cordons with the flag that a drain has set already. Only a node that has
reached its pool's version is known to be done; what cannot be known counts for a while. Rules of `next_step`.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.names import AUTOSCALER_DELETING_TAINT, LEAVING_TAINTS
from shared.core.cluster.node import Node, NodePool, read_annotation
from shared.core.cluster.pod import Pod
from shared.core.draining.completion import WATCH_EVERY, all_pods_moved
from shared.core.draining.drain import Await, Cordon, Drain, ReturnNode, Settle, Step, WritePhase
from shared.core.policy import DrainSettings
from shared.core.reasons import Outcome, ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord

MAY_TAKE: Final = timedelta(minutes=10)
"""For so long a node that GKE may be emptying counts as emptied: a surge upgrade takes some minutes for a node."""


def may_be_taken(node: Node, pool: NodePool | None, nodes: Iterable[Node]) -> bool:
    """Return whether GKE may empty the node now or soon: it works on its pool, and is not known to be done with it."""
    # Work without a new version (an image, labels, a machine type) shows on no node.
    return pool is not None and pool.upgrading and not is_upgraded(node, pool, nodes)


def is_upgraded(node: Node, pool: NodePool | None, nodes: Iterable[Node]) -> bool:
    # A node of its pool must be older: if GKE reported the old version until the end, none would be.
    if pool is None or (pool.upgrading and (not pool.version or node.version != pool.version)):
        return False
    own = _numbers(node.version)
    return any(other.pool == node.pool and _numbers(other.version) < own for other in nodes)


def waits_long(pod: Pod, now: datetime) -> bool:
    """Return whether a pod has waited for a place as long as an upgrade may keep a node from it."""
    return pod.unschedulable_since is not None and now - pod.unschedulable_since >= MAY_TAKE


def watchdog_ends(record: DrainRecord, settings: DrainSettings, *, in_upgrade: bool = False) -> datetime | None:
    """Return when a drained node is returned unless it is deleted."""
    # None while it is not drained. Twice as long in an upgrade. It begins at the drain's deadline at the latest: the
    # autoscaler may empty a node itself, much later.
    if record.drained_at is None:
        return None
    begins = min(record.drained_at, record.deadline or record.drained_at)
    return begins + settings.watchdog * (2 if in_upgrade else 1)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"[0-9]{1,9}", version)))


_NEVER_PUT_OFF: Final = frozenset(
    {
        ReturnReason.RELEASED,
        ReturnReason.OVERRULED,
        ReturnReason.PAUSED,
        ReturnReason.GOING_AWAY,
        ReturnReason.CORDONED_BY_OTHER,
    }
)
CORDON_SETTLES: Final = timedelta(seconds=5)
"""A scheduler that had not yet seen the cordon may bind a pod in this time (Karpenter's MinDrainTime)."""


def node_gone(drain: Drain) -> Step | None:
    """Nothing is left to drain. It stands before every rule that asks for the node."""
    return Settle(Outcome.REMOVED) if drain.observed.node is None else None


def claim_ended(drain: Drain) -> Step | None:
    claim = drain.observed.claim
    held = claim is not None and claim.order_id == drain.order_id
    return None if held else ReturnNode(ReturnReason.RELEASED, "the claim has been ended")


def already_cordoned(drain: Drain) -> Step | None:
    """A crash between the patch and its record: the node already carries our taint."""
    return WritePhase(DrainPhase.CORDONED) if drain.node.drain_taint == drain.order_id else None


def taken_back(drain: Drain) -> Step | None:
    """The same crash, and since then a person has removed our taint: the annotation of that patch still shows it."""
    note = read_annotation(drain.node)
    ours = note is not None and note.order_id == drain.order_id
    return ReturnNode(ReturnReason.OVERRULED, word_of_lost_taint(drain.node)) if ours else None


def word_of_lost_taint(node: Node) -> str:
    """Return what happened to a node of which only our taint was removed; empty where something else did."""
    alone = node.unschedulable and node.drain_taint is None and read_annotation(node) is not None
    return "Our taint was removed and the cordon was not; our annotation names its order." if alone else ""


def going_away(drain: Drain) -> Step | None:
    """Somebody else takes the node away in this moment: it is not ours to cordon."""
    taint = next((key for key in LEAVING_TAINTS if drain.node.has_taint(key)), None)
    return ReturnNode(ReturnReason.GOING_AWAY, taint) if taint else None


def cordoned_by_other(drain: Drain) -> Step | None:
    if drain.node.unschedulable or drain.node.drain_taint is not None:
        return ReturnNode(ReturnReason.CORDONED_BY_OTHER)
    return None


def cordon(drain: Drain) -> Step | None:
    return Cordon(drain.node)


def cordon_settles(drain: Drain) -> Step | None:
    """The cordon has to be seen by all before pods are counted."""
    settled_at = (drain.record.cordoned_at or drain.now) + CORDON_SETTLES
    return Await(settled_at - drain.now) if drain.now < settled_at else None


def person_overruled(drain: Drain) -> Step | None:
    """Our taint was removed, or `unschedulable` cleared under it: a person wants the node, or the autoscaler failed."""
    # The autoscaler clears it after a failed deletion, too; then it is set again (docs/decisions/healing.md).
    node, begun_at, cordoned_at = drain.node, drain.observed.deletion_begun_at, drain.record.cordon_set_at
    if wanted_by_person(node, drain.order_id, begun_at, cordoned_at):
        return ReturnNode(ReturnReason.OVERRULED, word_of_lost_taint(node))
    return None if node.unschedulable else Cordon(node)


def wanted_by_person(node: Node, order_id: str, begun_at: datetime | None, cordoned_at: datetime | None) -> bool:
    if node.drain_taint != order_id:
        return True
    return not node.unschedulable and not uncordoned_by_autoscaler(node, begun_at, cordoned_at)


def uncordoned_by_autoscaler(node: Node, begun_at: datetime | None, cordoned_at: datetime | None) -> bool:
    """Return whether it was the autoscaler that cleared a cordon: it deletes the node, or began to since."""
    # It clears the cordon only with its own taint. Events carry whole seconds: that of the cordon counts.
    if node.has_taint(AUTOSCALER_DELETING_TAINT):
        return True
    return begun_at is not None and cordoned_at is not None and begun_at > cordoned_at - timedelta(seconds=1)


def kept_for_others(drain: Drain, step: Step) -> Step | None:
    """Others empty the node, or an upgrade may: our cordon is theirs, too, so it is not undone before they had time."""
    # A person's word is not put off, and what we moved does not wait for an upgrade that may be elsewhere.
    if not isinstance(step, ReturnNode) or step.why in _NEVER_PUT_OFF or drain.record.deadline is None:
        return None
    if drain.node.lifecycle and drain.observed.claim:
        most = drain.observed.claim.settings.watchdog
    elif drain.observed.in_upgrade and step.why is not ReturnReason.REPLACEMENT_PENDING:
        most = MAY_TAKE
    else:
        return None
    return Await(WATCH_EVERY) if drain.now < drain.record.deadline + most else None


def autoscaler_deletes(drain: Drain) -> Step | None:
    """The autoscaler moves the pods itself: we wait for the node's end, or for its failure, and evict nothing more."""
    # Beyond the deadline no longer than it has for a node that we have drained.
    if not drain.node.has_taint(AUTOSCALER_DELETING_TAINT):
        return None
    deadline, claim = drain.record.deadline, drain.observed.claim
    most = claim.settings.watchdog if claim else timedelta(0)
    given_up = deadline is not None and drain.now >= deadline + most
    return all_pods_moved(drain) or (None if given_up else Await())
