"""Any outside call may fail, without effect or half a minute after its effect: every failure of whole histories."""

import pytest

from tests.faults.checking import kept
from tests.faults.plans import failures
from tests.faults.worlds import Setting, settings


@pytest.mark.slow
@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_no_failure_of_any_call_breaks_the_promise(setting: Setting) -> None:
    kept(failures(setting, seed=0))
