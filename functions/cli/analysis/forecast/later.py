"""The picture of a cluster after drains: nodes gone, their pods elsewhere, DaemonSet pods gone with their nodes.

Must not choose who goes, nor where pods go.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from msgspec import structs

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.selectors import Taint
from shared.core.cluster.snapshot import Snapshot

_PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"


def without(snapshot: Snapshot, gone: Collection[str], places: Mapping[str, str]) -> Snapshot:
    """Return the picture without those nodes; `places` are nodes by the keys of the pods that moved.

    Where a pod has moved to it takes what it needs there (docs/decisions/returns.md).
    """
    nodes = tuple(node for node in snapshot.nodes if node.name not in gone)
    pods = (
        structs.replace(pod, node=places[pod.key], booked=None) if pod.key in places else pod
        for pod in snapshot.pods
        if pod.node not in gone or pod.key in places
    )
    return replace(snapshot, nodes=nodes, pods=tuple(pods))


def announced(snapshot: Snapshot, names_of: Iterable[str]) -> Snapshot:
    """Return the picture in which the autoscaler has announced to empty these nodes, and no others."""
    wanted = frozenset(names_of)
    return replace(
        snapshot, nodes=tuple(with_announcement(node, wanted=node.name in wanted) for node in snapshot.nodes)
    )


def with_announcement(node: Node, *, wanted: bool) -> Node:
    """Return the node with the autoscaler's announcement or without; the very same where that changes nothing."""
    if wanted is node.has_taint(names.AUTOSCALER_CANDIDATE_TAINT):
        return node
    others = tuple(taint for taint in node.taints if taint.key != names.AUTOSCALER_CANDIDATE_TAINT)
    mine = (Taint(names.AUTOSCALER_CANDIDATE_TAINT, _PREFER_NO_SCHEDULE),) if wanted else ()
    return replace(node, taints=(*others, *mine))
