"""A plan says how many pods of which nodes a scale-in would take first, where the policy steers it."""

from typing import Any

import pytest

from functions.cli.plan.sentences import steer_note
from shared.adapters.prices import load
from shared.core.planning.make_plan import make_plan
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pod, pod_class, policy

WEB = pod_class(owner="ReplicaSet/web", cpu=1)
FIRST = "steerScaleIn: a scale-in takes 1 pod on 1 node (n2) first, by the deletion cost that Ebb writes."
NOTHING = "steerScaleIn: on no node that goes next is a pod that a scale-in could take before others."
DB = pod_class(owner="StatefulSet/db", cpu=1)


@pytest.mark.parametrize(
    ("expected", "kind", "settings"),
    [
        pytest.param([], WEB, {}, id="off"),
        pytest.param([FIRST], WEB, {"steer_scale_in": True}, id="on: n1 goes in this pass"),
        pytest.param([NOTHING], DB, {"steer_scale_in": True}, id="on, and nothing to rank"),
        pytest.param([], WEB, {"steer_scale_in": True, "enabled": False}, id="on, and nothing is to go"),
    ],
)
def test_what_a_scale_in_would_take_first_is_shown(expected: list[str], kind: Any, settings: dict[str, Any]) -> None:
    pods = [pod(f"w{index}", on=f"n{index}", kind=kind) for index in (1, 2, 3)]
    seen = cluster([node(f"n{index}") for index in (1, 2, 3)], pods)
    given = Situation(seen, ClusterState(), policy(**settings))
    assert list(steer_note(given, make_plan(given, {}, load()))) == expected
