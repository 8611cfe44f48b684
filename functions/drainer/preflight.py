"""Every eviction and restart of a drain asked for with dryRun=All: webhooks and PDBs speak before anything is touched.

So a node from which a pod cannot leave is never cordoned, and one that was refused for good is not tried at every pass.
Must not change anything in the cluster, nor decide which pods are asked for.
"""

from datetime import datetime

from functions.drainer.claim import Declined
from functions.drainer.session import DrainSession
from functions.drainer.surge import refused_restart
from shared.answers import Eviction
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.completion import grace_seconds
from shared.core.outcomes import Refusal
from shared.core.policy import Policy
from shared.core.records.claims import back_off
from shared.core.records.drain_record import NO_OBJECTION, REFUSED_FOR_GOOD
from shared.core.records.state import ClusterState
from shared.core.rules.pods import movable
from shared.core.rules.situation import Situation
from shared.core.rules.surges import surges_of
from shared.store.compare_and_set import change_cluster


def preflight(session: DrainSession, node: Node, snapshot: Snapshot, policy: Policy) -> None:
    """Try what the drain would do to each pod and each Deployment of the node.

    Raises:
        Declined: something was refused; the node is backed off where it would be refused at the next pass too.
        Retryable: something did not answer.
    """
    moving = movable(snapshot.pods_by_node[node.name], snapshot.taken_at)
    surging, pods = surges_of(moving, Situation(snapshot, ClusterState(), policy).drain_context(node.pool))
    refused = refused_restart(session, surging)
    if refused:
        _back_off(session, node, policy)
        raise Declined(Refusal.PREFLIGHT, refused)
    most, cluster = policy.drain.max_grace, session.ports.cluster

    def ask(pod: Pod) -> Eviction:
        session.check_admission()
        return cluster.evict(pod, grace_seconds(pod, most), dry_run=True)

    answers = session.ports.together(ask, pods, policy.drain.max_parallel_evictions)
    bad = [(pod, each) for pod, each in zip(pods, answers, strict=True) if each.answer not in NO_OBJECTION]
    if not bad:
        return
    if any(each.answer in REFUSED_FOR_GOOD for _, each in bad):
        _back_off(session, node, policy)
    detail = "; ".join(f"{pod.key}: {each.answer.value} {each.detail}".strip() for pod, each in bad)
    raise Declined(Refusal.PREFLIGHT, detail)


def _back_off(session: DrainSession, node: Node, policy: Policy) -> None:
    """An eviction that is refused for good would be refused at the next pass too: try another node meanwhile."""

    def change(state: ClusterState, now: datetime) -> ClusterState:
        return back_off(state, node.uid, node.name, policy.drain, Refusal.PREFLIGHT, now)

    change_cluster(session.ports.state, session.ports.clock, change)
