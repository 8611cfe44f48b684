from datetime import UTC, datetime
from typing import Any

import pytest

from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.core.cluster.pod import HostPort, Owner, Phase, Volume
from shared.core.cluster.selectors import LabelSelector, NodeTerm, PodTerm, Requirement, SpreadConstraint, Toleration
from shared.core.reasons import PodBlock
from shared.core.rules.unmodelled import find_unmodelled
from tests.adapters.objects import REQUIRED, api_pod, container, node_affinity, read
from tests.builders import resources
from tests.depth import cases

WEB = LabelSelector((Requirement("app", "In", ("web",)),))


def spread(**changes: Any) -> dict[str, Any]:
    return {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1, **changes}


@cases(
    "expected, changes",
    ("a policy", "nodeTaintsPolicy: Consider", {"nodeTaintsPolicy": "Consider"}),
    ("the other policy", "nodeAffinityPolicy: Consider", {"nodeAffinityPolicy": "Consider"}),
    ("what follows", "whenUnsatisfiable: Perhaps", {"whenUnsatisfiable": "Perhaps"}),
    ("operator", "labelSelector: Like", {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}}),
)
def test_a_word_of_a_spread_that_is_not_known_is_not_modelled(expected: str, changes: dict[str, Any]) -> None:
    spec = read(api_pod(topologySpreadConstraints=[spread(**changes)])).spec
    assert spec.unmodelled == (f"topologySpreadConstraints.{expected}",)


def term(**changes: Any) -> dict[str, Any]:
    return {"topologyKey": "host", "labelSelector": {"matchLabels": {"app": "web"}}, **changes}


IN_A = {"key": "pool", "operator": "In", "values": ["a"]}
ALL_OF_ONE = spread(
    maxSkew=2,
    minDomains=3,
    labelSelector={"matchLabels": {"app": "web"}},
    matchLabelKeys=["v"],
    nodeAffinityPolicy="Ignore",
    nodeTaintsPolicy="Honor",
)
ALL_READ = SpreadConstraint("zone", WEB, 2, 3, ("v",), honours_affinity=False, honours_taints=True)
GATES = [{"name": "quota"}]


@cases(
    "expected, spec",
    ("defaults", {"scheduler": "default-scheduler", "grace_seconds": 30, "priority": 0}, {}),
    ("no grace is not the default", {"grace_seconds": 0}, {"terminationGracePeriodSeconds": 0}),
    ("a grace that no clock can reckon with", {"grace_seconds": 2**31 - 1},
     {"terminationGracePeriodSeconds": 2**63 - 1}),
    ("a foreign scheduler", {"scheduler": "volcano"}, {"schedulerName": "volcano"}),
    ("priority", {"priority": -5, "priority_class": "low"}, {"priority": -5, "priorityClassName": "low"}),
    ("restart policy", {"restart_policy": "Never"}, {"restartPolicy": "Never"}),
    ("node selector", {"node_selector": {"disk": "ssd"}}, {"nodeSelector": {"disk": "ssd"}}),
    ("null is absent", {"node_selector": {}, "os": ""}, {"nodeSelector": None, "os": None}),
    ("operating system", {"os": "linux"}, {"os": {"name": "linux"}}),
    ("tolerations", {"tolerations": (Toleration("k", "Exists", "", "NoExecute"), Toleration(value="v"))},
     {"tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute"}, {"value": "v"}]}),
    ("only spread that the scheduler enforces", {"hard_spread": (SpreadConstraint("zone", None),)},
     {"topologySpreadConstraints": [spread(), spread(topologyKey="host", whenUnsatisfiable="ScheduleAnyway")]}),
    ("all of a spread", {"hard_spread": (ALL_READ,)}, {"topologySpreadConstraints": [ALL_OF_ONE]}),
    ("scheduling gates", {"scheduling_gates": ("quota",)}, {"schedulingGates": GATES}),
    ("resource claims", {"resource_claims": ("gpu",)}, {"resourceClaims": [{"name": "gpu"}]}),
    ("gang scheduling", {"unmodelled": ("workloadRef",)}, {"workloadRef": {"name": "gang"}}),
    ("requests of the pod itself", {"requests": resources(3, 1)},
     {"resources": {"requests": {"cpu": "3"}}, "containers": [container("1", "1Gi")]}),
    ("overhead on top of the containers", {"requests": resources(0.35)}, {"overhead": {"cpu": "250m"}}),
    ("without requests", {"requests": resources()}, {"containers": [container()]}),
    ("a sidecar", {"requests": resources(1.5)},
     {"containers": [container("1")], "initContainers": [container("500m", name="s", restartPolicy="Always")]}),
)  # fmt: skip
def test_the_spec_is_carried_over(expected: dict[str, Any], spec: dict[str, Any]) -> None:
    found = read(api_pod(**spec)).spec

    assert {name: getattr(found, name) for name in expected} == expected


def near(**changes: Any) -> dict[str, Any]:
    return {"podAffinity": {REQUIRED: [term(**changes)]}}


def away(**changes: Any) -> dict[str, Any]:
    return {"podAntiAffinity": {REQUIRED: [term(**changes)]}}


POOL_A = NodeTerm((Requirement("pool", "In", ("a",)),))
PREFERRED: dict[str, Any] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}


@cases(
    "expected, affinity",
    ("no affinity", {}, {}),
    ("required of nodes", {"node_terms": (POOL_A,)}, node_affinity({"matchExpressions": [IN_A]})),
    ("no term: no node", {"node_terms": ()}, node_affinity()),
    ("preferences do not bind", {}, PREFERRED),
    ("no namespace: the pod's own", {"affinity": (PodTerm("host", WEB, ("default",)),)}, near()),
    ("listed", {"anti_affinity": (PodTerm("host", WEB, ("x", "y")),)}, away(namespaces=["x", "y"])),
    ("an empty namespace selector means all", {"anti_affinity": (PodTerm("host", WEB, (), LabelSelector()),)},
     away(namespaceSelector={})),
    ("without a selector no pod is meant", {"anti_affinity": (PodTerm("host", None, ("default",)),)},
     away(labelSelector=None)),
)  # fmt: skip
def test_required_affinity_is_carried_over(expected: dict[str, Any], affinity: dict[str, Any]) -> None:
    found = read(api_pod(affinity=affinity)).spec

    none: dict[str, Any] = {"node_terms": None, "affinity": (), "anti_affinity": ()}
    assert {name: getattr(found, name) for name in none} == {**none, **expected}


OF_V1 = Requirement("v", "In", ("1",))
NOT_OF_V1 = Requirement("v", "NotIn", ("1",))
WRITTEN = {"key": "v", "operator": "In", "values": ["0"]}


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@cases(
    "expected, given",
    ("the pod's own value", (*WEB.requirements, OF_V1), term(matchLabelKeys=["v"])),
    ("all but its own", (*WEB.requirements, NOT_OF_V1), term(mismatchLabelKeys=["v"])),
    ("a label that the pod lacks is passed over", WEB.requirements, term(matchLabelKeys=["none"])),
    ("written by the API server already, with the label of that time", (Requirement("v", "In", ("0",)),),
     term(matchLabelKeys=["v"], labelSelector={"matchExpressions": [WRITTEN]})),
    ("an empty selector is narrowed, too", (OF_V1, NOT_OF_V1),
     term(matchLabelKeys=["v"], mismatchLabelKeys=["v"], labelSelector={})),
    ("without a selector no pod is meant", None, term(matchLabelKeys=["v"], labelSelector=None)),
)  # fmt: skip
def test_label_keys_stand_in_the_selector(
    expected: tuple[Requirement, ...] | None, given: dict[str, Any], kind: str
) -> None:
    """Source: kubernetes pkg/registry/core/pod/strategy.go, applyMatchLabelKeysAndMismatchLabelKeys."""
    spec = read(api_pod(meta={"labels": {"app": "web", "v": "1"}}, affinity={kind: {REQUIRED: [given]}})).spec
    found = (spec.affinity or spec.anti_affinity)[0].selector

    assert (found and found.requirements) == expected
    assert not find_unmodelled(spec, None)


@cases(
    "expected, volume",
    ("empty dir on disk", ("emptyDir", ""), {"emptyDir": {}}),
    ("empty dir in memory", ("emptyDir", "Memory"), {"emptyDir": {"medium": "Memory"}}),
    ("no source means an empty dir", ("emptyDir", ""), {}),
    ("host path", ("hostPath", ""), {"hostPath": {"path": "/var"}}),
    ("claim", ("persistentVolumeClaim", "data-0"), {"persistentVolumeClaim": {"claimName": "data-0"}}),
    ("ephemeral", ("ephemeral", ""), {"ephemeral": {"volumeClaimTemplate": {}}}),
    ("inline csi", ("csi", "secrets-store"), {"csi": {"driver": "secrets-store"}}),
    ("a kind from long ago", ("nfs", ""), {"nfs": {"server": "s", "path": "/"}}),
)
def test_a_volume_keeps_its_kind_and_what_sets_it_apart(expected: tuple[str, str], volume: dict[str, Any]) -> None:
    assert read(api_pod(volumes=[{"name": "v", **volume}])).spec.volumes == (Volume("v", *expected),)


PORT: dict[str, Any] = {"containerPort": 80, "protocol": "UDP"}
HOST: list[dict[str, Any]] = [{"containerPort": 1, "hostPort": 9}]


def ports(*given: dict[str, Any]) -> dict[str, Any]:
    return {"containers": [container(ports=list(given))]}


def init(**own: Any) -> dict[str, Any]:
    return {"initContainers": [container(name="s", ports=HOST, **own)]}


@cases(
    "expected, spec",
    ("a container port is no host port", (), ports(PORT)),
    ("host", (HostPort("UDP", 8080),), ports({**PORT, "hostPort": 8080})),
    ("on one address", (HostPort("TCP", 9, "10.0.0.1"),), ports({**HOST[0], "hostIP": "10.0.0.1"})),
    ("host network", (HostPort("UDP", 80),), {"hostNetwork": True, **ports(PORT)}),
    ("a sidecar's too", (HostPort("TCP", 9),), init(restartPolicy="Always")),
    ("an init container's is free when it is done", (), init()),
    ("each once; zero is what the API server fills in on the host's network", (HostPort("TCP", 9), HostPort("UDP", 80)),
     {"hostNetwork": True, **ports({**PORT, "hostPort": 0}, *HOST, *HOST)}),
)  # fmt: skip
def test_ports_of_the_host_are_found(expected: tuple[HostPort, ...], spec: dict[str, Any]) -> None:
    assert read(api_pod(**spec)).spec.host_ports == expected


def test_only_a_controller_owns_a_pod() -> None:
    owners = [{"kind": "Backup", "name": "b", "uid": "1"}, {"kind": "Job", "name": "j", "uid": "2", "controller": True}]

    assert read(api_pod(meta={"ownerReferences": owners})).spec.owner == Owner("Job", "j", "2")
    assert read(api_pod(meta={"ownerReferences": owners[:1]})).spec.owner is None


@cases(
    "expected, status",
    ("Ready", (True, datetime(2026, 3, 4, 11, tzinfo=UTC)), "True"),
    ("no longer Ready: since then it is not", (False, None), "False"),
)
def test_the_time_of_being_ready_is_the_conditions(expected: tuple[bool, datetime | None], status: str) -> None:
    condition = {"type": "Ready", "status": status, "lastTransitionTime": "2026-03-04T11:00:00Z"}

    found = read(api_pod(status={"phase": "Running", "conditions": [condition]}))

    assert (found.ready, found.ready_since) == expected


def test_the_time_of_being_unschedulable_is_the_conditions() -> None:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "lastTransitionTime": "2026-03-04T11:00:00Z",
    }
    gated = {**condition, "reason": "SchedulingGated"}

    waiting = read(api_pod(nodeName="", status={"phase": "Pending", "conditions": [condition]}))

    assert waiting.unschedulable_since == datetime(2026, 3, 4, 11, tzinfo=UTC)
    assert (waiting.phase, waiting.ready, waiting.node) == (Phase.PENDING, False, "")
    assert read(api_pod(status={"conditions": [gated]})).unschedulable_since is None


def test_a_terminating_pod_shows_when_its_grace_ends() -> None:
    found = read(api_pod(meta={"deletionTimestamp": "2026-03-04T12:00:30Z"}))

    assert found.deleting == datetime(2026, 3, 4, 12, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expected", "phase"), [(Phase.PENDING, ""), (Phase.SUCCEEDED, "Succeeded"), (Phase.UNKNOWN, "Dreaming")]
)
def test_every_phase_is_read(expected: Phase, phase: str) -> None:
    assert read(api_pod(status={"phase": phase})).phase is expected


def test_an_extended_resource_that_a_driver_has_granted_is_a_claim_without_a_name() -> None:
    """The claim is made anew with each pod, so its name tells nothing; pods of one kind stay of one kind."""
    decoder = PodDecoder()
    granted = [{"resourceClaimName": f"web-{number}", "requestMappings": []} for number in range(2)]
    found = [read(api_pod(status={"extendedResourceClaimStatus": name}), decoder).spec for name in (*granted, None)]

    assert [kind.resource_claims for kind in found] == [("extendedResourceClaimStatus",)] * 2 + [()]
    assert found[0] is found[1]
    assert [finding.reason for finding in find_unmodelled(found[0], None)] == [PodBlock.RESOURCE_CLAIMS]
