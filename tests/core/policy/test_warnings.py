from typing import Any

import pytest

from shared.core.policy.warnings import warnings
from tests.core.policy.test_document import policy_of

ALWAYS = {"nodes": 10}
CPU, MEMORY = "scaleDownCPURequestRatioLimit", "scaleDownMemoryRequestRatioLimit"
COUNT = "scaleDownRequiredUnderutilizedNodeCount"
OFFICE = {"nodes": 0, "schedule": "0 9 * * mon-fri", "duration": "8h"}


def after(mark: str, **block: str) -> dict[str, Any]:
    return {"disruption": {"consolidateAfter": mark, **block}}


@pytest.mark.acceptance(75, 11)
@pytest.mark.parametrize(
    ("expected", "pool"),
    [
        pytest.param([], {"disruption": {"budgets": [ALWAYS, OFFICE]}}, id="nothing to show"),
        pytest.param(["no budget is always active"], {"disruption": {"budgets": [OFFICE]}}, id="only with a window"),
        pytest.param(["empty, so no budget limits the pool"], {"disruption": {"budgets": []}}, id="no budget"),
        pytest.param([], {CPU: 0.9, COUNT: 10}, id="0.9 and 10"),
        pytest.param(["9 nodes just under the limit cannot absorb one of them; write at least 10."],
                     {CPU: 0.9, COUNT: 9}, id="0.9 and 9"),
        pytest.param([], {CPU: 0.9, COUNT: 1}, id="1: the proof of placement alone"),
        pytest.param([], {CPU: 0.75, COUNT: 5}, id="0.75 and 5"),
        pytest.param([], {CPU: 0.6, COUNT: 3}, id="0.6 and 3"),
        pytest.param(["at 1 no number"], {CPU: 1}, id="a limit of 1"),
        pytest.param(["no window ever opens"], {"disruption": {"windows": []}}, id="an empty list of windows"),
        pytest.param(["shorter than the time between two passes"], after("15s"), id="Karpenter's 15 s"),
        pytest.param(["both Never"], after("Never", expireAfter="Never"), id="neither timer"),
        pytest.param(["one of 0 is always active"], {"disruption": {"budgets": [{"nodes": 0}]}}, id="none at all"),
        pytest.param(["no drain of the pool ever starts"], {"rate": {"nodes": 0, "per": "1h"}}, id="a rate of nothing"),
        pytest.param(["0.4 leaves little to do"], {CPU: 0.4}, id="a CPU limit below the autoscaler's own"),
        pytest.param(["scaleDownMemoryRequestRatioLimit: 0.5"], {MEMORY: 0.5}, id="a memory limit at its own"),
        pytest.param([], {CPU: 0.51}, id="a limit above the autoscaler's own"),
        pytest.param(["usually 5m"], after("4m59s"), id="a mark shorter than a pass"),
        pytest.param([], after("5m"), id="a mark as long as a pass"),
    ],
)  # fmt: skip
def test_what_is_hardly_meant_is_shown(expected: list[str], pool: dict[str, Any]) -> None:
    said = warnings(policy_of({"dryRun": False, "nodePools": {"a": {"enabled": True, **pool}}}))
    assert len(said) == len(expected)
    assert all(words in sentence for words, sentence in zip(expected, said, strict=True))
    assert all(sentence.startswith("nodePools.a.") for sentence in said)


@pytest.mark.parametrize(
    ("expected", "document"),
    [
        pytest.param("no pool is enabled", {"nodePools": {"a": {}}}, id="no pool is enabled"),
        pytest.param("write dryRun: false", {"nodePools": {"a": {"enabled": True}}}, id="dry run"),
        pytest.param("no budget limits the cluster", {"cluster": {"disruption": {"budgets": []}}}, id="no ceiling"),
        pytest.param("awaitingDeletion: it is 0", {"cluster": {"disruption": {"awaitingDeletion": 0}},
                                                   "drain": {"budgetUntil": "replaced"}}, id="no node may be held"),
        pytest.param("drain.pendingGrace: with 31s a moved pod may wait longer than the 30s that it is promised; "
                     "write 20s.", {"drain": {"pendingGrace": "31s"}}, id="a longer wait than promised"),
    ],
)  # fmt: skip
def test_what_holds_for_the_whole_policy_is_shown(expected: str, document: dict[str, Any]) -> None:
    assert any(expected in sentence for sentence in warnings(policy_of(document)))


def test_a_pending_grace_of_half_a_minute_is_nothing_to_speak_of() -> None:
    said = warnings(policy_of({"drain": {"pendingGrace": "30s"}, "cluster": {"disruption": {"awaitingDeletion": 0}}}))
    assert not any("pendingGrace" in sentence or "awaitingDeletion" in sentence for sentence in said)
