"""A dump under other names: the same plan, word for word but for the names, and nothing that its owner wrote."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.cli.analysis.potential import potential
from functions.cli.dumps.anonymize.objects import KINDS, anonymize_dump
from functions.cli.dumps.anonymize.rules import Namer, NameTable
from functions.cli.dumps.contents import OPTIONAL, RESOURCES
from functions.cli.dumps.reading import read_dump
from shared.adapters.prices import load
from shared.core.cluster.storage import claim_keys
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Plan, Potential
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from shared.errors import BadDump
from shared.ports import PoolsReading
from shared.store.snapshots import snapshot_of
from tests.builders import policy
from tests.cli.dumps.rich_dump import OWN, rich_dump
from tests.cli.dumps.test_reading import a_node, a_pod, listed, write
from tests.cli.dumps.test_refused_dumps import FULL_POD, anything, places, spoilt

EAGER = replace(policy(), other_pools=policy(max_nodes_per_pass=20).pool("a"))


def under_other_names(path: Path) -> tuple[Path, NameTable]:
    found = anonymize_dump([path])
    out = path.with_suffix(".anonymous.json")
    out.write_bytes(b"".join(found.pieces))
    return out, found.table


def planned(path: Path) -> tuple[Plan, Potential]:
    reading, now = read_dump([path])
    snapshot = snapshot_of("c", reading, PoolsReading({}, known=False), now, now)
    situation = Situation(snapshot, ClusterState(), EAGER)
    return make_plan(situation, {}, load()), potential(situation, load())


SEEDS = range(12)
Generated = Callable[[int], tuple[Path, tuple[Plan, Potential]]]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """Give the dump of a seed and its plan, made once for all tests."""

    @cache
    def of_seed(seed: int) -> tuple[Path, tuple[Plan, Potential]]:
        path = write(tmp_path_factory.mktemp("dump") / "dump.json", listed(*rich_dump(seed)))
        return path, planned(path)

    return of_seed


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plan_is_the_same_but_for_the_names(seed: int, generated: Generated) -> None:
    original, plan = generated(seed)
    anonymous, table = under_other_names(original)

    assert in_words(planned(anonymous), originals(table)) == in_words(plan, {})


TOKEN_OF_A_NAME = re.compile(r"(a-)?[a-z]+(-object)?-[0-9]+")
OWN_NOTE = "acme.io/note"


def as_words(value: Any, names: dict[str, str]) -> Any:
    """Return what was read under the names that are given, sets in their order; of numbers only that they are some."""
    if isinstance(value, dict):
        found = {as_words(key, names): as_words(inner, names) for key, inner in value.items() if key != OWN_NOTE}
        return found | {key: sorted(found[key]) for key in ("amounts", "controlled", "values") if found.get(key)}
    if isinstance(value, list | tuple):
        return [as_words(inner, names) for inner in value]
    if not isinstance(value, str):
        return value
    if value.isdigit() or value == "because acme":
        return "#" if value.isdigit() else "other"
    return TOKEN_OF_A_NAME.sub(lambda found: names.get(found[0], found[0]), value)


def plain_values(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(value) if isinstance(value, set | frozenset) else str(value)


def originals(table: NameTable) -> dict[str, str]:
    return {new: old for rows in table.values() for old, new in rows.items()}


def in_words(given: Any, names: dict[str, str]) -> Any:
    return as_words(json.loads(json.dumps(msgspec.to_builtins(given, enc_hook=plain_values), sort_keys=True)), names)


ALIKE = ("disruption_budgets", "namespaces", "workloads", "storage", "autoscalers", "buffers", "limits")


def read_as_words(path: Path, names: dict[str, str]) -> Any:
    reading, now = read_dump([path])
    pods = sorted(reading.pods, key=lambda pod: pod.key)
    rows = {name: getattr(reading, name) for name in ALIKE}
    nodes = [replace(node, resource_version="") for node in reading.nodes]
    claimed = [key in reading.storage.claims for pod in pods for key in claim_keys(pod)]
    return in_words({**rows, "nodes": nodes, "pods": pods, "claimed": claimed, "now": now}, names)


@pytest.mark.parametrize("seed", range(8))
def test_all_that_is_read_is_the_same_but_for_the_names(seed: int, tmp_path: Path) -> None:
    original = write(tmp_path / "dump.json", listed(*rich_dump(seed, pods=120)))
    anonymous, table = under_other_names(original)
    assert read_as_words(anonymous, originals(table)) == read_as_words(original, {})


def test_the_generated_clusters_plan_something(generated: Generated) -> None:
    """Of plans in which nothing goes and nothing stays for a rule, the law above would say nothing."""
    reasons: set[str] = set()
    for seed in SEEDS:
        _, (plan, most) = generated(seed)
        reasons |= {blocker.reason for decision in plan.decisions for blocker in decision.blockers}
        reasons |= {"an order" for _ in plan.orders} | {"a move" for _ in most.moves}
    assert {"an order", "a move", "not_safe_to_evict", "foreign_scheduler", "local_storage"} <= reasons, reasons


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_the_owner_wrote_is_left(seed: int, generated: Generated) -> None:
    original, _ = generated(seed)
    anonymous, _ = under_other_names(original)
    assert OWN in original.read_text()
    assert [line for line in anonymous.read_text().splitlines() if OWN in line.lower()] == []


def test_equal_dumps_give_equal_pseudonyms(tmp_path: Path) -> None:
    objects = rich_dump(1)
    first, _ = under_other_names(write(tmp_path / "a.json", listed(*objects)))
    second, _ = under_other_names(write(tmp_path / "b.json", listed(*objects)))
    assert first.read_bytes() == second.read_bytes()


TOKEN = {"name": "kube-api-access-abcde", "projected": {"sources": []}}
OWN_VOLUME = {"name": "kube-api-access-acme1", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}


def test_the_volume_of_every_pod_s_token_keeps_one_name(tmp_path: Path) -> None:
    pods = [
        a_pod(f"p{number}", volumes=[{**TOKEN, "name": f"kube-api-access-{number:05}"}, OWN_VOLUME])
        for number in range(3)
    ]
    anonymous, _ = under_other_names(write(tmp_path / "dump.json", listed(a_node(), *pods)))
    reading, _ = read_dump([anonymous])
    assert {pod.spec.volumes[0].kind for pod in reading.pods} == {"projected"}
    assert len({pod.spec for pod in reading.pods}) == 1


OBJECTS = [*rich_dump(2, 2, 12), FULL_POD]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(item=st.sampled_from(OBJECTS), place=places, value=anything)
def test_no_spoilt_object_ends_in_anything_but_a_sentence(
    tmp_path: Path, item: dict[str, Any], place: list[int], value: Any
) -> None:
    path = write(tmp_path / "dump.json", listed(a_node("whole"), spoilt(item, place, value)))
    try:
        under_other_names(path)
    except BadDump as fault:
        assert str(fault).startswith(f"{path}: ")  # noqa: PT017 - either way is right


def test_every_kind_that_a_plan_reads_has_another_name() -> None:
    assert set(KINDS) == {*RESOURCES, *OPTIONAL}


def test_numbers_that_are_compared_keep_their_order() -> None:
    """Not the order of a set, which is that of small numbers only."""
    namer, numbers = Namer(), (1_000_000, 17, 4_096, 64, 999)
    namer.compare_numbers("size")
    for number in numbers:
        namer.value("size", str(number))
    namer.rank_names()

    assert sorted(numbers, key=lambda number: int(namer.value("size", str(number)))) == sorted(numbers)


def test_versions_of_kubelets_and_the_grace_of_pods_are_kept(tmp_path: Path) -> None:
    """A pod goes to no older kubelet, and the grace of pods makes a drain's time."""
    row = a_node()
    row["status"] = {**row["status"], "nodeInfo": {"kubeletVersion": "v1.33.4-gke.1", "machineID": OWN}}
    patient = a_pod(terminationGracePeriodSeconds=75)
    anonymous, _ = under_other_names(write(tmp_path / "dump.json", listed(row, patient)))

    reading, _ = read_dump([anonymous])

    assert [node.version for node in reading.nodes] == ["1.33.4-gke.1"]
    assert [pod.spec.grace_seconds for pod in reading.pods] == [75]
