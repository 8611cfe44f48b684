"""Pods of one name in two namespaces are two, however the cluster is read."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from functions.cli.dumps import read_dump
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.rules.utilization import usage
from tests.adapters.access import access_to, no_wait
from tests.adapters.objects import api_node, api_pod, container
from tests.adapters.scripted import Say, scripted
from tests.cli.dumps.test_reading import a_node, a_pod, listed, write

Read = tuple[Sequence[Node], Sequence[Pod]]
Items = Sequence[dict[str, Any]]


def twins() -> Items:
    """`redis-0` of two namespaces, a quarter of the node each."""
    quarter = [container("980m", "3328Mi")]
    return [api_pod("redis-0", containers=quarter, meta={"namespace": word, "uid": word}) for word in ("shop", "bank")]


def from_a_dump(folder: Path) -> Read:
    reading, _ = read_dump([write(folder / "all.json", listed(a_node(), *({**a_pod(), **twin} for twin in twins())))])
    return reading.nodes, reading.pods


def from_the_api(_: Path) -> Read:
    with scripted() as api:
        pages = [[api_node()], twins(), [], [], [], [], []]
        api.says(*(Say(body={"kind": "List", "metadata": {}, "items": list(page)}) for page in pages))
        reading = KubernetesCluster(KubernetesClient(access_to(api.address), sleep=no_wait)).read()
        return reading.nodes, reading.pods


@pytest.mark.acceptance(21)
@pytest.mark.parametrize("read", [from_a_dump, from_the_api])
def test_same_named_pods_of_two_namespaces_both_count(read: Callable[[Path], Read], tmp_path: Path) -> None:
    (node,), pods = read(tmp_path)

    used = usage(node, pods)

    assert used is not None
    assert (used.cpu, used.memory) == (Fraction(1, 2), Fraction(1, 2))
    assert sorted(pod.key for pod in pods) == ["bank/redis-0", "shop/redis-0"]
