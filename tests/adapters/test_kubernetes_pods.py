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

WEB = LabelSelector((Requirement("app", "In", ("web",)),))


def spread(**changes: Any) -> dict[str, Any]:
    return {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1, **changes}


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        pytest.param("nodeTaintsPolicy: Consider", {"nodeTaintsPolicy": "Consider"}, id="a policy"),
        pytest.param("nodeAffinityPolicy: Consider", {"nodeAffinityPolicy": "Consider"}, id="the other policy"),
        pytest.param("whenUnsatisfiable: Perhaps", {"whenUnsatisfiable": "Perhaps"}, id="what follows"),
        pytest.param(
            "labelSelector: Like",
            {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}},
            id="operator",
        ),
    ],
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


@pytest.mark.parametrize(
    ("expected", "spec"),
    [
        pytest.param({"scheduler": "default-scheduler", "grace_seconds": 30, "priority": 0}, {}, id="defaults"),
        pytest.param({"grace_seconds": 0}, {"terminationGracePeriodSeconds": 0}, id="no grace is not the default"),
        pytest.param(
            {"grace_seconds": 2**31 - 1},
            {"terminationGracePeriodSeconds": 2**63 - 1},
            id="a grace that no clock can reckon with",
        ),
        pytest.param({"scheduler": "volcano"}, {"schedulerName": "volcano"}, id="a foreign scheduler"),
        pytest.param(
            {"priority": -5, "priority_class": "low"}, {"priority": -5, "priorityClassName": "low"}, id="priority"
        ),
        pytest.param({"restart_policy": "Never"}, {"restartPolicy": "Never"}, id="restart policy"),
        pytest.param({"node_selector": {"disk": "ssd"}}, {"nodeSelector": {"disk": "ssd"}}, id="node selector"),
        pytest.param({"node_selector": {}, "os": ""}, {"nodeSelector": None, "os": None}, id="null is absent"),
        pytest.param({"os": "linux"}, {"os": {"name": "linux"}}, id="operating system"),
        pytest.param(
            {"tolerations": (Toleration("k", "Exists", "", "NoExecute"), Toleration(value="v"))},
            {"tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute"}, {"value": "v"}]},
            id="tolerations",
        ),
        pytest.param(
            {"hard_spread": (SpreadConstraint("zone", None),)},
            {"topologySpreadConstraints": [spread(), spread(topologyKey="host", whenUnsatisfiable="ScheduleAnyway")]},
            id="only spread that the scheduler enforces",
        ),
        pytest.param({"hard_spread": (ALL_READ,)}, {"topologySpreadConstraints": [ALL_OF_ONE]}, id="all of a spread"),
        pytest.param({"scheduling_gates": ("quota",)}, {"schedulingGates": GATES}, id="scheduling gates"),
        pytest.param({"resource_claims": ("gpu",)}, {"resourceClaims": [{"name": "gpu"}]}, id="resource claims"),
        pytest.param({"unmodelled": ("workloadRef",)}, {"workloadRef": {"name": "gang"}}, id="gang scheduling"),
        pytest.param(
            {"requests": resources(3, 1)},
            {"resources": {"requests": {"cpu": "3"}}, "containers": [container("1", "1Gi")]},
            id="requests of the pod itself",
        ),
        pytest.param(
            {"requests": resources(0.35)}, {"overhead": {"cpu": "250m"}}, id="overhead on top of the containers"
        ),
        pytest.param({"requests": resources()}, {"containers": [container()]}, id="without requests"),
        pytest.param(
            {"requests": resources(1.5)},
            {"containers": [container("1")], "initContainers": [container("500m", name="s", restartPolicy="Always")]},
            id="a sidecar",
        ),
    ],
)
def test_the_spec_is_carried_over(expected: dict[str, Any], spec: dict[str, Any]) -> None:
    found = read(api_pod(**spec)).spec

    assert {name: getattr(found, name) for name in expected} == expected


def near(**changes: Any) -> dict[str, Any]:
    return {"podAffinity": {REQUIRED: [term(**changes)]}}


def away(**changes: Any) -> dict[str, Any]:
    return {"podAntiAffinity": {REQUIRED: [term(**changes)]}}


POOL_A = NodeTerm((Requirement("pool", "In", ("a",)),))
PREFERRED: dict[str, Any] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}


@pytest.mark.parametrize(
    ("expected", "affinity"),
    [
        pytest.param({}, {}, id="no affinity"),
        pytest.param({"node_terms": (POOL_A,)}, node_affinity({"matchExpressions": [IN_A]}), id="required of nodes"),
        pytest.param({"node_terms": ()}, node_affinity(), id="no term: no node"),
        pytest.param({}, PREFERRED, id="preferences do not bind"),
        pytest.param({"affinity": (PodTerm("host", WEB, ("default",)),)}, near(), id="no namespace: the pod's own"),
        pytest.param({"anti_affinity": (PodTerm("host", WEB, ("x", "y")),)}, away(namespaces=["x", "y"]), id="listed"),
        pytest.param(
            {"anti_affinity": (PodTerm("host", WEB, (), LabelSelector()),)},
            away(namespaceSelector={}),
            id="an empty namespace selector means all",
        ),
        pytest.param(
            {"anti_affinity": (PodTerm("host", None, ("default",)),)},
            away(labelSelector=None),
            id="without a selector no pod is meant",
        ),
    ],
)
def test_required_affinity_is_carried_over(expected: dict[str, Any], affinity: dict[str, Any]) -> None:
    found = read(api_pod(affinity=affinity)).spec

    none: dict[str, Any] = {"node_terms": None, "affinity": (), "anti_affinity": ()}
    assert {name: getattr(found, name) for name in none} == {**none, **expected}


OF_V1 = Requirement("v", "In", ("1",))
NOT_OF_V1 = Requirement("v", "NotIn", ("1",))
WRITTEN = {"key": "v", "operator": "In", "values": ["0"]}


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param((*WEB.requirements, OF_V1), term(matchLabelKeys=["v"]), id="the pod's own value"),
        pytest.param((*WEB.requirements, NOT_OF_V1), term(mismatchLabelKeys=["v"]), id="all but its own"),
        pytest.param(WEB.requirements, term(matchLabelKeys=["none"]), id="a label that the pod lacks is passed over"),
        pytest.param(
            (Requirement("v", "In", ("0",)),),
            term(matchLabelKeys=["v"], labelSelector={"matchExpressions": [WRITTEN]}),
            id="written by the API server already, with the label of that time",
        ),
        pytest.param(
            (OF_V1, NOT_OF_V1),
            term(matchLabelKeys=["v"], mismatchLabelKeys=["v"], labelSelector={}),
            id="an empty selector is narrowed, too",
        ),
        pytest.param(None, term(matchLabelKeys=["v"], labelSelector=None), id="without a selector no pod is meant"),
    ],
)
def test_label_keys_stand_in_the_selector(
    expected: tuple[Requirement, ...] | None, given: dict[str, Any], kind: str
) -> None:
    """Source: kubernetes pkg/registry/core/pod/strategy.go, applyMatchLabelKeysAndMismatchLabelKeys."""
    spec = read(api_pod(meta={"labels": {"app": "web", "v": "1"}}, affinity={kind: {REQUIRED: [given]}})).spec
    found = (spec.affinity or spec.anti_affinity)[0].selector

    assert (found and found.requirements) == expected
    assert not find_unmodelled(spec, None)


@pytest.mark.parametrize(
    ("expected", "volume"),
    [
        pytest.param(("emptyDir", ""), {"emptyDir": {}}, id="empty dir on disk"),
        pytest.param(("emptyDir", "Memory"), {"emptyDir": {"medium": "Memory"}}, id="empty dir in memory"),
        pytest.param(("emptyDir", ""), {}, id="no source means an empty dir"),
        pytest.param(("hostPath", ""), {"hostPath": {"path": "/var"}}, id="host path"),
        pytest.param(
            ("persistentVolumeClaim", "data-0"), {"persistentVolumeClaim": {"claimName": "data-0"}}, id="claim"
        ),
        pytest.param(("ephemeral", ""), {"ephemeral": {"volumeClaimTemplate": {}}}, id="ephemeral"),
        pytest.param(("csi", "secrets-store"), {"csi": {"driver": "secrets-store"}}, id="inline csi"),
        pytest.param(("nfs", ""), {"nfs": {"server": "s", "path": "/"}}, id="a kind from long ago"),
    ],
)
def test_a_volume_keeps_its_kind_and_what_sets_it_apart(expected: tuple[str, str], volume: dict[str, Any]) -> None:
    assert read(api_pod(volumes=[{"name": "v", **volume}])).spec.volumes == (Volume("v", *expected),)


PORT: dict[str, Any] = {"containerPort": 80, "protocol": "UDP"}
HOST: list[dict[str, Any]] = [{"containerPort": 1, "hostPort": 9}]


def ports(*given: dict[str, Any]) -> dict[str, Any]:
    return {"containers": [container(ports=list(given))]}


def init(**own: Any) -> dict[str, Any]:
    return {"initContainers": [container(name="s", ports=HOST, **own)]}


@pytest.mark.parametrize(
    ("expected", "spec"),
    [
        pytest.param((), ports(PORT), id="a container port is no host port"),
        pytest.param((HostPort("UDP", 8080),), ports({**PORT, "hostPort": 8080}), id="host"),
        pytest.param((HostPort("TCP", 9, "10.0.0.1"),), ports({**HOST[0], "hostIP": "10.0.0.1"}), id="on one address"),
        pytest.param((HostPort("UDP", 80),), {"hostNetwork": True, **ports(PORT)}, id="host network"),
        pytest.param((HostPort("TCP", 9),), init(restartPolicy="Always"), id="a sidecar's too"),
        pytest.param((), init(), id="an init container's is free when it is done"),
        pytest.param(
            (HostPort("TCP", 9), HostPort("UDP", 80)),
            {"hostNetwork": True, **ports({**PORT, "hostPort": 0}, *HOST, *HOST)},
            id="each once; zero is what the API server fills in on the host's network",
        ),
    ],
)
def test_ports_of_the_host_are_found(expected: tuple[HostPort, ...], spec: dict[str, Any]) -> None:
    assert read(api_pod(**spec)).spec.host_ports == expected


def test_only_a_controller_owns_a_pod() -> None:
    owners = [{"kind": "Backup", "name": "b", "uid": "1"}, {"kind": "Job", "name": "j", "uid": "2", "controller": True}]

    assert read(api_pod(meta={"ownerReferences": owners})).spec.owner == Owner("Job", "j", "2")
    assert read(api_pod(meta={"ownerReferences": owners[:1]})).spec.owner is None


@pytest.mark.parametrize(
    ("expected", "status"),
    [
        pytest.param((True, datetime(2026, 3, 4, 11, tzinfo=UTC)), "True", id="Ready"),
        pytest.param((False, None), "False", id="no longer Ready: since then it is not"),
    ],
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
    ("expected", "phase"),
    [(Phase.PENDING, ""), (Phase.SUCCEEDED, "Succeeded"), (Phase.UNKNOWN, "Dreaming")],
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
