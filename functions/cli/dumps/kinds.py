"""What a dump has to hold: the one list, and the command that prints it.

Whatever a plan reads of a cluster stands here, in the words of `kubectl get`; `contents` reads exactly these kinds.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from shared.adapters.kubernetes import buffer_objects, namespace_limits, vertical_autoscalers
from shared.adapters.kubernetes.storage_lists import ALL

_SHORT: Final = {
    "persistentvolumeclaims": "pvc",
    "persistentvolumes": "pv",
    "storageclasses": "sc",
    "limitranges": "limits",
    "resourcequotas": "quota",
}
RESOURCES: Final[Mapping[str, str]] = {
    "Node": "nodes",
    "Pod": "pods",
    "PodDisruptionBudget": "pdb",
    "Namespace": "namespaces",
    "ReplicaSet": "rs",
    "Deployment": "deploy",
    "StatefulSet": "sts",
    **{each.kind: _SHORT.get(each.resource, each.resource) for each in ALL},
    **{kind: _SHORT[resource] for kind, resource in namespace_limits.KINDS.items()},
}
"""By kind: its name for `kubectl get`."""
OPTIONAL: Final[Mapping[str, str]] = {
    vertical_autoscalers.KIND: f"{vertical_autoscalers.RESOURCE}.{vertical_autoscalers.GROUP}",
    **buffer_objects.KINDS,
}
"""The same of kinds that only some clusters have, as `kubectl api-resources -o name` prints them: `kubectl get` fails
where one is not there."""

DEMAND: Final[Mapping[str, str]] = {"HorizontalPodAutoscaler": "hpa", "CronJob": "cronjobs"}
"""The same of kinds that no plan reads, and simulated days do: they say how demand will change."""


def kubectl_get(options: Sequence[str] = (), also: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the words of the command; options of kubectl, such as the context, stand before the rest.

    `also` are names of optional kinds that the cluster has.
    """
    return ("kubectl", *options, "get", ",".join((*RESOURCES.values(), *also)), "-A", "-o", "json")
