"""A token goes with each call and is renewed before it expires; what an answer about rights means."""

import ssl
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from google.auth import exceptions

from shared.adapters.gke import Endpoint
from shared.adapters.kubernetes.access import Access, from_gke
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.discovery import AccessReviews
from shared.adapters.kubernetes.kubeconfig import from_kubeconfig
from shared.adapters.kubernetes.transport import Call
from shared.errors import BadSettings, EbbError, Forbidden, Gone, Retryable, Terminal
from tests.adapters.certificates import DAY, Authority
from tests.adapters.scripted import Say, Script, access_to, kubeconfig, no_wait, scripted, status
from tests.builders import NOW
from tests.depth import cases

GET = Call("get", "nodes", "/api/v1/nodes/n1")
HOUR = timedelta(hours=1)


def failing(kind: Callable[[str], Exception]) -> Exception:
    return kind("Google's words")


class Tokens:
    """Credentials as google-auth has them: a new token at each refresh, valid for an hour of the given clock."""

    def __init__(self, *failures: Exception) -> None:
        self.now = NOW
        self.token: str | None = None
        self.expiry: datetime | None = None
        self.refreshes = 0
        self._failures = list(failures)

    def refresh(self, request: Any) -> None:
        del request
        if self._failures:
            raise self._failures.pop(0)
        self.refreshes += 1
        self.token = f"token-{self.refreshes}"
        self.expiry = (self.now + HOUR).replace(tzinfo=None)


def gke_access(api: Script, tokens: Tokens) -> Access:
    access = from_gke(Endpoint("control.plane", None), tokens, lambda: None, lambda: tokens.now)
    access.configuration.host = api.address
    return access


def tokens_sent(api: Script) -> list[str]:
    return [asked.headers.get("authorization", "") for asked in api.asked]


@cases(
    "expected, later",
    ("at once", "Bearer token-1", timedelta()),
    ("well before its end", "Bearer token-1", timedelta(minutes=54)),
    ("just before its end", "Bearer token-2", timedelta(minutes=56)),
    ("after its end", "Bearer token-2", timedelta(hours=2)),
)
def test_every_call_shows_the_token_which_is_renewed_before_it_runs_out(
    api: Script, expected: str, later: timedelta
) -> None:
    tokens = Tokens()
    client = KubernetesClient(gke_access(api, tokens))
    api.says(Say(), Say())

    client.ask(GET)
    tokens.now += later
    client.ask(GET)

    assert tokens_sent(api) == ["Bearer token-1", expected]


def test_a_token_that_the_cluster_refuses_is_renewed_although_it_looks_valid(api: Script) -> None:
    api.says(Say(401, status(401, "Unauthorized")), Say())

    KubernetesClient(gke_access(api, Tokens())).ask(GET)

    assert tokens_sent(api) == ["Bearer token-1", "Bearer token-2"]


@cases(
    "expected, failure",
    ("Google does not answer", Retryable, failing(exceptions.TransportError)),
    ("the refresh failed", Retryable, failing(exceptions.RefreshError)),
    ("there is no identity", Terminal, failing(exceptions.DefaultCredentialsError)),
)
def test_a_token_that_cannot_be_had_is_a_named_failure(
    api: Script, expected: type[EbbError], failure: Exception
) -> None:
    with pytest.raises(expected, match="Google token"):
        KubernetesClient(gke_access(api, Tokens(failure))).ask(GET)

    assert not api.asked


def trusted(endpoint: Endpoint) -> int:
    tls = from_gke(endpoint, Tokens(), lambda: None, lambda: NOW).tls
    assert tls
    assert tls.verify_mode is ssl.CERT_REQUIRED
    return len(tls.get_ca_certs())


def test_the_clusters_ca_is_trusted_and_nothing_else(tmp_path: Path) -> None:
    assert trusted(Endpoint("10.0.0.2", Authority(tmp_path, "ca").pem)) == 1


def test_the_dns_endpoint_is_checked_against_the_systems_cas() -> None:
    assert trusted(Endpoint("uid.europe-west4.gke.goog", None)) == len(ssl.create_default_context().get_ca_certs())


OLD: Mapping[str, Any] = {"identifies_keys": False}
"""The certificate of a cluster that was made years ago, which Python 3.13 refuses by default."""


@pytest.mark.usefixtures("strict_by_default")
@cases("shown", ("a new certificate", {}), ("an old one", OLD))
@cases("is_given", ("the cluster's CA", True), ("the system's", False))
def test_every_python_accepts_what_kubectl_accepts(
    tmp_path: Path, shown: dict[str, Any], monkeypatch: pytest.MonkeyPatch, *, is_given: bool
) -> None:
    ca = Authority(tmp_path, "ca")
    (tmp_path / "ca.pem").write_text(ca.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))

    with scripted(ca.server(**shown)) as script:
        script.says(Say(body={"kind": "Node"}))
        assert ask_by_gke(script, ca.pem if is_given else None)


@cases(
    "why, vouches, shown",
    ("of another address", "IP address mismatch", "ca", {"address": "127.0.0.2"}),
    ("of another CA", "unable to get local issuer", "other", {}),
    ("that has expired", "certificate has expired", "ca", {"ends_in": -DAY}),
)
def test_an_old_certificate_is_still_refused(tmp_path: Path, why: str, vouches: str, shown: dict[str, Any]) -> None:
    by_name = {name: Authority(tmp_path, name) for name in ("ca", "other")}

    with scripted(by_name["ca"].server(**OLD, **shown)) as script, pytest.raises(Retryable, match=why):
        ask_by_gke(script, by_name[vouches].pem)

    assert not script.asked


def ask_by_gke(script: Script, ca_pem: str | None) -> bytes:
    endpoint = Endpoint(script.address.removeprefix("https://"), ca_pem)
    return KubernetesClient(from_gke(endpoint, Tokens(), lambda: None, lambda: NOW)).ask(GET)


@cases(
    "content",
    ("not there", None),
    ("empty", ""),
    ("no YAML", "{a: ["),
    ("another shape", "[1, 2]"),
    ("another shape inside", "clusters: 5\ncurrent-context: here\ncontexts: x\nusers: {}"),
)
def test_a_bad_kubeconfig_is_one_sentence_with_its_path(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "kubeconfig"
    if content is not None:
        path.write_text(content)

    with pytest.raises(BadSettings) as fault:
        from_kubeconfig(str(path))

    assert str(fault.value).startswith(f"kubeconfig {path} cannot be used")


def test_an_unknown_context_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="elsewhere"):
        from_kubeconfig(str(kubeconfig(tmp_path, server="https://10.0.0.2")), "elsewhere")


def test_renewing_reads_the_kubeconfig_again(tmp_path: Path, api: Script) -> None:
    access = from_kubeconfig(str(kubeconfig(tmp_path, server=api.address, token="old")))  # noqa: S106 - a test's
    kubeconfig(tmp_path, server=api.address, token="new")  # noqa: S106 - a test's
    api.says(Say(401, status(401, "Unauthorized")), Say())

    KubernetesClient(access).ask(GET)

    assert tokens_sent(api) == ["Bearer old", "Bearer new"]


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


ROLE = {"kind": "ClusterRole", "rules": [{"verbs": ["get"]}]}


@cases("expected, answer", ("there", ROLE, Say(body=ROLE)), ("not there", None, Say(404, status(404, "not found"))))
def test_what_stands_is_returned_as_it_is(api: Script, expected: object, answer: Say) -> None:
    api.says(answer)

    assert reviews(api).standing("rbac.authorization.k8s.io", "clusterroles", "ebb-drainer") == expected
    assert api.asked[0].path == "/apis/rbac.authorization.k8s.io/v1/clusterroles/ebb-drainer"


def may(reviewer: AccessReviews) -> object:
    return reviewer.may("list", "", "pods")


def stands(reviewer: AccessReviews) -> object:
    return reviewer.standing("admissionregistration.k8s.io", "validatingadmissionpolicies", "ebb-drainer-nodes")


@cases(
    "expected, asks, answer",
    ("an API server that reviews nothing", Gone, may, Say(404, status(404, "not found"))),
    ("a refusal", Terminal, may, Say(403, status(403, "no"))),
    ("nonsense of a right", Terminal, may, Say(201, {"status": {"allowed": "perhaps"}})),
    ("what stands may not be seen", Forbidden, stands, Say(403, status(403, "no"))),
    ("nonsense of what stands", Terminal, stands, Say(body=["no", "object"])),
)
def test_what_cannot_be_asked_is_named(
    api: Script, expected: type[Exception], asks: Callable[[AccessReviews], object], answer: Say
) -> None:
    api.says(answer)

    with pytest.raises(expected):
        asks(reviews(api))


@cases(
    "expected, answers",
    ("no such group", False, [Say(404, status(404, "not found"))]),
    ("the kind", True, [Say(body={"versions": [{"version": "v1"}]}), Say(body=KINDS)]),
)
def test_a_cluster_shows_which_kinds_it_has(api: Script, expected: bool, answers: list[Say]) -> None:
    api.says(*answers)

    assert reviews(api).serves("autoscaling.k8s.io", "verticalpodautoscalers") is expected
