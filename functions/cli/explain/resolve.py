"""Which node, pod or workload a name means, and the pods of a workload."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from functions.cli.analysis.explanation import Explainer, Matches, NodeExplanation, PodPlace, matches, names, pods_of
from functions.cli.errors import near
from functions.cli.output.format import some
from shared.core.cluster.pod import Pod
from shared.core.reasons import PodBlock
from shared.core.rules.situation import Situation
from shared.errors import BadInput


@dataclass(frozen=True, slots=True)
class Meant:
    """A node, one pod, or a workload with its pods."""

    node: str = ""
    pods: tuple[Pod, ...] = ()
    workload: str = ""


def meant(situation: Situation, word: str) -> Meant:
    """Return what is meant.

    Raises:
        BadInput: nothing, or more than one thing.
    """
    found = matches(situation, word)
    meanings = [*(node.name for node in found.nodes), *(pod.key for pod in found.pods), *found.workloads]
    if not meanings:
        raise BadInput(_unknown(situation, word))
    if len(meanings) > 1:
        raise BadInput(f"{word!r} may mean {some(meanings)}; write the whole name.")
    return _only(situation, found)


def _only(situation: Situation, found: Matches) -> Meant:
    if found.workloads:
        (workload,) = found.workloads
        return Meant(workload=workload, pods=pods_of(situation, workload))
    return Meant(pods=found.pods) if found.pods else Meant(node=found.nodes[0].name)


def _unknown(situation: Situation, word: str) -> str:
    pending: Sequence[str] = [pod.key for pod in situation.snapshot.pods if word in {pod.key, pod.name}]
    if pending:
        return f"{pending[0]} is on no node: it keeps none."
    snapshot = situation.snapshot
    pools = [f"pool/{name}" for name in snapshot.nodes_by_pool if name]
    budgets = [f"pdb/{each.namespace}/{each.name}" for each in snapshot.disruption_budgets]
    name = word.removeprefix("pool/").removeprefix("pdb/")
    if f"pool/{name}" in pools:
        return f"{name} is a pool; its nodes: ebb plan --pool {name}."
    if any(each == f"pdb/{name}" or each.endswith(f"/{name}") for each in budgets):
        return f"{name} is a PodDisruptionBudget; ebb why-not shows what it keeps, kubectl get pdb its status."
    remedy = near(word, (*pools, *budgets, *names(situation))) or "see ebb plan --nodes."
    return f"no node {word!r}, nor pod nor workload, among the {len(snapshot.nodes):,} nodes of the cluster; {remedy}"


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
