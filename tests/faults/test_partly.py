"""What fails for long and only in part; and that the oracle sees what it is for, by Ebb broken in one place each."""

from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from functions.drainer import main as drainer
from functions.planner import plan_pass
from functions.planner.lease import PlannerLease
from shared.core.records.state import ClusterState
from shared.errors import Retryable
from shared.store.compare_and_set import read_cluster
from tests.faults.call_faults import CallFault
from tests.faults.catalog import LONG_STALL, Begin, calls_of
from tests.faults.families import bases
from tests.faults.history import History, run
from tests.faults.mutants import swapped
from tests.faults.oracle import breaches
from tests.faults.outages import Ending, Outage


def failing(what: str, seconds: float, ending: Ending = Ending.SILENCE, index: int | None = None) -> History:
    """Let that fail for so long in a world in which nobody deletes nodes."""
    base = bases()["partly waved, and nobody deletes"]
    return replace(base, acts=((40.0, Begin(Outage(what, seconds, ending=ending), index)),))


def stalled() -> History:
    """Freeze the first pass past its lease before it writes its marks."""
    base = bases()["partly marked"]
    return replace(base, faults={calls_of(base, "tick", "put pools")[0].number: CallFault(before=LONG_STALL)})


def _fails(*_: Any) -> Any:
    raise Retryable("all commitments", "503")


def _long_ago(_: Any) -> tuple[ClusterState, None, datetime]:
    return ClusterState(), None, datetime.fromtimestamp(0, UTC)


def _ask(lease: PlannerLease) -> None:
    read_cluster(lease.state)


def _nothing(*_: Any) -> None:
    return None


@pytest.mark.parametrize(
    ("expected", "history", "mutant"),
    [
        pytest.param(
            "carries the soft taint",
            failing("all pools", 900.0, Ending.FAULT),
            swapped(plan_pass, "release_expired_wave", _nothing),
            id="a pass that dies frees no late wave",
        ),
        pytest.param(
            "all commitments",
            failing("all commitments", 60.0),
            swapped(plan_pass, "with_commitments", _fails),
            id="commitments end a pass",
        ),
        pytest.param("was busy", stalled(), swapped(PlannerLease, "check", _ask), id="the lease is asked for in vain"),
        pytest.param(
            "after it has expired",
            failing("patch nodes", 900.0, Ending.REFUSAL, 0),
            swapped(drainer, "read_cluster", _long_ago),
            id="no message expires",
        ),
    ],
)
def test_the_oracle_sees_it_where_ebb_is_broken(
    expected: str, history: History, mutant: AbstractContextManager[None]
) -> None:
    with mutant:
        assert any(expected in fault for fault in breaches(run(history)))
