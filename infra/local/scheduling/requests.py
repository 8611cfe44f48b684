"""What a pod asks for, summed as the scheduler sums it.

Source: k8s.io/component-helpers resource/helpers.go PodRequests: containers and sidecars together, or the highest
moment of the init containers, whichever is more; then overhead; a pod-level request replaces the sum.
"""

from infra.local.quantities import units
from infra.local.world.kinds import Json

Resources = dict[str, int]


def _requests(container: Json) -> Resources:
    asked: Json = (container.get("resources") or {}).get("requests") or {}
    return {name: units(name, value) for name, value in asked.items()}


def _add(total: Resources, more: Resources) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _raise(total: Resources, other: Resources) -> None:
    for name, value in other.items():
        total[name] = max(total.get(name, 0), value)


def pod_requests(pod: Json) -> Resources:
    """Units per resource (millicores for CPU); the pod itself is not counted here."""
    spec: Json = pod["spec"]
    total: Resources = {}
    for container in spec.get("containers") or []:
        _add(total, _requests(container))
    sidecars: Resources = {}
    peak: Resources = {}
    for container in spec.get("initContainers") or []:
        moment = dict(sidecars)
        _add(moment, _requests(container))
        _raise(peak, moment)
        if container.get("restartPolicy") == "Always":
            sidecars = moment
    _add(total, sidecars)
    _raise(total, peak)
    total |= _requests(spec)
    _add(total, {name: units(name, value) for name, value in (spec.get("overhead") or {}).items()})
    return total
