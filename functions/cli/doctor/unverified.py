"""What Ebb assumes about GKE and nobody has seen there: what this cluster shows, by the words of docs/unverified.md.

A cluster without such things shows nothing about them, and that is no finding.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from functions.cli.doctor.installation import CheckResult, InstallationParts, ok, warn
from functions.cli.output.format import count, some
from shared.adapters.kubernetes.pod_objects import EXTENDED
from shared.core.cluster import names
from shared.core.cluster.node import UNKNOWN_VERSION, Node
from shared.core.cluster.pod import is_daemon, is_mirror
from shared.core.cluster.workloads import Workload
from shared.errors import Forbidden
from shared.port_types import ClusterReading
from shared.store.snapshots import odd_autoscalers, odd_buffers

CHECK: Final = "unverified"
GKE_QUOTA: Final = "gke-resource-quotas"
"""The ResourceQuota that GKE puts into namespaces by itself."""
_TELL: Final = "Compare it with docs/unverified.md, and report to Ebb's maintainers what your GKE does."
_AS: Final = "Ask as the function, or as a person who may list what infra/rbac.yaml names."
Look = Callable[[ClusterReading], Iterable[CheckResult]]


def unverified(parts: InstallationParts) -> Iterable[CheckResult]:
    """Report what the cluster has of each."""
    try:
        reading = parts.cluster().read()
    except Forbidden as refused:
        yield warn(CHECK, f"This identity may not read the cluster ({str(refused).removesuffix('.')}).", _AS)
        return
    rows = ((word, each) for word, look in SIGHTINGS.items() for each in look(reading))
    found = [replace(each, sentence=f"{word}: {each.sentence}") for word, each in rows]
    nothing = "None of the GKE features that Ebb has not been tested with are in use (docs/unverified.md)."
    yield from found or [ok(CHECK, nothing)]


def _suspended(reading: ClusterReading) -> Iterator[CheckResult]:
    nodes = [each for each in reading.nodes if _is_suspended(each)]
    if not nodes:
        return
    ready = sum(each.ready for each in nodes)
    text = f"{count(len(nodes), 'node')}, of which {ready} Ready"
    marks: Mapping[str, Callable[[Node], bool]] = {
        "the label": lambda node: names.STANDBY_NODE in node.labels,
        "the taint": lambda node: node.has_taint(names.STANDBY_SUSPENDED_TAINT),
        "the condition": lambda node: names.SUSPENDED_CONDITION in node.conditions,
        "the cordon": lambda node: node.unschedulable,
    }
    yield _marked(text, nodes, marks)


def _waiting(reading: ClusterReading) -> Iterator[CheckResult]:
    nodes = [each for each in reading.nodes if each.stands_by and not _is_suspended(each)]
    if not nodes:
        return
    waiting = {each.name for each in nodes}
    own = [pod for pod in reading.pods if pod.node in waiting and not (is_daemon(pod.spec) or is_mirror(pod.spec))]
    text = f"{count(len(nodes), 'node')} with {count(len(own), 'pod')} besides those of DaemonSets"
    yield _marked(text, nodes, _label_and_taint(names.STANDBY_NODE))


def _managed(reading: ClusterReading) -> Iterator[CheckResult]:
    nodes = [each for each in reading.nodes if each.managed]
    if nodes:
        yield _marked(count(len(nodes), "node"), nodes, _label_and_taint(names.MANAGED_NODE))


def _maintained(reading: ClusterReading) -> Iterator[CheckResult]:
    found = Counter(condition for each in reading.nodes for condition in each.lifecycle)
    if found:
        yield ok(CHECK, ", ".join(f"{kind} on {count(times, 'node')}" for kind, times in sorted(found.items())) + ".")


def _buffers(reading: ClusterReading) -> Iterator[CheckResult]:
    held = reading.buffers.held
    if sentence := odd_buffers(reading.buffers):
        yield warn(CHECK, sentence, _TELL)
    silent = [each.key for each in held if each.ready is None]
    if silent:
        yield warn(CHECK, f"{some(silent)} of {len(held)} have no readyReplicas: no drain ends early by it.", _TELL)
    elif held:
        room = sum(each.replicas for each in held)
        ready = sum(each.ready or 0 for each in held)
        yield ok(CHECK, f"{count(len(held), 'buffer')} with {count(room, 'chunk')}, of which {ready} have room.")


def _autoscalers(reading: ClusterReading) -> Iterator[CheckResult]:
    found = reading.autoscalers.found
    if sentence := odd_autoscalers(reading.autoscalers):
        yield warn(CHECK, sentence, _TELL)
    acting = sum(each.acts for each in found)
    if found:
        yield ok(CHECK, f"{count(len(found), 'VerticalPodAutoscaler')}, of which {acting} write into new pods.")


def _kubelets(reading: ClusterReading) -> Iterator[CheckResult]:
    """Report versions only if nodes differ: if all are alike, no rule reads them."""
    kinds = {each.kubelet for each in reading.nodes}
    strange = [each.name for each in reading.nodes if each.kubelet.version == UNKNOWN_VERSION]
    if strange:
        yield warn(CHECK, f"the version of {some(strange)} is of no known form.", _TELL)
    elif len(kinds) > 1:
        versions = ", ".join(sorted({str(each) for each in kinds}))
        features = len({each.features for each in kinds})
        yield ok(CHECK, f"versions {versions}, with {count(features, 'set')} of declared features.")


def _ending(reading: ClusterReading) -> Iterator[CheckResult]:
    reporting = [each for each in _deployments(reading) if each.terminating is not None]
    late = sum(each.replaced_at_end for each in _deployments(reading))
    if reporting:
        own = count(len(reporting), "workload")
        yield ok(CHECK, f"{own} report how many of their pods end; {late} replace at the end.")


def _deployments(reading: ClusterReading) -> Iterable[Workload]:
    return {each.name: each for each in reading.workloads.values()}.values()


def _granted(reading: ClusterReading) -> Iterator[CheckResult]:
    found = sum(EXTENDED in pod.spec.resource_claims for pod in reading.pods)
    if found:
        yield ok(CHECK, f"{count(found, 'pod')} with extended resources that a driver granted.")


def _quotas(reading: ClusterReading) -> Iterator[CheckResult]:
    quotas = reading.limits.quotas
    own = sum(each.name == GKE_QUOTA for each in quotas)
    uncounted = [each.key for each in quotas if each.hard and each.hard.keys() - each.used.keys()]
    if uncounted:
        yield warn(CHECK, f"{some(uncounted)} have limits without a count: new pods are refused.", _TELL)
    elif own:
        yield ok(CHECK, f"{count(len(quotas), 'ResourceQuota')}, of which {own} are GKE's own.")


def _is_suspended(node: Node) -> bool:
    return node.has_taint(names.STANDBY_SUSPENDED_TAINT) or names.SUSPENDED_CONDITION in node.conditions


def _label_and_taint(key: str) -> Mapping[str, Callable[[Node], bool]]:
    return {"the label": lambda node: key in node.labels, "the taint": lambda node: node.has_taint(key)}


def _marked(text: str, nodes: Iterable[Node], marks: Mapping[str, Callable[[Node], bool]]) -> CheckResult:
    """Check that each node has all marks that GKE's code sets together."""
    lacking = [mark for mark, is_on in marks.items() if not all(map(is_on, nodes))]
    if lacking:
        return warn(CHECK, f"{text}; {some(lacking)} not on each.", _TELL)
    return ok(CHECK, f"{text}; {', '.join(marks)} are on each.")


SIGHTINGS: Final[Mapping[str, Look]] = {
    "suspended": _suspended,
    "waiting": _waiting,
    "managed": _managed,
    "maintained": _maintained,
    "buffers": _buffers,
    "autoscalers": _autoscalers,
    "kubelets": _kubelets,
    "ending": _ending,
    "granted": _granted,
    "quotas": _quotas,
}
"""By the word that stands in the table of docs/unverified.md: what to look at. Each looks in vain where nothing is."""
