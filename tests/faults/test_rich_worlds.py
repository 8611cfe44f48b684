"""The promise in worlds whose pods are bound by hard rules, without faults and with all of them."""

import pytest

from shared.core.placement.constraints import CONSTRAINTS, NewConstraint
from shared.core.placement.constraints.attach_limits import AttachLimits
from shared.core.placement.constraints.volume_sharing import OnePodClaims
from tests.faults.catalog import each_call, mixture, provider_actions
from tests.faults.history import History, run
from tests.faults.oracle import breaches
from tests.faults.rich_worlds import drawn_rich, rich_settings
from tests.faults.rule_mutants import without
from tests.faults.running import SEED, Record, assert_kept
from tests.faults.worlds import Setting

CHUNK = 125
SHARE = 5
"""One of so many is run where the plain worlds run all, for each takes some times as long. An odd number, so that kills
before and after a call both have their turn."""
SHOWN = [rule for rule in CONSTRAINTS if rule not in {OnePodClaims, AttachLimits}]
"""The rules that decide a fit in these worlds; attach limits and claims of one pod are compared in `tests/real`."""
each_world = pytest.mark.parametrize("setting", rich_settings(), ids=lambda setting: setting.name)


@each_world
def test_a_history_without_faults_keeps_the_promise(setting: Setting) -> None:
    assert breaches(run(History(setting))) == []


@pytest.mark.parametrize("seed", range(40))
def test_drawn_worlds_without_faults_keep_the_promise(seed: int) -> None:
    assert breaches(run(History(drawn_rich(seed), seed))) == []


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.__name__)
def test_a_drain_that_knows_nothing_of_a_rule_is_seen(rule: NewConstraint) -> None:
    with without(rule):
        found = [fault for setting in rich_settings() for fault in breaches(run(History(setting)))]

    assert any("the first eviction" in fault for fault in found)


@pytest.mark.slow
@each_world
@pytest.mark.parametrize("family", ["kill", "failure", "pause"])
def test_nothing_that_happens_at_a_call_breaks_the_promise(
    family: str, setting: Setting, record_property: Record
) -> None:
    assert_kept(each_call(family, setting), record_property, parts=SHARE)


@pytest.mark.slow
@each_world
def test_no_action_of_gke_breaks_the_promise(setting: Setting, record_property: Record) -> None:
    assert_kept(provider_actions(setting), record_property, parts=SHARE)


@pytest.mark.slow
@pytest.mark.parametrize("people", [pytest.param(False, id="faults"), pytest.param(True, id="people interfere")])
@pytest.mark.parametrize("first", range(0, 1375, CHUNK), ids=lambda first: f"seeds from {first}")
def test_no_mixture_breaks_the_promise(people: bool, first: int, record_property: Record) -> None:
    seeds = range(SEED + first, SEED + first + CHUNK)
    assert_kept((mixture(seed, people=people, rich=True) for seed in seeds), record_property, parts=SHARE)
