"""When a pod may be moved that names who answers requests to evict it."""

from datetime import timedelta
from typing import Any

import pytest

from shared.core.cluster.pod import PodClass
from shared.core.policy import DrainSettings, EvictionResponders, PoolPolicy
from shared.core.reasons import PodBlock
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.eviction_responders import time_needed
from shared.core.rules.pods import judge
from tests.builders import NOW, pod, pod_class

MOVER, BACKUP = "storage.example.com/mover", "backup.example.com/save"
REQUEST = EvictionResponders.REQUEST
PATIENT = DrainSettings(timeout=timedelta(minutes=20))


def said(
    drain: DrainSettings = PATIENT, *, word: EvictionResponders = REQUEST, served: bool = True, **more: Any
) -> Any:
    spec = pod_class(**{"eviction_responders": (MOVER,), **more})
    context = DrainContext((), PoolPolicy(eviction_responders=word), NOW, drain=drain, eviction_requests=served)
    return [(each.reason, each.detail) for each in judge(pod("p", kind=spec), context)]


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param([], {}, id="requested, served, and there is time"),
        pytest.param([(PodBlock.EVICTION_RESPONDERS, MOVER)], {"word": EvictionResponders.LEAVE}, id="not requested"),
        pytest.param(
            [(PodBlock.EVICTION_RESPONDERS, f"{MOVER}; the cluster serves no EvictionRequests")],
            {"served": False},
            id="not served",
        ),
        pytest.param([], {"eviction_responders": (), "served": False}, id="a pod that names nobody"),
    ],
)
def test_such_a_pod_moves_where_its_eviction_can_be_requested(expected: Any, given: Any) -> None:
    assert said(**given) == expected


@pytest.mark.parametrize(
    ("needed", "responders", "grace"),
    [
        pytest.param("20m", (MOVER,), 30, id="one may be silent for twenty minutes"),
        pytest.param("40m", (MOVER, BACKUP), 30, id="two after one another"),
        pytest.param("24m", (MOVER,), 12 * 60, id="nobody cuts the pod's grace"),
    ],
)
def test_a_drain_that_ends_before_they_must_have_spoken_names_the_time_that_it_needs(
    needed: str, responders: tuple[str, ...], grace: int
) -> None:
    minutes = timedelta(minutes=int(needed[:-1]))
    pods: dict[str, Any] = {"eviction_responders": responders, "grace_seconds": grace}

    short = said(DrainSettings(timeout=minutes - timedelta(seconds=1)), **pods)
    enough = said(DrainSettings(timeout=minutes), **pods)

    assert (PodBlock.RESPONDERS_NEED_TIME, f"{', '.join(responders)}: a drain.timeout of at least {needed}") in short
    assert PodBlock.RESPONDERS_NEED_TIME not in {reason for reason, _ in enough}


def test_the_time_needed_counts_only_grace_beyond_the_cap() -> None:
    spec: PodClass = pod_class(eviction_responders=(MOVER,), grace_seconds=480)

    assert time_needed(spec, DrainSettings()) == timedelta(minutes=20)
