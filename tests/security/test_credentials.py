"""Tokens, keys and kubeconfigs are told to nobody: neither in a sentence of a failure nor in a line of the log."""

import base64
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from functions_framework import create_app
from google.auth.exceptions import RefreshError

from infra.local.bound_process import free_ports
from shared.adapters.gke import Endpoint
from shared.adapters.kubernetes.access import Access, from_gke
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.kubeconfig import from_kubeconfig
from shared.adapters.kubernetes.transport import Call
from shared.adapters.process import system_time
from shared.errors import EbbError
from shared.log import JsonLog, trace_id
from tests.adapters.scripted import Say, Script, document, scripted, status
from tests.builders import CLUSTER
from tests.depth import cases
from tests.pages import ROOT
from tests.security.test_messages import BEARER, PASSWORD, PRIVATE_KEY, leaked

NODES = Call("list", "nodes", "/api/v1/nodes")


def kubeconfig(server: str = "http://127.0.0.1:9", user: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return document(server=server, **{"token": BEARER, "password": PASSWORD, "username": "jane", **(user or {})})


def without(*path: str | int) -> str:
    """The kubeconfig as text, one of its parts taken out."""
    whole = kubeconfig()
    inner: Any = whole
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return json.dumps(whole)


@cases(
    "text",
    ("cut off", f"users:\n- name: u\n  user: {{token: {BEARER}\n"),
    ("a tab in YAML", f"token: {BEARER}\n\tpassword: {PASSWORD}\n"),
    ("a tag", f"{{token: !!python/object {BEARER}}}"),
    ("nothing but a token", BEARER),
    ("a list", json.dumps([BEARER])),
    ("users that are text", json.dumps({**kubeconfig(), "users": BEARER})),
    ("no such user", json.dumps({**kubeconfig(), "users": [{"name": BEARER}]})),
    ("no body of a user", json.dumps({**kubeconfig(), "users": [{"name": "c", "token": BEARER}]})),
    ("a key that is no base64", json.dumps(kubeconfig(user={"client-key-data": PRIVATE_KEY}))),
    ("an auth provider", json.dumps(kubeconfig(user={"auth-provider": {"name": PASSWORD}}))),
    ("no current context", without("current-context")),
    ("a cluster without a body", without("clusters", 0, "cluster")),
    ("a context without a user", without("contexts", 0, "context", "user")),
)
def test_no_part_of_a_kubeconfig_is_shown_when_it_cannot_be_used(text: str, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(text)
    assert leaked(failure(lambda: from_kubeconfig(str(tmp_path / "config")))) == []


class Credentials:
    """A Google identity; `fault` is what a refresh fails with."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.token: str | None = BEARER
        self.expiry: datetime | None = datetime(2020, 1, 1) if fault else None  # noqa: DTZ001 - as google-auth has it
        self._fault = fault

    def refresh(self, request: Any) -> None:
        del request
        if self._fault:
            raise self._fault


def access(server: str, fault: Exception | None = None) -> Access:
    made = from_gke(Endpoint("stand-in", None), Credentials(fault), lambda: None, system_time)
    made.configuration.host = server
    return made


ANSWERS: Mapping[str, tuple[Say, ...]] = {
    "401 twice": (Say(401, status(401, "Unauthorized")), Say(401, status(401, "Unauthorized"))),
    "403": (Say(403, status(403, "forbidden")),),
    "404": (Say(404, status(404, "not found")),),
    "500": (Say(500, status(500, "internal error")),),
    "no JSON": (Say(200, "not an object"),),
    "302": (Say(302, {}),),
}


@pytest.fixture
def script() -> Iterator[Script]:
    with scripted() as script:
        yield script


@pytest.mark.parametrize("answers", ANSWERS.values(), ids=ANSWERS)
def test_the_token_goes_to_the_server_and_into_no_failure(answers: tuple[Say, ...], script: Script) -> None:
    script.says(*answers)
    said = failure(lambda: KubernetesClient(access(script.address)).ask(NODES))
    assert script.asked[0].headers["authorization"] == f"Bearer {BEARER}"
    assert leaked(said) == []


def test_an_unreachable_server_and_an_identity_that_fails_show_no_token() -> None:
    nowhere = access("http://127.0.0.1:9")
    refused = access("http://127.0.0.1:9", RefreshError("invalid_grant"))  # type: ignore[no-untyped-call]  # google's is untyped
    for way_in in (nowhere, refused):
        said = failure(lambda way_in=way_in: KubernetesClient(way_in).ask(NODES))  # type: ignore[misc]
        assert said
        assert leaked(said) == []


def failure(act: Callable[[], object]) -> str:
    """Return what a failure says, with everything that caused it; empty if there was none."""
    try:
        act()
    except EbbError as fault:
        return f"{fault} {fault!r}"
    return ""


def test_what_holds_a_token_does_not_show_it() -> None:
    assert leaked(f"{access('http://x')!r} {Credentials()!r}") == []


@pytest.fixture(params=["plan", "drain"])
def front(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FlaskClient]:
    """A function whose cluster does not answer and whose kubeconfig holds secrets."""
    (port,) = free_ports(1)
    (tmp_path / "config").write_text(json.dumps(kubeconfig(f"http://127.0.0.1:{port}")))
    (tmp_path / "policy.yaml").write_text(f"token: {BEARER}\npassword: [{PASSWORD}]\n")
    environment = {
        "EBB_CLUSTER": CLUSTER,
        "EBB_TOPIC": "projects/p/topics/t",
        "EBB_STATE": f"sqlite:{tmp_path / 'state'}",
        "EBB_POLICY": str(tmp_path / "policy.yaml"),
        "EBB_KUBECONFIG": str(tmp_path / "config"),
        "EBB_GKE_API": f"http://127.0.0.1:{port}",
        "PUBSUB_EMULATOR_HOST": f"127.0.0.1:{port}",
        "EBB_LOG_LEVEL": "DEBUG",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    app = create_app(request.param, str(ROOT / "main.py"))  # type: ignore[no-untyped-call]  # no types
    yield app.test_client()
    sys.modules.pop("main", None)


def test_a_request_with_its_token_and_a_function_with_its_secrets_write_neither(
    front: FlaskClient, capfd: pytest.CaptureFixture[str]
) -> None:
    data = base64.b64encode(json.dumps({"node": "n1", "token": BEARER}).encode()).decode()
    message = {"data": data, "messageId": "1", "publishTime": "2026-01-01T00:00:00Z"}
    headers = {"Authorization": f"Bearer {BEARER}", "X-Forwarded-For": PASSWORD, "traceparent": BEARER}
    answers = [
        front.post("/", json={"message": message}, headers=headers),
        front.post("/", data=BEARER, headers=headers),
    ]
    written = capfd.readouterr()
    assert written.out
    assert leaked(written.out + written.err + "".join(answer.get_data(as_text=True) for answer in answers)) == []


def test_a_line_is_one_line_whatever_it_holds() -> None:
    stream = io.StringIO()
    forged = 'n1"}\n{"severity":"CRITICAL","message":"forged'
    JsonLog(stream, "INFO", CLUSTER, "p").event("drain_step", forged, node=forged, reason="\u2028\r\n\x00\x1b[31m")
    line, rest = stream.getvalue().split("\n")
    assert rest == ""
    assert json.loads(line)["message"] == forged
    assert json.loads(line)["severity"] == "INFO"


def test_a_header_that_is_no_trace_is_not_repeated() -> None:
    assert trace_id({"traceparent": f"00-{BEARER}-01", "X-Cloud-Trace-Context": PASSWORD}) == ""
