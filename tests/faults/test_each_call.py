"""What may happen at any outside call: every such moment of whole histories, one after another."""

import pytest

from tests.faults.catalog import each_call
from tests.faults.running import Record, assert_kept
from tests.faults.worlds import Setting, settings

PARTS = 3


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS), ids=lambda part: f"part {part + 1} of {PARTS}")
@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
@pytest.mark.parametrize(
    "family",
    [
        pytest.param("kill", id="the function is killed before the call or after its effect"),
        pytest.param("failure", id="the call fails, without effect or half a minute after it"),
        pytest.param("pause", id="the instance is paused past its lease and goes on"),
    ],
)
def test_nothing_that_happens_at_a_call_breaks_the_promise(
    family: str, setting: Setting, part: int, record_property: Record
) -> None:
    assert_kept(each_call(family, setting), record_property, part, PARTS)
