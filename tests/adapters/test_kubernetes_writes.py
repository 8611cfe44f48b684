"""Evictions, restarts of Deployments and deletion costs: what is asked, and what each answer means."""

from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Deployment
from shared.core.records.drain_record import EvictionAnswer as Answer
from shared.errors import EbbError, Forbidden, Gone, Stale, Terminal
from shared.ports import Eviction
from tests.adapters.objects import api_pod, read
from tests.adapters.scripted import Say, Script, access_to, no_wait, status
from tests.depth import cases


def budget_cause(message: str) -> dict[str, Any]:
    return status(
        429, "Cannot evict pod as it would violate the pod's disruption budget.", cause=("DisruptionBudget", message)
    )


DENIED = 'admission webhook "guard.example.com" denied the request: not at night'
RECREATED = (
    'Operation cannot be fulfilled on Pod "web-1": the UID in the precondition (a) does not match the UID in '
    "record (b). The object might have been deleted and then recreated"
)
OTHER_UID = "Precondition failed: UID in precondition: a, UID in object meta: b"
PROCESSED = "The disruption budget web is still being processed by the server."
NEEDS = "The disruption budget web needs 3 healthy pods and has 3 currently"


@pytest.mark.acceptance(86)
@cases(
    "expected, code, message",
    ("201", Answer.GRANTED, 201, ""),
    ("200", Answer.GRANTED, 200, ""),
    ("404", Answer.GONE, 404, 'pods "web-1" not found'),
    ("another pod has the name", Answer.GONE, 409, OTHER_UID),
    ("the same, shown later", Answer.GONE, 409, RECREATED),
    ("any other 409", Answer.CONFLICT, 409, "try again"),
    ("several PDBs", Answer.SEVERAL_PDBS, 500, "This pod has more than one PodDisruptionBudget"),
    ("any other 500", Answer.LATER, 500, "etcd"),
    ("a 500 with a conflict's words", Answer.LATER, 500, RECREATED),
    ("a webhook that is down", Answer.LATER, 500, 'failed calling webhook "guard.example.com"'),
    ("504", Answer.LATER, 504, "timeout"),
    ("any other 403", Answer.FORBIDDEN, 403, "no"),
    ("422", Answer.FORBIDDEN, 422, "bad"),
    *((f"a webhook, {code}", Answer.FORBIDDEN, code, DENIED) for code in (400, 403, 409, 429)),
)
def test_every_answer_to_an_eviction_has_its_meaning(
    api: Script, cluster: KubernetesCluster, expected: Answer, code: int, message: str
) -> None:
    api.says(Say(code, status(code, message)))

    assert cluster.evict(read(api_pod()), 30) == Eviction(expected, f"{code} {message}" if message else "")
    assert len(api.asked) == 1


@pytest.mark.acceptance(86)
@cases(
    "expected, code, body",
    ("a PDB without room", Eviction(Answer.BUDGET, "default/web"), 429, budget_cause(NEEDS)),
    ("a PDB not yet observed", Eviction(Answer.BUDGET, "default/web"), 429, budget_cause(PROCESSED)),
    ("a busy server", Eviction(Answer.LATER, "429 slow", refused=True), 429, status(429, "slow")),
    ("the namespace is going", Eviction(Answer.TERMINATING, "403 being terminated"), 403,
     status(403, "being terminated", cause=("NamespaceTerminating", "x"))),
    ("a proxy's words", Eviction(Answer.LATER, "502 <html>"), 502, b"<html>"),
)  # fmt: skip
def test_an_answer_shows_which_budget_refused_and_whether_the_pod_stays(
    api: Script, cluster: KubernetesCluster, expected: Eviction, code: int, body: Any
) -> None:
    api.says(Say(code, body))

    assert cluster.evict(read(api_pod()), 30) == expected


def test_an_eviction_without_an_answer_comes_later(api: Script) -> None:
    api.says(Say(silent=True))
    impatient = KubernetesCluster(KubernetesClient(access_to(api.address), sleep=no_wait, read_seconds=0.1))

    assert impatient.evict(read(api_pod()), 30).answer is Answer.LATER


@pytest.mark.acceptance(83, 85)
def test_an_eviction_names_this_very_pod_and_its_grace(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(201))

    cluster.evict(read(api_pod()), 480)

    assert api.calls == [("POST", "/api/v1/namespaces/default/pods/web-1/eviction")]
    assert api.asked[0].query == {}
    assert api.asked[0].body == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "web-1", "namespace": "default"},
        "deleteOptions": {"gracePeriodSeconds": 480, "preconditions": {"uid": "uid-web-1"}},
    }


def test_a_dry_run_shows_it_to_the_server_and_its_webhooks(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(201))

    cluster.evict(read(api_pod()), 30, dry_run=True)

    assert api.asked[0].query == {"dryRun": "All"}
    assert api.asked[0].body["deleteOptions"]["dryRun"] == ["All"]


def test_a_webhook_that_knows_no_dry_run_forbids(api: Script, cluster: KubernetesCluster) -> None:
    message = 'admission webhook "guard.example.com" does not support dry run'
    api.says(Say(400, status(400, message)))

    assert cluster.evict(read(api_pod()), 30, dry_run=True) == Eviction(Answer.FORBIDDEN, f"400 {message}")


PATH = "/apis/apps/v1/namespaces/shop/deployments/web"
READ = Deployment(name="shop/Deployment/web", uid="u1", resource_version="7", template="t")


def api_deployment(version: str = "7", stamp: str | None = None, **notes: str) -> dict[str, Any]:
    stamped = {names.SURGE_STAMP: stamp} if stamp else {}
    return {
        "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": version},
        "spec": {"template": {"metadata": {"annotations": {**notes, **stamped}}, "spec": {"containers": []}}},
    }


@cases(
    "written, noted, stamp, before, earlier",
    ("a restart", "order-1", None, "order-1", "", ""),
    ("a restart after another", "order-2", "order-1", "order-2", "order-1", ""),
    ("a restart after two", "order-3", "order-2", "order-3", "order-2", "order-1"),
    ("taken back", None, None, "", "order-1", ""),
    ("taken back after another", "order-1", None, "order-1", "order-2", "order-1"),
)
def test_the_stamp_and_what_it_replaces_are_written_on_the_version_that_was_read(
    api: Script,
    cluster: KubernetesCluster,
    written: str | None,
    noted: str | None,
    stamp: str,
    before: str,
    earlier: str,
) -> None:
    api.says(Say(body=api_deployment("8", stamp)))

    found = cluster.restart(replace(READ, stamp=before, earlier=earlier), stamp)

    assert api.calls == [("PATCH", PATH)]
    assert (api.asked[0].headers["content-type"], api.asked[0].query) == ("application/merge-patch+json", {})
    assert api.asked[0].body == {
        "metadata": {"uid": "u1", "resourceVersion": "7", "annotations": {names.SURGED_BEFORE: noted}},
        "spec": {"template": {"metadata": {"annotations": {names.SURGE_STAMP: written}}}},
    }
    assert (found.stamp, found.resource_version) == (stamp, "8")


def test_a_restart_tried_dry_shows_it_to_the_api(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(body=api_deployment("7", "order-1")))

    cluster.restart(READ, "order-1", dry_run=True)

    assert api.asked[0].query == {"dryRun": "All"}


def test_a_refused_restart_names_the_file_that_grants_it(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(403, status(403, "deployments.apps is forbidden")))

    with pytest.raises(Forbidden, match=r"not allowed to patch deployments: .*forbidden; .*infra/options/surge\.yaml"):
        cluster.restart(READ, "order-1")


def test_the_digest_of_a_template_leaves_out_our_stamp_alone(api: Script, cluster: KubernetesCluster) -> None:
    plain, stamped, noted = api_deployment(), api_deployment(stamp="order-1"), api_deployment(team="shop")
    bare = api_deployment()
    del bare["spec"]["template"]["metadata"]["annotations"]
    api.says(*(Say(body=given) for given in (plain, stamped, bare, noted)))

    digests = [cluster.deployment(READ.name).template for _ in range(4)]

    assert len(set(digests[:3])) == 1
    assert digests[3] != digests[0]


POD_PATH = "/api/v1/namespaces/default/pods/web-1"
POD: Pod = read(api_pod())


def standing(cost: str | None = None, mark: str | None = None, **meta: Any) -> Say:
    found = {names.DELETION_COST: cost, names.STEERED: mark, "owner.example/of": "web"}
    kept = {key: value for key, value in found.items() if value is not None}
    return Say(body=api_pod(meta={"resourceVersion": "7", "annotations": kept, **meta}))


def both(value: str | None) -> dict[str, str | None]:
    return {names.DELETION_COST: value, names.STEERED: value}


@cases(
    "written, cost, found",
    ("a first cost", both("-5"), -5, standing()),
    ("one in place of ours", both("-5"), -5, standing("-9", "-9")),
    ("where somebody took ours away: our mark", both(None), -5, standing(None, "-9")),
    ("taken back", both(None), None, standing("-9", "-9")),
    ("a mark that stands alone", both(None), None, standing(None, "-9")),
    ("somebody else's now: our mark", {names.STEERED: None}, None, standing("3", "-9")),
    ("and nothing is written over it", {names.STEERED: None}, -5, standing("3", "-9")),
    ("the same value, but not of our mark", {names.STEERED: None}, -5, standing("-5", "-9")),
    ("somebody wrote an empty one", {names.STEERED: None}, None, standing("", "-9")),
)
def test_two_annotations_are_written_on_the_version_that_was_read(
    api: Script, cluster: KubernetesCluster, written: dict[str, str | None], cost: int | None, found: Say
) -> None:
    api.says(found, Say())

    assert cluster.set_deletion_cost(POD, cost)

    assert api.calls == [("GET", POD_PATH), ("PATCH", POD_PATH)]
    asked = api.asked[1]
    assert (asked.headers["content-type"], asked.query) == ("application/merge-patch+json", {})
    assert asked.body == {"metadata": {"uid": "uid-web-1", "resourceVersion": "7", "annotations": written}}


@cases(
    "cost, found",
    ("somebody else wrote the same", -5, standing("-5")),
    ("there is none", None, standing()),
    ("the pod is on its way out", -5, standing(deletionTimestamp="2026-03-04T12:00:00Z")),
)
def test_where_there_is_nothing_to_write_nothing_is_written(
    api: Script, cluster: KubernetesCluster, cost: int | None, found: Say
) -> None:
    api.says(found)

    assert not cluster.set_deletion_cost(POD, cost)
    assert api.calls == [("GET", POD_PATH)]


@cases(
    "expected, answers",
    ("another pod of that name", Gone, [standing(uid="another")]),
    ("no right to write it", Forbidden, [standing(), Say(403, status(403, "may not patch"))]),
    ("it changed meanwhile", Stale, [standing(), Say(409, status(409, "changed"))]),
    ("no object of the API's", Terminal, [Say(body={"metadata": 7})]),
)
def test_each_answer_to_a_cost_has_its_name(
    api: Script, cluster: KubernetesCluster, expected: type[EbbError], answers: list[Say]
) -> None:
    api.says(*answers)

    with pytest.raises(EbbError) as caught:
        cluster.set_deletion_cost(POD, -5)
    assert caught.type is expected


def test_pods_with_costs_of_ours_share_one_class_with_those_that_have_none() -> None:
    decoder = PodDecoder()
    plain = read(api_pod(), decoder)
    marked = [read(api_pod(f"web-{n}", meta={"annotations": both(str(-n))}), decoder) for n in range(1, 9)]
    assert {id(pod.spec) for pod in marked} == {id(plain.spec)}
    assert [pod.steered for pod in marked] == [str(-n) for n in range(1, 9)]


def test_of_a_cost_that_somebody_wrote_over_ours_the_class_knows_theirs() -> None:
    found = read(api_pod(meta={"annotations": {names.DELETION_COST: "3", names.STEERED: "-9"}}))
    assert (found.steered, dict(found.spec.annotations)) == ("-9", {names.DELETION_COST: "3"})
