"""The pods of a workload with what is known of each, and the nodes that they alone keep. Must not word anything."""

from collections.abc import Iterable, Mapping, Sequence

from functions.cli.analysis.explanation import Explainer, NodeExplanation, PodPlace
from shared.core.cluster.pod import Pod
from shared.core.reasons import PodBlock

PodRow = tuple[Pod, NodeExplanation, PodPlace | None]


def rows_of(explainer: Explainer, pods: Iterable[Pod]) -> Sequence[PodRow]:
    return [(pod, *explainer.pod(pod)) for pod in pods]


def kept_alone(rows: Iterable[PodRow]) -> Mapping[str, int]:
    """Return the nodes that nothing but a pod of these keeps, with what each costs."""
    return {node.decision.name: node.decision.cost for _, node, place in rows if place and _keeps_alone(node, place)}


def _keeps_alone(node: NodeExplanation, place: PodPlace) -> bool:
    """Whether all that the node's pods are kept by is of this pod."""
    said = [each for each in node.decision.blockers if isinstance(each.reason, PodBlock)]
    others = [each for each in node.decision.blockers if not isinstance(each.reason, PodBlock)]
    return bool(said) and len(others) <= 1 and all(each.object == place.pod.key for each in said)
