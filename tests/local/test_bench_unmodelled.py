"""The bench about rules that are not modelled gives each of them to pods, and each keeps the nodes of those alone."""

import pytest

from shared.core.cluster.snapshot import Snapshot
from shared.core.reasons import PodBlock
from shared.core.rules.unmodelled import UNMODELLED
from shared.core.rules.volumes import VOLUME_BLOCKS
from tests.bench.clusters.api import snapshot
from tests.bench.clusters.generated import generated
from tests.bench.clusters.workloads import Mix
from tests.bench.unmodelled import CARRYING, by_workload, carried, kept_by


@pytest.fixture(scope="module")
def picture() -> Snapshot:
    return snapshot(generated(30, Mix.RICH))


def test_every_rule_that_is_not_modelled_is_measured() -> None:
    asked = {reason for reason, _ in (*UNMODELLED, *VOLUME_BLOCKS)}
    assert set(CARRYING) == asked | {PodBlock.TOLERATES_DRAIN_TAINT}


@pytest.mark.parametrize("word", list(CARRYING))
def test_a_rule_keeps_the_nodes_of_the_pods_that_carry_it_and_no_other_rule_does(
    picture: Snapshot, word: PodBlock
) -> None:
    changed = carried(picture, word, by_workload)

    before = {pod.key: pod.spec for pod in picture.pods}
    nodes = {pod.node for pod in changed.pods if pod.spec is not before[pod.key]}
    assert nodes
    assert {other: set(kept_by(changed, other)) for other in CARRYING} == {
        other: nodes if other is word else set[str]() for other in CARRYING
    }
