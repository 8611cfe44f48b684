"""What the demo prints of each log line, and the picture of the nodes, whole at every width."""

import json
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from infra.local.demo.narration import LogLine, Narration, Tail
from infra.local.demo.screen import ClusterView, NodeBar, Sign, node_bars
from tests.depth import cases
from tests.local.demo.test_promise import SOFT

NODE = "gke-demo-web-25d2cdf2-03v8"
DELETED = {"type": "change", "kind": "nodes", "name": NODE, "verb": "delete"}
TAINTED = {**DELETED, "verb": "update", "taints": ["ToBeDeletedByClusterAutoscaler=1:NoSchedule"]}


def line(event: str, reason: str = "", **fields: Any) -> LogLine:
    return LogLine(event, NODE, reason, "run-1", {"severity": "INFO", "message": "…", **fields})


def decision(verdict: str, reason: str, *blockers: tuple[str, str, str]) -> LogLine:
    found = [{"reason": word, "object": about, "detail": detail} for word, about, detail in blockers]
    return line("node_decision", reason, verdict=verdict, blockers=found)


def eviction(answer: str, detail: str = "", pod: str = "shop/api-1") -> LogLine:
    return line("eviction", pod=pod, answer=answer, detail=detail)


def told(*lines: LogLine) -> list[tuple[Sign, str]]:
    narration = Narration()
    return [(event.sign, event.text) for row in lines for event in narration.narrate(row)]


@cases(
    "story, lines",
    ("a budget that is empty for a moment is no story", [],
     [decision("keep", "blocked_by_pod", ("blocked_by_pod", "shop/x", "pdb_exhausted"))]),
    ("an eviction held back, asked for again, granted",
     [(Sign.HELD, "PDB shop/api holds back api-1"), (Sign.DRAINING, "PDB shop/api lets api-1 go")],
     [eviction("budget", "shop/api"), eviction("budget", "shop/api"), eviction("granted")]),
    ("a pass that failed", [(Sign.STAYS, "The pass ended early")],
     [line("run_summary", message="The pass ended early")]),
)  # fmt: skip
def test_log_lines_become_events(story: list[tuple[Sign, str]], lines: list[LogLine]) -> None:
    assert told(*lines) == story


@cases(
    "sign, line",
    ("marked", Sign.MARKED, decision("waiting", "marked_recently")),
    ("waits for the budget", Sign.MARKED, decision("keep", "budget", ("budget", "web", ""))),
    ("backs off", Sign.GIVEN_BACK, decision("keep", "backing_off", ("backing_off", "", ""))),
    ("well used", Sign.STAYS, decision("keep", "cpu_above_limit", ("cpu_above_limit", "", ""))),
    ("drained", Sign.EMPTY, line("drain_step", phase="drained")),
)
def test_each_verdict_has_its_sign(sign: Sign, line: LogLine) -> None:
    narration = Narration()
    list(narration.narrate(line))
    assert narration.signs[NODE] is sign


def test_a_node_is_in_the_wave_while_it_carries_the_soft_taint_and_waits() -> None:
    narration, seen = Narration(), []
    held, free = ({**TAINTED, "taints": taints} for taints in ([SOFT], []))
    for entry, verdict in ((held, "keep"), (held, "waiting"), (free, "keep")):
        list(narration.node_changed(entry))
        list(narration.narrate(decision(verdict, "cpu_above_limit", ("cpu_above_limit", "", ""))))
        seen.append((narration.signs[NODE], narration.wave))

    assert [sign for sign, _ in seen] == [Sign.WAVE, Sign.WAVE, Sign.STAYS]
    assert narration.wave == set()


def test_a_node_that_the_autoscaler_takes_is_shown_once_and_keeps_its_sign() -> None:
    narration = Narration()
    first, again = list(narration.node_changed(TAINTED)), list(narration.node_changed(TAINTED))
    list(narration.narrate(decision("keep", "pool_disabled", ("pool_disabled", "", ""))))
    assert ([event.act for event in first], again, narration.signs[NODE]) == (["autoscaler"], [], Sign.AUTOSCALER)
    assert [event.act for event in narration.node_changed(DELETED)] == ["autoscaler"]


def test_that_the_autoscaler_deletes_what_ebb_drained_is_the_act_of_its_own() -> None:
    narration = Narration()
    list(narration.narrate(line("drain_step", phase="drained")))
    acts = [[event.act for event in narration.node_changed(entry)] for entry in (TAINTED, DELETED)]
    assert acts == [[], ["gone"]]


def test_a_growing_log_is_read_line_by_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    entry = json.dumps({"message": "m", "logging.googleapis.com/labels": {"event": "healed", "node": NODE}})
    path.write_text(f"no JSON\n{entry}\n{entry[:9]}")
    tail = Tail(path)
    first = [(row.event, row.node) for row in tail.lines()]
    path.write_text(f"no JSON\n{entry}\n{entry}\n")
    assert (first, len(list(tail.lines())), list(tail.lines())) == ([("healed", NODE)], 1, [])


NAMES = [f"gke-demo-backend-25d2cdf2-0{number}ab" for number in range(7)]


def drawn(width: int, signs: dict[str, Sign]) -> list[str]:
    bars = [NodeBar(name, "backend", Fraction(1, 2)) for name in NAMES[1:]]
    page = StringIO()
    Console(file=page, width=width).print(
        node_bars(ClusterView([NodeBar(NAMES[0], "backend", None), *bars], 9, 0), signs, width)
    )
    return [line.rstrip() for line in page.getvalue().splitlines()]


@pytest.mark.parametrize(("rows", "width"), [(7, 30), (3, 80), (2, 120), (2, 300)])
def test_as_many_nodes_stand_next_to_each_other_as_fit(rows: int, width: int) -> None:
    lines = drawn(width, {})
    assert sum("backend-0" in line for line in lines) == rows
    assert max(map(len, lines)) <= min(width, 120)


def test_a_node_shows_sign_name_bar_and_share() -> None:
    lines = drawn(80, dict.fromkeys(NAMES, Sign.HELD))
    assert lines[:2] == [
        "pool backend: 6 nodes",
        "- backend-00ab gone       ! backend-01ab ██░░  50%  ! backend-02ab ██░░  50%",
    ]
    assert lines[-1] == "bars: requested CPU  ! held by a PDB  - gone"


def _node(name: str, cpu: str) -> dict[str, Any]:
    labels = {"cloud.google.com/gke-nodepool": "web"}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"cpu": cpu}}}


def _pod(node: str, *cpus: str, phase: str = "Running") -> dict[str, Any]:
    containers = [{"resources": {"requests": {"cpu": cpu}}} for cpu in cpus]
    return {"metadata": {}, "spec": {"nodeName": node, "containers": containers}, "status": {"phase": phase}}


def test_a_picture_holds_the_share_of_cpu_that_pods_ask_for_and_remembers_who_has_gone() -> None:
    view = ClusterView()
    pods = [_pod("a", "500m", "500m"), _pod("b", "1"), _pod("", "1", phase="Pending")]
    view.look([_node("a", "4"), _node("b", "2000m")], pods)
    assert [bar.share for bar in view.bars] == [0.25, 0.5]
    assert (view.pods, view.unsettled, view.mean_share) == (3, 1, 0.375)
    view.look([_node("b", "2")], pods[1:])
    assert ([bar.share for bar in view.bars], view.alive, view.pool("web")) == ([None, 0.5], 1, 1)
