"""Asking the API server about rights: what is sent, and what an answer means."""

import pytest

from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.discovery import AccessReviews
from shared.errors import Forbidden, Gone, Terminal
from tests.adapters.access import access_to, no_wait
from tests.adapters.scripted import Say, Script, status

KINDS = {"resources": [{"name": "verticalpodautoscalers"}]}


def reviews(api: Script) -> AccessReviews:
    return AccessReviews(KubernetesClient(access_to(api.address), sleep=no_wait))


@pytest.mark.parametrize("allowed", [True, False])
def test_a_right_is_what_the_api_server_shows(api: Script, allowed: bool) -> None:
    api.says(Say(201, {"kind": "SelfSubjectAccessReview", "status": {"allowed": allowed}}))

    assert reviews(api).may("create", "", "pods/eviction") is allowed
    assert api.asked[0].body["spec"]["resourceAttributes"] == {
        "verb": "create",
        "group": "",
        "resource": "pods",
        "subresource": "eviction",
    }


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        pytest.param(Gone, Say(404, status(404, "not found")), id="an API server that reviews nothing"),
        pytest.param(Terminal, Say(403, status(403, "no")), id="a refusal"),
        pytest.param(Terminal, Say(201, {"status": {"allowed": "perhaps"}}), id="nonsense"),
    ],
)
def test_what_cannot_be_asked_is_named(api: Script, expected: type[Exception], answer: Say) -> None:
    api.says(answer)

    with pytest.raises(expected):
        reviews(api).may("list", "", "pods")


ROLE = {"kind": "ClusterRole", "rules": [{"verbs": ["get"]}]}


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        pytest.param(ROLE, Say(body=ROLE), id="there"),
        pytest.param(None, Say(404, status(404, "not found")), id="not there"),
    ],
)
def test_what_stands_is_returned_as_it_is(api: Script, expected: object, answer: Say) -> None:
    api.says(answer)

    assert reviews(api).standing("rbac.authorization.k8s.io", "clusterroles", "ebb-drainer") == expected
    assert api.asked[0].path == "/apis/rbac.authorization.k8s.io/v1/clusterroles/ebb-drainer"


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        pytest.param(Forbidden, Say(403, status(403, "no")), id="it may not be seen"),
        pytest.param(Terminal, Say(body=["no", "object"]), id="nonsense"),
    ],
)
def test_what_stands_and_cannot_be_read_is_named(api: Script, expected: type[Exception], answer: Say) -> None:
    api.says(answer)

    with pytest.raises(expected):
        reviews(api).standing("admissionregistration.k8s.io", "validatingadmissionpolicies", "ebb-drainer-nodes")


@pytest.mark.parametrize(
    ("expected", "answers"),
    [
        pytest.param(False, [Say(404, status(404, "not found"))], id="no such group"),
        pytest.param(True, [Say(body={"versions": [{"version": "v1"}]}), Say(body=KINDS)], id="the kind"),
    ],
)
def test_a_cluster_shows_which_kinds_it_has(api: Script, expected: bool, answers: list[Say]) -> None:
    api.says(*answers)

    assert reviews(api).serves("autoscaling.k8s.io", "verticalpodautoscalers") is expected
