"""A kubeconfig whose credential plugin gives none is one sentence with the command to run, and no log line."""

import json
import logging
import stat
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.kubernetes.access import from_kubeconfig
from shared.errors import Retryable
from tests.cli.running import run_ebb

GCLOUD_SAYS = """\
F1122 01:08:25 cred.go:145] print credential failed: exit status 1 (err: ERROR: (gcloud.config) No active account.
Please run:

  $ gcloud auth login
"""


def plugin(folder: Path, name: str, script: str) -> str:
    """Write a plugin and return its path."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def kubeconfig(folder: Path, command: str, **more: Any) -> str:
    version = "client.authentication.k8s.io/v1"
    user = {"exec": {"apiVersion": version, "command": command, **more}}
    whole = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": "http://127.0.0.1:9"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "users": [{"name": "me", "user": user}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(whole))
    return str(path)


def says(text: str) -> str:
    return f"cat >&2 <<'END'\n{text}END\nexit 1"


@pytest.mark.parametrize(
    ("expected", "name", "script", "more"),
    [
        pytest.param(
            "it gave no credentials (No active account); run `gcloud auth login`",
            "gke-gcloud-auth-plugin",
            says(GCLOUD_SAYS),
            {},
            id="an expired login",
        ),
        pytest.param(
            "it is not installed; run `gcloud components install gke-gcloud-auth-plugin`",
            "gke-gcloud-auth-plugin",
            "",
            {},
            id="GKE's plugin is missing",
        ),
        pytest.param(
            "it is not installed; Get it from https://x.y",
            "other",
            "",
            {"installHint": "Get it\n from https://x.y."},
            id="a plugin that says where to get it",
        ),
        pytest.param("it is not installed; install it, or put its folder", "other", "", {}, id="one that does not"),
        pytest.param(
            "it gave no credentials (process returned 1. Token expired); run `",
            "other",
            says("Token expired.\n"),
            {},
            id="another's failure",
        ),
        pytest.param("other -x y` to see why", "other", "exit 3", {"args": ["-x", "y"]}, id="how to see it again"),
        pytest.param("it gave no credentials (failed to decode", "other", "echo", {}, id="an answer that is none"),
    ],
)
def test_the_sentence_says_what_to_run(
    expected: str, name: str, script: str, more: dict[str, Any], tmp_path: Path
) -> None:
    command = plugin(tmp_path, name, script) if script else str(tmp_path / name)
    with pytest.raises(Retryable) as caught:
        from_kubeconfig(kubeconfig(tmp_path, command, **more))
    assert str(caught.value).startswith(f"credential plugin {command}: ")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_others_log_meanwhile_is_not_taken_for_the_plugins(tmp_path: Path) -> None:
    token = json.dumps(
        {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}
    )
    command = plugin(tmp_path, "other", f"echo '{token}'")
    before = list(logging.getLogger().handlers)
    access = from_kubeconfig(kubeconfig(tmp_path, command))
    assert access.configuration.auth_settings()["BearerToken"]["value"] == "Bearer t"
    assert logging.getLogger().handlers == before


def test_a_command_prints_that_sentence_alone(tmp_path: Path) -> None:
    command = plugin(tmp_path, "gke-gcloud-auth-plugin", says(GCLOUD_SAYS))
    ended = run_ebb("plan", "--kubeconfig", kubeconfig(tmp_path, command))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"ebb: credential plugin {command}: it gave no credentials (No active account); run `gcloud auth login`\n"
        "ebb: Without access from here: `ebb dump` names the kubectl command to run where there is some; "
        "then --dump FILE.\n"
    )


def test_a_command_without_google_credentials_prints_one_sentence() -> None:
    ended = run_ebb(
        "status",
        EBB_CLUSTER="projects/p/locations/l/clusters/c",
        GOOGLE_APPLICATION_CREDENTIALS="/nowhere/key.json",
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
