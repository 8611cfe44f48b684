"""How many evictions a drain asks for at once, and in which order."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.pod import Pod
from shared.core.draining.evicting import EVICTIONS_A_ROUND, ROUND, in_this_round, share_of_round
from shared.core.policy import DrainSettings
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from tests.builders import NOW, order, pod

PODS = tuple(pod(f"p{number}", on="n1") for number in range(5))


def asked(**ago: float) -> DrainRecord:
    """A drain that asked for these pods so many seconds ago, in vain."""
    rows = {
        f"default/{name}": PodProgress(uid=f"uid-{name}", answer="budget", at=NOW - timedelta(seconds=seconds))
        for name, seconds in ago.items()
    }
    return DrainRecord(order=order(), phase=DrainPhase.CORDONED, pods=rows)


def chosen(record: DrainRecord, working: int, most: int = 20, due: tuple[Pod, ...] = PODS) -> list[str]:
    return [each.name for each in in_this_round(due, record, working, most, NOW)]


@pytest.mark.parametrize(
    ("expected", "record", "working", "most"),
    [
        pytest.param(["p0", "p1", "p2", "p3", "p4"], asked(), 1, 20, id="alone: all at once"),
        pytest.param(["p0", "p1", "p2"], asked(), 1, 3, id="alone, but the policy shows three"),
        pytest.param(["p0", "p1"], asked(), 18, 20, id="eighteen drains: two each"),
        pytest.param(["p0"], asked(), 30, 20, id="thirty drains: one each"),
        pytest.param([], asked(p0=2), 1, 20, id="the round is not over"),
        pytest.param(["p1"], asked(p0=3), 30, 20, id="what was never asked for comes first"),
        pytest.param(["p3"], asked(p0=6, p1=7, p2=8, p3=9, p4=5), 30, 20, id="then what was asked for longest ago"),
        pytest.param(["p1"], asked(p0=3), 500, 20, id="five hundred drains: one each all the same"),
    ],
)
def test_a_drain_asks_for_its_share(expected: list[str], record: DrainRecord, working: int, most: int) -> None:
    assert chosen(record, working, most) == expected


@given(st.integers(min_value=0, max_value=EVICTIONS_A_ROUND))
def test_all_drains_together_stay_within_the_rate(working: int) -> None:
    assert share_of_round(working) >= 1
    assert working * share_of_round(working) <= EVICTIONS_A_ROUND


def test_a_full_node_is_asked_empty_within_its_deadline_however_many_drain() -> None:
    assert 110 * ROUND / share_of_round(10_000) < DrainSettings().timeout


def test_every_pod_is_asked_for_however_long_others_are_refused() -> None:
    rows: dict[str, float] = {}
    for _ in PODS:
        (name,) = chosen(asked(**rows), working=36)
        rows = {**{each: ago + 3 for each, ago in rows.items()}, name: 3}

    assert sorted(rows) == ["p0", "p1", "p2", "p3", "p4"]
