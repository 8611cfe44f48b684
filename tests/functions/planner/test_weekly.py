"""The weekly summary: once a week whatever ticks are lost, doubled or late, with the sums of what was logged."""

import dataclasses
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast
from uuid import uuid4

import pytest
from google.pubsub_v1 import PublisherClient, SubscriberClient

from shared.adapters.firestore import FirestoreState
from shared.adapters.pubsub import PubSubOrders
from shared.core.records.ledger import Ledger
from shared.core.records.week import as_message
from shared.errors import BadPolicy, Retryable
from shared.ports import DocumentKey, State, StoredDocument, ledger_key, week_key
from tests.builders import NOW, node, pod, policy
from tests.depth import cases
from tests.fakes import failing
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import deliver_and_remove, reschedule
from tests.real.emulators import FirestoreEmulator, PubSubEmulator

T = TypeVar("T")
HOUR = timedelta(hours=1)
MONDAYS = [datetime(2026, 3, day, 9, tzinfo=UTC) for day in (9, 16, 23, 30)]
"""After the builders' NOW, a Wednesday."""


def cluster(**options: Any) -> FakeEbb:
    """Six nodes of which some can go, one after another."""
    ebb = FakeEbb(*(node(f"n{index}") for index in range(6)), policy=options.pop("policy", policy()), **options)
    ebb.cluster.put(*(pod(f"p{index}", on=f"n{index}", cpu=1, owner=f"ReplicaSet/{index}") for index in range(6)))
    ebb.settings = dataclasses.replace(ebb.settings, interval_seconds=HOUR.total_seconds())
    reschedule(ebb)
    return ebb


def run_until(ebb: FakeEbb, end: datetime, *, seed: int | None = None, step: timedelta = HOUR) -> None:
    """Tick each hour; with a seed, some ticks are lost, doubled or late."""
    dice = random.Random(seed)  # noqa: S311 - a draw, no secret
    while ebb.clock.now() < end:
        luck = dice.random() if seed is not None else 1
        if luck > 0.3:
            ebb.tick(schedule_time=ebb.clock.now().isoformat())
            deliver_and_remove(ebb)
        if 0.3 < luck < 0.5:
            ebb.tick(schedule_time=ebb.clock.now().isoformat())
        if 0.5 < luck < 0.6:
            ebb.pass_time(minutes=20)
        ebb.pass_time(hours=step / HOUR)


def announced(ebb: FakeEbb) -> list[Mapping[str, Any]]:
    assert {kind for kind, _ in ebb.bus.announced} <= {"weekly_summary"}
    return [message for _, message in ebb.bus.announced]


def ends(ebb: FakeEbb) -> list[datetime]:
    return [datetime.fromisoformat(message["ended"]) for message in announced(ebb)]


@pytest.mark.parametrize("seed", [None, 0, 1], ids=["each tick", "luck 0", "luck 1"])
def test_each_week_has_one_summary_whatever_happens_to_ticks(seed: int | None) -> None:
    ebb = cluster()
    run_until(ebb, MONDAYS[-1] + 30 * HOUR, seed=seed, step=6 * HOUR)
    assert ends(ebb) == MONDAYS
    assert len(ebb.log.of("weekly_summary")) == len(MONDAYS)


def test_the_sums_are_those_of_the_events() -> None:
    ebb = cluster()
    run_until(ebb, MONDAYS[1] + HOUR / 2)
    lines = ebb.log.of("drain_result")
    assert (
        sum(week["removed_by_ebb"] for week in announced(ebb))
        == len([line for line in lines if line["outcome"] == "removed"])
        > 0
    )
    dollars = sum(line["reclaimed_dollars"] for line in ebb.log.of("cluster_state"))
    assert sum(week["saved"] for week in announced(ebb)) == pytest.approx(dollars, abs=0.01)
    assert sum(week["evictions"] for week in announced(ebb)) == sum(line["pods_evicted"] for line in lines)
    missed = sum(line["per_hour"] for line in ebb.log.of("missed_saving"))
    assert missed > 0
    assert announced(ebb)[0]["blockers"][0]["cost"] > 0


def test_a_dry_run_shows_since_when_nothing_is_drained() -> None:
    ebb = cluster(policy=policy(cluster_wide={"dry_run": True}))
    run_until(ebb, MONDAYS[0] + 6 * HOUR, step=6 * HOUR)
    (week,) = announced(ebb)
    assert (week["dry_run_since"], week["saved"], week["removed_by_ebb"]) == ("2026-03-04T22:00:00Z", 0, 0)
    assert week["promised"] > 0
    assert [row["reason"] for row in week["shortfall"]] == ["dry_run"]
    assert "no drains so far, dry run since 2026-03-04" in week["text"]


def test_a_week_with_an_invalid_policy_shows_that() -> None:
    ebb = cluster()
    ebb.tick()
    ebb.policy.policy = BadPolicy("x")
    run_until(ebb, MONDAYS[1] + HOUR, step=6 * HOUR)
    week = announced(ebb)[-1]
    assert ([row["reason"] for row in week["shortfall"]], week["dry_run_since"]) == (["policy_invalid"], None)


def test_a_summary_that_the_topic_does_not_take_is_published_by_a_later_tick() -> None:
    ebb = cluster()
    run_until(ebb, MONDAYS[0] - HOUR)
    ebb.bus.results_failure = Retryable("Pub/Sub", "no answer")
    run_until(ebb, MONDAYS[0] + 3 * HOUR)
    assert announced(ebb) == []
    written = ebb.state.get(week_key(MONDAYS[0])).value
    ebb.state.meanwhile["all", "drains"] = failing(AssertionError("it is written down: no drain is read again"))
    ebb.bus.results_failure = None
    run_until(ebb, MONDAYS[0] + 6 * HOUR)
    assert (ends(ebb), written is not None and announced(ebb) == [as_message(written)]) == (MONDAYS[:1], True)


def test_a_summary_that_is_being_published_holds_up_no_pass_and_is_published_once() -> None:
    ebb = cluster()
    run_until(ebb, MONDAYS[0] - HOUR)
    ebb.pass_time(hours=2)
    found: list[Mapping[str, Any]] = []

    def meanwhile() -> None:
        ebb.state.meanwhile.clear()
        found.extend((ebb.summarize(), ebb.tick(schedule_time="now")))

    def once_published() -> None:
        if announced(ebb):
            meanwhile()

    ebb.state.meanwhile["put", "weeks"] = once_published
    ebb.summarize()
    assert found[0]["weeks"] == []
    assert "duplicate" not in found[1]
    ebb.tick()
    assert ends(ebb) == MONDAYS[:1]


class KilledError(BaseException):
    """The process ends."""


def die() -> None:
    raise KilledError


@cases(
    "method, collection",
    ("as it reads", "all", "drains"),
    ("before it is written down", "put", "weeks"),
    ("before the ledger knows it", "put", "ledger"),
)
def test_a_planner_that_is_killed_over_a_summary_has_completed_its_pass(method: str, collection: str) -> None:
    ebb = cluster()
    run_until(ebb, MONDAYS[0] - HOUR)
    ebb.pass_time(hours=2)
    ebb.state.meanwhile["get", "ledger"] = lambda: ebb.state.meanwhile.update({(method, collection): die})
    with pytest.raises(KilledError):
        ebb.tick()
    ebb.state.meanwhile.clear()
    assert ebb.remembered().last_pass == ebb.clock.now()
    ebb.pass_time(hours=1)
    ebb.tick()
    assert ends(ebb) == MONDAYS[:1]


def test_a_pass_that_is_killed_once_it_is_counted_is_counted_once() -> None:
    ebb = cluster()
    run_until(ebb, NOW + 5 * HOUR)
    before = weeks_of(ebb)
    ebb.state.meanwhile["put", "ledger"] = lambda: ebb.state.meanwhile.update({("put", "cluster"): die})
    with pytest.raises(KilledError):
        ebb.tick()
    ebb.state.meanwhile.clear()
    ebb.pass_time(minutes=30)
    ebb.tick()
    assert weeks_of(ebb) - before == 1.5 * HOUR


def test_a_node_that_comes_back_while_a_pass_is_at_work_is_saved_no_more() -> None:
    ebb = cluster()
    run_until(ebb, NOW + 12 * HOUR)
    before = sum(row.nodes for row in ebb.remembered().reclaimed)

    def come_back() -> None:
        ebb.state.meanwhile.clear()
        ebb.pass_time(minutes=1)
        ebb.cluster.put(node("back", created=ebb.clock.now()))
        ebb.pass_time(minutes=1)

    ebb.state.meanwhile["put", "ledger"] = come_back
    ebb.tick()
    ebb.pass_time(minutes=5)
    ebb.tick()
    assert sum(row.nodes for row in ebb.remembered().reclaimed) == before - 1 >= 0


def ledger_of(ebb: FakeEbb) -> Ledger:
    ledger = ebb.state.get(ledger_key()).value
    assert ledger is not None
    return ledger


def weeks_of(ebb: FakeEbb) -> timedelta:
    """How much time the open week accounts for."""
    return timedelta(seconds=sum(sums.seconds for sums in ledger_of(ebb).weeks.values()))


def test_a_document_of_another_version_is_written_over() -> None:
    ebb = cluster()
    run_until(ebb, MONDAYS[0] - HOUR)
    for key in (week_key(MONDAYS[0]), ledger_key()):
        ebb.state.documents[ebb.state.cluster, key.collection, key.id] = b'{"new": 1}', "v"
    run_until(ebb, MONDAYS[1] + HOUR)
    assert ends(ebb) == MONDAYS[:2]


def test_a_call_for_the_summary_alone_publishes_it_and_plans_nothing() -> None:
    ebb = cluster()
    run_until(ebb, MONDAYS[0] - HOUR)
    ebb.pass_time(hours=2)
    before = len(ebb.log.of("cluster_state"))
    assert ebb.summarize()["weeks"] == [MONDAYS[0].isoformat()]
    assert ebb.summarize()["weeks"] == []
    assert (ends(ebb), len(ebb.log.of("cluster_state"))) == (MONDAYS[:1], before)


def test_weeks_in_which_no_pass_ran_have_their_summaries() -> None:
    ebb = cluster()
    run_until(ebb, MONDAYS[0] - HOUR)
    for end in MONDAYS[:3]:
        ebb.pass_time(hours=(end - ebb.clock.now()) / HOUR)
        ebb.summarize()
    run_until(ebb, MONDAYS[3] + HOUR, step=12 * HOUR)
    assert ends(ebb) == MONDAYS


@pytest.mark.parametrize("text", ["wed 9 UTC", "sun 0 Asia/Tokyo", "fri 9 UTC"])
def test_a_day_that_changes_in_mid_week_loses_and_doubles_nothing(text: str) -> None:
    ebb = cluster()
    run_until(ebb, NOW + 4 * HOUR)
    ebb.settings = dataclasses.replace(ebb.settings, weekly_summary=text)
    run_until(ebb, MONDAYS[1])
    weeks = announced(ebb)
    assert 1 <= len(weeks) <= 2
    assert [week["began"] for week in weeks[1:]] == [week["ended"] for week in weeks[:-1]]
    assert weeks[0]["removed_by_ebb"] == len(ebb.log.of("drain_result")) > 0
    assert (weeks[0]["removed_by_others"], weeks[0]["saved"] > 0) == (0, True)


def test_a_summary_shows_the_four_weeks_before() -> None:
    ebb = cluster()
    run_until(ebb, MONDAYS[-1] + 6 * HOUR, step=12 * HOUR)
    assert [row["ended"] for row in announced(ebb)[-1]["before"]] == [
        f"{end:%Y-%m-%dT%H:%M:%SZ}" for end in reversed(MONDAYS[:-1])
    ]


def test_an_installation_that_wants_none_counts_months_only() -> None:
    ebb = cluster()
    ebb.settings = dataclasses.replace(ebb.settings, weekly_summary="off")
    run_until(ebb, MONDAYS[0] + HOUR, step=6 * HOUR)
    assert announced(ebb) == []
    assert (list(ledger_of(ebb).months), ledger_of(ebb).weeks) == (["2026-03"], {})


def test_a_ledger_that_cannot_be_read_ends_no_pass() -> None:
    ebb = cluster()
    for method in ("all", "get"):
        ebb.state.meanwhile[method, "ledger"] = failing(Retryable("state", "no answer"))
    assert ebb.tick()["orders"]
    assert ebb.reasons("weekly_summary") == ["unreachable"] * 2


class InVirtualTime:
    """A state of an emulator, read at the fake clock's time: no emulator's time can be set."""

    def __init__(self, state: State, now: Callable[[], datetime]) -> None:
        self._state, self._now = state, now
        self.put, self.delete = state.put, state.delete

    def get(self, key: DocumentKey[T]) -> StoredDocument[T]:
        return dataclasses.replace(self._state.get(key), read_at=self._now())

    def all(self, collection: str, type_: type[T]) -> Mapping[str, StoredDocument[T]]:
        found = self._state.all(collection, type_)
        return {id_: dataclasses.replace(row, read_at=self._now()) for id_, row in found.items()}


@pytest.fixture
def topic(pubsub_emulator: PubSubEmulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Any]]:
    """A topic of results, and what pulls its messages."""
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator.host)
    name = f"projects/p/topics/results-{uuid4().hex[:8]}"
    subscription = {"subscription": name.replace("topics", "subscriptions"), "max_messages": 100}
    with PublisherClient() as topics, SubscriberClient() as readers:
        topics.create_topic(request={"name": name}, timeout=30)
        readers.create_subscription(request={"name": subscription["subscription"], "topic": name}, timeout=30)
        yield name, lambda: readers.pull(request=subscription, timeout=30).received_messages


@pytest.mark.emulator
@pytest.mark.xdist_group("emulator")
def test_a_fleet_of_three_has_one_summary_a_week_each_on_the_real_services(
    firestore_emulator: FirestoreEmulator, topic: tuple[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator.host)
    name, pull = topic
    database = f"ebb-{uuid4().hex[:12]}"
    for place in ("north", "south", "west"):
        ebb = cluster(policy=policy(cluster_wide={"dry_run": True}))
        full = f"projects/p/locations/l/clusters/{place}"
        ebb.settings = dataclasses.replace(ebb.settings, cluster=full)
        ebb.state = cast("Any", InVirtualTime(FirestoreState("p", database, full), ebb.clock.now))
        monkeypatch.setattr(ebb.bus, "announce", PubSubOrders("projects/p/topics/o", results_topic=name).announce)
        run_until(ebb, MONDAYS[1] + 30 * HOUR, seed=3, step=12 * HOUR)
    messages = [(row.message.attributes["kind"], json.loads(row.message.data)) for row in pull()]
    assert {kind for kind, _ in messages} == {"weekly_summary"}
    found = Counter((week["cluster"].rpartition("/")[2], week["ended"][:10]) for _, week in messages)
    assert found == Counter(
        (place, day) for place in ("north", "south", "west") for day in ("2026-03-09", "2026-03-16")
    )
