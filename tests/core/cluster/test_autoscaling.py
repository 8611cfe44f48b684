from datetime import timedelta
from fractions import Fraction
from typing import Any

from shared.core.cluster import names
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses, SaidBy, ScaleDownRule, scale_down_of
from shared.core.cluster.node import NodePool
from tests.builders import cluster, node, resources
from tests.depth import cases

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


@cases(
    "gate, by, found",
    ("a class that shows nothing: the profile's", HALF, PROFILE, rule()),
    ("or the other profile's", SOME, PROFILE, rule("OPTIMIZE_UTILIZATION")),
    ("a profile not known counts as balanced", HALF, PROFILE, rule("ANOTHER")),
    ("zero is shown, not missing", ZERO, CLASS, rule(threshold=ZERO)),
    ("whatever the profile", ZERO, CLASS, rule("OPTIMIZE_UTILIZATION", threshold=ZERO)),
    ("a node with GPUs has a threshold of its own", HALF, PROFILE, rule(threshold=ZERO, gpus=1)),
    ("which may be zero", ZERO, CLASS, rule(threshold=HALF, gpu_threshold=ZERO, gpus=1)),
)
def test_the_threshold_is_the_classs_where_it_shows_one(gate: Fraction, by: SaidBy, found: ScaleDownRule) -> None:
    assert (found.gate, found.gate_by, found.only_empty) == (gate, by, gate == 0)


@cases(
    "minutes, by, found",
    ("nobody shows anything: the profile's", 10, PROFILE, rule()),
    ("or the other profile's", 1, PROFILE, rule("OPTIMIZE_UTILIZATION")),
    ("the class's", 1, CLASS, rule(class_delay=MINUTE)),
    ("a class that waits longer", 60, CLASS, rule(delay=MINUTE, class_delay=60 * MINUTE)),
    ("the pool's", 30, POOL, rule(delay=30 * MINUTE)),
    ("the node's label", 2, POOL, rule(label="120")),
    ("the longest of several", 30, POOL, rule(delay=30 * MINUTE, label="120")),
)
def test_the_delay_is_the_longest_that_anybody_shows(minutes: int, by: SaidBy, found: ScaleDownRule) -> None:
    assert (found.unneeded, found.unneeded_by) == (minutes * MINUTE, by)
    assert found.delay == (None if by is PROFILE else minutes * MINUTE)


@cases(
    "known, labels",
    ("a node of no class", True, {}),
    ("a class that was read", True, {names.COMPUTE_CLASS_LABEL: "web"}),
    ("one that was not", False, {names.COMPUTE_CLASS_LABEL: "gone"}),
)
def test_a_class_that_is_not_known_is_shown(labels: dict[str, str], *, known: bool) -> None:
    here = node("n1", labels=labels)
    found = cluster([here], compute_classes=ComputeClasses({"web": AutoscalingPolicy()})).scale_down(here)
    assert (found.class_known, found.compute_class) == (known, labels.get(names.COMPUTE_CLASS_LABEL, ""))
