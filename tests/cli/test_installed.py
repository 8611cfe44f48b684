"""Marks and policy of an installation count for its own cluster: a dump tells whose it is, or a person says it."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from functions.cli.dumps.homes import Home
from functions.cli.input.inputs import IN_REACH, INSTALLED_POLICY, NO_MARKS, NO_POLICY, OTHER_CLUSTER, OTHER_POLICY
from functions.cli.input.readers import is_installed
from functions.cli.output.format import moment
from shared.core.records.commitments import CommitmentReading, ListedCommitment, ListedResource
from shared.core.records.state import ClusterState, Mark, PoolMarks, Wave, WaveNode
from shared.ports import CLUSTER_KEY, COMMITMENTS_KEY, WAVE_KEY, pool_key
from shared.settings import read_settings
from shared.wiring import state_of
from tests.builders import NOW
from tests.cli import dumps
from tests.cli.fleet.fleets import write_profile
from tests.cli.running import ebb
from tests.depth import cases

PROD = "projects/p/locations/europe-west4/clusters/prod"
ZONAL = PROD.replace("west4", "west4-b")
POLICY = "dryRun: false\nnodePools:\n  web-pool: {enabled: true}\n"


@cases(
    "expected, confirmed, cluster, home",
    ("all of it is shown", True, False, PROD, Home("p", "europe-west4", "prod")),
    ("a zonal one", True, False, ZONAL, Home("p", "europe-west4", "prod")),
    ("the name is not shown", False, False, PROD, Home("p", "europe-west4", "")),
    ("and a person shows it", True, True, PROD, Home("p", "europe-west4", "")),
    ("a longer name is another", False, False, f"{PROD}-eu", Home("p", "europe-west4", "prod")),
    ("or was cut, as a person shows", True, True, f"{PROD}-eu", Home("p", "europe-west4", "prod")),
    ("another project, no matter who shows it", False, True, PROD, Home("q", "europe-west4", "prod")),
    ("no cluster is named", False, True, "", Home()),
)
def test_a_dump_is_the_installations_where_its_nodes_show_or_a_person_shows_it(
    expected: bool, confirmed: bool, cluster: str, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBB_CLUSTER", cluster)
    assert is_installed(home, confirmed=confirmed) is expected


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An installation whose state holds old marks of every node, and its policy."""
    (tmp_path / "policy.yaml").write_text(POLICY)
    given = {"EBB_STATE": f"sqlite:{tmp_path / 'state'}", "EBB_POLICY": str(tmp_path / "policy.yaml")}
    state = state_of(read_settings({"EBB_CLUSTER": PROD, **given}))
    state.put(CLUSTER_KEY, ClusterState(last_pass=NOW), None)
    for number, pool in enumerate(dumps.POOLS):
        marks = {
            f"node-{number}": Mark(dumps.name_of(number), NOW - timedelta(hours=1)) for number in range(number, 24, 2)
        }
        state.put(pool_key(pool), PoolMarks(marks=marks), None)
    for name, value in {"EBB_CLUSTER": PROD, **given}.items():
        monkeypatch.setenv(name, value)
    return given


def _planned(tmp_path: Path, *more: str) -> tuple[dict[str, Any], str]:
    shown = ebb("plan", "--dump", dumps.write(tmp_path / "c.json", 24), "-o", "json", *more)
    assert shown.exit_code == 0, shown.output
    return json.loads(shown.stdout), shown.stderr


@pytest.mark.usefixtures("installation")
def test_a_dump_of_its_cluster_is_planned_with_its_marks_and_its_policy(tmp_path: Path) -> None:
    told, notes = _planned(tmp_path)
    assert {IN_REACH, INSTALLED_POLICY} <= set(notes.splitlines())
    assert not {NO_MARKS, NO_POLICY} & set(notes.splitlines())
    assert {node["reason"] for node in told["nodes"] if node["pool"] == "default-pool"} == {"pool_disabled"}
    assert told["totals"]["orders"] > 0
    assert told["policy_hash"]


WAVES = """
dryRun: false
cluster: {wave: {nodes: 50%, deadline: 90m}}
nodePools:
  web-pool: {enabled: true, scaleDownCPURequestRatioLimit: 0.9}
  default-pool: {enabled: true, scaleDownCPURequestRatioLimit: 0.9}
"""


@cases("lives, minutes", ("it lives", True, 90), ("no", False, 0))
def test_a_plan_follows_the_wave_of_the_installation_while_it_lives(
    lives: bool, minutes: int, installation: dict[str, str], tmp_path: Path
) -> None:
    Path(installation["EBB_POLICY"]).write_text(WAVES)
    alone, _ = _planned(tmp_path)
    uids = {dumps.name_of(number): f"node-{number}" for number in range(24)}
    some = alone["wave"][:1:-1]
    nodes = tuple(WaveNode(uids[name], name) for name in some)
    ends = datetime.fromisoformat(alone["taken_at"]) + timedelta(minutes=minutes)
    wave = Wave(id="w", nodes=nodes, policy_hash=alone["policy_hash"], began=NOW, deadline=ends)
    state_of(read_settings({"EBB_CLUSTER": PROD, **installation})).put(WAVE_KEY, wave, None)

    told, _ = _planned(tmp_path)

    assert told["wave"] == (some if lives else alone["wave"])


LISTS_COMMITMENTS = (
    "cluster: {commitments: {read: true, flexible: {perHour: 1}}}\nnodePools: {web-pool: {enabled: true}}\n"
)


@cases(
    "families, ago, fault",
    ("it is young", ["e2", "flexible"], 0, ""),
    ("it could not be read again", ["e2", "flexible"], 23, "Compute API: 503"),
    ("it is too old: list prices", [], 25, "Compute API: 503"),
)
def test_a_plan_uses_the_planners_list_of_commitments(
    families: list[str], ago: int, fault: str, installation: dict[str, str], tmp_path: Path
) -> None:
    Path(installation["EBB_POLICY"]).write_text(LISTS_COMMITMENTS)
    alone, _ = _planned(tmp_path)
    read_at = datetime.fromisoformat(alone["taken_at"]) - timedelta(hours=ago)
    row = ListedCommitment(
        name="e2",
        status="ACTIVE",
        plan="TWELVE_MONTH",
        type="GENERAL_PURPOSE_E2",
        resources=(ListedResource("VCPU", 8), ListedResource("MEMORY", 32_768)),
    )
    reading = CommitmentReading(rows=(row,), read_at=read_at, tried_at=read_at, fault=fault)
    state_of(read_settings({"EBB_CLUSTER": PROD, **installation})).put(COMMITMENTS_KEY, reading, None)

    told, notes = _planned(tmp_path)

    assert [row["family"] for row in alone["commitments"]] == ["flexible"]
    assert [row["family"] for row in told["commitments"]] == families
    assert f"the planner's list of {moment(read_at)}" in notes


@pytest.mark.usefixtures("installation")
def test_a_dump_of_another_cluster_is_planned_without_them_and_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBB_CLUSTER", PROD.replace("prod", "test"))
    told, notes = _planned(tmp_path)
    assert {OTHER_CLUSTER, OTHER_POLICY, NO_POLICY} <= set(notes.splitlines())
    assert told["policy_hash"] is None


def test_a_policy_that_is_named_takes_the_place_of_the_installations(
    installation: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBB_POLICY", "/not/there.yaml")
    _, notes = _planned(tmp_path, "--policy", installation["EBB_POLICY"])
    assert INSTALLED_POLICY not in notes


def test_a_person_names_the_installation_by_its_profile(
    installation: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name of a cluster that was cut in its nodes' names is taken for it then."""
    for name in installation:
        monkeypatch.delenv(name)
    profile = write_profile(tmp_path / "prod.env", {"EBB_CLUSTER": f"{PROD}-in-europe", **installation})
    _, notes = _planned(tmp_path, "--cluster", str(profile))
    assert {IN_REACH, INSTALLED_POLICY} <= set(notes.splitlines())


@pytest.mark.usefixtures("installation")
def test_a_dump_is_planned_where_the_state_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv("EBB_STATE", f"sqlite:{tmp_path / 'folder'}")
    _, notes = _planned(tmp_path)
    assert "No marks are used: " in notes
    assert "--assume-marked counts every node as marked long ago." in notes
