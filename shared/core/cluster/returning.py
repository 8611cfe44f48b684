"""What a pod asks for when it comes back, where that is more than what it has here (docs/decisions/returns.md).

An evicted pod is not moved: its controller makes another from its template, its namespace and a VerticalPodAutoscaler
write into that, and the scheduler books the result. So a pod has two amounts: what it takes where it runs
(`Pod.booked`), and what it needs elsewhere (`PodClass.requests`), which is the highest of the running pod, the
template and the recommendation, resource by resource. Here both are put into the pods of a picture, once, so that
nobody else has to know; and where its namespace would not let another one in, or only later, that too.
Must not judge whether there is room.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from msgspec import structs

from shared.core.cluster.containers import ContainerRequests
from shared.core.cluster.namespace_limits import NO_LIMITS, UNLIMITED, LimitsOfNamespace, NamespaceLimits, Replacement
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.pod_kinds import cron_job_of, is_daemon, is_mirror
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.vertical_autoscaler import VerticalAutoscaler
from shared.core.cluster.workloads import UNKNOWN, Workload


def as_they_return(
    pods: Iterable[Pod],
    workloads: Mapping[str, Workload],
    autoscalers: Iterable[VerticalAutoscaler] = (),
    limits: NamespaceLimits = NO_LIMITS,
) -> tuple[Pod, ...]:
    """Return the pods, each with what it takes here and what it needs elsewhere.

    A pod that has no node yet is left as it is: its controller has made it, and it is what the scheduler will book.
    """
    returning = _Returning(workloads, autoscalers, limits)
    return tuple(returning.pod(each) if each.node else each for each in pods)


@dataclass(frozen=True, slots=True)
class _Made:
    """What a controller makes: as it is sent, as it may be in the end, and what raises that above the pod's own."""

    sent: ContainerRequests
    written: ContainerRequests
    asks: Resources
    raised_by: tuple[str, ...]
    limits_of: frozenset[str]
    """The containers whose limits are known."""


class _Returning:
    """Knows what comes back for each class of pods; pods of one class stay of one class."""

    def __init__(
        self, workloads: Mapping[str, Workload], autoscalers: Iterable[VerticalAutoscaler], limits: NamespaceLimits
    ) -> None:
        self._workloads = workloads
        self._limits = limits.by_namespace()
        self._autoscalers: dict[str, list[VerticalAutoscaler]] = {}
        for each in autoscalers:
            self._autoscalers.setdefault(each.target, []).append(each)
        self._classes: dict[tuple[PodClass, Resources | None], PodClass] = {}

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
        limits = self._limits.get(spec.namespace, UNLIMITED)
        made = self._made(spec, workload, limits)
        needs, raised_by = made.asks.largest(booked or NOTHING), made.raised_by
        if needs != made.asks:
            raised_by = (*raised_by, "a resize in place that its node has not ended")
        refused_by, late = _let_in(limits, made, needs, booked or spec.requests, spec.priority_class)
        late = late or workload.replaced_at_end
        if needs == spec.requests and not late and not refused_by:
            return spec
        return replace(spec, requests=needs, raised_by=raised_by, replaced_at_end=late, refused_by=refused_by)

    def _made(self, spec: PodClass, workload: Workload, limits: LimitsOfNamespace) -> _Made:
        """Return what the controller makes, and what the scheduler may book for it."""
        own = spec.asks or ContainerRequests()
        template = workload.template or own
        sent = limits.completed(template.beside(own))
        made, asks, raised_by = own.highest(template), spec.requests, list[str]()

        def booked(found: ContainerRequests, by: str) -> None:
            nonlocal asks
            if (more := asks.largest(found.total)) != asks:
                asks = more
                raised_by.append(by)

        booked(made, f"the template of {workload.name or spec.workload}")
        made = made.highest(sent)
        booked(made, f"{' and '.join(f'LimitRange {each.key}' for each in limits.ranges)}")
        written = sent
        for autoscaler in self._autoscalers_of(spec, workload):
            made, written = made.changed(autoscaler.written_into), written.changed(autoscaler.written_into)
            booked(made, f"VerticalPodAutoscaler {autoscaler.key}")
        known = workload.template.containers if workload.template else ()
        return _Made(sent, written, asks, tuple(raised_by), frozenset(each.name for each in known))

    def _autoscalers_of(self, spec: PodClass, workload: Workload) -> Iterator[VerticalAutoscaler]:
        """Yield those whose target is the pod's controller, or what stands behind it."""
        behind = (spec.workload, workload.name, workload.owner, cron_job_of(spec))
        for target in dict.fromkeys(each for each in behind if each):
            yield from self._autoscalers.get(target, ())


def _let_in(
    limits: LimitsOfNamespace, made: _Made, needs: Resources, takes: Resources, priority_class: str
) -> tuple[tuple[str, ...], bool]:
    """Return why the namespace would not let another one in, and whether it would do so only later."""
    if limits is UNLIMITED:
        return (), False
    given = Replacement(made.sent, made.written, needs, takes, priority_class, made.limits_of)
    return tuple(limits.refuses(given)), limits.delays(given)
