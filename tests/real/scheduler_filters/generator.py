"""Clusters as the API prints them, drawn from a seed: all that a rule reads, in valid values that differ by little."""

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.real.scheduler_filters.program import Cluster, Manifest
from tests.real.scheduler_filters.storage_generator import ZONE, StorageGenerator

CREATED = "2026-03-04T21:00:00Z"
HOSTNAME = "kubernetes.io/hostname"
RACK = "example.com/rack"
STORAGE_SEEDS = 1_000_000_000
"""Storage is drawn by itself, so that it changes nothing else of a cluster."""
APPS = ("red", "green", "blue")
NAMESPACES = {"default": {"team": "a"}, "other": {"team": "b"}, "third": {"team": "a", "tier": "x"}}
NUMBERS = ("1", "2", "10", "007", "1_0", "0x10", "9223372036854775807", "9223372036854775808", "x5")
TAINTS = (
    {"key": "gpu", "effect": "NoSchedule"},
    {"key": "gpu", "value": "big", "effect": "NoSchedule"},
    {"key": "spot", "value": "true", "effect": "NoExecute"},
    {"key": "soft", "effect": "PreferNoSchedule"},
)
TOLERATIONS: tuple[Manifest, ...] = (
    {"key": "gpu", "operator": "Exists"},
    {"key": "gpu"},
    {"key": "gpu", "value": "big", "effect": "NoSchedule"},
    {"key": "gpu", "operator": "Exists", "effect": "NoExecute"},
    {"key": "spot", "operator": "Equal", "value": "true"},
    {"operator": "Exists", "effect": "NoExecute"},
    {"operator": "Exists"},
)
UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
GOING = {"key": "ToBeDeletedByClusterAutoscaler", "value": "1", "effect": "NoSchedule"}


class Generator:
    """Draws parts of one cluster; equal seeds give equal clusters."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = Random(seed)  # noqa: S311 - a test's data

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def one(self, *values: Any) -> Any:
        return self._random.choice(values)

    def some(self, most: int, *values: Any) -> list[Any]:
        return self._random.sample(values, self._random.randint(1, min(most, len(values))))

    def cluster(self, nodes: int, pods: int, *, rejecting: float, attracted: float, stored: float = 0) -> Cluster:
        """Return a cluster whose pods lie anywhere, with shares that have anti-affinity, affinity and volumes."""
        rows = [self.node(f"n{place:02}") for place in range(nodes)]
        names = [self.one(*rows)["metadata"]["name"] for _ in range(pods)]
        bound = [
            self.pod(f"bound-{place:03}", rejecting=rejecting, attracted=attracted, on=name)
            for place, name in enumerate(names)
        ]
        self.storage = StorageGenerator(Generator(STORAGE_SEEDS + self._seed), rows)
        for pod in bound:
            self.storage.give(pod, stored)
        spaces = [{"metadata": {"name": name, "labels": labels}} for name, labels in NAMESPACES.items()]
        return Cluster(rows, spaces, bound, **self.storage.parts())

    def node(self, name: str) -> Manifest:
        labels = {"cloud.google.com/gke-nodepool": self.one("a", "b")}
        optional = {HOSTNAME: name, ZONE: self.one("a", "b", "c"), RACK: self.one("1", "2")}
        labels |= {key: value for key, value in optional.items() if self.chance(0.95)}
        labels |= {"disk": self.one("ssd", "hdd")} if self.chance(0.5) else {}
        labels |= {"generation": self.one(*NUMBERS)} if self.chance(0.7) else {}
        taints = [dict(each) for each in TAINTS if self.chance(0.07)]
        cordoned, ready, going = self.chance(0.04), not self.chance(0.03), self.chance(0.02)
        taints += [UNSCHEDULABLE] * cordoned + [NOT_READY] * (not ready) + [GOING] * going
        allocatable = {
            "cpu": self.one("3920m", "2", "8", "0.5"),
            "memory": self.one("13Gi", "4000000Ki", "28G"),
            "ephemeral-storage": self.one("50Gi", "10Gi"),
            "pods": self.one("110", "110", "4"),
            **({"nvidia.com/gpu": "2"} if self.chance(0.2) else {}),
        }
        return {
            "metadata": {"name": name, "uid": name, "creationTimestamp": CREATED, "labels": labels},
            "spec": {"taints": taints, "unschedulable": cordoned},
            "status": {
                "allocatable": allocatable,
                "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": CREATED}],
            },
        }

    def pod(self, name: str, *, rejecting: float, attracted: float, on: str = "") -> Manifest:
        """Return a pod with rules that Ebb models, anti-affinity and affinity between pods with those chances."""
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web", "controller": True}
        spec: Manifest = {
            **({"nodeName": on} if on else {}),
            "containers": [self.container(f"c{place}") for place in range(self.one(1, 1, 2))],
            "tolerations": self.some(2, *TOLERATIONS[: self.one(5, 5, 5, 6, 7)]) if self.chance(0.5) else [],
            "priority": self.one(0, 0, 1000, -10),
        }
        if self.chance(0.2):
            spec["containers"][-1]["ports"] = [self.host_port() for _ in range(self.one(1, 1, 2))]
        self.add_resources(spec)
        self.add_node_rules(spec)
        if self.chance(0.3):
            keys = self.one((HOSTNAME,), (ZONE,), (ZONE, HOSTNAME), (ZONE, RACK))
            spec["topologySpreadConstraints"] = [self.spread(key) for key in keys]
        labels = {"app": self.one(*APPS), **({"tier": self.one("x", "y")} if self.chance(0.4) else {})}
        labels |= {"hash": self.one("1", "2")} if self.chance(0.5) else {}
        if self.chance(rejecting):
            self.require(spec, "podAntiAffinity", [self.pod_term(labels) for _ in range(self.one(1, 1, 2))])
        if self.chance(attracted):
            self.require(spec, "podAffinity", [self.pod_term(labels) for _ in range(self.one(1, 1, 2))])
        meta = {"name": name, "namespace": self.one(*NAMESPACES), "uid": name, "creationTimestamp": CREATED}
        return {"metadata": meta | {"labels": labels, "ownerReferences": [owner]}, "spec": spec}

    def replica_sets(self) -> list[Manifest]:
        """Return the controllers of all pods; the first container of their templates may ask for more than it has."""
        rows = []
        for namespace in NAMESPACES:
            spec: Manifest = {"containers": [self.container("c0")]}
            meta = {"name": "web", "namespace": namespace, "uid": "web"}
            rows.append({"metadata": meta, "spec": {"replicas": 9, "template": {"spec": spec}}})
        return rows

    def spread(self, key: str) -> Manifest:
        optional = {
            "minDomains": self.one(1, 2, 3, 4),
            "matchLabelKeys": self.one(["app"], ["app", "tier"], ["nokey"]),
            "nodeAffinityPolicy": self.one("Honor", "Ignore"),
            "nodeTaintsPolicy": self.one("Honor", "Honor", "Ignore"),
            "labelSelector": self.one({}, *[self.label_selector() for _ in range(9)]),
        }
        given = {
            field: value for field, value in optional.items() if self.chance(0.95 if field == "labelSelector" else 0.5)
        }
        return {"maxSkew": self.one(1, 1, 2, 3), "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", **given}

    def container(self, name: str) -> Manifest:
        requests: Manifest = {}
        if self.chance(0.9):
            requests["cpu"] = self.one("100m", "0.25", "1", "0", "1001m")
        if self.chance(0.9):
            requests["memory"] = self.one("128Mi", "1G", "1500Mi", "1073741825", "4Gi")
        if self.chance(0.1):
            requests["ephemeral-storage"] = self.one("1Gi", "9Gi")
        if self.chance(0.05):
            requests["nvidia.com/gpu"] = "1"
        return {"name": name, "image": "x", "resources": {"requests": requests, "limits": {}}}

    def host_port(self) -> Manifest:
        number = self.one(80, 443)
        address = self.one({}, {}, {"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.2"}, {"hostIP": "0.0.0.0"})
        return {"containerPort": number, "hostPort": number, "protocol": self.one("TCP", "TCP", "UDP"), **address}

    def add_resources(self, spec: Manifest) -> None:
        if self.chance(0.2):
            spec["initContainers"] = [self.container("init")]
        if self.chance(0.1):
            sidecar = self.container("sidecar") | {"restartPolicy": "Always"}
            spec["initContainers"] = [*spec.get("initContainers", []), sidecar][:: self.one(1, -1)]
        if self.chance(0.1):
            spec["overhead"] = {"cpu": "50m", "memory": "64Mi"}
        if self.chance(0.1):
            spec["resources"] = {"requests": {"cpu": "2500m", "memory": "9Gi"}}

    def add_node_rules(self, spec: Manifest) -> None:
        if self.chance(0.15):
            spec["nodeSelector"] = self.one({"disk": "ssd"}, {ZONE: "a"}, {ZONE: "b", "disk": "hdd"})
        if self.chance(0.4):
            terms = [self.node_term() for _ in range(self.one(1, 1, 2))]
            required = {"nodeSelectorTerms": terms}
            spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}

    def node_term(self) -> Manifest:
        if self.chance(0.05):
            return {}
        term: Manifest = {"matchExpressions": [self.expression() for _ in range(self.one(1, 1, 2))]}
        if self.chance(0.1):
            term["matchFields"] = [{"key": "metadata.name", "operator": "NotIn", "values": [self.one("n03", "n11")]}]
        return term

    def expression(self) -> Manifest:
        match self.one("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gt", "Lt"):
            case "In" | "NotIn" as operator:
                key, values = self.one((ZONE, ["a", "b"]), ("disk", ["ssd"]), ("generation", ["1", "10"]))
                return {"key": key, "operator": operator, "values": self.some(2, *values)}
            case "Exists" | "DoesNotExist" as operator:
                return {"key": self.one("disk", "generation", ZONE, HOSTNAME), "operator": operator}
            case operator:
                bound = self.one("0", "5", "-3", "+1", *NUMBERS)
                return {"key": self.one("generation", "generation", "disk"), "operator": operator, "values": [bound]}

    def pod_term(self, labels: Mapping[str, str]) -> Manifest:
        term: Manifest = {"topologyKey": self.one(HOSTNAME, HOSTNAME, ZONE, RACK)}
        if self.chance(0.9):
            term["labelSelector"] = self.label_selector()
            if self.chance(0.2):
                self.add_label_keys(term, labels)
        if self.chance(0.3):
            term["namespaces"] = self.some(2, *NAMESPACES)
        if self.chance(0.4):
            term["namespaceSelector"] = self.one({}, {"matchLabels": {"team": "a"}}, {"matchLabels": {"team": "none"}})
        return term

    def add_label_keys(self, term: Manifest, labels: Mapping[str, str]) -> None:
        """Name a label of the pod's own; the API server writes its value into the selector when it creates the pod."""
        field, operator = self.one(("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        term[field] = ["hash"]
        if "hash" in labels:
            expression = {"key": "hash", "operator": operator, "values": [labels["hash"]]}
            term["labelSelector"].setdefault("matchExpressions", []).append(expression)

    def label_selector(self) -> Manifest:
        expression = {"key": "app", "operator": self.one("In", "NotIn"), "values": self.some(2, *APPS)}
        selectors: list[Manifest] = [
            {"matchLabels": {"app": self.one(*APPS)}},
            {"matchLabels": {"app": self.one(*APPS), "tier": "x"}},
            {"matchExpressions": [expression]},
            {"matchExpressions": [{"key": "tier", "operator": self.one("Exists", "DoesNotExist")}]},
        ]
        return self._random.choice(selectors)

    def require(self, spec: Manifest, kind: str, terms: list[Manifest]) -> None:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        spec["affinity"] = {**spec.get("affinity", {}), kind: required}
