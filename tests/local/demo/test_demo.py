"""The whole demo as a person runs it: as a process, to its end, to a Ctrl-C and to a kill."""

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.local.wait_until import wait_until
from tests.monitoring.entries import Entry, of_folder
from tests.monitoring.generated import metrics
from tests.monitoring.log_checks import faults
from tests.monitoring.log_filters import series

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
    done = subprocess.run(
        [*COMMAND, "--logs", str(tmp_path / "logs")], cwd=ROOT, capture_output=True, text=True, timeout=200, check=False
    )
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
        wait_until("the demo is under way", lambda: "The marks are old enough" in (tmp_path / "story").read_text(), 60)
        assert len(children(tmp_path)) > 3
        demo.send_signal(number)
        assert demo.wait(30) == code
    wait_until("every child is gone", lambda: children(tmp_path) == [])
    assert "Traceback" not in (tmp_path / "story").read_text()
