"""Worlds in which scale-in is steered: costs are written, heeded and taken back, and never over what people wrote."""

import pytest

from tests.faults.history import History, run
from tests.faults.oracle import breaches
from tests.faults.steered_worlds import ACTS, steered_settings
from tests.faults.worlds import Setting

each_world = pytest.mark.parametrize("setting", steered_settings(), ids=lambda setting: setting.name)


def costs_written(history: History) -> list[str]:
    return [entry["name"] for entry in run(history).cloud.world.record.of("change") if entry.get("mark")]


@each_world
def test_pods_of_nodes_that_have_to_wait_are_marked(setting: Setting) -> None:
    assert costs_written(History(setting))


def test_a_scale_in_takes_the_pods_that_are_marked() -> None:
    end = run(History(steered_settings()[0], acts=((20.0, ACTS[0][0][1]),)))
    changes = end.cloud.world.record.of("change")
    given_up = [
        change for change in changes if change["actor"] == "replicaset-controller" and change.get("terminating")
    ]
    assert len(given_up) == 2
    assert all(change.get("mark") for change in given_up)


@each_world
@pytest.mark.parametrize("acts", ACTS, ids=lambda acts: ", ".join(f"{at:g} s {act}" for at, act in acts))
def test_whatever_people_do_no_cost_of_theirs_is_touched_and_none_of_ours_is_left(
    setting: Setting, acts: tuple[tuple[float, object], ...]
) -> None:
    assert breaches(run(History(setting, acts=acts))) == []  # type: ignore[arg-type]  # each is an act
