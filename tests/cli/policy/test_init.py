"""`ebb policy init`: a first policy that is valid, drains nothing, and lets all that could go go in one night."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from functions.cli.analysis.forecast.scenarios import Scenarios, scenarios_of
from functions.cli.analysis.forecast.steady_state import Rest, find_steady_state
from functions.cli.input.inputs import gather
from functions.cli.input.options import Sources
from functions.cli.policy.diff import most_in_an_hour
from functions.cli.policy.init import PACKS, careful_pace, moves_more, time_zone, zone_of_region
from functions.cli.policy.init import starter as written_policy
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import NodePool
from shared.core.planning.make_plan import make_plan
from shared.core.policy import Policy, PoolPolicy
from shared.core.policy.parsing import parse
from shared.core.policy.values import Jobs, LocalStorage
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node
from tests.cli import dumps
from tests.cli.running import ebb
from tests.depth import cases

EVENING = datetime(2026, 3, 5, 17, tzinfo=UTC)  # Six o'clock in Amsterdam, when the night of the policy begins.


def written(path: Path, nodes: int = 12, change: Callable[[dict[str, Any]], None] = lambda _: None) -> Path:
    """Write a dump, each node fuller than the autoscaler drains by itself."""
    found = json.loads(dumps.write(path, nodes).read_text().replace('"300m"', '"380m"'))
    for item in found["items"]:
        change(item)
    path.write_text(json.dumps(found))
    return path


def starter(*args: str | Path) -> str:
    shown = ebb("policy", "init", *args)
    assert shown.exit_code == 0, shown.stderr
    return shown.stdout


def at_rest(dump: Path, policy: Policy) -> Scenarios:
    inputs = gather(Sources((dump,), at=EVENING))
    situation = Situation(inputs.snapshot, ClusterState(), replace(policy, dry_run=False))
    return scenarios_of(find_steady_state(situation, {}, inputs.prices))


def test_it_is_a_valid_policy_that_drains_nothing(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(starter("--dump", written(tmp_path / "night.json")))
    shown = ebb("policy", "check", policy)
    assert shown.exit_code == 0
    assert [line for line in shown.stdout.splitlines() if line.startswith("warning: ") and "dryRun" not in line] == []
    parsed = parse(policy.read_bytes())
    assert (parsed.dry_run, sorted(parsed.pools)) == (True, sorted(dumps.POOLS))
    for pool in parsed.pools.values():
        assert pool.enabled
        assert (pool.local_storage, pool.jobs) == (LocalStorage.EVICT, Jobs.WAIT)  # as the autoscaler does
        assert min(pool.cpu_limit, pool.memory_limit) > PoolPolicy().cpu_limit


@pytest.mark.parametrize(("expected", "profile"), [(True, "OPTIMIZE_UTILIZATION"), (False, "BALANCED")])
def test_it_names_an_autoscaler_that_leaves_it_little(expected: bool, profile: str) -> None:
    picture = cluster([node("n1")], profile=profile)
    plan = make_plan(Situation(picture, ClusterState(), Policy()), {}, load())

    assert (PACKS in written_policy(picture, plan, (), careful_pace(picture))) is expected


def test_each_pool_shows_how_full_it_is_and_what_could_go(tmp_path: Path) -> None:
    shown = starter("--dump", written(tmp_path / "night.json"))
    comments = [line.partition("# ")[2] for line in shown.splitlines() if "enabled: true" in line]
    assert len(comments) == 2
    assert all(
        comment.startswith("6 nodes of e2-standard-4, ")
        and " could go at most" in comment
        and "without limits and timers" in comment
        for comment in comments
    )
    assert any(" could go at most ($" in comment for comment in comments)
    assert [line for line in shown.splitlines() if "#" not in line and line.rstrip()[-1:] not in ":}%m"] == []


def evictions(told: Scenarios) -> float:
    """Return how many there are for each node that goes."""
    return told.at_rest.evictions / told.at_rest.gone


@pytest.mark.parametrize(("minutes", "nodes"), [(45, 60), (90, 300), pytest.param(90, 500, marks=pytest.mark.deep)])
def test_a_night_is_enough_and_costs_no_more_evictions_than_the_defaults(
    minutes: int, nodes: int, tmp_path: Path
) -> None:
    dump = written(tmp_path / "night.json", nodes)
    policy = parse(starter("--dump", dump).encode())
    defaults = Policy(pools={name: PoolPolicy(enabled=True) for name in policy.pools})

    fast, slow = at_rest(dump, policy), at_rest(dump, defaults)

    assert fast.at_rest.nodes <= slow.at_rest.nodes < slow.alone.nodes
    assert fast.by is not None
    assert fast.by <= EVENING + timedelta(minutes=minutes)
    assert slow.by is not None
    assert fast.by < slow.by
    assert evictions(fast) <= evictions(slow)


def test_its_forecast_is_that_of_the_policy_as_it_is_written(tmp_path: Path) -> None:
    dump = written(tmp_path / "night.json", 60)
    text = starter("--dump", dump)
    told = at_rest(dump, parse(text.encode()))
    found = re.search(r"(\d+) of 60 nodes stay after (\d+) min, with (\S+) evictions", text)

    assert found is not None
    assert told.by is not None
    minutes = ceil((told.by - EVENING) / timedelta(minutes=1))
    assert found.groups() == (str(told.at_rest.nodes), str(minutes), f"{evictions(told):.1f}")


def add_managed_nodes(dump: Path) -> None:
    """Add as many empty nodes that Google manages: no limit counts them."""
    found = json.loads(dump.read_text())
    for item in json.loads(dump.read_text())["items"]:
        if item["kind"] == "Node":
            meta = item["metadata"]
            meta.update(name=f"managed-{meta['name']}", uid=f"managed-{meta['uid']}")
            meta["labels"][names.MANAGED_NODE] = "true"
            found["items"].append(item)
    dump.write_text(json.dumps(found))


def test_nodes_that_no_limit_counts_do_not_lower_the_rate(tmp_path: Path) -> None:
    dump = written(tmp_path / "night.json", 30)
    alone = parse(starter("--dump", dump).encode())
    add_managed_nodes(dump)

    assert parse(starter("--dump", dump).encode()).rate == alone.rate


@cases(
    "expected, minutes",
    ("none", 0, []),
    ("the next hour has its own", 3, [0, 10, 59, 60]),
    ("not by the clock", 4, [100, 0, 65, 70, 124]),
)
def test_the_rate_is_what_one_hour_needs(expected: int, minutes: list[int]) -> None:
    assert most_in_an_hour(EVENING + timedelta(minutes=minute) for minute in minutes) == expected


def with_accelerators(item: dict[str, Any]) -> None:
    if item["kind"] == "Node" and item["metadata"]["labels"]["cloud.google.com/gke-nodepool"] == "web-pool":
        item["status"]["allocatable"]["nvidia.com/gpu"] = "1"


def with_a_pool_of_one(item: dict[str, Any]) -> None:
    if item["kind"] == "Node" and item["metadata"]["name"] == dumps.name_of(1):
        item["metadata"]["labels"]["cloud.google.com/gke-nodepool"] = "own-pool"


@cases(
    "expected, pool, change",
    ("accelerators", "its nodes have accelerators", "web-pool", with_accelerators),
    ("one node", "a pool of one node may be somebody's own", "own-pool", with_a_pool_of_one),
)
def test_a_pool_that_is_better_left_shows_why(
    expected: str, pool: str, change: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    shown = starter("--dump", written(tmp_path / "night.json", 12, change))
    lines = shown.splitlines()
    assert expected in lines[lines.index(f"  {pool}:") + 1]
    assert not parse(shown.encode()).pools[pool].enabled


def test_a_partial_dump_gets_no_policy(tmp_path: Path) -> None:
    dump = written(tmp_path / "night.json")
    found = json.loads(dump.read_text())
    found["items"] = [item for item in found["items"] if item["metadata"].get("namespace") != "kube-system"]
    dump.write_text(json.dumps(found))
    shown = ebb("policy", "init", "--dump", dump)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert "policy init: the dump is partial (Only pods of namespace shop are in the dump" in shown.stderr


def test_a_cluster_without_pools_gets_no_policy(tmp_path: Path) -> None:
    def elsewhere(item: dict[str, Any]) -> None:
        item["metadata"].get("labels", {}).pop("cloud.google.com/gke-nodepool", None)

    shown = ebb("policy", "init", "--dump", written(tmp_path / "night.json", 12, elsewhere))
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert "no node belongs to a pool of GKE" in shown.stderr


@cases(
    "expected, zones",
    ("where most stand", "Europe/Amsterdam", ["europe-west4-a", "europe-west4-b", "us-central1-a"]),
    ("a region that nobody knows", "Etc/UTC", ["moon-base1-a"]),
    ("no zone", "Etc/UTC", ["", ""]),
    ("no nodes", "Etc/UTC", []),
)
def test_the_night_is_that_of_the_nodes(expected: str, zones: list[str]) -> None:
    assert time_zone(zones) == expected


@pytest.mark.parametrize("zone", sorted(set(zone_of_region().values())))
def test_every_time_zone_is_one(zone: str) -> None:
    assert ZoneInfo(zone).key == zone


def test_the_careful_pace_stays_where_nothing_goes(tmp_path: Path) -> None:
    text = starter("--dump", written(tmp_path / "night.json", 4))

    assert "no node goes by this policy" in text
    assert parse(text.encode()).time_gap == timedelta(minutes=10)
    assert text.count("maxNodesPerPass: 1  # guessed, for half of the nodes") == 2


@cases(
    "expected, evictions, gone",
    ("fewer", False, 90, 10),
    ("a tenth more at most is no difference", False, 109, 10),
    ("more than a tenth", True, 111, 10),
    ("as many for each node that goes", False, 200, 20),
    ("for no node at all", True, 12, 0),
)
def test_a_pace_moves_more_only_beyond_what_a_forecast_is_sure_of(expected: bool, evictions: int, gone: int) -> None:
    nothing = cluster([])

    assert moves_more(Rest(nothing, gone, evictions), Rest(nothing, gone=10, evictions=100)) is expected


def test_what_the_autoscaler_removes_alone_is_no_merit_of_the_policy(tmp_path: Path) -> None:
    text = starter("--dump", dumps.write(tmp_path / "night.json", 4))

    assert "no node goes by this policy. The autoscaler removes " in text


def test_a_pool_whose_autoscaling_is_off_is_left_alone() -> None:
    snapshot = cluster([node("n1", pool="b"), node("n2", pool="b")], pools={"b": NodePool("b", autoscaled=False)})
    plan = make_plan(Situation(snapshot, ClusterState(), Policy()), {}, load())

    text = written_policy(snapshot, plan, (), careful_pace(snapshot))

    assert "its autoscaling is off" in text
    assert not parse(text.encode()).pools["b"].enabled
