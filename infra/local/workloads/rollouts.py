"""How many pods each ReplicaSet of a Deployment may have now, by the Deployment's strategy. Pure: numbers in and out.

Source: kubernetes pkg/controller/deployment (rolling.go) and its util (ResolveFenceposts). Not modelled:
minReadySeconds, and dealing a changed number of replicas over the sets in proportion while a rollout is under way.
"""

from dataclasses import dataclass
from math import ceil, floor

from infra.local.world.kinds import Json

Sizes = dict[str, int]
"""The wanted number of pods by the name of a ReplicaSet."""
_SHARE = "25%"


@dataclass(frozen=True)
class Bounds:
    """How many pods a Deployment wants, and how many it may have too many and too few during a rollout."""

    wanted: int
    surge: int
    unavailable: int

    @property
    def at_least(self) -> int:
        """The available pods that a rollout leaves."""
        return self.wanted - self.unavailable


def bounds_of(deployment: Json) -> Bounds:
    """Shares of the wanted pods: the surge is rounded up, what may be missing down; if both are none, one may."""
    spec: Json = deployment["spec"]
    wanted = int(spec.get("replicas", 1))
    rolling: Json = (spec.get("strategy") or {}).get("rollingUpdate") or {}
    surge = _number(rolling.get("maxSurge", _SHARE), wanted, up=True)
    unavailable = _number(rolling.get("maxUnavailable", _SHARE), wanted, up=False)
    return Bounds(wanted, surge, min(unavailable if surge or unavailable else 1, wanted))


def _number(given: int | str, wanted: int, *, up: bool) -> int:
    if not isinstance(given, str):
        return given
    share = int(given.removesuffix("%")) * wanted / 100
    return ceil(share) if up else floor(share)


def rolled(bounds: Bounds, new: str, sizes: Sizes, available: Sizes) -> Sizes:
    """The next sizes of a rolling update; `sizes` are the present ones, oldest set first, `new` names the present set.

    The new set grows within the surge; of the old ones unavailable pods go first, then what the available ones allow.
    """
    before: Sizes = {}
    while before != sizes:
        before, sizes = sizes, _grown(bounds, new, sizes)
        sizes = _shrunk(bounds, new, sizes, available)
    return sizes


def _grown(bounds: Bounds, new: str, sizes: Sizes) -> Sizes:
    room = max(bounds.wanted + bounds.surge - sum(sizes.values()), 0)
    return {**sizes, new: min(bounds.wanted, sizes[new] + room)}


def _shrunk(bounds: Bounds, new: str, sizes: Sizes, available: Sizes) -> Sizes:
    ready = {name: min(available.get(name, 0), size) for name, size in sizes.items()}
    allowed = sum(sizes.values()) - bounds.at_least - (sizes[new] - ready[new])
    if allowed <= 0:
        return sizes
    old = {name: size for name, size in sizes.items() if name != new}
    old = _less(old, {name: size - ready[name] for name, size in old.items()}, allowed)
    return {**_less(old, old, sum(ready.values()) - bounds.at_least), new: sizes[new]}


def _less(sizes: Sizes, may_go: Sizes, limit: int) -> Sizes:
    """The sizes without `limit` pods of those that may go, taken from the first sets."""
    left: Sizes = {}
    for name, size in sizes.items():
        taken = min(may_go[name], max(limit, 0))
        left[name], limit = size - taken, limit - taken
    return left
