"""GKE preempts, repairs, upgrades, resizes and overloads: every such action at several moments of whole histories."""

import pytest

from tests.faults.catalog import provider_actions
from tests.faults.running import Record, assert_kept
from tests.faults.worlds import Setting, settings


@pytest.mark.slow
@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_no_action_of_gke_breaks_the_promise(setting: Setting, record_property: Record) -> None:
    assert_kept(provider_actions(setting), record_property)
