"""A function may be killed before any outside call and after its effect: every kill of whole histories."""

import pytest

from tests.faults.checking import kept
from tests.faults.plans import kills
from tests.faults.worlds import Setting, settings


@pytest.mark.slow
@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_no_kill_of_any_call_breaks_the_promise(setting: Setting) -> None:
    kept(kills(setting, seed=0))
