"""A VerticalPodAutoscaler: what it writes into the requests of a pod that is made anew.

Its webhook writes its target into every new pod unless its mode is Off, held within what its policy for the container
allows; a boost for the start is added in every mode. It is taken at its word at the moment of the reading: what it
will recommend later nobody knows, and a namespace's LimitRange, which may cap it, is not read. Must not know pods.
Source: kubernetes/autoscaler, vertical-pod-autoscaler/pkg/admission-controller/resource/pod (patch,
recommendation_provider), pkg/utils/vpa/capping.go; AEP-7862 for the boost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from shared.core.cluster.containers import Container
from shared.core.cluster.resources import CPU, MEMORY, NOTHING, Resources

ANY_CONTAINER: Final = "*"
CONTROLLED: Final = frozenset({CPU, MEMORY})
"""What is controlled where a policy does not say."""
_BELOW_LIMIT: Final = 1
"""Millicores by which a boosted request stays below a limit that does not move with it."""


@dataclass(frozen=True, slots=True)
class StartupBoost:
    """More CPU while the pod starts: so many times its request, and so many millicores more."""

    factor: int = 1
    more: int = 0

    def of(self, cpu: int) -> int:
        return cpu * self.factor + self.more


@dataclass(frozen=True, slots=True)
class ContainerPolicy:
    """What the autoscaler may do to a container (resourcePolicy.containerPolicies)."""

    scaled: bool = True
    """False: its mode is Off."""
    least: Resources = NOTHING
    most: Resources = NOTHING
    controlled: frozenset[str] = CONTROLLED
    below_limits: bool = False
    """Whether limits stay as they are (RequestsOnly), so that a request ends at them."""
    boost: StartupBoost | None = None


_DEFAULT: Final = ContainerPolicy()


@dataclass(frozen=True, slots=True)
class VerticalAutoscaler:
    """One of them."""

    namespace: str
    name: str
    target: str
    """The controller that it is for, as `namespace/kind/name`."""
    acts: bool = True
    """False: its mode is Off. It recommends then, and writes nothing but a boost."""
    recommended: Mapping[str, Resources] = field(default_factory=dict)
    """The target of each container, by name."""
    policies: Mapping[str, ContainerPolicy] = field(default_factory=dict)
    """By the container's name; `*` is for all that are not named."""
    boost: StartupBoost | None = None

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def written_into(self, container: Container) -> Container:
        """Return a container of a template as it may come back: what stands there counts, too, where it is higher.

        For the API server lets a pod through unchanged while the webhook does not answer.
        """
        policy = self.policies.get(container.name) or self.policies.get(ANY_CONTAINER) or _DEFAULT
        if container.init or not policy.scaled:
            return container
        target = self._target(container, policy)
        written = target.largest(Resources.of({CPU: self._boosted(container, target, policy)}))
        return replace(container, requests=container.requests.largest(written))

    def _target(self, container: Container, policy: ContainerPolicy) -> Resources:
        if not self.acts:
            return NOTHING
        given = self.recommended.get(container.name, NOTHING).amounts
        return Resources.of({name: _held(name, value, container, policy) for name, value in given
                             if name in policy.controlled})  # fmt: skip

    def _boosted(self, container: Container, target: Resources, policy: ContainerPolicy) -> int:
        boost, limit = policy.boost or self.boost, container.limits.cpu
        if boost is None:
            return 0
        cpu = boost.of(target.cpu or container.requests.cpu)
        return limit - _BELOW_LIMIT if policy.below_limits and 0 < limit < cpu else cpu


@dataclass(frozen=True)
class VerticalAutoscalers:
    """All of a cluster. `unread` is their list where it exists and we may not read it."""

    found: tuple[VerticalAutoscaler, ...] = ()
    unread: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    """Those that are not of the known shape, a sentence each without its full stop: what they write is not known."""


NO_AUTOSCALERS: Final = VerticalAutoscalers()


def _held(name: str, value: int, container: Container, policy: ContainerPolicy) -> int:
    """Hold an amount within what the policy allows: the least first, then the most, which wins."""
    caps = [policy.most.get(name), container.limits.get(name) if policy.below_limits else 0]
    return min([max(value, policy.least.get(name)), *(cap for cap in caps if cap)])
