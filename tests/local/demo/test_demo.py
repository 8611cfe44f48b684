"""The demo as a process: its parts, its end, and what it leaves up."""

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from functions.cli.input.options import read_profile
from infra.local.bound_process import Child, free_ports, listens
from infra.local.demo.__main__ import PROFILE, introduction, keep_up, profile_of
from infra.local.demo.installation import DemoInstallation
from infra.local.demo.screen import Screen
from shared.errors import Terminal
from shared.settings import read_settings
from tests.cli.running import run_program
from tests.monitoring.alarm import Entry, metrics, of_folder
from tests.monitoring.log_filters import faults, series
from tests.real.waiting import until

COMMAND = [sys.executable, "-m", "functions.cli.main", "demo"]
ROOT = Path(__file__).parents[3]
PROC = Path("/proc")

needs_proc = pytest.mark.skipif(not PROC.is_dir(), reason="children are found by /proc, which only Linux has")


@contextmanager
def started(folder: Path) -> "Iterator[subprocess.Popen[str]]":
    """The demo with its temporary files in `folder`, by which its children are known."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    with (
        (folder / "story").open("w") as log,
        subprocess.Popen(COMMAND, cwd=ROOT, env=environment, stdout=log, stderr=log, text=True) as demo,
    ):
        try:
            yield demo
        finally:
            demo.kill()


def children(folder: Path) -> list[str]:
    """Processes that got the folder in their environment or arguments."""
    mark, found = str(folder).encode(), []
    for process in PROC.glob("[0-9]*"):
        try:
            told = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        except (OSError, ProcessLookupError):
            continue
        if mark in told and int(process.name) != os.getpid():
            found.append(process.name)
    return found


def test_the_demo_shows_its_story_and_keeps_its_promise(tmp_path: Path) -> None:
    done = run_program(*COMMAND, "--logs", tmp_path / "logs", cwd=ROOT, seconds=200)
    story = done.stdout
    assert done.returncode == 0, story + done.stderr
    unwrapped = " ".join(story.split())
    for wanted in (
        r"1\. A GKE cluster after its evening scale-in: 24 nodes, 132 pods",
        r"Alone it would remove 2 and stop at 22 nodes",
        r"a batch-\w+ +below the autoscaler's gate: it moves the pods by itself",
        r"kept: pod shop/debug-shell may not move: no controller would create it again \(not_replicated\)",
        r"\* +a wave begins, nodes: \d",
        r"\* +The wave ends\. No node of the wave is left to drain\.",
        r"kept: a person cordoned it \(cordoned_by_other\)",
        r"! web-\w+ +PDB shop/sessions holds back sessions-",
        r"< web-\w+ +returned \(deadline\): held by shop/sessions",
        r"- web-\w+ +deleted by the autoscaler",
        r"- backend-\w+ +deleted by the autoscaler",
        r"24 nodes before, 22 with the autoscaler alone, 1\d now; \$3,\d{3} a month before",
        r"No PodDisruptionBudget was broken +\d\d evictions +kept",
        r"Every promise was kept\. \d+ s in all \(bound: 60 s\)\.",
    ):
        assert re.search(wanted, unwrapped), f"{wanted} is not in\n{story}"
    assert "\x1b" not in story
    _no_order_is_given_twice(story)
    assert {path.name for path in (tmp_path / "logs").iterdir()} >= {"planner.out", "drainer.out", "record.jsonl"}
    _lines_are_declared_and_feed_the_metrics(of_folder(tmp_path / "logs", "planner.out", "drainer.out"))


def _no_order_is_given_twice(story: str) -> None:
    """A node is ordered again only after its order was declined or the node returned."""
    freed = set(re.findall(r"([\w-]+) +(?:order declined|returned)", story))
    ordered = Counter(re.findall(r"> ([\w-]+) +ordered to be drained", story))
    assert {node for node, times in ordered.items() if times > 1} <= freed
    assert not re.search("claimed_by_other|node_unknown", story)


def _lines_are_declared_and_feed_the_metrics(lines: list[Entry]) -> None:
    """The table of events holds for real processes; what only trouble writes has no line on a good night."""
    of_trouble = {"failed_passes", "healed", "policy_invalid", "breakers_opened", "messages_rejected", "faults"}
    made = metrics(lines[0]["labels"]["cluster"])

    assert faults(lines) == []
    assert {name for name, metric in made.items() if not series(metric, lines)} <= of_trouble


@needs_proc
@pytest.mark.parametrize(
    ("code", "number"),
    [
        pytest.param(130, signal.SIGINT, id="Ctrl-C", marks=pytest.mark.deep),
        pytest.param(130, signal.SIGTERM, id="SIGTERM", marks=pytest.mark.deep),
        pytest.param(-9, signal.SIGKILL, id="SIGKILL"),
    ],
)
def test_nothing_outlives_the_demo(code: int, number: int, tmp_path: Path) -> None:
    with started(tmp_path) as demo:
        until("the demo is under way", lambda: "The marks are old enough" in (tmp_path / "story").read_text(), 60)
        assert len(children(tmp_path)) > 3
        demo.send_signal(number)
        assert demo.wait(30) == code
    until("every child is gone", lambda: children(tmp_path) == [])
    assert "Traceback" not in (tmp_path / "story").read_text()


LISTEN = "import socket, sys; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); sys.stdin.read()"


def test_a_child_is_awaited_and_ends_with_its_holder(tmp_path: Path) -> None:
    [port] = free_ports(1)
    child = Child("server", ["-c", LISTEN, str(port)], tmp_path, {})
    child.wait_until(lambda: listens(port), "it did not listen")
    assert not child.has_ended()
    child.close()
    assert (child.has_ended(), listens(port)) == (True, False)


def test_a_child_that_ends_at_its_start_is_shown_with_its_last_lines(tmp_path: Path) -> None:
    child = Child("planner", ["-c", "raise SystemExit('EBB_CLUSTER: missing')"], tmp_path, {})
    with pytest.raises(Terminal, match=r"planner: it ended at its start \(exit code 1\)\.\n  \| EBB_CLUSTER: missing"):
        child.wait_until(lambda: False, "it did not listen")
    child.close()


ENVIRONMENT = {
    "EBB_CLUSTER": "projects/local/locations/l/clusters/demo",
    "EBB_TOPIC": "projects/local/topics/ebb-orders",
    "EBB_STATE": "sqlite:/home/it's here/state.sqlite",
    "EBB_KUBECONFIG": "/home/kubeconfig",
    "EBB_GKE_API": "http://127.0.0.1:1",
    "PUBSUB_EMULATOR_HOST": "127.0.0.1:2",
    "GOOGLE_CLOUD_PROJECT": "local",
}


def _installation() -> DemoInstallation:
    specs = {"web-0": {"unschedulable": True}, "web-1": {}}
    nodes = [{"metadata": {"name": name}, "spec": spec} for name, spec in specs.items()]
    made: Any = SimpleNamespace(environment=ENVIRONMENT, gke=SimpleNamespace(list_all=lambda _plural: nodes))
    return cast("DemoInstallation", made)


def test_the_profile_is_one_that_the_commands_read(tmp_path: Path) -> None:
    (tmp_path / PROFILE).write_text(profile_of(ENVIRONMENT))
    found = read_profile(tmp_path / PROFILE)
    assert found == ENVIRONMENT
    assert read_settings(found, "topic").cluster == ENVIRONMENT["EBB_CLUSTER"]


def test_every_command_that_is_shown_names_the_profile() -> None:
    commands = [line for line in introduction(Path("/x/demo.env"), "web-1") if line.startswith("  ebb ")]
    assert len(commands) == 5
    assert all("--cluster /x/demo.env" in line for line in commands)


def test_it_waits_for_ctrl_c_and_ends_quietly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    looked: list[str] = []

    def sleep(_seconds: float) -> None:
        if len(looked) == 3:
            raise KeyboardInterrupt

    keep_up(Screen(), _installation(), tmp_path, lambda: looked.append("."), sleep)
    assert "ebb drain web-1 --dry-run" in capsys.readouterr().out
    assert len(looked) == 3


def test_a_process_that_ended_ends_it(tmp_path: Path) -> None:
    def check() -> None:
        raise Terminal("drainer", "the process ended")

    with pytest.raises(Terminal):
        keep_up(Screen(), _installation(), tmp_path, check, lambda _seconds: None)
