"""The generated parts of pages are those that the tables make, and what Terraform reads is as it takes it."""

import re
from pathlib import Path

import pytest

from infra.monitoring.__main__ import INFRA, files
from tests.bench.bill import ITEMS, Item
from tests.bench.idle_cost import FLEETS, PAGE, counted, month, numbers, several, table
from tests.depth import cases
from tests.monitoring.alarm import FLEET_VALUES, VALUES, filled, fleet, metrics

COST = PAGE.read_text(encoding="utf-8")
CLOSE = 0.15
"""How far the page may be from today's count: a rule of draining that changes moves it a little."""


def test_the_clusters_that_a_project_has_room_for_are_those_of_the_page() -> None:
    made = sum(not metric["per_node"] for metric in metrics().values())

    assert 500 // made == 10
    assert "500 log-based metrics (Google's limit), which is room for ten clusters" in COST


@pytest.mark.deep
def test_the_page_counts_what_a_simulated_day_counts() -> None:
    said, found = numbers(COST), numbers(f"<!-- cost -->\n{table()}<!-- /cost -->")

    assert said.keys() == found.keys()
    assert {what for what in said if said[what] != pytest.approx(found[what], rel=CLOSE)} == set(), (
        "run `python -m tests.bench.idle_cost`"
    )


@pytest.mark.deep
def test_the_page_shows_what_several_clusters_cost() -> None:
    usual, _ = counted()
    said = several(COST)

    assert tuple(said) == FLEETS
    assert {clusters: month(clusters, usual) for clusters in FLEETS} == pytest.approx(said, rel=CLOSE, abs=0.05)
    assert month(1, usual) == sum(ITEMS[name].dollars(usual[name]) for name in ITEMS)


@cases(
    "expected, item",
    ("three share what is free, and it is enough", 0.0, Item("x", 1.0, 90.0, "", "", "")),
    ("one has it, two pay", 60.0, Item("x", 1.0, 30.0, "", "", "", of_one_cluster=True)),
    ("three share what is free for one", 60.0, Item("x", 1.0, 30.0, "", "", "")),
)
def test_what_is_free_is_given_once(expected: float, item: Item) -> None:
    assert item.dollars_of(3, 1.0) == expected


@pytest.mark.deep
def test_one_installation_stays_within_the_free_tiers_but_for_cents() -> None:
    """docs/cost.md: all but Firestore's cents is free."""
    usual, _ = counted()

    assert sum(ITEMS[name].dollars(usual[name]) for name in ITEMS) < 0.05
    assert sum(ITEMS[name].dollars_at_most(usual[name]) for name in ("reads", "writes", "deletes")) < 0.50


MOST_FILTER = 20_000
"""Characters of a log-based metric's filter (cloud.google.com/logging/quotas)."""
FILES = [pytest.param(path, text, id=path.name) for path, text in files().items()]


@pytest.mark.parametrize(("path", "text"), FILES)
def test_the_generated_files_are_fresh(path: Path, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, "run `make monitoring`"


@pytest.mark.parametrize(
    "name", ["metrics.yaml", "alerts.yaml", "dashboard.json", "fleet.yaml", "fleet-dashboard.json"]
)
def test_nothing_looks_like_terraforms_but_the_names_it_fills_in(name: str) -> None:
    text, known = (INFRA / name).read_text(encoding="utf-8"), FLEET_VALUES if name.startswith("fleet") else VALUES
    assert set(re.findall(r"\$\{(.*?)\}", text)) <= known.keys()
    assert "%{" not in text
    assert "$$" not in text
    assert "${" not in filled(name)


def test_terraform_fills_in_those_names_and_no_other() -> None:
    module = (Path(__file__).parents[2] / "terraform" / "monitoring.tf").read_text(encoding="utf-8")
    block = module.split("monitoring = {")[1].split("}")[0]

    assert set(re.findall(r"^\s+(\w+) +=", block, re.MULTILINE)) == VALUES.keys()


def test_metrics_keep_the_limits_of_cloud_logging() -> None:
    for name, metric in [*metrics().items(), *fleet()["metrics"].items()]:
        assert re.fullmatch(r"[a-z_]+", name)
        assert len(f"{VALUES['name']}/{name}") <= 100
        assert len(metric["filter"]) < MOST_FILTER
        assert len(metric["labels"]) <= 10
        assert len(metric["description"]) <= 8000
        assert bool(metric["value"]) == (metric["value_type"] == "DISTRIBUTION")
