"""What a pod asks for when it comes back, where that is more than what it has here (docs/decisions/returns.md).

An evicted pod is not moved: its controller makes another from its template, a VerticalPodAutoscaler writes into that,
and the scheduler books the result. So a pod has two amounts: what it takes where it runs (`Pod.booked`), and what it
needs elsewhere (`PodClass.requests`), which is the highest of the running pod, the template and the recommendation,
resource by resource. Here both are put into the pods of a picture, once, so that nobody else has to know.
Must not judge whether there is room.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from msgspec import structs

from shared.core.cluster.containers import ContainerRequests
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.pod_kinds import cron_job_of, is_daemon, is_mirror
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.vertical_autoscaler import VerticalAutoscaler
from shared.core.cluster.workloads import UNKNOWN, Workload


def as_they_return(
    pods: Iterable[Pod], workloads: Mapping[str, Workload], autoscalers: Iterable[VerticalAutoscaler] = ()
) -> tuple[Pod, ...]:
    """Return the pods, each with what it takes here and what it needs elsewhere.

    A pod that has no node yet is left as it is: its controller has made it, and it is what the scheduler will book.
    """
    returning = _Returning(workloads, autoscalers)
    return tuple(returning.pod(each) if each.node else each for each in pods)


class _Returning:
    """Knows what comes back for each class of pods; pods of one class stay of one class."""

    def __init__(self, workloads: Mapping[str, Workload], autoscalers: Iterable[VerticalAutoscaler]) -> None:
        self._workloads = workloads
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
        asks, raised_by = self._asks(spec, workload)
        needs = asks.largest(booked or NOTHING)
        if needs != asks:
            raised_by = (*raised_by, "a resize in place that its node has not ended")
        if needs == spec.requests and not workload.replaced_at_end:
            return spec
        return replace(spec, requests=needs, raised_by=raised_by, replaced_at_end=workload.replaced_at_end)

    def _asks(self, spec: PodClass, workload: Workload) -> tuple[Resources, tuple[str, ...]]:
        """Return what the scheduler may book for a replacement, and what makes that more than the pod's own spec."""
        made = spec.asks.highest(workload.template) if spec.asks and workload.template else spec.asks
        made = made or workload.template or ContainerRequests()
        asks, raised_by = spec.requests.largest(made.total), list[str]()
        if asks != spec.requests:
            raised_by.append(f"the template of {workload.name or spec.workload}")
        for autoscaler in self._autoscalers_of(spec, workload):
            made = made.changed(autoscaler.written_into)
            before, asks = asks, asks.largest(made.total)
            if asks != before:
                raised_by.append(f"VerticalPodAutoscaler {autoscaler.key}")
        return asks, tuple(raised_by)

    def _autoscalers_of(self, spec: PodClass, workload: Workload) -> Iterator[VerticalAutoscaler]:
        """Yield those whose target is the pod's controller, or what stands behind it."""
        behind = (spec.workload, workload.name, workload.owner, cron_job_of(spec))
        for target in dict.fromkeys(each for each in behind if each):
            yield from self._autoscalers.get(target, ())
