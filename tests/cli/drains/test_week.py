"""`ebb status --week` and the months of `ebb history`: the figures of the planner's ledger, from a laptop."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from shared.adapters.sqlite import SqliteState
from shared.core.reasons import Reason, Shortfall, reason_of_word
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.ledger import Ledger, Promise, Sums
from shared.core.records.week import Missed, WeekSummary, as_message, shortfall, sum_up, text_of
from shared.ports import drain_key, ledger_key, week_key
from tests.builders import CLUSTER, NOW
from tests.cli.drains.test_status import asked, settled
from tests.cli.running import run_ebb
from tests.depth import cases

DAY = timedelta(days=1)
SUMS = Sums(
    seconds=7 * 86_400, gone=5, own=1, saved=60_000_000, at_list=90_000_000, promised=100_000_000,
    missed={"outside_windows": 30_000_000, "pod_local_storage": 1},
)  # fmt: skip


def ledger(**changes: Any) -> Ledger:
    months = {"2026-02": Sums(promised=10_000_000, saved=9_000_000), "2026-03": SUMS}
    promise = Promise(policy_hash="abc", since=NOW - 7 * DAY)
    times = {"began": NOW - 7 * DAY, "through": NOW, "weeks": {NOW.isoformat(): SUMS}, "months": months}
    return Ledger(**{**times, "currency": "EUR", "promise": promise, **changes})


def record(order_id: str, **changes: Any) -> DrainRecord:
    return settled(order_id, **{"updated_at": NOW - DAY, "pods": {"shop/a": asked("granted")}, **changes})


def week(*records: DrainRecord, earlier: tuple[WeekSummary, ...] = (), **changes: Any) -> WeekSummary:
    return sum_up(CLUSTER, ledger(**changes), records, earlier, (NOW - 7 * DAY, NOW))


def run(path: Path, *words: str, **documents: Any) -> Any:
    state = SqliteState(str(path), CLUSTER)
    for key, value in documents.get("rows", ()):
        state.put(key, value, None)
    return run_ebb(*words, EBB_CLUSTER=CLUSTER, EBB_STATE=f"sqlite:{path}")


@cases(
    "evictions, changes",
    ("a drain of the week before is not of this one", 0, {"updated_at": NOW - 8 * DAY}),
    ("nor one at its beginning", 0, {"updated_at": NOW - 7 * DAY}),
    ("one at its end is", 1, {"updated_at": NOW}),
    ("one under way is not", 0, {"phase": DrainPhase.DRAINED}),
    ("a return has moved pods, too", 1, {"outcome": "given_back", "why": "deadline"}),
)
def test_a_drain_counts_in_the_week_in_which_it_ended(evictions: int, changes: dict[str, Any]) -> None:
    assert week(record("a", **changes)).evictions == evictions


def test_nodes_are_those_that_passes_have_counted_whenever_a_drain_was_settled() -> None:
    found = week(record("a"), record("b"))
    assert (found.removed_by_ebb, found.removed_by_others) == (1, 4)


@cases(
    "is_told, sums, before",
    ("never", True, {"own": 0}, {"own": 0}),
    ("in this week", False, {"own": 1}, {"own": 0}),
    ("in a week before", False, {"own": 0}, {"own": 1}),
    ("longer ago", False, {"own": 0, "older": 1}, {"own": 0}),
)
def test_a_dry_run_is_without_drains_so_far_only_if_there_were_none(
    is_told: bool, sums: dict[str, int], before: dict[str, int]
) -> None:
    def of(ended: datetime, given: dict[str, int], *earlier: WeekSummary) -> WeekSummary:
        found = ledger(dry_run_since=NOW - DAY, weeks={ended.isoformat(): structs.replace(SUMS, **given)})
        return sum_up(CLUSTER, found, (), earlier, (ended - 7 * DAY, ended))

    text = text_of(of(NOW, sums, of(NOW - 7 * DAY, before)))
    assert ("no drains so far" in text, "dry run since" in text) == (is_told, True)


def test_returns_are_counted_by_their_reason() -> None:
    found = week(
        *(record(str(n), outcome="given_back", why="deadline") for n in range(2)), record("x", outcome="refused")
    )
    assert found.returns == {"deadline": 2}


def test_a_shortfall_is_explained_to_the_last_cent_and_the_rest_could_not_go() -> None:
    rows = {row.reason: row.amount for row in week().shortfall}
    assert rows == {"outside_windows": 30_000_000, "pod_local_storage": 1, "fewer_removable": 9_999_999}
    assert sum(rows.values()) == SUMS.promised - SUMS.saved


@cases(
    "expected, saved",
    ("a fifth less is none", (), 80_000_000),
    ("a cent more is one", ("outside_windows",), 79_999_999),
    ("more than was promised is none", (), 120_000_000),
)
def test_a_shortfall_is_more_than_a_fifth(expected: tuple[str, ...], saved: int) -> None:
    for older in (0, saved // 3):
        sums = Sums(promised=100_000_000, saved=saved - older, older=older, missed={"outside_windows": 30_000_000})
        assert tuple(row.reason for row in week(weeks={NOW.isoformat(): sums}).shortfall) == expected


@cases(
    "expected, changes",
    ("what was kept on the first day explains nothing", {"fewer_removable": 50},
     {"missed": {"pool_at_minimum": 40}, "foreseen": {"pool_at_minimum": 40}}),
    ("what is kept beyond it does", {"pool_at_minimum": 9, "fewer_removable": 41},
     {"missed": {"pool_at_minimum": 40}, "foreseen": {"pool_at_minimum": 31}}),
    ("others removed more than is lacking", {"removed_by_others": 50},
     {"by_others": 60, "missed": {"pool_at_minimum": 40}}),
    ("others removed some on the first day", {"removed_by_others": 30, "fewer_removable": 20},
     {"by_others": 50, "foreseen": {"removed_by_others": 20}}),
    ("a document of an older version", {"pool_at_minimum": 40, "fewer_removable": 10},
     {"missed": {"pool_at_minimum": 40}}),
)  # fmt: skip
def test_a_reason_explains_what_it_keeps_beyond_the_first_day(
    expected: dict[str, int], changes: dict[str, Any]
) -> None:
    sums = Sums(promised=100, saved=30, older=20, **changes)
    assert {row.reason: row.amount for row in shortfall(sums)} == expected


@pytest.mark.parametrize("word", ["fewer_removable", "removed_by_others", "dry_run"])
def test_a_word_that_no_decision_has_is_that_of_no_other_reason(word: str) -> None:
    assert reason_of_word(word, *(kind for kind in Reason.__subclasses__() if kind is not Shortfall)) is None
    assert Missed(word, 1).sentence


def test_the_command_shows_the_published_week(tmp_path: Path) -> None:
    ran = run(tmp_path / "s.db", "status", "--week", rows=[(week_key(NOW), week(record("a")))])
    assert ran.returncode == 0
    for fact in ("60.00 EUR", "90.00 EUR", "1 node", "4 nodes", "outside_windows"):
        assert fact in ran.stdout


def test_what_stays_away_is_shown_beside_what_is_saved(tmp_path: Path) -> None:
    sums = structs.replace(SUMS, older=30_000_000)
    found, months = week(weeks={NOW.isoformat(): sums}), ledger(months={"2026-03": sums})
    rows = [(week_key(NOW), found), (ledger_key(), months), (drain_key("a"), record("a"))]
    shown = run(tmp_path / "s.db", "history", rows=rows).stdout
    assert "30.00 EUR" in shown
    assert "outside_windows" not in shown
    assert "30.00 EUR" in run(tmp_path / "s.db", "status", "--week").stdout
    assert as_message(found)["older_removals"] == 30.0
    assert "30.00 EUR" in as_message(found)["text"]


def test_before_the_first_week_has_ended_it_shows_what_has_come(tmp_path: Path) -> None:
    ran = run(tmp_path / "s.db", "status", "--week", "-o", "json", rows=[(ledger_key(), ledger())])
    assert json.loads(ran.stdout)["saved"] == 60.0


def test_tools_get_the_message(tmp_path: Path) -> None:
    found = week(record("a"))
    ran = run(tmp_path / "s.db", "status", "--week", "-o", "json", rows=[(week_key(NOW), found)])
    assert json.loads(ran.stdout) == as_message(found)


def test_an_installation_without_figures_shows_that(tmp_path: Path) -> None:
    ran = run(tmp_path / "s.db", "status", "--week")
    assert (ran.returncode, "passes ran for 0 h" in ran.stdout) == (0, True)


def test_the_history_shows_months_with_what_was_promised_and_what_came(tmp_path: Path) -> None:
    rows = [(ledger_key(), ledger()), (drain_key("a"), record("a"))]
    shown = run(tmp_path / "s.db", "history", rows=rows).stdout
    assert "2026-03" in shown
    assert "outside_windows 30.00 EUR" in shown
    months = json.loads(run(tmp_path / "s.db", "history", "-o", "json").stdout)["months"]
    assert [(row["month"], row["promised"], row["saved"]) for row in months] == [
        ("2026-03", 100.0, 60.0),
        ("2026-02", 10.0, 9.0),
    ]
    assert [len(row["shortfall"]) for row in months] == [3, 0]
