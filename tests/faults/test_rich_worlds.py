"""The promise in worlds whose pods are bound by hard rules, and what is seen where Ebb lacks one of the rules."""

import pytest

from shared.core.placement.constraints import CONSTRAINTS, NewConstraint
from shared.core.placement.constraints.anti_affinity import AntiAffinity
from shared.core.placement.constraints.attach_limits import AttachLimits
from shared.core.placement.constraints.host_ports import HostPorts
from shared.core.placement.constraints.pod_affinity import RequiredAffinity
from shared.core.placement.constraints.topology_spread import TopologySpread
from shared.core.placement.constraints.volume_place import OnePodClaims, VolumePlace
from tests.faults.families import bases
from tests.faults.history import History, run
from tests.faults.oracle import breaches
from tests.faults.rich_worlds import drawn_rich, rich_settings
from tests.faults.rule_mutants import without
from tests.faults.running import some
from tests.faults.worlds import Setting

SHOWN = {
    AntiAffinity: "apart",
    RequiredAffinity: "no room in its zone",
    HostPorts: "ports",
    TopologySpread: "zones",
    VolumePlace: "no room where its disk is",
}
"""The rules that decide a fit in these worlds, and a world in which each does; of the others see `tests/real`."""
each_world = pytest.mark.parametrize("setting", rich_settings(), ids=lambda setting: setting.name)


@each_world
def test_a_history_without_faults_keeps_the_promise(setting: Setting) -> None:
    assert breaches(run(History(setting))) == []


@pytest.mark.parametrize("seed", some(range(40), "drawn rich worlds", 4))
def test_drawn_worlds_without_faults_keep_the_promise(seed: int) -> None:
    assert breaches(run(History(drawn_rich(seed), seed))) == []


def test_each_rule_has_a_world_that_shows_it() -> None:
    assert {*CONSTRAINTS} == {*SHOWN, OnePodClaims, AttachLimits}


@pytest.mark.parametrize(("rule", "world"), SHOWN.items(), ids=[rule.__name__ for rule in SHOWN])
def test_a_drain_that_knows_nothing_of_a_rule_is_seen(rule: NewConstraint, world: str) -> None:
    with without(rule):
        found = breaches(run(bases()[world]))

    assert any("the first eviction" in fault for fault in found)
