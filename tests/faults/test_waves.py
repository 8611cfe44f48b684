"""Worlds that are drained in waves: whatever fails or people do, no soft taint outlives its wave."""

import pytest

from tests.faults.history import History, run
from tests.faults.oracle import breaches
from tests.faults.replay import SOFT
from tests.faults.waved_worlds import ACTS, waved_settings
from tests.faults.worlds import Setting

each_world = pytest.mark.parametrize("setting", waved_settings(), ids=lambda setting: setting.name)


@each_world
def test_nodes_of_a_wave_are_held_softly_and_go_without_a_breach(setting: Setting) -> None:
    end = run(History(setting))

    taints = [taint for entry in end.cloud.world.record.of("change") for taint in entry.get("taints") or ()]
    assert any(taint.startswith(SOFT) for taint in taints)
    assert breaches(end) == []


@each_world
@pytest.mark.parametrize("acts", ACTS, ids=lambda acts: ", ".join(f"{at:g} s {act}" for at, act in acts))
def test_whatever_people_do_no_soft_taint_is_left(setting: Setting, acts: tuple[tuple[float, object], ...]) -> None:
    assert breaches(run(History(setting, acts=acts))) == []  # type: ignore[arg-type]  # each is an act
