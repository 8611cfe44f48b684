"""Which node, pod or workload a name means, and the pods of a workload."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from functions.cli.analysis.explanation import Explainer, NodeExplanation, PodPlace
from functions.cli.dumps.files import STDIN
from functions.cli.errors import near
from functions.cli.output.format import some
from shared.core.cluster.pod import Pod
from shared.core.reasons import PodBlock
from shared.core.rules.situation import Situation
from shared.errors import BadInput

_SHORT: Final = {
    "no": "node", "po": "pod", "deploy": "deployment", "rs": "replicaset", "sts": "statefulset", "ds": "daemonset",
    "job": "job",
}  # fmt: skip
"""What kubectl calls kinds, next to their names in the plural."""
_OF_FILES: Final = (".json", ".yaml", ".yml", ".gz", "/")


def names_and_files(words: Iterable[str]) -> tuple[Sequence[str], Sequence[Path]]:
    """Return the names to explain, and the dumps: what is a file here, or is called like one. BadInput: no name."""
    names: list[str] = []
    files: list[Path] = []
    for word in words:
        if word == str(STDIN) or word.endswith(_OF_FILES) or _is_file(word):
            files.append(Path(word))
        else:
            names.append(word)
    if not names:
        raise BadInput(f"NODE|POD|WORKLOAD is missing: write ebb explain NODE {some(list(map(str, files)), 1)}.")
    return names, files


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except OSError:  # longer than a name may be
        return False


@dataclass(frozen=True, slots=True)
class Meant:
    """A node, one pod, or a workload with its pods."""

    node: str = ""
    pods: tuple[Pod, ...] = ()
    workload: str = ""

    @property
    def name(self) -> str:
        return self.workload or self.node or self.pods[0].key


def resolve_name(situation: Situation, word: str) -> Meant:
    """Return what is meant. BadInput: nothing, or more than one thing."""
    found = find_matches(situation, word)
    if len(found) > 1:
        raise BadInput(f"{word!r} may mean {some([one.name for one in found])}; write the whole name.")
    if not found:
        raise BadInput(_unknown_word(situation, word))
    return found[0]


def find_matches(situation: Situation, word: str) -> Sequence[Meant]:
    """Return the nodes, pods and workloads of that name, else nodes with that ending, else pods with it.

    They may be written as for kubectl (`node/NAME`, `deploy/NAME`), and with a namespace: `shop/Deployment/cart`.
    """
    nodes, pods = [Meant(node=node.name) for node in situation.snapshot.nodes], _bound_pods(situation)
    if whole := [Meant(pods=(pod,)) for pod in pods if pod.key == word]:
        return whole  # a workload of that name has a longer one, with its kind
    kind, _, name = word.partition("/")
    kind = _SHORT.get(kind.lower(), kind.lower().removesuffix("s"))
    if kind == "node":
        return [one for one in nodes if one.node.endswith(name)]
    named = [Meant(pods=(pod,)) for pod in pods if (name if kind == "pod" else word) in {pod.name, pod.key}]
    if kind == "pod":
        return named
    word = f"{kind}/{name}" if kind in _SHORT.values() else word
    exact = [*(one for one in nodes if one.node == word), *named, *_workloads(situation, word)]
    # Static pods end with their node's name, so that a node's ending comes before a pod's.
    ends = exact or [one for one in nodes if one.node.endswith(word)]
    return ends or [Meant(pods=(pod,)) for pod in pods if pod.key.endswith(word)]


def _bound_pods(situation: Situation) -> Sequence[Pod]:
    return [pod for pod in situation.snapshot.pods if pod.node in situation.snapshot.node_by_name]


def _workloads(situation: Situation, word: str) -> Iterator[Meant]:
    for whole, pods in sorted(_pods_by_workload(situation).items()):
        namespace, kind, own = whole.split("/", 2)
        if word in {whole, own, f"{namespace}/{own}", f"{kind}/{own}", f"{kind.lower()}/{own}"}:
            yield Meant(workload=whole, pods=tuple(pods))


def _pods_by_workload(situation: Situation) -> Mapping[str, Sequence[Pod]]:
    found: dict[str, list[Pod]] = {}
    for pod in _bound_pods(situation):
        known = situation.snapshot.workloads.get(pod.spec.workload)
        name = known.name if known and known.name else pod.spec.workload
        # A mirror pod has no controller: the owner that it names is its node.
        if name and not (pod.spec.owner is not None and pod.spec.owner.kind == "Node"):
            found.setdefault(name, []).append(pod)
    return found


def _unknown_word(situation: Situation, word: str) -> str:
    pending: Sequence[str] = [pod.key for pod in situation.snapshot.pods if word in {pod.key, pod.name}]
    if pending:
        return f"{pending[0]} is on no node: it keeps none."
    snapshot = situation.snapshot
    pools = [f"pool/{name}" for name in snapshot.nodes_by_pool if name]
    budgets = [f"pdb/{budget.namespace}/{budget.name}" for budget in snapshot.disruption_budgets]
    name = word.removeprefix("pool/").removeprefix("pdb/")
    if f"pool/{name}" in pools:
        return f"{name} is a pool: ebb plan --pool {name}, with the same options, lists its nodes."
    if any(budget == f"pdb/{name}" or budget.endswith(f"/{name}") for budget in budgets):
        return f"{name} is a PodDisruptionBudget; ebb why-not shows what it keeps, kubectl get pdb its status."
    pods = (pod.key for pod in _bound_pods(situation))
    known = (*pools, *budgets, *snapshot.node_by_name, *pods, *_pods_by_workload(situation))
    remedy = near(word, known) or "ebb plan -o wide lists them."
    return f"no node {word!r}, nor pod nor workload, among the {len(snapshot.nodes):,} nodes of the cluster; {remedy}"


PodRow = tuple[Pod, NodeExplanation, PodPlace | None]


def rows_of(explainer: Explainer, pods: Iterable[Pod]) -> Sequence[PodRow]:
    return [(pod, *explainer.pod(pod)) for pod in pods]


def kept_alone(rows: Iterable[PodRow]) -> Mapping[str, int]:
    """Return the nodes that nothing but a pod of these keeps, with what each costs."""
    return {node.decision.name: node.decision.cost for _, node, place in rows if place and _keeps_alone(node, place)}


def _keeps_alone(node: NodeExplanation, place: PodPlace) -> bool:
    """Whether all that the node's pods are kept by is of this pod."""
    blockers = [blocker for blocker in node.decision.blockers if isinstance(blocker.reason, PodBlock)]
    others = [blocker for blocker in node.decision.blockers if not isinstance(blocker.reason, PodBlock)]
    return bool(blockers) and len(others) <= 1 and all(blocker.object == place.pod.key for blocker in blockers)
