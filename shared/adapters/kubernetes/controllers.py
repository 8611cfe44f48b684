"""The reads of ReplicaSets, Deployments and StatefulSets: all of them in pages, or a few by their names."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from shared.adapters.kubernetes import controller_wire, wire
from shared.adapters.kubernetes.client import Call, KubernetesClient, readable, segment
from shared.adapters.kubernetes.workloads import (
    REPLICA_SET,
    STATEFUL_SET,
    by_key,
    owner,
    replica_set,
    stateful_set,
    workloads,
)
from shared.core.cluster.workloads import Workload
from shared.errors import Gone

_page: Final = msgspec.json.Decoder(wire.Page[controller_wire.Controller])
_one: Final = msgspec.json.Decoder(controller_wire.Controller)

_KINDS: Final = frozenset({REPLICA_SET, STATEFUL_SET})
MOST_SINGLY: Final = 10
"""More are listed: a ReplicaSet and its Deployment are two calls, and a list of a namespace three for all of them."""
MOST_NAMESPACES: Final = 3
"""More are listed together."""


class Controllers:
    """The controllers of one cluster."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    def all(self, namespace: str = "") -> Mapping[str, Workload]:
        """List all of them, or those of one namespace.

        ReplicaSets first: what a Deployment says after that is at least as new.
        """
        sets = self._listed("replicasets", namespace)
        return workloads(sets, by_key(self._listed("deployments", namespace)), self._listed("statefulsets", namespace))

    def of(self, controllers: Iterable[str]) -> Mapping[str, Workload]:
        """Read those named `namespace/kind/name`; what is not there, or of another kind, is left out.

        Few are read one by one; many as lists, of their namespaces where these are few, and then all that is in them.
        """
        asked = [controller for controller in dict.fromkeys(controllers) if _kind(controller) in _KINDS]
        namespaces = sorted({controller.partition("/")[0] for controller in asked})
        if len(asked) <= MOST_SINGLY:
            found = {controller: self._one(controller) for controller in asked}
            return {controller: read for controller, read in found.items() if read is not None}
        if len(namespaces) > MOST_NAMESPACES:
            return self.all()
        return {name: read for namespace in namespaces for name, read in self.all(namespace).items()}

    def _one(self, controller: str) -> Workload | None:
        namespace, kind, name = controller.split("/", 2)
        return self._replica_set(namespace, name) if kind == REPLICA_SET else self._stateful_set(namespace, name)

    def _replica_set(self, namespace: str, name: str) -> Workload | None:
        found = self._get("replicasets", namespace, name)
        if found is None:
            return None
        deployment = owner(found)
        return replica_set(found, self._get("deployments", namespace, deployment) if deployment else None)

    def _stateful_set(self, namespace: str, name: str) -> Workload | None:
        found = self._get("statefulsets", namespace, name)
        return stateful_set(found) if found else None

    def _get(self, plural: str, namespace: str, name: str) -> controller_wire.Controller | None:
        path = f"/apis/apps/v1/namespaces/{segment(namespace)}/{plural}/{segment(name)}"
        call = Call("get", plural, path)
        try:
            body = self._client.ask(call)
        except Gone:
            return None
        with readable(call):
            return _one.decode(body)

    def _listed(self, plural: str, namespace: str) -> tuple[controller_wire.Controller, ...]:
        within = f"namespaces/{segment(namespace)}/" if namespace else ""
        return self._client.read_list(Call("list", plural, f"/apis/apps/v1/{within}{plural}"), _page, _read)


def _kind(controller: str) -> str:
    return controller.split("/", 2)[1] if controller.count("/") > 1 else ""


def _read(items: Iterator[controller_wire.Controller]) -> tuple[controller_wire.Controller, ...]:
    """Leave out what has no pods: a Deployment keeps ten old ReplicaSets at zero."""
    return tuple(each for each in items if each.spec.replicas != 0 or each.status.replicas)
