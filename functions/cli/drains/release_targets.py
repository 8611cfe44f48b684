"""Which nodes a release is for, and when each of them is free: of its claim, and of our taint where that can be seen.

Must not publish and must not print.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from functions.cli.drains.outcome import sentence
from functions.cli.errors import told
from functions.cli.format import moment
from shared.core.cluster.node import Node, holding_order
from shared.core.outcomes import Outcome
from shared.core.records.drain_record import DrainRecord
from shared.core.records.state import ClusterState
from shared.documents import drain_key
from shared.errors import BadSettings, Gone, Retryable, Terminal, Unreadable
from shared.ports import Cluster, State
from shared.settings import read_settings
from shared.wiring import NO_GKE_API, cluster_of

_ONLY_CLAIMS: Final = (
    "only nodes with a claim in the state are known. Give --kubeconfig to find every node with our taint"
)


@dataclass(frozen=True, slots=True)
class ReleaseTarget:
    """One node that is held: by a claim, or by our taint alone. Without `order_id` nobody knows whether it is."""

    node: str
    uid: str = ""
    order_id: str = ""


@dataclass(frozen=True, slots=True)
class VisibleNodes:
    """The cluster's nodes, as far as this machine can see them; `note` says why not."""

    cluster: Cluster | None = None
    nodes: tuple[Node, ...] = ()
    note: str = ""


ReadNodes = Callable[[], VisibleNodes]


def read_nodes(environment: Mapping[str, str], kubeconfig: Path | None) -> VisibleNodes:
    """Read the nodes by the kubeconfig that was given, else as the GKE API says, else not at all.

    Raises:
        BadSettings, Retryable, Terminal: a kubeconfig was given, and the cluster cannot be read with it.
    """
    settings = read_settings(environment)
    given = str(kubeconfig) if kubeconfig else settings.kubeconfig
    if given:
        cluster = cluster_of(replace(settings, kubeconfig=given))
        return VisibleNodes(cluster, cluster.all_nodes())
    if settings.gke_api == NO_GKE_API:
        return VisibleNodes(note=f"The cluster is not looked at (EBB_GKE_API=none): {_ONLY_CLAIMS}.")
    try:
        cluster = cluster_of(settings)
        return VisibleNodes(cluster, cluster.all_nodes())
    except (BadSettings, Retryable, Terminal) as failure:
        return VisibleNodes(note=f"The cluster cannot be read ({told(failure)}): {_ONLY_CLAIMS}.")


def claimed_targets(state: ClusterState) -> tuple[ReleaseTarget, ...]:
    """Return the nodes that the state holds a claim for, by name."""
    rows = (ReleaseTarget(claim.node, uid, claim.order_id) for uid, claim in state.claims.items())
    return tuple(sorted(rows, key=lambda target: target.node))


def tainted_targets(nodes: Iterable[Node], state: ClusterState) -> tuple[ReleaseTarget, ...]:
    """Return the nodes that carry our taint, or where that was removed our annotation, without a claim; by name."""
    held = ((node, holding_order(node)) for node in nodes)
    rows = (ReleaseTarget(node.name, node.uid, order) for node, order in held if order is not None)
    return tuple(sorted((row for row in rows if row.uid not in state.claims), key=lambda target: target.node))


def is_free(target: ReleaseTarget, state: ClusterState, cluster: Cluster | None) -> bool:
    """Whether neither that claim nor our taint of that order stands; without a cluster the claim's end says both.

    Raises:
        Retryable, Terminal: the cluster does not answer.
    """
    claim = state.claims.get(target.uid)
    if claim is not None and claim.order_id == target.order_id:
        return False
    if cluster is None:
        return True
    try:
        node = cluster.node(target.node)
    except Gone:
        return True
    return node.uid != target.uid or holding_order(node) != target.order_id


def _record(documents: State, order_id: str) -> DrainRecord | None:
    """Return the drain's record; one that this version cannot read says nothing of how the drain ended."""
    try:
        return documents.get(drain_key(order_id)).value
    except Unreadable:
        return None


def freed_line(target: ReleaseTarget, state: ClusterState, documents: State) -> str:
    """Return the line of a node that is free: how its drain ended, and until when it is left alone."""
    record = _record(documents, target.order_id)
    outcome = record.outcome if record and record.outcome else Outcome.RELEASED.value
    backoff = state.backoffs.get(target.uid)
    alone = f" It is left alone until {moment(backoff.until)}." if backoff else ""
    return f"{target.node}  {outcome}  {sentence((Outcome,), outcome)}{alone}"
