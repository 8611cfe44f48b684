"""Pods may rely on what the kubelet under them can do: where kubelets differ, a pod's class says what its own can.

During an upgrade a cluster has nodes of several versions. A pod that was made on a newer one may use what an older
kubelet does not know; the scheduler sees that only of features that nodes declare. Must not judge nodes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from shared.core.cluster.kubelet import Kubelet
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass, is_daemon


def with_needed_kubelets(pods: Sequence[Pod], nodes: Iterable[Node]) -> Sequence[Pod]:
    """Return the pods; the class of each that runs where not every kubelet could run it says which is needed.

    Where all nodes are alike, as on most clusters at most times, the pods are returned as they are.
    """
    kubelets = {node.name: node.kubelet for node in nodes}
    kinds = set(kubelets.values())
    ahead = {each for each in kinds if not all(other.can_all_of(each) for other in kinds)}
    if not ahead:
        return pods
    needed = {name: kubelet for name, kubelet in kubelets.items() if kubelet in ahead}
    split: dict[tuple[PodClass, Kubelet], PodClass] = {}
    return [_needing(pod, needed[pod.node], split) if pod.node in needed and _moves(pod) else pod for pod in pods]


def _moves(pod: Pod) -> bool:
    """A DaemonSet's pod never does: its next one comes to every node that is meant, be its kubelet older."""
    return not is_daemon(pod.spec)


def _needing(pod: Pod, kubelet: Kubelet, split: dict[tuple[PodClass, Kubelet], PodClass]) -> Pod:
    if (pod.spec, kubelet) not in split:
        split[pod.spec, kubelet] = replace(pod.spec, needs_kubelet=kubelet)
    return msgspec.structs.replace(pod, spec=split[pod.spec, kubelet])
