"""A kubeconfig is read as kubectl reads it; a plugin that gives no credentials is one sentence with what to run."""

import base64
import json
import os
import ssl
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TextIO

import pytest

from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.kubeconfig import KubeconfigFiles, from_kubeconfig
from shared.adapters.kubernetes.transport import Call
from shared.errors import BadSettings, Retryable
from tests.adapters.certificates import Authority
from tests.adapters.scripted import Say, kubeconfig, scripted
from tests.builders import NOW
from tests.cli.running import run_ebb
from tests.depth import cases

GCLOUD_SAYS = """\
F1122 01:08:25 cred.go:145] print credential failed: exit status 1 (err: ERROR: (gcloud.config) No active account.
Please run:

  $ gcloud auth login
"""
GKE, HINT = "gke-gcloud-auth-plugin", {"installHint": "Get it\n from https://x.y."}
LOG_IN, INSTALL_GKE = "run `gcloud auth login`", "run `gcloud components install gke-gcloud-auth-plugin`"
GET = Call("get", "nodes", "/api/v1/nodes/n1")
ANSWER = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
EMPTY = {**ANSWER, "status": {}}
SOCKS = {"server": "http://c.example", "proxy-url": "socks5://c.example"}


def plugin(folder: Path, name: str, script: str) -> str:
    """Write a plugin and return its path."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def by_plugin(folder: Path, command: str, **more: Any) -> str:
    return str(kubeconfig(folder, exec={"apiVersion": ANSWER["apiVersion"], "command": command, **more}))


def says(text: str) -> str:
    return f"cat >&2 <<'END'\n{text}END\nexit 1"


@cases(
    "expected, name, script, more",
    ("expired", "it gave no credentials (No active account); " + LOG_IN, GKE, says(GCLOUD_SAYS), {}),
    ("GKE's plugin is missing", "it is not installed; " + INSTALL_GKE, GKE, "", {}),
    ("one that shows where", "it is not installed; Get it from https://x.y", "other", "", HINT),
    ("one that does not", "it is not installed; install it, or put its folder", "other", "", {}),
    ("another's failure", "credentials (Token expired); run `", "other", says("Token expired.\n"), {}),
    ("how to see it again", "other -x y` to see why", "other", "exit 3", {"args": ["-x", "y"]}),
    ("an answer that is none", "it gave no credentials (its answer", "other", "echo", {}),
    ("an empty answer", "(its answer holds none)", "other", f"echo '{json.dumps(EMPTY)}'", {}),
)
def test_the_sentence_shows_what_to_run(
    expected: str, name: str, script: str, more: dict[str, Any], tmp_path: Path
) -> None:
    command = plugin(tmp_path, name, script) if script else str(tmp_path / name)
    with pytest.raises(Retryable) as caught:
        from_kubeconfig(by_plugin(tmp_path, command, **more))
    assert str(caught.value).startswith(f"credential plugin {command}: ")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_plugin_gives_a_token_and_when_it_expires(tmp_path: Path) -> None:
    until = NOW + timedelta(hours=1)
    status = {"token": "t", "expirationTimestamp": until.isoformat()}
    command = plugin(tmp_path, "other", f"echo '{json.dumps({**ANSWER, 'status': status})}'")

    assert KubeconfigFiles(by_plugin(tmp_path, command)).login()[2] == ("Bearer t", until)


def test_a_plugin_is_run_in_the_files_folder_and_shown_of_the_cluster(tmp_path: Path) -> None:
    script = """python3 -c 'import json, os; info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
del info["spec"]["interactive"]
print(json.dumps({**info, "status": {"token": os.environ["WHO"] + info["spec"]["cluster"]["server"]}}))'"""
    plugin(tmp_path, "other", script)
    path = by_plugin(tmp_path, "./other", env=[{"name": "WHO", "value": "me@"}], provideClusterInfo=True)

    assert KubeconfigFiles(path).login()[2][0] == "Bearer me@http://c.example"


@cases(
    "expected, user",
    ("a token", "Bearer t", {"token": "t"}),
    ("a file next to it", "Bearer in a file", {"tokenFile": "token"}),
    ("OpenID Connect", "Bearer i", {"auth-provider": {"name": "oidc", "config": {"id-token": "i"}}}),
    ("none", "", {}),
)
def test_a_user_has_a_token_in_several_ways(expected: str, user: dict[str, Any], tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, **user)
    (tmp_path / "token").write_text("in a file\n")

    assert KubeconfigFiles(str(path)).login()[2][0] == expected


def test_files_are_merged_and_the_first_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, other = kubeconfig(tmp_path / "1", "a", tokenFile="mine"), kubeconfig(tmp_path / "2", "b")
    again = kubeconfig(tmp_path / "3", "a", tokenFile="not-mine")
    (tmp_path / "1" / "mine").write_text("mine")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, (tmp_path / "nowhere", first, again, other))))

    merged = KubeconfigFiles("")

    assert (merged.contexts(), merged.current()) == (["a", "b"], "a")
    assert merged.login()[2][0] == "Bearer mine"
    assert merged.login("b")[0].host == "http://b.example"


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def proof(how: str, folder: Path, shown: Path, key: Path) -> dict[str, Any]:
    """Return the user of a kubeconfig who shows a certificate."""
    if how == "beside":
        return {"client-certificate": str(shown), "client-key": str(key)}
    if how == "inside":
        return {"client-certificate-data": in_base64(shown.read_text()), "client-key-data": in_base64(key.read_text())}
    status = {"clientCertificateData": shown.read_text(), "clientKeyData": key.read_text()}
    (folder / "answer").write_text(json.dumps({**ANSWER, "status": status}))
    return {"exec": {"apiVersion": ANSWER["apiVersion"], "command": plugin(folder, "other", "cat answer")}}


@pytest.mark.usefixtures("strict_by_default")
@cases("how", ("in the file itself", "inside"), ("next to it", "beside"), ("of a plugin", "by a plugin"))
def test_a_certificate_goes_to_a_server_that_trusts_it(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path, "ca")
    server = authority.server(identifies_keys=False)
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_verify_locations(cadata=authority.pem)
    user = proof(how, tmp_path, tmp_path / "ca" / "shown.pem", tmp_path / "ca" / "key.pem")
    files = tmp_path / "files"
    files.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(files))

    with scripted(server) as script:
        ca = {"certificate-authority-data": in_base64(authority.pem)}
        path = kubeconfig(tmp_path, server=script.address, **ca, **user)
        before = path.read_bytes()
        script.says(Say(body={"kind": "Node"}))

        assert KubernetesClient(from_kubeconfig(str(path))).ask(GET)

    assert (list(files.iterdir()), path.read_bytes()) == ([], before), "no key in a file, and nothing written"


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")
@cases(
    "cluster",
    ("the name of the certificate is given", {"tls-server-name": "127.0.0.2"}),
    ("nothing is checked", {"insecure-skip-tls-verify": True}),
)
def test_a_server_may_have_the_certificate_of_another_address(cluster: dict[str, Any], tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    with scripted(authority.server(address="127.0.0.2")) as script:
        path = kubeconfig(
            tmp_path, server=script.address, **cluster, **{"certificate-authority-data": in_base64(authority.pem)}
        )
        script.says(Say(body={"kind": "Node"}))

        assert KubernetesClient(from_kubeconfig(str(path))).ask(GET)


@cases(
    "expected, no_proxy, own",
    ("a proxy of the environment", "proxy", "", False),
    ("not for a network that is excluded", "server", "127.0.0.0/8", False),
    ("nor for an address", "server", "127.0.0.1", False),
    ("another is excluded", "proxy", "example.com", False),
    ("the file's own, whatever is excluded", "proxy", "127.0.0.0/8", True),
)
def test_a_request_goes_by_the_proxy(
    expected: str, no_proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, own: bool
) -> None:
    with scripted() as server, scripted() as proxy:
        monkeypatch.setenv("no_proxy", no_proxy)
        monkeypatch.setenv("http_proxy", "" if own else proxy.address)
        path = kubeconfig(tmp_path, server=server.address, **{"proxy-url": proxy.address} if own else {})
        by_name = {"proxy": proxy, "server": server}
        by_name[expected].says(Say(body={"kind": "Node"}))

        KubernetesClient(from_kubeconfig(str(path))).ask(GET)

        assert [name for name, script in by_name.items() if script.asked] == [expected]


@cases(
    "part",
    ("a user that is not there", {"users": []}),
    ("a provider that went", {"users": [{"name": "c", "user": {"auth-provider": {"name": "gcp"}}}]}),
    ("a cluster that is not there", {"clusters": []}),
    ("a proxy of another kind", {"clusters": [{"name": "c", "cluster": SOCKS}]}),
    ("a cluster without an address", {"clusters": [{"name": "c", "cluster": {}}]}),
)
def test_nobody_is_asked_without_the_credentials_that_the_file_means(part: dict[str, Any], tmp_path: Path) -> None:
    path = kubeconfig(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **part}))

    with pytest.raises(BadSettings, match="cannot be used: "):
        from_kubeconfig(str(path))


def test_a_plugin_that_fails_on_a_terminal_is_no_anonymous_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = plugin(tmp_path, "other", "exit 1")
    with open_terminal() as terminal:
        for name in ("stdin", "stdout", "stderr"):
            monkeypatch.setattr(sys, name, terminal)

        with pytest.raises(Retryable, match="it gave no credentials; run"):
            from_kubeconfig(by_plugin(tmp_path, command))


@contextmanager
def open_terminal() -> Iterator[TextIO]:
    own, other = os.openpty()
    with open(own, "r+b", buffering=0), open(other, "w") as terminal:  # noqa: PTH123 - descriptors
        yield terminal


def test_a_command_prints_that_sentence_alone(tmp_path: Path) -> None:
    command = plugin(tmp_path, "gke-gcloud-auth-plugin", says(GCLOUD_SAYS))
    ended = run_ebb("plan", "--kubeconfig", by_plugin(tmp_path, command))
    assert (ended.returncode, ended.stdout) == (1, "")
    first, second = ended.stderr.splitlines()
    assert first == (
        f"ebb: credential plugin {command}: it gave no credentials (No active account); run `gcloud auth login`"
    )
    assert "`ebb dump`" in second


def test_a_command_without_google_credentials_prints_one_sentence() -> None:
    ended = run_ebb(
        "status", EBB_CLUSTER="projects/p/locations/l/clusters/c", GOOGLE_APPLICATION_CREDENTIALS="/nowhere/key.json"
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.endswith(
        "File /nowhere/key.json was not found; run `gcloud auth application-default login`, "
        "or name a key in GOOGLE_APPLICATION_CREDENTIALS\n"
    )
    assert ended.stderr.count("\n") == 1


def test_a_client_library_that_logs_by_itself_is_silent() -> None:
    ended = run_ebb("status", EBB_CLUSTER="projects/p/locations/l/clusters/c", FIRESTORE_EMULATOR_HOST="")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert ended.stderr.startswith("ebb: Firestore database (default) of p: ")
