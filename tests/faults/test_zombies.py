"""Any instance may be paused past its lease and go on: every such pause of whole histories."""

import pytest

from tests.faults.checking import Tell, kept
from tests.faults.plans import each_call
from tests.faults.worlds import Setting, settings

PARTS = 3


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS), ids=lambda part: f"part {part + 1} of {PARTS}")
@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_no_pause_of_any_call_breaks_the_promise(setting: Setting, part: int, record_property: Tell) -> None:
    kept(each_call("pause", setting), record_property, part, PARTS)
