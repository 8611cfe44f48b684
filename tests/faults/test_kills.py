"""A function may be killed before any outside call and after its effect: every kill of whole histories."""

import pytest

from tests.faults.checking import Tell, kept
from tests.faults.plans import each_call
from tests.faults.worlds import Setting, settings

PARTS = 3


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS), ids=lambda part: f"part {part + 1} of {PARTS}")
@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_no_kill_of_any_call_breaks_the_promise(setting: Setting, part: int, record_property: Tell) -> None:
    kept(each_call("kill", setting), record_property, part, PARTS)
