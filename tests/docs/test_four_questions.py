"""Where the four questions of the README are answered; the tests look for facts, so that sentences may change."""

import re
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.drains.test_status import NAME, printed, rich_in_everything, status
from tests.cli.report import reports
from tests.cli.running import ebb, read_json
from tests.docs.shell import unknown_to_ebb
from tests.pages import README, rows

FIRST_SCREEN: Final = 25
"""Lines of the README above the first heading."""
TOP: Final = 16
"""Lines of `ebb plan` that any terminal shows first."""
OPTIONS: Final = ("--assume-marked", "--at", "2026-03-04T22:00:00Z")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    sources = reports.shop(tmp_path_factory.mktemp("shop"), 24)
    return ["--dump", str(sources.dumps[0]), "--policy", str(sources.policy)]


@pytest.fixture(scope="module")
def facts(files: list[str]) -> dict[str, Any]:
    return read_json("plan", *files, *OPTIONS)


def test_the_readme_asks_all_four_on_its_first_screen_and_names_a_command_for_each() -> None:
    first_screen = README.read_text(encoding="utf-8").partition("\n## ")[0]
    answers = dict(rows(first_screen, "| question | answer |"))

    assert list(answers) == [
        "What does this save?",
        "What would it touch tonight?",
        "Why is this node still here?",
        "How do I stop it?",
    ]
    assert len(first_screen.splitlines()) <= FIRST_SCREEN
    for answer in answers.values():
        commands = [command.split()[1:] for command in re.findall(r"`(ebb [^`]+)`", answer)]
        assert commands
        assert [unknown_to_ebb(tuple(command)) for command in commands] == [[]] * len(commands)


def test_the_plan_shows_on_top_what_is_saved_and_what_a_pass_would_touch(
    files: list[str], facts: dict[str, Any]
) -> None:
    top = ebb("plan", *files, *OPTIONS).stdout.splitlines()[:TOP]
    rest = next(row for row in facts["ladder"] if row["rung"] == "policy_at_rest")

    shown = [line for line in top if str(rest["nodes"]) in line.split()]
    assert [line for line in shown for amount in amounts(line) if abs(amount - rest["cost_per_month"]) < 1]
    assert [line for line in top if str(len(facts["orders"])) in line.split() and "dry run" in line]


def test_the_plan_names_each_node_that_a_pass_would_touch(files: list[str], facts: dict[str, Any]) -> None:
    nodes = ebb("plan", *files, *OPTIONS, "--nodes").stdout

    assert facts["orders"]
    assert [order["node"] for order in facts["orders"] if order["node"] not in nodes] == []


def test_the_plan_names_every_reason_that_keeps_a_node(files: list[str], facts: dict[str, Any]) -> None:
    words = ebb("plan", *files, *OPTIONS).stdout.split()

    assert facts["holds"]
    assert [held["reason"] for held in facts["holds"] if held["reason"] not in words] == []


def test_the_report_shows_what_is_saved_which_nodes_go_and_why_the_others_stay(tmp_path: Path) -> None:
    report = reports.told(reports.shop(tmp_path, 24))["report"]
    now, alone, rest = (
        next(row for row in report["ladder"] if row["rung"] == scenario)
        for scenario in ("now", "autoscaler_alone", "policy_at_rest")
    )
    nodes = reports.objects(report["nodes"])
    reasons = {row["reason"] for part in report["blockers"] for row in part["rows"]}

    assert {alone["nodes"], rest["nodes"]} <= set(re.findall(r"\d+", report["title"]))
    assert sum(node["gone"] for node in nodes) == int(now["nodes"]) - int(rest["nodes"]) == len(report["order"]["rows"])
    assert {node["reason"].removeprefix("pod: ") for node in nodes if node["verdict"] == "keep"} <= reasons


def test_the_status_shows_what_is_held_and_how_to_stop_and_go_on() -> None:
    paused, running = ("\n".join(printed(state, 100)) for state in (rich_in_everything(), status()))

    assert NAME in paused
    assert "ebb resume" in paused
    assert "ebb pause" in running


def amounts(line: str) -> list[int]:
    return [int(amount.replace(",", "")) for amount in re.findall(r"\$([\d,]+)", line)]
