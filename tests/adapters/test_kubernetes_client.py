from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.kubernetes.client import REPEATS, KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.kubeconfig import from_kubeconfig
from shared.adapters.kubernetes.transport import Call
from shared.errors import EbbError, Forbidden, Gone, Retryable, Stale, Terminal
from shared.ports import Traffic
from tests.adapters.objects import api_node, api_pod
from tests.adapters.scripted import GROUPS, LIMITS, Say, Script, access_to, kubeconfig, no_wait, status
from tests.depth import cases
from tests.real.waiting import until

GET = Call("get", "nodes", "/api/v1/nodes/n1")
PODS = "/api/v1/pods"


def client(api: Script, **seconds: Any) -> KubernetesClient:
    return KubernetesClient(access_to(api.address), sleep=no_wait, **seconds)


def page(*items: dict[str, Any], after: str = "") -> Say:
    return Say(body={"kind": "List", "metadata": {"continue": after} if after else {}, "items": list(items)})


@cases(
    "expected, code",
    ("not there", Gone, 404),
    ("conflict", Stale, 409),
    ("not allowed", Forbidden, 403),
    ("invalid", Terminal, 422),
    ("bad request", Terminal, 400),
    ("too many requests", Retryable, 429),
    ("server error", Retryable, 500),
    ("unavailable", Retryable, 503),
    ("gateway timeout", Retryable, 504),
)
def test_every_code_has_its_named_failure(api: Script, expected: type[EbbError], code: int) -> None:
    api.says(*Say(code, status(code, "the API's words")).lasting)

    with pytest.raises(expected, match="the API's words") as failure:
        client(api).ask(GET)

    assert type(failure.value) is expected
    assert len(api.asked) == (1 + REPEATS if expected is Retryable else 1)


def test_a_refusal_names_verb_resource_and_remedy(api: Script) -> None:
    api.says(Say(403, status(403, 'nodes is forbidden: User "ebb"')))

    with pytest.raises(Terminal, match=r"not allowed to get nodes: .*User.*infra/rbac\.yaml"):
        client(api).ask(GET)


def test_a_webhooks_no_is_no_lack_of_rights_though_its_code_shows_it(api: Script) -> None:
    api.says(Say(403, status(403, 'admission webhook "policy.example.com" denied the request: not this pod')))

    with pytest.raises(Terminal, match="403 admission webhook") as failure:
        client(api).ask(GET)

    assert type(failure.value) is Terminal


def test_an_answer_that_is_none_of_the_apis_is_quoted(api: Script) -> None:
    api.says(*Say(502, b"<html>bad gateway</html>").lasting)

    with pytest.raises(Retryable, match="502 <html>bad gateway</html>"):
        client(api).ask(GET)


def test_each_call_is_counted_with_the_bytes_of_its_answer(api: Script) -> None:
    asking = client(api, read_seconds=1)
    api.says(Say(body=api_node()), Say(404, status(404, "gone")), Say(silent=True))
    answered = len(asking.ask(GET))
    refused = len(asking.send(GET).body)

    with pytest.raises(Retryable, match="no answer"):
        asking.ask(GET)

    assert asking.meter.read() == Traffic(calls=3, bytes=answered + refused)
    until("the server has read the last request", lambda: len(api.asked) == 3)


def test_credentials_that_are_refused_twice_are_an_outage(api: Script) -> None:
    api.says(Say(401, status(401, "Unauthorized")), Say(401, status(401, "Unauthorized")))

    with pytest.raises(Retryable, match="fresh credentials were refused"):
        client(api).ask(GET)

    assert len(api.asked) == 2


def test_a_list_is_read_page_by_page(api: Script) -> None:
    api.says(page(api_pod("a"), after="more"), page(api_pod("b")))

    pods = KubernetesCluster(client(api)).pods_on("n1")

    assert [pod.name for pod in pods] == ["a", "b"]
    first, second = ({**asked.query} for asked in api.asked)
    assert first == {"fieldSelector": "spec.nodeName=n1", "limit": "500"}
    assert second == {**first, "continue": "more"}
    assert "resourceVersion" not in first, "a consistent read"


def test_a_list_that_expires_starts_again(api: Script) -> None:
    expired = Say(410, status(410, "the provided continue parameter is too old", reason="Expired"))
    api.says(page(api_pod("old"), after="more"), expired, page(api_pod("a"), after="x"), page(api_pod("b")))

    pods = KubernetesCluster(client(api)).pods_on("n1")

    assert [pod.name for pod in pods] == ["a", "b"], "nothing of the first reading is kept"


@cases(
    "sentence, answers",
    ("it keeps expiring", "the list expired 3 times", [Say(410, status(410, "too old"))] * 3),
    ("a page fails", "etcd is not well",
     [page(api_pod("a"), after="more"), *Say(503, status(503, "etcd is not well")).lasting]),
)  # fmt: skip
def test_an_outage_within_a_list_gives_no_half_a_list(api: Script, sentence: str, answers: list[Say]) -> None:
    api.says(*answers)

    with pytest.raises(Retryable, match=sentence):
        KubernetesCluster(client(api)).pods_on("n1")

    assert len(api.asked) >= 3, "it is asked for again"


@cases(
    "body",
    ("no JSON", b"not json"),
    ("another shape", {"items": [{"metadata": 5}]}),
    ("another shape of a part that is decoded late", {"items": [api_pod(tolerations="all")]}),
    ("a quantity that is none", {"items": [api_pod(overhead={"cpu": "much"})]}),
    ("nested beyond reason", b"[" * 100_000),
)
def test_an_answer_that_cannot_be_read_is_terminal(api: Script, body: Any) -> None:
    api.says(Say(body=body))

    with pytest.raises(Terminal, match="list pods: the answer cannot be read"):
        KubernetesCluster(client(api)).pods_on("n1")


def test_a_snapshot_is_nodes_then_pods_then_budgets_then_namespaces_then_workloads(api: Script) -> None:
    budget = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"selector": {}}}
    namespace = {"metadata": {"name": "shop", "labels": {"team": "a"}}}
    api.says(page(api_node()), page(api_pod()), page(budget), page(namespace), page(), page(), page())

    reading = KubernetesCluster(client(api)).read()

    assert [asked.path for asked in api.asked] == [
        "/api/v1/nodes",
        PODS,
        "/apis/policy/v1/poddisruptionbudgets",
        "/api/v1/namespaces",
        "/apis/apps/v1/replicasets",
        "/apis/apps/v1/deployments",
        "/apis/apps/v1/statefulsets",
        *GROUPS,
        *LIMITS,
    ]
    assert [node.name for node in reading.nodes] == ["n1"]
    assert [pod.key for pod in reading.pods] == ["default/web-1"]
    assert [budget.key for budget in reading.disruption_budgets] == ["shop/web"]
    assert reading.namespaces == {"shop": {"team": "a"}}


def test_a_kubeconfigs_token_is_sent(api: Script, tmp_path: Any) -> None:
    api.says(Say(body=api_node()))

    path = kubeconfig(tmp_path, server=api.address, token="secret")  # noqa: S106 - a test's
    KubernetesClient(from_kubeconfig(str(path))).ask(GET)

    assert api.asked[0].headers["authorization"] == "Bearer secret"
    assert api.asked[0].headers["user-agent"] == "ebb", "the manager of the fields that it writes"


BUSY = Say(429, status(429, "too many requests"))


@cases(
    "expected, answers",
    ("one bad answer", [0.2], (BUSY,)),
    ("three of them, each pause twice as long", [0.2, 0.4, 0.8], (BUSY, Say(500), Say(503))),
    ("a reset among them", [0.2, 0.4], (BUSY, Say(reset=True))),
    ("as long as the server asks for", [1.0], (replace(BUSY, retry_after="1"),)),
    ("a date is passed over", [0.2], (replace(BUSY, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"),)),
)
def test_a_read_is_repeated_after_passing_trouble(expected: list[float], answers: tuple[Say, ...], api: Script) -> None:
    waited: list[float] = []
    api.says(*answers, Say(body=api_node()))

    KubernetesClient(access_to(api.address), sleep=waited.append).ask(GET)

    assert len(waited) == len(expected)
    assert all(least <= seconds <= 1.5 * least for least, seconds in zip(expected, waited, strict=True))


@cases(
    "call, said",
    ("a write: it may have been done", Call("patch", "nodes", "/api/v1/nodes/n1", body={}), BUSY),
    ("a server that asks for a minute", GET, replace(BUSY, retry_after="60")),
    ("what stays so", GET, Say(404)),
)
def test_what_a_repetition_would_not_help_is_asked_once(call: Call, said: Say, api: Script) -> None:
    api.says(said)

    with pytest.raises(EbbError):
        client(api).ask(call)

    assert len(api.asked) == 1
