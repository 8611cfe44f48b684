"""What Ebb assumes about GKE and nobody has seen there: what this cluster shows (docs/unverified.md)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from functions.cli.doctor.installation import CheckResult, InstallationParts, ok, warn
from functions.cli.output.format import count, some
from shared.adapters.kubernetes.pod_objects import EXTENDED
from shared.core.cluster import names
from shared.core.cluster.node import UNKNOWN_VERSION, Node
from shared.errors import Forbidden
from shared.port_types import ClusterReading
from shared.store.snapshots import odd_autoscalers, odd_buffers

CHECK: Final = "unverified"
GKE_QUOTA: Final = "gke-resource-quotas"
"""The ResourceQuota that GKE puts into namespaces by itself."""
_TELL: Final = "Compare it with docs/unverified.md, and report to Ebb's maintainers what your GKE does."
_AS: Final = "Ask as the function, or as a person who may list what infra/rbac.yaml names."
Look = Callable[[ClusterReading], Iterable[CheckResult]]


def report_unverified(parts: InstallationParts) -> Iterable[CheckResult]:
    try:
        reading = parts.cluster().read()
    except Forbidden as refused:
        yield warn(CHECK, f"This identity may not read the cluster ({str(refused).removesuffix('.')}).", _AS)
        return
    rows = ((word, result) for word, look in SIGHTINGS.items() for result in look(reading))
    found = [replace(result, sentence=f"{word}: {result.sentence}") for word, result in rows]
    nothing = "None of the GKE features that Ebb has not been tested with are in use (docs/unverified.md)."
    yield from found or [ok(CHECK, nothing)]


def _nodes(is_one: Callable[[Node], bool], marks: Mapping[str, Callable[[Node], bool]]) -> Look:
    """Check that each such node has all marks that GKE's code sets together."""

    def look(reading: ClusterReading) -> Iterator[CheckResult]:
        nodes = [node for node in reading.nodes if is_one(node)]
        text, lacking = count(len(nodes), "node"), [mark for mark, is_on in marks.items() if not all(map(is_on, nodes))]
        if lacking:
            yield warn(CHECK, f"{text}; {some(lacking)} not on each.", _TELL)
        elif nodes:
            yield ok(CHECK, f"{text}; {', '.join(marks)} are on each.")

    return look


def _is_suspended(node: Node) -> bool:
    return node.has_taint(names.STANDBY_SUSPENDED_TAINT) or names.SUSPENDED_CONDITION in node.conditions


def _label_and_taint(key: str) -> Mapping[str, Callable[[Node], bool]]:
    return {"the label": lambda node: key in node.labels, "the taint": lambda node: node.has_taint(key)}


_SUSPENDED: Final[Mapping[str, Callable[[Node], bool]]] = {
    "the label": lambda node: names.STANDBY_NODE in node.labels,
    "the taint": lambda node: node.has_taint(names.STANDBY_SUSPENDED_TAINT),
    "the condition": lambda node: names.SUSPENDED_CONDITION in node.conditions,
    "the cordon": lambda node: node.unschedulable,
}


def _report_maintenance(reading: ClusterReading) -> Iterator[CheckResult]:
    found = Counter(condition for node in reading.nodes for condition in node.lifecycle)
    if found:
        yield ok(CHECK, ", ".join(f"{kind} on {count(times, 'node')}" for kind, times in sorted(found.items())) + ".")


def _buffers(reading: ClusterReading) -> Iterator[CheckResult]:
    held = reading.buffers.held
    if sentence := odd_buffers(reading.buffers):
        yield warn(CHECK, sentence, _TELL)
    silent = [buffer.key for buffer in held if buffer.ready is None]
    if silent:
        yield warn(CHECK, f"{some(silent)} of {len(held)} have no readyReplicas: no drain ends early by it.", _TELL)
    elif held:
        room, ready = sum(buffer.replicas for buffer in held), sum(buffer.ready or 0 for buffer in held)
        yield ok(CHECK, f"{count(len(held), 'buffer')} with {count(room, 'chunk')}, of which {ready} have room.")


def _autoscalers(reading: ClusterReading) -> Iterator[CheckResult]:
    found = reading.autoscalers.found
    if sentence := odd_autoscalers(reading.autoscalers):
        yield warn(CHECK, sentence, _TELL)
    if found:
        acting = sum(autoscaler.acts for autoscaler in found)
        yield ok(CHECK, f"{count(len(found), 'VerticalPodAutoscaler')}, of which {acting} write into new pods.")


def _kubelets(reading: ClusterReading) -> Iterator[CheckResult]:
    """Report versions only if nodes differ: if all are alike, no rule reads them."""
    kinds = {node.kubelet for node in reading.nodes}
    strange = [node.name for node in reading.nodes if node.kubelet.version == UNKNOWN_VERSION]
    if strange:
        yield warn(CHECK, f"the version of {some(strange)} is of no known form.", _TELL)
    elif len(kinds) > 1:
        versions = ", ".join(sorted({str(kind) for kind in kinds}))
        features = len({kind.features for kind in kinds})
        yield ok(CHECK, f"versions {versions}, with {count(features, 'set')} of declared features.")


def _ending(reading: ClusterReading) -> Iterator[CheckResult]:
    deployments = {workload.name: workload for workload in reading.workloads.values()}.values()
    late = sum(workload.replaced_at_end for workload in deployments)
    if reporting := sum(workload.terminating is not None for workload in deployments):
        own = count(reporting, "workload")
        yield ok(CHECK, f"{own} report how many of their pods end; {late} replace at the end.")


def _report_grants(reading: ClusterReading) -> Iterator[CheckResult]:
    found = sum(EXTENDED in pod.spec.resource_claims for pod in reading.pods)
    if found:
        yield ok(CHECK, f"{count(found, 'pod')} with extended resources that a driver granted.")


def _quotas(reading: ClusterReading) -> Iterator[CheckResult]:
    quotas = reading.limits.quotas
    own = sum(quota.name == GKE_QUOTA for quota in quotas)
    uncounted = [quota.key for quota in quotas if quota.hard and quota.hard.keys() - quota.used.keys()]
    if uncounted:
        yield warn(CHECK, f"{some(uncounted)} have limits without a count: new pods are refused.", _TELL)
    elif own:
        yield ok(CHECK, f"{count(len(quotas), 'ResourceQuota')}, of which {own} are GKE's own.")


SIGHTINGS: Final[Mapping[str, Look]] = {
    "suspended": _nodes(_is_suspended, _SUSPENDED),
    "waiting": _nodes(lambda node: node.stands_by and not _is_suspended(node), _label_and_taint(names.STANDBY_NODE)),
    "managed": _nodes(lambda node: node.managed, _label_and_taint(names.MANAGED_NODE)),
    "maintained": _report_maintenance,
    "buffers": _buffers,
    "autoscalers": _autoscalers,
    "kubelets": _kubelets,
    "ending": _ending,
    "granted": _report_grants,
    "quotas": _quotas,
}
"""By the word that stands in the table of docs/unverified.md: what to look at. Each looks in vain where nothing is."""
