"""The binaries are built once, whole or not at all; a stand-in for Go keeps these tests short."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra.local.bound_process import ROOT
from tests.real.control_plane import AssetsError, assets

# Answers the version question; "builds" slowly enough for two builders to meet, and counts its builds.
FAKE_GO = """#!/bin/sh
if [ "$1" = env ]; then echo go1.26.8; exit; fi
while [ "$1" != -o ]; do shift; done
echo build >> "$COUNT"
for name in server kube-apiserver kube-controller-manager kube-scheduler kubectl kwok kwokctl; do touch "$2$name"; done
sleep 1
exit ${FAIL:-0}
"""


@pytest.fixture
def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    go = tmp_path / "tools" / "go"
    go.parent.mkdir()
    go.write_text(FAKE_GO)
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{go.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COUNT", str(tmp_path / "count"))
    monkeypatch.delenv("EBB_KUBE_ASSETS", raising=False)
    return tmp_path / "count"


def test_two_processes_that_ask_at_the_same_time_build_once(fake_go: Path) -> None:
    command = [sys.executable, "-m", "tests.real.control_plane", "build"]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = {process.communicate(timeout=240)[0].strip() for process in both}

    assert len(answers) == 1
    assert sorted(path.name for path in Path(answers.pop()).iterdir()) == sorted(assets.BINARIES)
    assert fake_go.read_text() == "build\n"


def test_a_failed_build_leaves_nothing_that_could_be_taken_for_a_whole_one(
    fake_go: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIL", "1")
    with pytest.raises(AssetsError, match="go build failed"):
        assets.locate()
    monkeypatch.setenv("FAIL", "0")
    assert (assets.locate() / "etcd").is_file()
    assert fake_go.read_text() == "build\nbuild\n"


def test_an_old_go_is_refused_with_what_is_needed(fake_go: Path) -> None:
    go = fake_go.parent / "tools" / "go"
    go.write_text(FAKE_GO.replace("go1.26.8", "go1.22.1"))
    said = assets.missing()
    assert said is not None
    assert said.startswith("Go 1.22 is too old")
