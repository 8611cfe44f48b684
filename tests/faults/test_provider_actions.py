"""GKE preempts, repairs, upgrades, resizes and overloads: every such deed at several moments of whole histories."""

import pytest

from tests.faults.catalog import deeds
from tests.faults.running import Tell, kept
from tests.faults.worlds import Setting, settings


@pytest.mark.slow
@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_no_deed_of_gkes_breaks_the_promise(setting: Setting, record_property: Tell) -> None:
    kept(deeds(setting), record_property)
