"""The table of excuses is whole: each has its sentences and a rule that asks for it; and the exact fit is exact."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.depth import cases
from tests.faults.call_faults import CallFault
from tests.faults.catalog import calls_of
from tests.faults.directed import LONG, plain
from tests.faults.excuses import Excuse
from tests.faults.history import run
from tests.faults.proofs import fit

RULES = ("ebb_actions", "grants", "oracle", "peoples_requests", "proofs", "surges", "waiting_times")


@pytest.mark.parametrize("excuse", Excuse, ids=lambda excuse: excuse.name.lower())
def test_each_excuse_shows_what_and_why_and_some_rule_asks_for_it(excuse: Excuse) -> None:
    rules = [Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8") for name in RULES]
    assert excuse.what.endswith(".")
    assert excuse.why.endswith(".")
    assert any(f"Excuse.{excuse.name}" in rule for rule in rules)


def test_no_excuse_covers_a_moved_pod_because_of_an_act_of_others() -> None:
    about_moved = {excuse for excuse in Excuse if "moved pod" in excuse.what}
    assert about_moved == {
        Excuse.HINDERED, Excuse.TURNED_AWAY, Excuse.SLOW, Excuse.REPEATED, Excuse.GIVEN_BACK, Excuse.NODE_GONE,
    }  # fmt: skip


def test_a_paused_call_stops_its_drainer_also_when_it_is_refused_in_the_end() -> None:
    """Another step has written the drain's record meanwhile."""
    base = plain("two may go")
    for write in calls_of(base, "push", "put drains"):
        end = run(replace(base, faults={write.number: CallFault(before=LONG)}))
        begun = end.call_gate.calls[write.number].at
        assert end.stops() == [begun, begun + LONG]


@cases(
    "expected, sizes, free",
    ("nothing needs no room", True, [], []),
    ("no node", False, [1], []),
    ("where the largest first would fail", True, [3, 3, 2, 2, 2], [6, 6]),
    ("enough in sum, not on one", False, [3, 3, 3], [5, 5]),
    ("an overbooked node", False, [1], [-5, 0]),
)
def test_an_exact_fit(expected: bool, sizes: Sequence[int], free: Sequence[int]) -> None:
    assert fit(sizes, free) is expected
