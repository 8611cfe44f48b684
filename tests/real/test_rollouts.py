"""The simulated GKE rolls Deployments out to the sizes at which a real controller manager comes to rest."""

from functools import partial
from typing import Any

import pytest

from tests.local.virtual_cluster import MERGE, VirtualCluster, node
from tests.real.conftest import Corner
from tests.real.control_plane.api import MERGE_PATCH
from tests.real.control_plane.manifests import deployment
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane
Raw = dict[str, Any]
NEVER = {"kwok.ebb.internal/readiness": "1h", "local.ebb.internal/never-ready": "true"}


def rolling(surge: int | str, unavailable: int | str) -> Raw:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


CASES: dict[str, tuple[int, Raw]] = {
    "one-by-default": (1, {}),
    "one-that-may-be-missing": (1, rolling(0, 1)),
    "one-with-neither": (1, rolling(1, "0%")),
    "four-by-default": (4, {}),
    "five-rounded-to-neither": (5, rolling("0%", "15%")),
    "three-with-half": (3, rolling("50%", "0%")),
    "ten-with-bounds": (10, rolling(3, 2)),
}
FIRST, SECOND = {"example.com/turn": "first", **NEVER}, {"example.com/turn": "second", **NEVER}
TURNS: tuple[dict[str, str | None], ...] = (
    dict(FIRST),
    dict(SECOND),
    dict.fromkeys(SECOND),
)
"""A template whose pods never get ready, another one before the first is through, and the old one again."""


def annotated(notes: dict[str, str | None]) -> Raw:
    return {"spec": {"template": {"metadata": {"annotations": notes}}}}


def manifest(name: str, namespace: str) -> Raw:
    replicas, strategy = CASES[name]
    made = deployment(name, replicas=replicas, cpu="10m", memory="8Mi", grace=1, namespace=namespace)
    return {**made, "spec": {**made["spec"], "strategy": strategy}} if strategy else made


def simulated(name: str) -> list[list[int]]:
    """The sizes of the ReplicaSets at rest before the first turn and after each."""
    virtual = VirtualCluster([node("a"), node("b")], shutdown=1.0)
    virtual.add("deployments", manifest(name, "default"))
    found = []
    for notes in ({}, *TURNS):
        path = f"/apis/apps/v1/namespaces/default/deployments/{name}"
        virtual.json("PATCH", path, annotated(notes), type=MERGE)
        virtual.run(30)
        found.append(_sizes(virtual.store.all("replicasets")))
    return found


def _sizes(sets: list[Raw]) -> list[int]:
    return sorted(each["spec"]["replicas"] for each in sets)


@pytest.mark.deep
def test_rollouts_reach_a_steady_state_at_the_sizes_of_the_simulated_ones(corner: Corner) -> None:
    api, apps = corner.plane.api, f"/apis/apps/v1/namespaces/{corner.namespace}"
    api.create([manifest(name, corner.namespace) for name in CASES])
    for name, (replicas, _) in CASES.items():
        until(f"the pods of {name}", partial(corner.ready, name, replicas))
    expected = {name: simulated(name) for name in CASES}

    def at_rest(turn: int) -> bool:
        seen = all(map(is_seen, api.items(f"{apps}/deployments")))
        return seen and all(sizes_of(name) == expected[name][turn] for name in CASES)

    def is_seen(made: Raw) -> bool:
        return bool(made["status"].get("observedGeneration") == made["metadata"]["generation"])

    def sizes_of(name: str) -> list[int]:
        sets = api.items(f"{apps}/replicasets?labelSelector=app%3D{name}")
        return _sizes(sets)

    for turn, notes in enumerate(TURNS, start=1):
        for name in CASES:
            assert api.request("PATCH", f"{apps}/deployments/{name}", annotated(notes), MERGE_PATCH).status == 200
        wanted = [(name, rows[turn]) for name, rows in expected.items()]
        until(f"turn {turn} at rest: {wanted}", partial(at_rest, turn))
        assert at_rest(turn), {name: (sizes_of(name), rows[turn]) for name, rows in expected.items()}
