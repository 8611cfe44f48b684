"""Workloads that request more than their VerticalPodAutoscalers recommend, and the cluster if they did not.

The targets count, in mode Off, too. A workload is named from a tenth less CPU or memory on; then all that is
recommended for it counts (kubernetes/autoscaler, vertical-pod-autoscaler/pkg/updater, pod-update-threshold 0.1).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from msgspec import structs

from shared.core.cluster.pod import PodClass
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import CPU, MEMORY, NOTHING, Resources, total
from shared.core.cluster.returning import VerticalAutoscaler, as_they_return, targets_of
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.templates import making_of
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.core.planning.prices import Prices

_LESS: Final = Fraction(9, 10)


@dataclass(frozen=True, slots=True)
class Oversized:
    """A workload that requests more than is recommended; amounts are those of all its pods together."""

    workload: str  # The autoscaler's target, as `namespace/kind/name`.
    pods: int
    requested: Resources
    recommended: Resources
    cost: int
    """What the difference takes of its nodes' prices, half by CPU and half by memory, in micro-dollars an hour."""

    @property
    def less_memory(self) -> bool:
        return self.recommended.memory < self.requested.memory


@dataclass(frozen=True, slots=True)
class Resized:
    target: str
    autoscalers: tuple[VerticalAutoscaler, ...]
    before: ContainerRequests
    after: ContainerRequests

    def spec(self, kind: PodClass) -> PodClass:
        """Return the kind as its controller would make it; what raises it and who refuses it is yet to be found."""
        fresh = replace(kind, raised_by=(), refused_by=(), replaced_at_end=False)
        return replace(fresh, asks=self.after, requests=self.after.total)


def find_resized(snapshot: Snapshot) -> dict[PodClass, Resized]:
    by_target: dict[str, list[VerticalAutoscaler]] = {}
    for autoscaler in snapshot.autoscalers.found:
        by_target.setdefault(autoscaler.target, []).append(autoscaler)
    kinds = dict.fromkeys(pod.spec for pod in snapshot.pods if pod.node) if by_target else {}
    found = ((kind, _resize(kind, snapshot.workloads.get(kind.workload, UNKNOWN), by_target)) for kind in kinds)
    return {kind: new for kind, new in found if new and _is_less(new.before.total, new.after.total)}


def _resize(
    kind: PodClass, workload: Workload, by_target: Mapping[str, Sequence[VerticalAutoscaler]]
) -> Resized | None:
    target = next((name for name in targets_of(kind, workload) if name in by_target), "")
    if not target or kind.asks is None:
        return None
    own, asked = tuple(by_target[target]), making_of(kind, workload).asks or ContainerRequests()
    limits = {container.name: container.limits for container in asked.containers}
    return Resized(target, own, kind.asks, kind.asks.with_changed(_recommending(own, limits)))


def _recommending(
    autoscalers: Sequence[VerticalAutoscaler], limits: Mapping[str, Resources]
) -> Callable[[Container], Container]:
    """Return what changes a container; of several autoscalers the highest counts. Pods do not show their limits."""

    def change(container: Container) -> Container:
        limited, most = replace(container, limits=limits.get(container.name, container.limits)), NOTHING
        for autoscaler in autoscalers:
            most = most.largest(autoscaler.recommends(limited))
        return replace(container, requests=Resources.of(dict(container.requests.amounts) | dict(most.amounts)))

    return change


def _is_less(before: Resources, after: Resources) -> bool:
    pairs = [(before.get(name), after.get(name)) for name in (CPU, MEMORY)]
    return any(now and then <= now * _LESS for now, then in pairs)


def as_recommended(snapshot: Snapshot) -> Snapshot:
    """Return the cluster with its oversized workloads as recommended; the same object if there are none."""
    found = find_resized(snapshot)
    if not found:
        return snapshot
    workloads = {**snapshot.workloads, **dict(_with_templates(found, snapshot.workloads))}
    specs = {kind: new.spec(kind) for kind, new in found.items()}
    pods = (structs.replace(pod, spec=specs[pod.spec], booked=None) for pod in snapshot.pods if pod.spec in specs)
    returning = as_they_return(pods, workloads, snapshot.autoscalers.found, snapshot.limits)
    later = {pod.key: pod for pod in returning}
    return replace(snapshot, pods=tuple(later.get(pod.key, pod) for pod in snapshot.pods), workloads=workloads)


def _with_templates(
    found: Mapping[PodClass, Resized], workloads: Mapping[str, Workload]
) -> Iterator[tuple[str, Workload]]:
    for kind, new in found.items():
        workload = workloads.get(kind.workload, UNKNOWN)
        if workload.templates:
            change = _recommending(new.autoscalers, {})
            templates = tuple(
                replace(made, asks=made.asks and made.asks.with_changed(change)) for made in workload.templates
            )
            yield kind.workload, replace(workload, templates=templates)


def find_oversized(snapshot: Snapshot, prices: Prices) -> tuple[Oversized, ...]:
    """Return the workloads that request more than is recommended; those come first whose difference costs most."""
    found = find_resized(snapshot)
    nodes = {node.name: (node.allocatable, prices.of(node).per_hour) for node in snapshot.nodes}
    living = (pod for pod in snapshot.pods if pod.spec in found and pod.node in nodes and not pod.phase.finished)
    rows: dict[str, list[Oversized]] = {}
    for (kind, (size, price)), pods in Counter((pod.spec, nodes[pod.node]) for pod in living).items():
        rows.setdefault(found[kind].target, []).append(_of_pods(found[kind], pods, size, price))
    return tuple(sorted(map(_together, rows.values()), key=lambda row: (-row.cost, row.workload)))


def _of_pods(kind: Resized, pods: int, size: Resources, price: int) -> Oversized:
    before, after = (Resources.of({name: pods * value for name, value in asks.total.amounts})
                     for asks in (kind.before, kind.after))  # fmt: skip
    shares = (Fraction(before.get(name) - after.get(name), size.get(name)) for name in (CPU, MEMORY) if size.get(name))
    return Oversized(kind.target, pods, before, after, round(price * sum(shares) / 2))


def _together(rows: Sequence[Oversized]) -> Oversized:
    requested, recommended = total(row.requested for row in rows), total(row.recommended for row in rows)
    pods, cost = sum(row.pods for row in rows), sum(row.cost for row in rows)
    return Oversized(rows[0].workload, pods, requested, recommended, cost)
