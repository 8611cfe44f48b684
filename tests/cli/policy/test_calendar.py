"""`ebb policy calendar`: every hour's answer is the core's own, and what a person sees of it."""

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.policy.calendar import CalendarQuestion, Day, NodeLimit, Sizes, calendar, instants, node_limit
from shared.core.policy import Budget, BudgetUntil, Freeze, Limit, Policy, PoolPolicy, Rate, Schedule
from shared.core.reasons import DrainReason
from shared.core.rules.budgets import Calendar, limit_now, window_open
from tests.cli import dumps
from tests.cli.running import ebb, read_json
from tests.depth import cases

AMSTERDAM = ZoneInfo("Europe/Amsterdam")
MONDAY = date(2026, 11, 23)
TEN, TWO = Budget(Limit(percent=10)), Budget(Limit(2))


def policy(*budgets: Budget, cluster: dict[str, Any] | None = None, **pool: Any) -> Policy:
    own = PoolPolicy(enabled=True, budgets=budgets, **pool)
    return Policy(pools={"a": own}, **{"budgets": (), "rate": None, **(cluster or {})})


def days(given: Policy, first: date = MONDAY, number: int = 1, sizes: Sizes | None = None) -> tuple[Day, ...]:
    return calendar(CalendarQuestion(given, sizes or Sizes(), AMSTERDAM, first, number), ["a"])["a"]


def amounts(day: Day) -> list[str]:
    """The hours of a day in words: a mark where the limit changes, an empty word where the clock skips one."""
    return ["" if hour is None else f"{hour.limit.amount}{'*' if hour.changes else ''}" for hour in day.hours]


def test_a_schedule_that_comes_and_goes_between_two_hours_is_seen() -> None:
    quarter = Schedule("20 3 * * *", timedelta(minutes=5), "Europe/Amsterdam")
    (day,) = days(policy(Budget(Limit(0), quarter), TWO))
    assert [hour for hour, amount in enumerate(amounts(day)) if amount == "0*"] == [3]


@pytest.mark.acceptance(67)
@cases(
    "expected, day",
    ("the hour that the clock skips is blank", ["2", "2", "", "0", "2"], date(2026, 3, 29)),
    ("the repeated hour is one", ["2", "2", "0*", "2", "2"], date(2026, 10, 25)),
)
def test_on_the_days_of_a_clock_change(expected: list[str], day: date) -> None:
    """02:00 to 03:00 local: in March it happens from 03:00 on, in October in the first of two such hours."""
    hour = Schedule("0 2 * * *", timedelta(hours=1), "Europe/Amsterdam")
    assert amounts(days(policy(Budget(Limit(0), hour), TWO), day)[0])[:5] == expected


@cases(
    "expected, given, sizes",
    ("a share of an unknown pool", NodeLimit(None, 10, "budget 10% always"), policy(TEN), Sizes()),
    ("a share of thirty", NodeLimit(3, None, "budget 10% always"), policy(TEN), Sizes({"a": 30})),
    ("a number and a share of an unknown pool",
     NodeLimit(2, 10, "the smaller of budget 2 always and budget 10% always"), policy(TWO, TEN), Sizes()),
    ("the smaller of both", NodeLimit(2, None, "budget 2 always"), policy(TEN, TWO), Sizes({"a": 30})),
    ("no limit", NodeLimit(None, None, "nothing limits it"), policy(), Sizes()),
    ("a share of nothing", NodeLimit(0, None, "budget 0% always"), policy(Budget(Limit(percent=0))), Sizes()),
    ("no window", NodeLimit(0, None, "no window is open"), policy(TWO, windows=()), Sizes()),
    ("a freeze before a window, in the order of the gates", NodeLimit(0, None, "freeze until 2026-11-28 00:00:00 UTC"),
     policy(TWO, windows=(), cluster={"freezes": (Freeze(datetime(2026, 11, 1, tzinfo=UTC),
         datetime(2026, 11, 28, tzinfo=UTC)),)}), Sizes()),
    ("a rate below the budget", NodeLimit(1, None, "rate 1 in any 1h"),
     policy(TWO, rate=Rate(Limit(1), timedelta(hours=1))), Sizes()),
    ("a rate that is a share", NodeLimit(None, 5, "rate 5% in any 1h"),
     policy(TEN, rate=Rate(Limit(percent=5), timedelta(hours=1))), Sizes()),
    ("a share of a cluster of unknown size shows nothing", NodeLimit(2, None, "budget 2 always"),
     policy(TWO, cluster={"budgets": (TEN,)}), Sizes({"a": 5})),
    ("a share of a cluster of known size", NodeLimit(1, None, "cluster budget 10% always"),
     policy(TWO, cluster={"budgets": (TEN,)}), Sizes({"a": 5}, 5)),
    ("those that wait for their deletion", NodeLimit(1, None, "awaitingDeletion 1"),
     policy(TEN, cluster={"budget_until": BudgetUntil.REPLACED, "awaiting_deletion": Limit(1)}), Sizes({"a": 30})),
    ("nothing in the whole cluster", NodeLimit(0, None, "cluster budget 0 always"),
     policy(TEN, cluster={"budgets": (Budget(Limit(0)),)}), Sizes()),
    ("the first gate of two equal limits", NodeLimit(2, None, "budget 2 always"),
     policy(TWO, cluster={"budgets": (TWO,)}), Sizes()),
    ("a budget of another reason", NodeLimit(None, 10, "budget 10% always"),
     policy(Budget(Limit(1), reasons=frozenset({"expired"})), TEN), Sizes()),
)  # fmt: skip
def test_what_decides_is_named(expected: NodeLimit, given: Policy, sizes: Sizes) -> None:
    noon = Calendar(datetime(2026, 11, 23, 12, tzinfo=UTC))
    assert node_limit(given, "a", sizes, noon) == expected


_SCHEDULES = st.builds(
    Schedule,
    st.builds("{} {} * * {}".format, st.integers(0, 59), st.integers(0, 23), st.sampled_from(["*", "mon-fri", "0"])),
    st.builds(timedelta, minutes=st.integers(1, 2000)),
    st.sampled_from(["UTC", "Europe/Amsterdam", "Australia/Lord_Howe"]),
)


@given(
    _SCHEDULES,
    st.none() | st.tuples(_SCHEDULES),
    st.sampled_from([date(2026, 3, 29), date(2026, 10, 25), MONDAY]),
    st.integers(0, 24 * 60 - 1),
)
def test_no_minute_of_a_day_is_more_restrictive_than_its_hour(
    schedule: Schedule, windows: tuple[Schedule, ...] | None, day: date, minute: int
) -> None:
    given = policy(Budget(Limit(1), schedule), TWO, windows=windows)
    question = CalendarQuestion(given, Sizes(), AMSTERDAM, day, 1)
    moment = instants(question, day)[0] + timedelta(minutes=minute)
    local = moment.astimezone(AMSTERDAM)
    if local.date() != day:
        return
    now = Calendar(moment)
    budget = limit_now(given.pools["a"].budgets, DrainReason.UNDERUTILIZED, 0, now) or 0
    allowed = budget if window_open(windows, now) else 0
    shown = days(given, day)[0].hours[local.hour]
    assert shown is not None
    assert (shown.limit.count or 0) <= allowed
    assert shown.changes or shown.limit.count == allowed


POLICY = """
dryRun: false
cluster:
  disruption: {budgets: [{nodes: 5%}]}
  freezes: [{from: 2026-11-27, to: 2026-11-28, timeZone: Europe/Amsterdam}]
nodePools:
  day:
    enabled: true
    disruption:
      consolidateAfter: 5m
      budgets:
        - {nodes: 0, schedule: "0 9 * * mon-fri", duration: 8h, timeZone: Europe/Amsterdam}
        - {nodes: 10%}
  night:
    enabled: true
    disruption:
      windows: [{schedule: "30 20 * * *", duration: 10h, timeZone: Europe/Amsterdam}]
  off: {}
"""
AT = ("--at", "2026-11-23T12:00:00Z")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


def test_every_letter_stands_in_the_legend_and_every_day_has_its_hours(file: Path) -> None:
    page = ebb("policy", "calendar", file, *AT).output.splitlines()
    days = [re.findall(r"(\d\d)-(\d\d) \S+ ([a-z])", line) for line in page if re.match(r"\w{3} \d\d \w{3} ", line)]
    legend = {line[0] for line in page if re.match(r"[a-z]\d?  +\S+  ", line)}
    assert [sum(int(end) - int(begin) for begin, end, _ in day) for day in days] == [24] * 14
    assert {letter for day in days for *_, letter in day} == legend


@cases(
    "expected, at",
    ("an hour that the clock skips", "02-03 skipped by the clock, 03-07 ", "2026-03-29T00:00Z"),
    ("hours in which a limit changes", "06-07 0 b*, 07-20 0 b, 20-21 0 b*", "2026-11-23T12:00Z"),
)
def test_a_day_is_a_line_of_its_runs_of_equal_hours(expected: str, at: str, file: Path) -> None:
    assert expected in ebb("policy", "calendar", file, "--at", at, "--pool", "night", "--days", "1").output


def test_json_has_the_same_calendar(file: Path) -> None:
    found = read_json("policy", "calendar", file, *AT, "--pool", "day", "--days", "1")
    (pools,) = found.pop("pools")
    (day,) = pools["days"]
    assert [note.split(" (")[0] for note in found.pop("notes")] == ["The cluster's own limits"]
    assert found == {
        "schema": 1, "first": "2026-11-23", "time_zone": "Europe/Amsterdam", "off": ["off"]
    }  # fmt: skip
    assert (pools["names"], pools["always"], day["day"]) == (["day"], False, "Mon 23 Nov")
    assert [(run["from"], run["hours"], run["letter"], run["nodes"], run["none"]) for run in day["runs"]] == [
        (0, 9, "a", "10%", False), (9, 8, "b", "0", True), (17, 7, "a", "10%", False)
    ]  # fmt: skip


@cases(
    "expected, args",
    ("whose hours they are", "by the hour in Europe/Amsterdam", ()),
    ("the hours asked for", "by the hour in UTC", ("--time-zone", "UTC")),
    ("which pools are off", "drains nothing: off.", ()),
    ("the pool", "pool day\n", ()),
    ("which budget decides", 'b  0    budget 0 "0 9 * * mon-fri" for 8h', ()),
    ("which freeze", "freeze until 2026-11-27 23:00:00 UTC", ()),
    ("what the mark means", "*       changes within the hour", ()),
    ("what is not counted", "shares of all its nodes and not counted", ()),
    ("the first day", "\nMon 23 Nov  00-09 10% a, 09-17 0 b, ", ()),
)
def test_it_shows(expected: str, args: tuple[str, ...], file: Path) -> None:
    assert expected in ebb("policy", "calendar", file, *AT, *args).output


def test_it_draws_as_many_days_as_asked_for(file: Path) -> None:
    output = ebb("policy", "calendar", file, *AT, "--days", "3", "--pool", "night").output
    assert re.findall(r"^(\w+ \d\d) Nov ", output, re.MULTILINE) == ["Mon 23", "Tue 24", "Wed 25"]
    assert "pool day" not in output


def test_a_whole_month_of_a_schedule_of_every_minute_is_drawn(tmp_path: Path) -> None:
    often = '{nodes: 0, schedule: "* * * * *", duration: 1m}'
    path = tmp_path / "often.yaml"
    path.write_text(f"nodePools: {{a: {{enabled: true, disruption: {{budgets: [{often}]}}}}}}")
    result = ebb("policy", "calendar", path, *AT, "--days", "2")
    assert result.exit_code == 0
    assert "*" not in result.output.split("pool a")[1].splitlines()[2]


@cases(
    "expected, args",
    ("an unknown pool", "no pool 'x'; its pools: day, night, off.", ("--pool", "x")),
    ("an unknown zone", "--time-zone: no time zone of that name is known", ("--time-zone", "Mars")),
    ("a time that is none", "--at: 'yesterday' is not a time", ("--at", "yesterday")),
    ("the end of all time", "--at: write a time from 1970 to 2199", ("--at", "9999-12-31T23:00Z")),
)
def test_bad_use_is_one_sentence(expected: str, args: tuple[str, ...], file: Path) -> None:
    result = ebb("policy", "calendar", file, *args)
    assert result.exit_code == 2
    assert expected in re.sub(r"[\s│]+", " ", result.stderr)


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_of_a_dump_it_advises_what_there_is(suffix: str, tmp_path: Path) -> None:
    """The command has no --dump."""
    result = ebb("policy", "calendar", dumps.write(tmp_path / f"cluster{suffix}", 120))
    assert result.exit_code == 1
    assert "`ebb policy init FILE` prints a policy for it" in result.stderr
    assert "--dump" not in result.stderr
