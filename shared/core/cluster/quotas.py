"""ResourceQuotas: whether a namespace lets in another pod like one that it has.

The API server compares what is used, as the quota's status tells it, and what the new pod asks for, with the hard
limits. A pod that ends is counted until it is gone: where a quota is used up, another comes only after that, and where
more is used than the quota allows, none comes at all. Must not know who creates pods.
Source: kubernetes, pkg/quota/v1/evaluator/core/pods.go; apiserver, pkg/admission/plugin/resourcequota.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from shared.core.cluster.containers import ContainerRequests
from shared.core.cluster.resources import CPU, MEMORY, Resources, total

COUNTS: Final = ("pods", "count/pods")
LIMITS: Final = "limits."
_MUST_BE_SAID: Final = (CPU, MEMORY)
"""What each container has to say, where a quota counts it."""


class ScopeName(StrEnum):
    """Which pods a quota is for (scopes and scopeSelector)."""

    TERMINATING = "Terminating"
    NOT_TERMINATING = "NotTerminating"
    BEST_EFFORT = "BestEffort"
    NOT_BEST_EFFORT = "NotBestEffort"
    PRIORITY_CLASS = "PriorityClass"
    CROSS_NAMESPACE_AFFINITY = "CrossNamespacePodAffinity"


@dataclass(frozen=True, slots=True)
class QuotaScope:
    """One condition; all of a quota must hold. Operator and values speak of priority classes."""

    name: str
    operator: str = "Exists"
    values: frozenset[str] = frozenset()

    def holds(self, asks: Mapping[str, int], priority_class: str) -> bool:
        """Whether a pod may be meant; what is not known of it may be."""
        empty = not any(name not in COUNTS and amount for name, amount in asks.items())
        if self.name == ScopeName.PRIORITY_CLASS:
            return self._names(priority_class)
        return {ScopeName.BEST_EFFORT.value: empty, ScopeName.NOT_BEST_EFFORT.value: not empty}.get(self.name, True)

    def _names(self, priority_class: str) -> bool:
        if self.operator == "Exists":
            return bool(priority_class)
        if self.operator == "DoesNotExist":
            return not priority_class
        return (priority_class in self.values) is (self.operator == "In")


@dataclass(frozen=True, slots=True)
class ResourceQuota:
    """One of them: by `cpu`, `memory`, an extended resource; `limits.cpu`; `pods` and `count/pods`."""

    namespace: str
    name: str
    hard: Mapping[str, int] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    scopes: tuple[QuotaScope, ...] = ()

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def counts(self, asks: Mapping[str, int], priority_class: str) -> bool:
        """Whether it counts a pod that asks for that."""
        return all(each.holds(asks, priority_class) for each in self.scopes)

    def unsaid(self, sent: ContainerRequests, limits_of: AbstractSet[str]) -> Iterator[str]:
        """Yield what a container would have to say and does not; limits are known of those that are named."""
        if sent.pod_level.amounts:
            return
        for each in sent.containers:
            for name in _MUST_BE_SAID:
                if name in self.hard and not each.requests.get(name):
                    yield f"container {each.name} has no request of {name}"
                if each.name in limits_of and LIMITS + name in self.hard and not each.limits.get(name):
                    yield f"container {each.name} has no limit of {name}"

    def over(self, asks: Mapping[str, int], freed: Mapping[str, int]) -> tuple[str, ...]:
        """Return of what too much would be used by a pod that asks for that, once `freed` is used no more."""
        return tuple(
            name
            for name, hard in sorted(self.hard.items())
            if asks.get(name, 0) and self.used.get(name, 0) - freed.get(name, 0) + asks[name] > hard
        )


def counted(requests: Resources, sent: ContainerRequests) -> Mapping[str, int]:
    """Return what quotas count of a pod with these requests; limits, as far as they are known."""
    limits = total(each.limits for each in sent.containers if each.sidecar or not each.init)
    of_limits = {LIMITS + name: amount for name, amount in limits.amounts}
    return {**dict.fromkeys(COUNTS, 1), **dict(requests.amounts), **of_limits}
