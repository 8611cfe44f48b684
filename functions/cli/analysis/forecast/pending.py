"""Pods that are pending take room: a forecast begins with them on the nodes where the scheduler would put them.

Otherwise what they ask for would hold no node at rest, and be no part of what no plan goes below. One that has no
place stays pending: the autoscaler may add a node for it, and no forecast counts nodes to come.
"""

from dataclasses import replace

from msgspec import structs

from functions.cli.analysis.forecast.scheduling import SCORING, beginning
from shared.core.cluster import names
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.strategies import LEAST_ALLOCATED


def with_pending_placed(snapshot: Snapshot) -> Snapshot:
    """Return the picture in which each pending pod runs that has a place now; the very same where none is pending."""
    waiting = {pod.key for pod in snapshot.pending}
    if not waiting:
        return snapshot
    avoided = {node.name for node in snapshot.nodes if node.has_taint(names.AUTOSCALER_CANDIDATE_TAINT)}
    simulation = beginning(snapshot, SCORING.get(snapshot.profile, LEAST_ALLOCATED), avoided)
    places = {move.pod: move.node for move in simulation.assignments.steps() if move.pod in waiting}
    pods = (_running(pod, places[pod.key]) if pod.key in places else pod for pod in snapshot.pods)
    return replace(snapshot, pods=tuple(pods))


def _running(pod: Pod, node: str) -> Pod:
    return structs.replace(pod, node=node, phase=Phase.RUNNING, ready=True, unschedulable_since=None, nominated="")
