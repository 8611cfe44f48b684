"""Names that Terraform gives, and the monitoring that it fills in."""

import json
import random
import re
from collections import Counter
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from shared import ports
from tests.builders import NOW
from tests.depth import DEEP
from tests.terraform.module_runs import CLUSTER, MODULE, NAMES, Terraform, valued

CLUSTERS = 300 if DEEP else 100
LOCATIONS = ("europe-west1", "europe-west1-b", "europe-west1-c", "us-central1", "northamerica-northeast1-a")
STEMS = ("prod", "a", "production-of-the-shop-in-the-west", "x--", "gke-team-payments-blue", "a-b-c-d-e-f-g-h-i")
EVERY = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30)
Case = dict[str, Any]


def clusters(seed: int) -> list[Case]:
    """Names that begin alike and differ late, or only in their location or project; from a seed."""
    dice = random.Random(seed)  # noqa: S311 - names of a test
    found = {
        (
            f"{dice.choice(STEMS)[: dice.randint(1, 34)]}{dice.randint(0, 99)}",
            dice.choice(LOCATIONS),
            dice.choice((None, "another-project")),
        )
        for _ in range(2 * CLUSTERS)
    }
    ordered = sorted(found, key=repr)[:CLUSTERS]
    return [{"name": name, "location": location, "project": project} for name, location, project in ordered]


@pytest.fixture(scope="module")
def many(values_tool: Terraform, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    rows = {f"c{number}": {"cluster": cluster} for number, cluster in enumerate(clusters(57))}
    return valued(values_tool, tmp_path_factory.mktemp("names") / "ground", NAMES, rows)


def test_two_clusters_of_one_project_share_no_name(many: dict[str, dict[str, Any]]) -> None:
    names = Counter(name for row in many.values() for name in set(row["identities"]))

    assert len(many) == CLUSTERS
    assert [name for name, times in names.items() if times > 1] == []


def test_every_name_is_one_that_its_service_takes(many: dict[str, dict[str, Any]]) -> None:
    for row in many.values():
        bucket, database, planner, drainer, role, *topics = row["identities"]
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", bucket)
        assert re.fullmatch(r"[a-z][a-z0-9-]{2,61}[a-z0-9]", database)
        # The functions' service accounts have these names too: 6 to 30 characters.
        assert all(re.fullmatch(r"[a-z][a-z0-9-]{4,28}[a-z0-9]", name) for name in (planner, drainer))
        assert re.fullmatch(r"[a-zA-Z0-9_.]{3,64}", role)
        assert all(re.fullmatch(r"[a-z][a-z0-9-]{2,254}", name) for name in topics)


@pytest.mark.acceptance(57)
def test_the_offset_lies_within_the_interval_and_spreads_the_clusters_evenly(many: dict[str, dict[str, Any]]) -> None:
    """Instead of a jitter (estafette's 300 s ± 25 %) each cluster has an offset of its own: marks and silences are
    measured by intervals, which a jitter would blur."""
    offsets = Counter(row["offset"] for row in many.values())
    fair = CLUSTERS / 5

    assert set(offsets) == {0, 1, 2, 3, 4}
    assert all(0.6 * fair < times < 1.4 * fair for times in offsets.values())


@pytest.mark.acceptance(57)
def test_ticks_come_exactly_one_interval_apart_whatever_the_offset(values_tool: Terraform, tmp_path: Path) -> None:
    some = clusters(58)[: 12 if DEEP else 3]
    cases = {
        f"c{number}-{every}": {"cluster": cluster, "schedule": {"every_minutes": every}}
        for number, cluster in enumerate(some)
        for every in EVERY
    }
    rows = valued(values_tool, tmp_path, NAMES, cases)

    for name, row in rows.items():
        every, minutes = cases[name]["schedule"]["every_minutes"], minutes_of(row["cron"])
        assert {later - earlier for earlier, later in pairwise([*minutes, minutes[0] + 60])} == {every}
        assert minutes[0] == row["offset"] < every == row["interval"]


def minutes_of(cron: str) -> list[int]:
    """Read the minutes of a schedule that says nothing of hours and days."""
    minutes, *others = cron.split()
    assert others == ["*"] * 4
    return [int(minute) for minute in minutes.split(",")]


def test_the_offset_stays_the_same_forever(values_tool: Terraform, tmp_path: Path) -> None:
    """A tick that moves with each apply would be no schedule; the figure is the hash's, written down."""
    row = valued(values_tool, tmp_path, NAMES, {"prod": {}})["prod"]

    assert (row["name"], row["cron"]) == ("ebb-prod-89ebe53", "3,8,13,18,23,28,33,38,43,48,53,58 * * * *")


SIZES: dict[tuple[str, str], Case] = {
    ("1Gi", "512Mi"): {"cluster": {"nodes": 1000}},
    ("1Gi", "1Gi"): {"cluster": {"nodes": 5000}},
    ("2Gi", "2Gi"): {"cluster": {"nodes": 15000}},
    ("4Gi", "2Gi"): {"cluster": {"nodes": 15001}},
    ("2Gi", "512Mi"): {"functions": {"planner": {"cpu": "4"}}},
    ("3Gi", "4Gi"): {
        "cluster": {"nodes": 5000},
        "functions": {"planner": {"memory": "3Gi"}, "drainer": {"memory": "4Gi"}},
    },
}


def test_memory_follows_the_number_of_nodes_unless_it_is_written(values_tool: Terraform, tmp_path: Path) -> None:
    cases = {
        f"c{number}": {**case, "cluster": {**CLUSTER, **case.get("cluster", {})}}
        for number, case in enumerate(SIZES.values())
    }

    assert [tuple(row["memory"]) for row in valued(values_tool, tmp_path, NAMES, cases).values()] == list(SIZES)


def test_terraform_reads_the_files_of_infra_and_no_copy_of_them() -> None:
    text = (MODULE / "monitoring.tf").read_text(encoding="utf-8")

    read = set(re.findall(r"/infra/([\w.]+)", text))
    assert read == {"metrics.yaml", "alerts.yaml", "dashboard.json"}


def test_no_collection_of_the_state_is_indexed_and_what_has_an_end_goes_by_itself() -> None:
    known = vars(ports).items()
    keys = [key for _, key in known if isinstance(key, ports.DocumentKey)]
    makers = [make for name, make in known if name.endswith("_key")]
    keys += [make(*[NOW] * len(signature(make).parameters)) for make in makers]
    text = (MODULE / "firestore.tf").read_text()
    unindexed, expiring = map(json.loads, re.findall(r"(?:collections = |toset\()(\[.*?\])", text))
    now = {"clusters" if key == ports.CLUSTER_KEY else key.collection for key in keys}
    assert now | {"runs"} == {*unindexed}, "what version 0.1 kept of ticks still goes"
    assert {key.collection for key in keys if "expire_at" in key.type.__struct_fields__} | {"runs"} == {*expiring}
