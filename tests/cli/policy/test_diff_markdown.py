"""`ebb policy diff --output markdown`: what a pull request that changes a policy means, on GitHub."""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from functions.cli.output.format import by_the_minute
from functions.cli.plan.scenarios import BOUND
from functions.cli.policy.comparing import MORE, MOST, TITLE
from functions.cli.policy.diff import NOTHING, SAME
from tests.cli import dumps
from tests.cli.policy.test_diff import OLD
from tests.cli.running import ebb
from tests.cli.test_markdown_text import Page

HOSTILE: Final = "a|</code><img src=x>@octocat [x](https://e.x)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diff")
    dumps.write(folder / "dump.json", 24, cpu="350m")
    (folder / "old.yaml").write_text(OLD)
    (folder / "new.yaml").write_text(OLD.replace("web-pool: {enabled: true}", "web-pool: {enabled: false}"))
    return folder


def page(folder: Path, *args: str) -> str:
    paths = [folder / "old.yaml", folder / (args[0] if args else "new.yaml")]
    shown = ebb("policy", "diff", *paths, *args[1:], "-o", "markdown")
    assert shown.exit_code == 0, shown.stderr
    return shown.stdout


@pytest.fixture(scope="module")
def whole(folder: Path) -> str:
    return page(folder, "new.yaml", "--dump", str(folder / "dump.json"), "--assume-marked")


def plan(folder: Path, policy: str) -> dict[str, Any]:
    args = ("--dump", folder / "dump.json", "--policy", folder / policy, "--assume-marked", "-o", "json")
    found: dict[str, Any] = json.loads(ebb("plan", *args).stdout)
    return found


def test_it_shows_what_changes_in_words(whole: str) -> None:
    row = Page(whole).row("pool web-pool")
    assert row == ["pool web-pool", "enabled", "true", "false", "Whether nodes of the pool may be drained."]


def test_the_scenarios_before_and_after_are_those_of_the_two_plans(folder: Path, whole: str) -> None:
    shown = Page(whole)
    before, after = (
        next(scenario for scenario in plan(folder, name)["ladder"] if scenario["rung"] == "policy_at_rest")
        for name in ("old.yaml", "new.yaml")
    )
    assert shown.row("nodes in steady state")[1:3] == [str(before["nodes"]), str(after["nodes"])]
    assert shown.row("evictions until then")[1:3] == [str(before["evictions"]), str(after["evictions"])]
    assert shown.row("a month in steady state")[1:3] == [
        f"${scenario['cost_per_month']:,.0f}" for scenario in (before, after)
    ]
    assert shown.row("steady state by (UTC)")[1].endswith(
        f"{by_the_minute(datetime.fromisoformat(before['by'])):%H:%M}"
    )
    assert f"{after['nodes']} nodes for $" in whole.partition("####")[0]


def test_the_table_on_a_terminal_has_the_same_scenarios(folder: Path, whole: str) -> None:
    paths = [folder / "old.yaml", folder / "new.yaml"]
    shown = ebb("policy", "diff", *paths, "--dump", folder / "dump.json", "--assume-marked").stdout
    for name in ("now, a month", "nodes in steady state", "a month in steady state", "saved, a month",
                 "steady state by (UTC)", "evictions until then", f"{BOUND}, a month"):  # fmt: skip
        (line,) = (line_ for line_ in shown.splitlines() if line_.startswith(name))
        assert re.split(r"\s{2,}", line.strip()) == Page(whole).row(name)
    assert f"**{shown.splitlines()[-1]}**" in whole


def test_verdicts_and_what_it_rests_on_are_folded_away(whole: str) -> None:
    shown = Page(whole)
    assert shown.tags.count("details") == 2
    assert "of 24 verdicts would change at this moment</summary>" in whole
    assert "Every node that could go counts as marked long ago" in whole.partition("What this rests on")[2]


def test_of_equal_policies_it_shows_plainly_that_nothing_changes(folder: Path) -> None:
    told = (page(folder, "old.yaml"), page(folder, "old.yaml", "--dump", str(folder / "dump.json")))
    assert told == (f"{TITLE}\n\n{SAME}\n", f"{TITLE}\n\n{NOTHING}\n")


def test_hostile_names_are_words_in_cells(folder: Path, tmp_path: Path) -> None:
    items = list(dumps.items(12))
    for item in items:
        if item["kind"] == "Node":
            item["metadata"]["labels"]["cloud.google.com/gke-nodepool"] = HOSTILE
            item["metadata"]["name"] += HOSTILE
        elif item["kind"] == "Pod":
            item["spec"]["nodeName"] += HOSTILE
    dump = dumps.write_items(tmp_path / "d.json", items)
    (folder / "hostile.yaml").write_text(json.dumps({"nodePools": {HOSTILE: {"enabled": True}}}))
    told = page(folder, "hostile.yaml", "--dump", str(dump))
    shown = Page(told)
    assert "octocat" in told
    assert "@octocat" not in told
    assert not {"img", "a", "script"} & set(shown.tags)
    assert shown.row(f"pool {HOSTILE}")[1:4] == ["enabled", "false", "true"]


def test_a_page_is_never_longer_than_a_comment_and_shows_where_it_stops(folder: Path) -> None:
    pools = {f"{number}{'|' * 290}": {"enabled": True} for number in range(90)}
    (folder / "large.yaml").write_text(json.dumps({"nodePools": pools}))
    told = page(folder, "large.yaml", "--dump", str(folder / "dump.json"))
    assert len(told) <= MOST + 1
    assert told.rstrip().endswith(MORE)


COMMITTED: Final = (
    f"{OLD}\ncluster: {{timeSinceLastAddition: 1m, commitments: {{elsewhere: {{}}, "
    "families: {e2: {vcpu: 1000, gib: 4000}}}}\n"
).replace("cluster: {timeSinceLastAddition: 1m}\n", "", 1)


def test_a_policy_that_names_commitments_changes_no_bill_of_equal_nodes(folder: Path) -> None:
    (folder / "committed.yaml").write_text(COMMITTED)
    shown = Page(page(folder, "committed.yaml", "--dump", str(folder / "dump.json"), "--assume-marked"))

    now, rest = shown.row("now, a month"), shown.row("a month in steady state")
    listed = shown.row("the same at list prices")
    assert now[1] == now[2] == rest[1] == rest[2]
    assert int(listed[1][1:].replace(",", "")) < int(listed[2][1:].replace(",", ""))
