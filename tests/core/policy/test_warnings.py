from typing import Any

import pytest

from shared.core.policy.warnings import warnings
from tests.core.policy.test_document import policy_of
from tests.depth import cases

ALWAYS = {"nodes": 10}
CPU, MEMORY = "scaleDownCPURequestRatioLimit", "scaleDownMemoryRequestRatioLimit"
COUNT = "scaleDownRequiredUnderutilizedNodeCount"
OFFICE = {"nodes": 0, "schedule": "0 9 * * mon-fri", "duration": "8h"}


def after(mark: str, **block: str) -> dict[str, Any]:
    return {"disruption": {"consolidateAfter": mark, **block}}


@pytest.mark.acceptance(75, 11)
@cases(
    "expected, pool",
    ("nothing to show", [], {"disruption": {"budgets": [ALWAYS, OFFICE]}}),
    ("only with a window", ["no budget is always active"], {"disruption": {"budgets": [OFFICE]}}),
    ("no budget", ["empty, so no budget limits the pool"], {"disruption": {"budgets": []}}),
    ("0.9 and 10", [], {CPU: 0.9, COUNT: 10}),
    ("0.9 and 9", ["9 nodes just under the limit cannot absorb one of them; write at least 10."], {CPU: 0.9, COUNT: 9}),
    ("1: the proof of placement alone", [], {CPU: 0.9, COUNT: 1}),
    ("0.75 and 5", [], {CPU: 0.75, COUNT: 5}),
    ("0.6 and 3", [], {CPU: 0.6, COUNT: 3}),
    ("a limit of 1", ["at 1 no number"], {CPU: 1}),
    ("an empty list of windows", ["no window ever opens"], {"disruption": {"windows": []}}),
    ("Karpenter's 15 s", ["shorter than the time between two passes"], after("15s")),
    ("neither timer", ["both Never"], after("Never", expireAfter="Never")),
    ("none at all", ["one of 0 is always active"], {"disruption": {"budgets": [{"nodes": 0}]}}),
    ("a rate of nothing", ["no drain of the pool ever starts"], {"rate": {"nodes": 0, "per": "1h"}}),
    ("a CPU limit below the autoscaler's own", ["0.4 leaves little to do"], {CPU: 0.4}),
    ("a memory limit at its own", ["scaleDownMemoryRequestRatioLimit: 0.5"], {MEMORY: 0.5}),
    ("a limit above the autoscaler's own", [], {CPU: 0.51}),
    ("a mark shorter than a pass", ["usually 5m"], after("4m59s")),
    ("a mark as long as a pass", [], after("5m")),
)
def test_what_is_hardly_meant_is_shown(expected: list[str], pool: dict[str, Any]) -> None:
    said = warnings(policy_of({"dryRun": False, "nodePools": {"a": {"enabled": True, **pool}}}))
    assert len(said) == len(expected)
    assert all(words in sentence for words, sentence in zip(expected, said, strict=True))
    assert all(sentence.startswith("nodePools.a.") for sentence in said)


@cases(
    "expected, document",
    ("no pool is enabled", "no pool is enabled", {"nodePools": {"a": {}}}),
    ("dry run", "write dryRun: false", {"nodePools": {"a": {"enabled": True}}}),
    ("no ceiling", "no budget limits the cluster", {"cluster": {"disruption": {"budgets": []}}}),
    ("no node may be held", "awaitingDeletion: it is 0",
     {"cluster": {"disruption": {"awaitingDeletion": 0}}, "drain": {"budgetUntil": "replaced"}}),
    ("a longer wait than promised",
     ("drain.pendingGrace: with 31s a moved pod may wait longer than the 30s that it is promised; " "write 20s."),
     {"drain": {"pendingGrace": "31s"}}),
)  # fmt: skip
def test_what_holds_for_the_whole_policy_is_shown(expected: str, document: dict[str, Any]) -> None:
    assert any(expected in sentence for sentence in warnings(policy_of(document)))


def test_a_pending_grace_of_half_a_minute_is_nothing_to_speak_of() -> None:
    said = warnings(policy_of({"drain": {"pendingGrace": "30s"}, "cluster": {"disruption": {"awaitingDeletion": 0}}}))
    assert not any("pendingGrace" in sentence or "awaitingDeletion" in sentence for sentence in said)
