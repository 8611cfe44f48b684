"""The check of a whole run: what goes too far fails any run, what is never used fails only a run of everything."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rights.rbac import FILE

ROOT = FILE.parents[1]
HARMLESS = "def test_nothing(): pass\n"
TOO_FAR = """
import http.client, socket
def test_it():
    with socket.create_server(("127.0.0.1", 0)) as server:
        connection = http.client.HTTPConnection(*server.getsockname())
        connection.request("DELETE", "/api/v1/namespaces/a/pods/p", headers={"User-Agent": "ebb"})
        connection.close()
"""
DELETES = "anyone used `delete  pods`, which infra/rbac.yaml does not grant"
NEVER = "infra/rbac.yaml grants drainer `create  pods/eviction`, which no test ever saw it use"


@pytest.mark.parametrize(
    ("sentence", "code", "text", "words"),
    [
        pytest.param("", 0, HARMLESS, ["test_one.py"], id="a part that uses nothing is fine"),
        pytest.param(DELETES, 1, TOO_FAR, ["test_one.py"], id="a part that goes too far fails"),
        pytest.param(NEVER, 1, HARMLESS, [], id="a whole run that leaves a right unused fails"),
        pytest.param("", 0, HARMLESS, ["-k", "nothing"], id="a choice by name is no whole run"),
    ],
)
def test_a_run_is_held_against_the_file(sentence: str, code: int, text: str, words: list[str], tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-p", "tests.rights.plugin", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, sentence in done.stdout) == (code, True), done.stdout + done.stderr
    assert ("rights in the cluster" in done.stdout) is bool(sentence)
