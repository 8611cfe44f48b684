"""Worlds in which a budget ends when what was moved runs again: nodes go sooner, and no limit is broken."""

import pytest
from msgspec.structs import replace

from tests.faults.history import History, run
from tests.faults.oracle import breaches
from tests.faults.replaced import Moments, replaced_settings
from tests.faults.replay import moments
from tests.faults.worlds import Setting


@pytest.mark.parametrize("setting", replaced_settings(), ids=lambda setting: setting.name)
def test_a_node_goes_while_another_waits_for_its_deletion(setting: Setting) -> None:
    end = run(History(setting))

    states = [entry["before"] for entry in end.cloud.world.record.of("state")]
    assert any(len(state.claims) > 1 and any(claim.replaced for claim in state.claims.values()) for state in states)
    assert breaches(end) == []


def test_a_moment_before_the_pods_run_is_found() -> None:
    """Pods of one workload take half a minute to start; here a claim says after a quarter that all runs again."""
    entries = run(History(replaced_settings()[1])).cloud.world.record.entries
    at, drained = next(
        (entry["at"], entry["after"])
        for entry in entries
        if entry["type"] == "state" and any(claim.drained for claim in entry["after"].claims.values())
    )
    claims = {uid: replace(claim, replaced=claim.since) for uid, claim in drained.claims.items()}
    too_early = {"type": "state", "at": at + 15, "before": drained, "after": replace(drained, claims=claims)}
    judge = Moments()
    spoilt = sorted([*entries, too_early], key=lambda entry: entry["at"])

    told = [fault for entry, cluster in moments(spoilt) for fault in judge.of(entry, cluster)]

    assert len(told) == 1
    assert "do not run again" in told[0]
