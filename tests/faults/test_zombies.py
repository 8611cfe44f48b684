"""Any instance may be paused past its lease and go on: every such pause of whole histories."""

import pytest

from tests.faults.checking import kept
from tests.faults.plans import zombies
from tests.faults.worlds import Setting, settings


@pytest.mark.slow
@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_no_pause_of_any_call_breaks_the_promise(setting: Setting) -> None:
    kept(zombies(setting, seed=0))
