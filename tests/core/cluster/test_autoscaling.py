from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses, SaidBy, ScaleDownRule, scale_down_of
from shared.core.cluster.node import NodePool
from tests.builders import cluster, node, resources

MINUTE = timedelta(minutes=1)
ZERO, HALF, SOME = Fraction(0), Fraction(1, 2), Fraction(17, 20)
PROFILE, POOL, CLASS = SaidBy


def rule(
    profile: str = "BALANCED",
    delay: timedelta | None = None,
    class_delay: timedelta | None = None,
    label: str = "",
    gpus: int = 0,
    **said: Any,
) -> ScaleDownRule:
    labels = {names.COMPUTE_CLASS_LABEL: "web", names.CONSOLIDATION_DELAY_LABEL: label}
    here = node("n1", labels=labels, allocatable=resources(4, 16, **{"nvidia.com/gpu": gpus} if gpus else {}))
    classes = ComputeClasses({"web": AutoscalingPolicy(delay=class_delay, **said)})
    return scale_down_of(here, NodePool("a", consolidation_delay=delay), profile, classes)


@pytest.mark.parametrize(
    ("gate", "by", "found"),
    [
        pytest.param(HALF, PROFILE, rule(), id="a class that shows nothing: the profile's"),
        pytest.param(SOME, PROFILE, rule("OPTIMIZE_UTILIZATION"), id="or the other profile's"),
        pytest.param(HALF, PROFILE, rule("ANOTHER"), id="a profile not known counts as balanced"),
        pytest.param(ZERO, CLASS, rule(threshold=ZERO), id="zero is shown, not missing"),
        pytest.param(ZERO, CLASS, rule("OPTIMIZE_UTILIZATION", threshold=ZERO), id="whatever the profile"),
        pytest.param(HALF, PROFILE, rule(threshold=ZERO, gpus=1), id="a node with GPUs has a threshold of its own"),
        pytest.param(ZERO, CLASS, rule(threshold=HALF, gpu_threshold=ZERO, gpus=1), id="which may be zero"),
    ],
)
def test_the_threshold_is_the_classs_where_it_shows_one(gate: Fraction, by: SaidBy, found: ScaleDownRule) -> None:
    assert (found.gate, found.gate_by, found.only_empty) == (gate, by, gate == 0)


@pytest.mark.parametrize(
    ("minutes", "by", "found"),
    [
        pytest.param(10, PROFILE, rule(), id="nobody shows anything: the profile's"),
        pytest.param(1, PROFILE, rule("OPTIMIZE_UTILIZATION"), id="or the other profile's"),
        pytest.param(1, CLASS, rule(class_delay=MINUTE), id="the class's"),
        pytest.param(60, CLASS, rule(delay=MINUTE, class_delay=60 * MINUTE), id="a class that waits longer"),
        pytest.param(30, POOL, rule(delay=30 * MINUTE), id="the pool's"),
        pytest.param(2, POOL, rule(label="120"), id="the node's label"),
        pytest.param(30, POOL, rule(delay=30 * MINUTE, label="120"), id="the longest of several"),
    ],
)
def test_the_delay_is_the_longest_that_anybody_shows(minutes: int, by: SaidBy, found: ScaleDownRule) -> None:
    assert (found.unneeded, found.unneeded_by) == (minutes * MINUTE, by)
    assert found.delay == (None if by is PROFILE else minutes * MINUTE)


@pytest.mark.parametrize(
    ("known", "labels"),
    [
        pytest.param(True, {}, id="a node of no class"),
        pytest.param(True, {names.COMPUTE_CLASS_LABEL: "web"}, id="a class that was read"),
        pytest.param(False, {names.COMPUTE_CLASS_LABEL: "gone"}, id="one that was not"),
    ],
)
def test_a_class_that_is_not_known_is_shown(labels: dict[str, str], *, known: bool) -> None:
    here = node("n1", labels=labels)
    found = cluster([here], compute_classes=ComputeClasses({"web": AutoscalingPolicy()})).scale_down(here)
    assert (found.class_known, found.compute_class) == (known, labels.get(names.COMPUTE_CLASS_LABEL, ""))
