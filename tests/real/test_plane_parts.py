"""What a control plane rests on: binaries built once, ports of one holder, a record that is read as it is written."""

import os
import socket
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from infra.local.bound_process import ROOT
from tests.builders import NOW
from tests.depth import cases
from tests.real.control_plane import AssetsError, assets
from tests.real.control_plane.layout import Layout
from tests.real.control_plane.resync import is_overdue
from tests.real.held_ports import HeldPorts

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
    command = [sys.executable, "-c", "from tests.real.control_plane.assets import locate; print(locate())"]
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


@pytest.fixture
def two() -> list[int]:
    with closing(HeldPorts(2)) as ports:
        return ports.numbers


def test_what_one_holds_no_other_is_given(two: list[int]) -> None:
    with closing(HeldPorts(1, two)) as one, closing(HeldPorts(1, two)) as other:
        assert sorted(one.numbers + other.numbers) == sorted(two)


def test_a_port_on_which_somebody_listens_is_not_given(two: list[int]) -> None:
    with socket.create_server(("127.0.0.1", two[0])), closing(HeldPorts(1, two)) as ports:
        assert ports.numbers == two[1:]


def test_a_line_of_the_record_that_is_not_written_to_its_end_is_left_for_later(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.logs.mkdir(parents=True)
    (layout.logs / "audit.log").write_text('{"verb": "get", "user": {"username": "a"}}\n{"verb": "get", "user": {}')

    assert layout.audit() == [{"verb": "get", "user": {"username": "a"}}]


def starting(ago: float, pace: str = "", **meta: Any) -> dict[str, Any]:
    notes = {"kwok.ebb.internal/readiness": pace} if pace else {}
    began = (NOW - timedelta(seconds=ago)).isoformat().replace("+00:00", "Z")
    return {"metadata": {"annotations": notes, **meta}, "status": {"startTime": began}}


@cases(
    "expected, pod",
    ("it has no node yet", False, {"metadata": {}, "status": {}}),
    ("in the time that every pod may take", False, starting(15)),
    ("after it", True, starting(16)),
    ("after its own time", True, starting(12, "1s")),
    ("in milliseconds", True, starting(12, "100ms")),
    ("it takes an hour", False, starting(12, "1h")),
    ("it ends", False, starting(60, deletionTimestamp="2026-03-04T22:00:00Z")),
)
def test_a_pod_is_looked_at_again_once_it_should_run(expected: bool, pod: dict[str, Any]) -> None:
    assert is_overdue(pod, NOW) is expected
