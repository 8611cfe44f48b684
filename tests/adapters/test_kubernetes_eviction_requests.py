"""What is asked of the API of EvictionRequests, and what each state of a request means."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from infra.local.api.eviction_requests import check_request
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.eviction_requests import OBSERVED_WITHIN, request_body
from shared.core.cluster.pod import Pod
from shared.core.records.evictions import EvictionAnswer as Answer
from shared.errors import Forbidden, Retryable, Stale
from tests.adapters.access import access_to, no_wait
from tests.adapters.scripted import Say, Script, scripted, status
from tests.builders import NOW, pod, pod_class

UID = "9f1c5a30-4a0e-4d52-8b1f-6d2f0c1e7a11"
MOVER = "storage.example.com/mover"
PATH = "/apis/lifecycle.k8s.io/v1alpha1/namespaces/default/evictionrequests"
OURS = f"{PATH}/ebb-{UID}"
NOT_THERE = Say(404, status(404, f'evictionrequests.lifecycle.k8s.io "ebb-{UID}" not found'))


@pytest.fixture
def api() -> Iterator[Script]:
    with scripted() as script:
        yield script


@pytest.fixture
def cluster(api: Script) -> KubernetesCluster:
    return KubernetesCluster(KubernetesClient(access_to(api.address), sleep=no_wait, read_seconds=2), now=lambda: NOW)


def answered() -> Pod:
    return pod("web-1", on="n1", uid=UID, kind=pod_class(eviction_responders=(MOVER,)))


def request(intent: str = "Eviction", *, generation: int = 1, observed: int | None = 1, **conditions: str) -> Any:
    """A request as the API answers it; a condition's value is its reason, and it holds."""
    rows = [{"type": type_, "status": "True", "reason": why, "message": "m"} for type_, why in conditions.items()]
    waits = [{"type": "Failed", "status": "False", "reason": "AwaitingEviction", "message": f"{MOVER} is Active"}]
    return {
        "metadata": {
            "name": f"ebb-{UID}",
            "resourceVersion": "7",
            "generation": generation,
            "annotations": {"ebb.internal/asked-at": (NOW - timedelta(minutes=1)).isoformat()},
        },
        "spec": {"intent": intent, "requester": "ebb.internal/drainer"},
        "status": {"conditions": rows or waits, **({} if observed is None else {"observedGeneration": observed})},
    }


def test_one_request_of_ours_is_made_for_exactly_this_pod(api: Script, cluster: KubernetesCluster) -> None:
    api.says(NOT_THERE, Say(201, request(observed=None)))

    assert cluster.evict(answered(), 30).answer is Answer.GRANTED
    assert api.calls == [("GET", OURS), ("POST", PATH)]
    assert api.asked[1].body["spec"] == {
        "target": {"pod": {"name": "web-1", "uid": UID}},
        "requester": "ebb.internal/drainer",
        "intent": "Eviction",
    }


def test_what_is_made_is_of_the_types_shape_and_goes_with_its_pod() -> None:
    made = request_body(answered(), NOW)

    check_request(made)
    assert (made["apiVersion"], made["kind"]) == ("lifecycle.k8s.io/v1alpha1", "EvictionRequest")
    assert made["metadata"]["ownerReferences"] == [{"apiVersion": "v1", "kind": "Pod", "name": "web-1", "uid": UID}]


def test_a_dry_run_is_one_for_the_api_too(api: Script, cluster: KubernetesCluster) -> None:
    api.says(NOT_THERE, Say(201, request(observed=None)))
    cluster.evict(answered(), 30, dry_run=True)

    assert [each.query for each in api.asked] == [{}, {"dryRun": "All"}]


def test_a_withdrawn_request_is_made_anew_on_the_version_read(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(body=request("Withdrawn", Failed="CanceledDueToNoRequesters")), Say(body=request(generation=2)))

    assert cluster.evict(answered(), 30).answer is Answer.GRANTED
    assert api.calls == [("GET", OURS), ("PATCH", OURS)]
    assert api.asked[1].body == {
        "metadata": {"resourceVersion": "7", "annotations": {"ebb.internal/asked-at": NOW.isoformat()}},
        "spec": {"intent": "Eviction"},
    }


@pytest.mark.parametrize(
    ("expected", "standing"),
    [
        pytest.param(Answer.GRANTED, request(), id="somebody is at work on it"),
        pytest.param(Answer.GRANTED, request(observed=None), id="no controller has seen it yet"),
        pytest.param(Answer.GONE, request(TargetEvicted="PodDeleted"), id="the pod has been evicted"),
        pytest.param(Answer.GONE, request(TargetEvicted="PodTerminal", observed=None), id="the pod has ended"),
        pytest.param(Answer.FORBIDDEN, request(Failed="NoFurtherResponder"), id="all have failed"),
        pytest.param(Answer.FORBIDDEN, request(Failed="EvictionInvalid"), id="it is invalid"),
        pytest.param(Answer.FORBIDDEN, request(Failed="AReasonToCome"), id="it failed for a reason not known"),
        pytest.param(Answer.LATER, request(Failed="CanceledDueToNoRequesters"), id="cancelled while we ask"),
        pytest.param(
            Answer.GRANTED, request(Failed="NoFurtherResponder", generation=3, observed=2), id="an earlier failure"
        ),
    ],
)
def test_each_state_of_a_request_is_one_of_the_eight_words(
    expected: Answer, standing: Any, api: Script, cluster: KubernetesCluster
) -> None:
    api.says(Say(body=standing))

    said = cluster.evict(answered(), 30)

    assert (said.answer, api.calls) == (expected, [("GET", OURS)])
    assert said.detail.startswith("EvictionRequest")


@pytest.mark.parametrize("written", ["2020-01-01T00:00:00", "yesterday", ""])
def test_a_time_that_cannot_be_told_counts_as_now(written: str, api: Script, cluster: KubernetesCluster) -> None:
    standing = request(observed=None)
    standing["metadata"]["annotations"]["ebb.internal/asked-at"] = written
    api.says(Say(body=standing))

    assert cluster.evict(answered(), 30).answer is Answer.GRANTED


def test_a_cluster_in_which_nothing_acts_on_requests_is_not_waited_for(api: Script) -> None:
    late = NOW + OBSERVED_WITHIN
    cluster = KubernetesCluster(
        KubernetesClient(access_to(api.address), sleep=no_wait, read_seconds=2), now=lambda: late
    )
    api.says(Say(body=request(observed=None)))

    said = cluster.evict(answered(), 30)

    assert said.answer is Answer.FORBIDDEN
    assert "no controller has seen" in said.detail


@pytest.mark.parametrize(
    ("expected", "answers"),
    [
        pytest.param(Answer.FORBIDDEN, [NOT_THERE, Say(404, status(404, "could not find"))], id="no such API"),
        pytest.param(Answer.FORBIDDEN, [Say(403, status(403, "no right"))], id="no right to look"),
        pytest.param(Answer.FORBIDDEN, [NOT_THERE, Say(403, status(403, "no right"))], id="no right to make one"),
        pytest.param(Answer.FORBIDDEN, [NOT_THERE, Say(422, status(422, "invalid"))], id="refused as invalid"),
        pytest.param(
            Answer.TERMINATING,
            [NOT_THERE, Say(403, status(403, "ends", cause=("NamespaceTerminating", "it ends")))],
            id="the namespace ends",
        ),
        pytest.param(Answer.CONFLICT, [NOT_THERE, Say(409, status(409, "already exists"))], id="made in between"),
        pytest.param(
            Answer.CONFLICT, [Say(body=request("Withdrawn")), Say(409, status(409, "modified"))], id="written meanwhile"
        ),
        pytest.param(Answer.LATER, [NOT_THERE, Say(503, status(503, "busy"))], id="an outage"),
        pytest.param(Answer.LATER, [Say(reset=True)], id="no answer"),
    ],
)
def test_what_the_api_refuses_is_one_of_the_eight_words(
    expected: Answer, answers: list[Say], api: Script, cluster: KubernetesCluster
) -> None:
    api.says(*answers)

    assert cluster.evict(answered(), 30).answer is expected


@pytest.mark.parametrize(
    ("expected", "answers"),
    [
        pytest.param(True, [Say(body=request()), Say(body=request("Withdrawn"))], id="it stood"),
        pytest.param(False, [Say(body=request("Withdrawn"))], id="withdrawn already"),
        pytest.param(False, [Say(body=request(TargetEvicted="PodDeleted"))], id="the pod has gone"),
        pytest.param(False, [NOT_THERE], id="there is none"),
        pytest.param(False, [Say(body=request()), NOT_THERE], id="gone in between"),
    ],
)
def test_withdrawing_says_whether_there_was_anything_to_withdraw(
    expected: bool,
    answers: list[Say],
    api: Script,
    cluster: KubernetesCluster,
) -> None:
    api.says(*answers)

    assert cluster.withdraw("default", UID) is expected


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        pytest.param(Stale, Say(409, status(409, "modified")), id="written meanwhile"),
        pytest.param(Forbidden, Say(403, status(403, "no right")), id="no right"),
        pytest.param(Retryable, Say(503, status(503, "busy")), id="an outage"),
    ],
)
def test_a_withdrawal_that_fails_is_named(
    expected: type[Exception], answer: Say, api: Script, cluster: KubernetesCluster
) -> None:
    api.says(Say(body=request()), answer)

    with pytest.raises(expected):
        cluster.withdraw("default", UID)


@pytest.mark.parametrize(
    ("expected", "served"),
    [
        pytest.param(True, Say(body={"resources": [{"name": "evictionrequests"}]}), id="served"),
        pytest.param(False, Say(body={"resources": [{"name": "evictions"}]}), id="another kind of that group"),
        pytest.param(False, Say(404, status(404, "not found")), id="only another version, or no such group"),
    ],
)
def test_only_the_version_that_is_known_counts_as_served(
    expected: bool,
    served: Say,
    api: Script,
    cluster: KubernetesCluster,
) -> None:
    api.says(served)

    assert cluster.serves_eviction_requests() is expected
    assert api.calls == [("GET", "/apis/lifecycle.k8s.io/v1alpha1")]
