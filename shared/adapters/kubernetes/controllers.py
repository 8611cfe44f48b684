"""The reads of ReplicaSets, Deployments and StatefulSets: all of them in pages, or a few by their names.

Must not know what they mean: that is `workloads`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from shared.adapters.kubernetes import wire
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
from shared.core.workloads import Workload
from shared.errors import Gone

_page: Final = msgspec.json.Decoder(wire.Page[wire.Controller])
_one: Final = msgspec.json.Decoder(wire.Controller)


class Controllers:
    """The controllers of one cluster."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    def all(self) -> Mapping[str, Workload]:
        """List all of them. ReplicaSets first: what a Deployment says after that is at least as new."""
        sets = self._listed("replicasets")
        return workloads(sets, by_key(self._listed("deployments")), self._listed("statefulsets"))

    def of(self, controllers: Iterable[str]) -> Mapping[str, Workload]:
        """Read those named `namespace/kind/name`, each once; what is not there, or of another kind, is left out."""
        readers = {REPLICA_SET: self._replica_set, STATEFUL_SET: self._stateful_set}
        found: dict[str, Workload] = {}
        for controller in dict.fromkeys(controllers):
            namespace, _, rest = controller.partition("/")
            kind, _, name = rest.partition("/")
            reader = readers.get(kind)
            read = reader(namespace, name) if reader else None
            if read is not None:
                found[controller] = read
        return found

    def _replica_set(self, namespace: str, name: str) -> Workload | None:
        found = self._get("replicasets", namespace, name)
        if found is None:
            return None
        deployment = owner(found)
        return replica_set(found, self._get("deployments", namespace, deployment) if deployment else None)

    def _stateful_set(self, namespace: str, name: str) -> Workload | None:
        found = self._get("statefulsets", namespace, name)
        return stateful_set(found) if found else None

    def _get(self, plural: str, namespace: str, name: str) -> wire.Controller | None:
        path = f"/apis/apps/v1/namespaces/{segment(namespace)}/{plural}/{segment(name)}"
        call = Call("get", plural, path)
        try:
            body = self._client.ask(call)
        except Gone:
            return None
        with readable(call):
            return _one.decode(body)

    def _listed(self, plural: str) -> tuple[wire.Controller, ...]:
        return self._client.listed(Call("list", plural, f"/apis/apps/v1/{plural}"), _page, _read)


def _read(items: Iterator[wire.Controller]) -> tuple[wire.Controller, ...]:
    """Leave out what has no pods: a Deployment keeps ten old ReplicaSets at zero."""
    return tuple(each for each in items if each.spec.replicas != 0 or each.status.replicas)
