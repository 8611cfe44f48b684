"""A replacement that waits for a claim of its predecessor's begins to wait for a place when that is free."""

from datetime import datetime, timedelta

import pytest

from shared.core.draining.replacements import waiting_for_a_place
from tests.builders import NOW, mounts, pod

SECOND = timedelta(seconds=1)
DATA = frozenset({"default/data"})


@pytest.mark.parametrize(
    ("expected", "claims", "held", "held_at"),
    [
        pytest.param(NOW - 10 * SECOND, ("data",), frozenset(), None, id="its claim was never seen held"),
        pytest.param(None, ("data",), DATA, NOW, id="it is held"),
        pytest.param(NOW - 5 * SECOND, ("data",), frozenset(), NOW - 5 * SECOND, id="it was held until then"),
        pytest.param(
            NOW - 10 * SECOND, ("data",), frozenset(), NOW - 30 * SECOND, id="it was free before the pod came"
        ),
        pytest.param(NOW - 10 * SECOND, ("other",), DATA, None, id="another pod's is held"),
        pytest.param(NOW - 10 * SECOND, (), DATA, NOW, id="it has none"),
    ],
)
def test_a_pod_waits_for_a_place_since_nobody_held_its_claim(
    expected: datetime | None, claims: tuple[str, ...], held: frozenset[str], held_at: datetime | None
) -> None:
    waits = pod("new", volumes=mounts(*claims), unschedulable_since=NOW - 10 * SECOND)

    assert waiting_for_a_place(waits, held, held_at).unschedulable_since == expected
