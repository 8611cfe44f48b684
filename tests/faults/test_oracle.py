"""What the oracle sees of cordons: whose they are, with Ebb's taint and without it."""

from typing import Any

from tests.depth import cases
from tests.faults import ebb_actions
from tests.faults.excuses import Excuse, Excuses
from tests.faults.replay import TAINT, moments
from tests.faults.waiting_times import Bound, CordonTimes

EBB, PERSON = "ebb/push-1", "person"
LONGEST = 600.0


def node(at: float, actor: str, *, cordoned: bool, tainted: bool = False) -> dict[str, Any]:
    return {
        "type": "change", "kind": "nodes", "verb": "update", "at": at, "actor": actor, "name": "n1", "uid": "u",
        "ready": True, "unschedulable": cordoned, "taints": [f"{TAINT}order:NoSchedule"] if tainted else [],
    }  # fmt: skip


FRESH = node(0, "kubelet", cordoned=False)
TAKEN = node(10, EBB, cordoned=True, tainted=True)
UNTAINTED = node(20, PERSON, cordoned=True)
THEIRS = node(30, PERSON, cordoned=False), node(40, PERSON, cordoned=True)


def judged(*entries: dict[str, Any], end: float = 10_000) -> list[str]:
    excuses = Excuses()
    cordons = CordonTimes(Bound(excuses, LONGEST, 0))
    found = [
        fault
        for entry, cluster in moments(list(entries))
        for fault in (*cordons.of(entry, cluster), *ebb_actions.of(entry, cluster, excuses))
    ]
    return [*found, *cordons.at_the_end(end)]


@cases(
    "expected, entries",
    ("ours with our taint", True, [FRESH, TAKEN]),
    ("ours whose taint somebody removed", True, [FRESH, TAKEN, UNTAINTED]),
    ("ours that somebody undid", False, [FRESH, TAKEN, UNTAINTED, node(30, PERSON, cordoned=False)]),
    ("a person's", False, [FRESH, node(10, PERSON, cordoned=True)]),
    ("a person's after ours", False, [FRESH, TAKEN, *THEIRS]),
)
def test_a_cordon_of_ours_that_stands_forever_is_seen(expected: bool, entries: list[dict[str, Any]]) -> None:
    assert any("stood cordoned" in fault for fault in judged(*entries)) is expected


def test_only_a_cordon_of_ours_may_be_undone_without_our_taint() -> None:
    undone = node(50, EBB, cordoned=False)

    assert judged(FRESH, TAKEN, UNTAINTED, undone) == []
    assert judged(FRESH, TAKEN, *THEIRS, undone) == ["ebb/push-1 undid a cordon of n1 that was not ours"]


@cases(
    "expected, seconds, extra",
    ("as long as promised", (False, 0), LONGEST, 60),
    ("a lease and a redelivery longer, where Ebb was kept", (False, 1), LONGEST + 60, 60),
    ("longer than that", (True, 0), LONGEST + 61, 60),
    ("longer than promised where nothing went wrong", (True, 0), LONGEST + 1, 0),
)
def test_what_stands_longer_than_promised_is_excused_and_counted(
    expected: tuple[bool, int], seconds: float, extra: float
) -> None:
    excuses = Excuses()
    assert (Bound(excuses, LONGEST, extra).is_broken(seconds), excuses.used[Excuse.DISTURBED]) == expected
