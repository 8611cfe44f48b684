"""What the replacement of a pod is like, if that is not as the pod is here (docs/decisions/returns.md).

`Pod.booked` is what a pod takes where it runs, `PodClass.requests` what it needs elsewhere: for each resource the
highest of pod, template and recommendation. An autoscaler writes its target unless its mode is Off, a boost always.
Source: kubernetes/autoscaler, vertical-pod-autoscaler/pkg/admission-controller/resource/pod; AEP-7862 for the boost.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from msgspec import structs

from shared.core.cluster.names import Namespaced
from shared.core.cluster.namespace_limits import NO_LIMITS, NamespaceLimits, Replacement
from shared.core.cluster.pod import Pod, PodClass, cron_job_of, is_daemon, is_mirror
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import CPU, MEMORY, NOTHING, Resources
from shared.core.cluster.templates import Making, as_made, label_keys, making_of
from shared.core.cluster.workloads import UNKNOWN, Workload

ANY_CONTAINER: Final = "*"
CONTROLLED: Final = frozenset({CPU, MEMORY})  # What is controlled by default.
_BELOW_LIMIT: Final = 1  # Millicores by which a boosted request stays below a limit that does not move with it.


@dataclass(frozen=True, slots=True)
class StartupBoost:
    factor: int = 1
    more: int = 0

    def of(self, cpu: int) -> int:
        return cpu * self.factor + self.more


@dataclass(frozen=True, slots=True)
class ContainerPolicy:
    """What the autoscaler may do to a container (resourcePolicy.containerPolicies)."""

    scaled: bool = True  # False: its mode is Off.
    least: Resources = NOTHING
    most: Resources = NOTHING
    controlled: frozenset[str] = CONTROLLED
    below_limits: bool = False  # Whether limits stay as they are (RequestsOnly), so that a request ends at them.
    boost: StartupBoost | None = None


@dataclass(frozen=True, slots=True)
class VerticalAutoscaler(Namespaced):
    target: str  # The controller that it is for, as `namespace/kind/name`.
    acts: bool = True  # False: its mode is Off. It recommends then, and writes nothing but a boost.
    recommended: Mapping[str, Resources] = field(default_factory=dict)  # The target of each container, by name.
    policies: Mapping[str, ContainerPolicy] = field(default_factory=dict)  # By container; `*` is for the others.
    boost: StartupBoost | None = None

    def written_into(self, container: Container) -> Container:
        """Return a container of a template as it may come back: with the higher of template and recommendation."""
        # The API server admits a pod unchanged while the webhook does not answer: hence the higher.
        policy = self._policy(container)
        if container.init or not policy.scaled:
            return container
        target = self._recommended_for(container, policy) if self.acts else NOTHING
        written = target.largest(Resources.of({CPU: self._boosted_cpu(container, target, policy)}))
        return replace(container, requests=container.requests.largest(written))

    def _recommended_for(self, container: Container, policy: ContainerPolicy) -> Resources:
        """Return what it recommends for a container: of what it controls, within its policy."""
        given = self.recommended.get(container.name, NOTHING).amounts
        return Resources.of({name: _clamp_amount(name, value, container, policy) for name, value in given
                             if name in policy.controlled})  # fmt: skip

    def _policy(self, container: Container) -> ContainerPolicy:
        return self.policies.get(container.name) or self.policies.get(ANY_CONTAINER) or ContainerPolicy()

    def _boosted_cpu(self, container: Container, target: Resources, policy: ContainerPolicy) -> int:
        boost, limit = policy.boost or self.boost, container.limits.cpu
        if boost is None:
            return 0
        cpu = boost.of(target.cpu or container.requests.cpu)
        return limit - _BELOW_LIMIT if policy.below_limits and 0 < limit < cpu else cpu


@dataclass(frozen=True)
class VerticalAutoscalers:
    """All autoscalers of a cluster. `unread` is their list if it exists and we may not read it."""

    found: tuple[VerticalAutoscaler, ...] = ()
    unread: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    """Those of an unknown shape, a sentence each without its full stop: what they write is not known."""


NO_AUTOSCALERS: Final = VerticalAutoscalers()


def _clamp_amount(name: str, value: int, container: Container, policy: ContainerPolicy) -> int:
    """Hold an amount within what the policy allows: the least first, then the most, which wins."""
    caps = [policy.most.get(name), container.limits.get(name) if policy.below_limits else 0]
    return min([max(value, policy.least.get(name)), *(cap for cap in caps if cap)])


def targets_of(spec: PodClass, workload: Workload) -> tuple[str, ...]:
    """Return what an autoscaler of these pods may have as its target: their controller, or the controller's own one."""
    return tuple(dict.fromkeys(filter(None, (spec.workload, workload.name, workload.owner, cron_job_of(spec)))))


def as_they_return(
    pods: Iterable[Pod],
    workloads: Mapping[str, Workload],
    autoscalers: Iterable[VerticalAutoscaler] = (),
    limits: NamespaceLimits = NO_LIMITS,
) -> tuple[Pod, ...]:
    """Return the pods, each with what it takes here, and with what it needs and the rules that it has elsewhere."""
    # A pod without a node is as its controller made it: the scheduler will book just that.
    given = tuple(pods)
    returning = _Returning(given, workloads, autoscalers, limits)
    return tuple(returning.pod(pod) if pod.node else pod for pod in given)


class _Returning:
    """The replacements by class of pods; pods of one class stay of one class."""

    def __init__(
        self,
        pods: Collection[Pod],
        workloads: Mapping[str, Workload],
        autoscalers: Iterable[VerticalAutoscaler],
        limits: NamespaceLimits,
    ) -> None:
        self._pods = pods
        self._workloads = workloads
        self._limits = cache(limits.within)
        self._autoscalers: dict[str, list[VerticalAutoscaler]] = {}
        for autoscaler in autoscalers:
            self._autoscalers.setdefault(autoscaler.target, []).append(autoscaler)
        self._classes: dict[tuple[PodClass, Resources | None], PodClass] = {}
        self._keys: frozenset[str] | None = None

    def pod(self, pod: Pod) -> Pod:
        kind = pod.spec, pod.booked
        if kind not in self._classes:
            self._classes[kind] = self._class(*kind)
        spec = self._classes[kind]
        return pod if spec is pod.spec else structs.replace(pod, spec=spec, booked=pod.requests)

    def _class(self, spec: PodClass, booked: Resources | None) -> PodClass:
        if is_daemon(spec) or is_mirror(spec) or spec.owner is None:
            return spec
        workload = self._workloads.get(spec.workload, UNKNOWN)
        limits, making = self._limits(spec.namespace), making_of(spec, workload)
        ruled, made = as_made(spec, making, self._selected_by), self._replacement(spec, booked, workload, making)
        refused_by, late = tuple(limits.refuses(made)), workload.replaced_at_end or limits.delays(made)
        if made.needs == spec.requests and not late and not refused_by:
            return ruled
        return replace(
            ruled, requests=made.needs, raised_by=made.raised_by, replaced_at_end=late, refused_by=refused_by
        )

    def _selected_by(self) -> frozenset[str]:
        if self._keys is None:
            templates = (template for workload in self._workloads.values() for template in workload.templates)
            self._keys = label_keys((*{pod.spec for pod in self._pods}, *templates))
        return self._keys

    def _replacement(self, spec: PodClass, booked: Resources | None, workload: Workload, making: Making) -> Replacement:
        own, asked, limits = spec.asks or ContainerRequests(), making.asks, self._limits(spec.namespace)
        template = asked or own
        sent = written = limits.with_defaults_of_ranges(template.with_missing(own))
        made = own.highest(template)
        rows = [(made.total, f"the template of {workload.name or spec.workload}")]
        if limits.ranges:
            made = made.highest(sent)
            rows.append((made.total, " and ".join(f"LimitRange {limit_range.key}" for limit_range in limits.ranges)))
        mine = (autoscaler for target in targets_of(spec, workload) for autoscaler in self._autoscalers.get(target, ()))
        for autoscaler in mine:
            made, written = made.with_changed(autoscaler.written_into), written.with_changed(autoscaler.written_into)
            rows.append((made.total, f"VerticalPodAutoscaler {autoscaler.key}"))
        rows.append((booked or NOTHING, "a resize in place that its node has not ended"))
        needs, raised_by = _raised(spec.requests, rows)
        limits_of = frozenset(container.name for container in asked.containers) if asked else frozenset[str]()
        takes, priority_class = booked or spec.requests, making.priority_class(spec)
        return Replacement(sent, written, needs, takes, priority_class, limits_of, raised_by)


def _raised(needs: Resources, rows: Iterable[tuple[Resources, str]]) -> tuple[Resources, tuple[str, ...]]:
    """Return the highest of all amounts, and by which of them, in their order, it grew."""
    raised_by: list[str] = []
    for amount, by in rows:
        if (more := needs.largest(amount)) != needs:
            needs = more
            raised_by.append(by)
    return needs, tuple(raised_by)
