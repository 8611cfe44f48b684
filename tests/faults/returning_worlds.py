"""Small worlds in which what comes back is not what left: larger by its template or an autoscaler, or only at the end.

On the second node 480m are free, on the fourth 980m; the third is full. The little autoscaler buys nothing.
"""

from functools import cache
from typing import Any, Final

from tests.faults.worlds import STAYS, Limits, Setting, setting, workload

_BESIDE: Final = tuple(
    workload(name, [place], cpu=cpu, **STAYS) for name, place, cpu in (("b", 1, 1450), ("c", 2, 1880), ("d", 3, 950))
)
_LIMITS: Final = Limits(pool=1, ceiling=1, minimum_nodes=1, pool_minimum=0)
WITH_ROOM: Final = "an autoscaler asks for more, with room"
_SMALL: Final = {"cpu": "400m"}


def _world(name: str, *own: dict[str, Any], nodes: int = 3, **more: Any) -> Setting:
    given: dict[str, Any] = {"limits": _LIMITS, "enabled": False, **more}
    return setting(name, [*own, *_BESIDE[: nodes - 1]], nodes, **given)


def autoscaler(target: str, cpu: str, kind: str = "Deployment", **spec: Any) -> dict[str, Any]:
    rows = [{"containerName": "main", "target": {"cpu": cpu, "memory": "256Mi"}}]
    return {
        "kind": "VerticalPodAutoscaler",
        "metadata": {"name": target, "namespace": "default"},
        "spec": {"targetRef": {"apiVersion": "apps/v1", "kind": kind, "name": target}, **spec},
        "status": {"recommendation": {"containerRecommendations": rows}},
    }


def bounds(**row: Any) -> dict[str, Any]:
    rows = [{"type": "Container", **row}]
    return {"kind": "LimitRange", "metadata": {"name": "bounds", "namespace": "default"}, "spec": {"limits": rows}}


def quota(**hard: str) -> dict[str, Any]:
    """A ResourceQuota; the oracle judges by it once, so it has to say the same whatever pods are lost on the way."""
    return {"kind": "ResourceQuota", "metadata": {"name": "team", "namespace": "default"}, "spec": {"hard": hard}}


@cache
def returning_settings() -> tuple[Setting, ...]:
    """The worlds, those first in which nothing may move."""
    at_the_end: dict[str, Any] = {"controller": {"podReplacementPolicy": "TerminationComplete"}}
    plain = workload("a", [0], cpu=400)
    off: dict[str, Any] = {"updatePolicy": {"updateMode": "Off"}}
    boost: dict[str, Any] = {"startupBoost": {"cpu": {"type": "Factor", "factor": 2}}}
    held: dict[str, Any] = {
        "resourcePolicy": {"containerPolicies": [{"containerName": "*", "maxAllowed": {"cpu": "450m"}}]}
    }
    larger = (("a", {"cpu": "900m"}),)
    return (
        _world("shrunk in place", workload("a", [0], cpu=900, resized=_SMALL)),
        _world("a stateful pod shrunk in place", workload("a", [0], kind="StatefulSet", cpu=900, resized=_SMALL)),
        _world("two shrunk in place", workload("a", [0, 0], cpu=400, resized={"cpu": "200m"})),
        _world("shrunk in place, with room", workload("a", [0], cpu=900, resized=_SMALL), nodes=4),
        _world("an autoscaler asks for more", plain, manifests=(autoscaler("a", "900m"),)),
        _world("an autoscaler of a StatefulSet", workload("a", [0], kind="StatefulSet", cpu=400),
               manifests=(autoscaler("a", "900m", "StatefulSet"),)),
        _world("boosted for the start, though off", plain, manifests=(autoscaler("a", "9", **off, **boost),)),
        _world(WITH_ROOM, plain, nodes=4, manifests=(autoscaler("a", "900m"),)),
        _world("an autoscaler that does nothing", plain, manifests=(autoscaler("a", "900m", **off),)),
        _world("an autoscaler that is held", plain, manifests=(autoscaler("a", "900m", **held),)),
        _world("a webhook that nobody knows", workload("a", [0], cpu=400), webhooks=larger),
        _world("another at the end", workload("a", [0], cpu=400, shutdown=9, **at_the_end)),
        _world("a default that came later", workload("a", [0], requests={"memory": "256Mi"}),
               manifests=(bounds(defaultRequest={"cpu": "900m"}),)),
        _world("bounds that came later", plain, manifests=(bounds(min={"cpu": "500m"}),)),
        _world("a quota that was lowered", plain, manifests=(quota(pods="0"),)),
        _world("a quota that is used up", workload("a", [0], cpu=400, shutdown=9), nodes=4,
               manifests=(quota(pods="4"),)),
        _world("others at the end, in turns",
               workload("a", [0, 0], cpu=200, shutdown=6, pdb={"maxUnavailable": 1}, **at_the_end)),
    )  # fmt: skip


FULL: Final = frozenset({
    "shrunk in place", "a stateful pod shrunk in place", "two shrunk in place", "an autoscaler asks for more",
    "an autoscaler of a StatefulSet", "boosted for the start, though off", "a default that came later",
    *(NOT_LET_IN := frozenset({"bounds that came later", "a quota that was lowered"})),
})  # fmt: skip
"""Those in which nothing may move: where it would come back it does not fit."""
ON_DELETE: Final = _world("a template that replaces no pods", workload("a", [0], kind="StatefulSet", cpu=400))
"""For what its owner does to it; by itself its one pod moves."""
