"""Pods and nodes of a large cluster as pages of JSON, made one page at a time, about 6.6 kB a pod."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from tests.adapters.objects import CREATED, api_node, api_pod, container

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
    """A pod as the API prints it without managedFields: two containers with probes, mounts and statuses."""
    cpu, memory = _SIZES[kind % len(_SIZES)]
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"app-{kind}",
        "uid": f"rs-{kind}",
        "controller": True,
    }
    labels = {"app": f"app-{kind}", "pod-template-hash": "5d4f8b9c77", "app.kubernetes.io/part-of": "shop"}
    meta = {"name": "POD-NAME", "uid": "uid-POD-NAME", "labels": labels, "ownerReferences": [owner]}
    containers = [full_container("app", f"{cpu}m", f"{memory}Mi"), full_container("proxy", "10m", "32Mi")]
    return json.dumps(full_pod(meta, containers)).encode()


def full_pod(meta: dict[str, Any], containers: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    """Return a running pod with all that the API prints of it; its node is `NODE-NAME`."""
    gone = [{"key": f"node.kubernetes.io/{why}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for why in ("not-ready", "unreachable")]  # fmt: skip
    status = {
        "conditions": [_condition(name) for name in ("Initialized", "Ready", "ContainersReady", "PodScheduled")],
        "containerStatuses": [_status("app"), _status("proxy")],
        "podIPs": [{"ip": "10.0.0.7"}],
        "hostIP": "10.132.0.9",
        "qosClass": "Burstable",
        "startTime": CREATED,
    }
    whole: dict[str, Any] = {
        "tolerations": gone,
        "serviceAccountName": "default",
        "dnsPolicy": "ClusterFirst",
        **spec,
        "volumes": [_TOKEN, *spec.get("volumes", [])],
    }
    return api_pod(containers=containers, meta=meta, status=status, nodeName="NODE-NAME", **whole)


_MOUNT: Final = {"name": "kube-api-access-x7k2p", "mountPath": "/var/run/secrets/kubernetes.io", "readOnly": True}
_TOKEN: Final = {
    "name": "kube-api-access-x7k2p",
    "projected": {
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
        ],
    },
}


def full_container(name: str, cpu: str, memory: str, **changes: Any) -> dict[str, Any]:
    settings = [{"name": f"SETTING_{i}", "value": "a text that a pod carries along"} for i in range(12)]
    fields = [{"name": f"FIELD_{i}", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}} for i in range(3)]
    probe = {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1}
    return container(
        cpu,
        memory,
        name=name,
        image="registry.example/shop/app:1.2.3",
        env=[*settings, *fields],
        livenessProbe=probe,
        readinessProbe=probe,
        volumeMounts=[_MOUNT],
        securityContext={"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True},
        **{"ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}], **changes},
    )


def _condition(name: str) -> dict[str, str]:
    return {"type": name, "status": "True", "lastProbeTime": CREATED, "lastTransitionTime": CREATED}


def _status(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "ready": True,
        "started": True,
        "restartCount": 0,
        "image": "registry.example/shop/app:1.2.3",
        "imageID": f"registry.example/shop/app@sha256:{'0' * 64}",
        "containerID": f"containerd://{'0' * 64}",
        "state": {"running": {"startedAt": CREATED}},
        "lastState": {},
    }
