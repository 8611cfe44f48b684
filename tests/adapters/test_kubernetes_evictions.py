"""What is asked of the eviction API, and what each of its answers means."""

from typing import Any

import pytest

from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.records.drain_record import EvictionAnswer as Answer
from shared.port_types import Eviction
from tests.adapters.access import access_to, no_wait
from tests.adapters.objects import api_pod, read
from tests.adapters.scripted import Say, Script, status


def budget_cause(message: str) -> dict[str, Any]:
    return status(
        429, "Cannot evict pod as it would violate the pod's disruption budget.", cause=("DisruptionBudget", message)
    )


DENIED = 'admission webhook "guard.example.com" denied the request: not at night'
RECREATED = (
    'Operation cannot be fulfilled on Pod "web-1": the UID in the precondition (a) does not match the UID in '
    "record (b). The object might have been deleted and then recreated"
)
NEEDS = "The disruption budget web needs 3 healthy pods and has 3 currently"


@pytest.mark.acceptance(86)
@pytest.mark.parametrize(
    ("expected", "code", "body"),
    [
        pytest.param(Eviction(Answer.GRANTED), 201, status(201, ""), id="201"),
        pytest.param(Eviction(Answer.GRANTED), 200, status(200, ""), id="200"),
        pytest.param(
            Eviction(Answer.GONE, '404 pods "web-1" not found'), 404, status(404, 'pods "web-1" not found'), id="404"
        ),
        pytest.param(
            Eviction(Answer.GONE, "409 Precondition failed: UID in precondition: a, UID in object meta: b"),
            409,
            status(409, "Precondition failed: UID in precondition: a, UID in object meta: b"),
            id="another pod has the name",
        ),
        pytest.param(
            Eviction(Answer.GONE, f"409 {RECREATED}"), 409, status(409, RECREATED), id="the same, shown later"
        ),
        pytest.param(Eviction(Answer.CONFLICT, "409 try again"), 409, status(409, "try again"), id="any other 409"),
        pytest.param(Eviction(Answer.BUDGET, "default/web"), 429, budget_cause(NEEDS), id="a PDB without room"),
        pytest.param(
            Eviction(Answer.BUDGET, "default/web"),
            429,
            budget_cause("The disruption budget web is still being processed by the server."),
            id="a PDB not yet observed",
        ),
        pytest.param(
            Eviction(Answer.LATER, "429 slow down", refused=True), 429, status(429, "slow down"), id="a busy server"
        ),
        pytest.param(
            Eviction(Answer.SEVERAL_PDBS, "500 This pod has more than one PodDisruptionBudget, which the"),
            500,
            status(500, "This pod has more than one PodDisruptionBudget, which the"),
            id="several PDBs",
        ),
        pytest.param(Eviction(Answer.LATER, "500 etcd"), 500, status(500, "etcd"), id="any other 500"),
        pytest.param(
            Eviction(Answer.LATER, f"500 {RECREATED}"), 500, status(500, RECREATED), id="a 500 with a conflict's words"
        ),
        pytest.param(Eviction(Answer.LATER, "504 timeout"), 504, status(504, "timeout"), id="504"),
        pytest.param(
            Eviction(Answer.TERMINATING, "403 being terminated"),
            403,
            status(403, "being terminated", cause=("NamespaceTerminating", "x")),
            id="the namespace is going",
        ),
        pytest.param(Eviction(Answer.FORBIDDEN, "403 no"), 403, status(403, "no"), id="any other 403"),
        pytest.param(Eviction(Answer.FORBIDDEN, "422 bad"), 422, status(422, "bad"), id="422"),
        pytest.param(Eviction(Answer.FORBIDDEN, f"403 {DENIED}"), 403, status(403, DENIED), id="a webhook, 403"),
        pytest.param(Eviction(Answer.FORBIDDEN, f"400 {DENIED}"), 400, status(400, DENIED), id="a webhook, 400"),
        pytest.param(Eviction(Answer.FORBIDDEN, f"409 {DENIED}"), 409, status(409, DENIED), id="a webhook, 409"),
        pytest.param(Eviction(Answer.FORBIDDEN, f"429 {DENIED}"), 429, status(429, DENIED), id="a webhook, 429"),
        pytest.param(
            Eviction(Answer.LATER, '500 failed calling webhook "guard.example.com"'),
            500,
            status(500, 'failed calling webhook "guard.example.com"'),
            id="a webhook that is down",
        ),
        pytest.param(Eviction(Answer.LATER, "502 <html>"), 502, b"<html>", id="a proxy's words"),
    ],
)
def test_every_answer_to_an_eviction_has_its_meaning(
    api: Script, cluster: KubernetesCluster, expected: Eviction, code: int, body: Any
) -> None:
    api.says(Say(code, body))

    assert cluster.evict(read(api_pod()), 30) == expected
    assert len(api.asked) == 1


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
