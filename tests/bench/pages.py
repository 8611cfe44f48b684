"""Pods and nodes of a large cluster as pages of JSON, made one page at a time, about 6.6 kB a pod."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from tests.adapters.objects import api_node, api_pod, container

PAGE: Final = 500
_KINDS: Final = 1500
_SIZES: Final = ((100, 128), (250, 512), (500, 1024), (250, 256), (1000, 2048), (50, 64))


def node_name(number: int) -> str:
    return f"gke-prod-pool-{number % 10}-{number:05x}"


def nodes(count: int) -> list[dict[str, Any]]:
    rows = []
    for number in range(count):
        row = api_node(node_name(number))
        row["metadata"]["labels"] = {
            "cloud.google.com/gke-nodepool": f"pool-{number % 10}",
            "kubernetes.io/hostname": node_name(number),
            "node.kubernetes.io/instance-type": "e2-standard-16",
            "topology.kubernetes.io/zone": f"europe-west4-{'abc'[number % 3]}",
        }
        row["status"]["allocatable"] = {"cpu": "15890m", "memory": "57Gi", "pods": "110"}
        rows.append(row)
    return rows


def pod_pages(nodes: int, pods: int) -> Iterator[bytes]:
    """Yield pages of a list of running pods, spread over the nodes at random, `_KINDS` kinds of them."""
    roll = Random(1)  # noqa: S311 - a world that is the same every time
    kinds = [_template(kind) for kind in range(_KINDS)]
    for first in range(0, pods, PAGE):
        items = (
            kinds[roll.randrange(_KINDS)]
            .replace(b"POD-NAME", f"web-{number:07d}".encode())
            .replace(b"NODE-NAME", node_name(roll.randrange(nodes)).encode())
            for number in range(first, min(first + PAGE, pods))
        )
        yield b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[' + b",".join(items) + b"]}"


def _template(kind: int) -> bytes:
    cpu, memory = _SIZES[kind % len(_SIZES)]
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"app-{kind}",
        "uid": f"rs-{kind}",
        "controller": True,
    }
    meta = {"name": "POD-NAME", "uid": "uid-POD-NAME", "labels": {"app": f"app-{kind}"}, "ownerReferences": [owner]}
    environment = [{"name": f"SETTING_{i}", "value": "some text that a pod carries along " * 2} for i in range(55)]
    main = container(f"{cpu}m", f"{memory}Mi", image="registry.example/app:1", env=environment)
    pod = api_pod(containers=[main], meta=meta, nodeName="NODE-NAME", schedulerName="default-scheduler")
    return json.dumps(pod).encode()
