"""Which share of the nodes each rule that placement does not model keeps, and what that costs (docs/limits.md).

No generated cluster and no trace has such rules, so they are given to one workload in a hundred, rule by rule: claims
to StatefulSets, the others to any; of a trace, which knows no workloads, to one pod in a hundred. Told is the share of
nodes with such a pod, and how much less of the money goes.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import mean
from typing import Final

from msgspec import structs

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster.names import HOSTNAME_LABEL
from shared.core.cluster.pod import Pod, PodClass, Volume, is_daemon
from shared.core.cluster.selectors import Toleration
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import Storage
from shared.core.planning.candidates import assess_nodes
from shared.core.reasons import PodBlock
from shared.core.records.state import ClusterState
from shared.core.rules.nodes import SAFETY_RULES
from shared.core.rules.situation import Situation
from tests.bench.clusters.api import snapshot as snapshot_of
from tests.bench.clusters.generated import generated
from tests.bench.clusters.workloads import Mix
from tests.bench.potential import openb
from tests.bench.reporting import say
from tests.builders import mounts, persistent_volume, policy, volume_claim

ONE_IN: Final = 100
NODES, CLUSTERS = 200, 5
_LOCAL, _SHARED, _MISSING = "on-its-node", "of-several", "not-there"
_CLAIMS: Final = frozenset({PodBlock.LOCAL_VOLUME, PodBlock.UNBOUND_CLAIM, PodBlock.SHARED_DISK})
CARRYING: Final[Mapping[PodBlock, Callable[[Pod], PodClass]]] = {
    PodBlock.LOCAL_VOLUME: lambda pod: replace(pod.spec, volumes=mounts(_LOCAL)),
    PodBlock.UNBOUND_CLAIM: lambda pod: replace(pod.spec, volumes=mounts(_MISSING)),
    PodBlock.SHARED_DISK: lambda pod: replace(pod.spec, volumes=mounts(_SHARED)),
    PodBlock.VOLUMES: lambda pod: replace(pod.spec, volumes=(*pod.spec.volumes, Volume("data", "iscsi"))),
    PodBlock.RESOURCE_CLAIMS: lambda pod: replace(pod.spec, resource_claims=("gpu",)),
    PodBlock.FOREIGN_SCHEDULER: lambda pod: replace(pod.spec, scheduler="another"),
    PodBlock.SCHEDULING_GATES: lambda pod: replace(pod.spec, scheduling_gates=("example.com/wait",)),
    PodBlock.NAMES_ITS_NODE: lambda pod: replace(pod.spec, node_selector={HOSTNAME_LABEL: pod.node}),
    PodBlock.TOLERATES_DRAIN_TAINT: lambda pod: replace(pod.spec, tolerations=(Toleration("", "Exists"),)),
    PodBlock.UNMODELLED: lambda pod: replace(pod.spec, unmodelled=("a rule to come",)),
}
"""What a pod's class is once the pod carries the rule."""


@dataclass(frozen=True)
class Kept:
    """What one rule does to one picture: shares of its nodes and of its money."""

    nodes: float
    money: float


def run(*, quick: bool) -> None:
    clusters = [snapshot_of(generated(NODES, Mix.RICH, seed=seed)) for seed in range(1 if quick else CLUSTERS)]
    _tell(f"{len(clusters)} rich clusters of {NODES} nodes, one workload in {ONE_IN}", clusters, by_workload)
    folder = os.environ.get("EBB_OPENB")
    if folder and not quick:
        _tell(f"openb, one pod in {ONE_IN}", [openb(Path(folder), 0.7)], by_pod)


def _tell(what: str, pictures: Sequence[Snapshot], workload_of: Callable[[Pod], str]) -> None:
    before = [_saving(picture) for picture in pictures]
    assert not any(kept_by(picture, word) for picture in pictures for word in CARRYING)
    for word in CARRYING:
        found = [kept(picture, word, saving, workload_of) for picture, saving in zip(pictures, before, strict=True)]
        nodes, money = mean([share.nodes for share in found]), mean([share.money for share in found])
        say(f"{what}: {word.value}", f"{nodes:.1%} of nodes, {money:.1%} of money", "(told, not bounded)")


def kept(picture: Snapshot, word: PodBlock, saving: int, workload_of: Callable[[Pod], str]) -> Kept:
    """Give the rule to some of the pods, and say what that keeps; `saving` is what could be saved before."""
    changed = carried(picture, word, workload_of)
    cost = sum(load().of(node).per_hour for node in picture.nodes)
    return Kept(len(kept_by(changed, word)) / len(picture.nodes), (saving - _saving(changed)) / cost)


def carried(picture: Snapshot, word: PodBlock, workload_of: Callable[[Pod], str]) -> Snapshot:
    """Return the picture in which one workload in a hundred carries the rule."""
    workloads: dict[str, list[Pod]] = defaultdict(list)
    for pod in picture.pods:
        if pod.node and not is_daemon(pod.spec):
            workloads[workload_of(pod)].append(pod)
    chosen = {pod.key for name in _drawn(workloads, word) for pod in workloads[name]}
    rows = (structs.replace(pod, spec=CARRYING[word](pod)) if pod.key in chosen else pod for pod in picture.pods)
    return replace(picture, pods=tuple(rows), storage=_with_claims(picture))


def kept_by(picture: Snapshot, word: PodBlock) -> list[str]:
    """Return the nodes with a pod that the rule keeps."""
    rows = assess_nodes(_situation(picture), SAFETY_RULES)
    return [row.node.name for row in rows if any(blocker.reason is word for blocker in row.blockers)]


def _drawn(workloads: Mapping[str, Sequence[Pod]], word: PodBlock) -> list[str]:
    """Return one in a hundred of all, of those that may carry it; what several pods share has several."""
    stateful = [name for name, pods in workloads.items() if _of_a_stateful_set(pods[0])]
    able = stateful if word in _CLAIMS and stateful else list(workloads)
    if word is PodBlock.SHARED_DISK and stateful:
        able = [name for name in able if len(workloads[name]) > 1]
    count = max(1, round(len(workloads) / ONE_IN))
    return Random(word.value).sample(sorted(able), min(count, len(able)))  # noqa: S311 - the same every time


def _of_a_stateful_set(pod: Pod) -> bool:
    return pod.spec.owner is not None and pod.spec.owner.kind == "StatefulSet"


def by_workload(pod: Pod) -> str:
    return pod.spec.workload


def by_pod(pod: Pod) -> str:
    return pod.key


def _with_claims(picture: Snapshot) -> Storage:
    """Return the picture's storage with a claim on a node's own disk, and one on a disk for one node at a time."""
    known, own = picture.storage, ("ReadWriteMany",)
    claims = (volume_claim(_LOCAL, access_modes=own), volume_claim(_SHARED))
    disks = (persistent_volume(f"pv-{_LOCAL}", kind="local", access_modes=own), persistent_volume(f"pv-{_SHARED}"))
    return replace(
        known,
        claims={**known.claims, **{claim.key: claim for claim in claims}},
        volumes={**known.volumes, **{disk.name: disk for disk in disks}},
        unread=(),
    )


def _saving(picture: Snapshot) -> int:
    return potential(_situation(picture), load()).saving


def _situation(picture: Snapshot) -> Situation:
    return Situation(picture, ClusterState(), policy())
