"""Each world without faults keeps the promise, so the simulator is not what breaks it; and it shows what it is for."""

from collections.abc import Callable, Mapping

import pytest
from msgspec.structs import replace

from functions.drainer import finish
from infra.local.scaling.view import AGENT
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainRecord
from tests.depth import cases
from tests.faults import steering, waved_worlds
from tests.faults.call_faults import CallFault, MessageFaults
from tests.faults.directed import a_restart_is_undone_before_it_was_written_down, plain
from tests.faults.families import FAMILIES
from tests.faults.history import Act, History, run
from tests.faults.installation import Installation
from tests.faults.mutants import swapped
from tests.faults.neighbours import PLACES
from tests.faults.oracle import breaches
from tests.faults.replaced import Moments, replaced_settings
from tests.faults.replay import SOFT, moments
from tests.faults.returning_worlds import FULL
from tests.faults.rich_worlds import drawn_rich
from tests.faults.running import some
from tests.faults.steering import steered_settings
from tests.faults.surging_worlds import NEVER_READY, SURGED, roll_out, stamps
from tests.faults.waved_worlds import waved_settings
from tests.faults.worlds import Setting, drawn, settings


def orders_end(history: History, end: Installation) -> None:
    del history
    assert end.bus.results


def only_what_fits_is_moved(history: History, end: Installation) -> None:
    assert (end.cloud.world.record.of("eviction") == []) is (history.name in FULL)


def buffers_keep_their_room_and_the_rest_is_saved(history: History, end: Installation) -> None:
    del history
    store = end.cloud.world.store
    assert len(store.all("nodes")) < 5
    for buffer in store.all("capacitybuffers"):
        assert buffer["status"]["readyReplicas"] == buffer["status"]["replicas"]
    assert {eviction["actor"] for eviction in end.cloud.world.record.of("eviction")}.isdisjoint({AGENT})


def single_replicas_leave_their_nodes(history: History, end: Installation) -> None:
    if history.name == NEVER_READY:
        assert stamps(end) == set()
    else:
        assert stamps(end)
        assert stamps(end) <= set(SURGED)
        assert len(end.cloud.world.store.all("nodes")) < 5


def pods_of_nodes_that_wait_are_marked(history: History, end: Installation) -> None:
    del history
    assert any(change.get("mark") for change in end.cloud.world.record.of("change"))


def nodes_are_held_softly(history: History, end: Installation) -> None:
    del history
    taints = [taint for change in end.cloud.world.record.of("change") for taint in change.get("taints") or ()]
    assert any(taint.startswith(SOFT) for taint in taints)


def a_node_goes_while_another_waits_for_its_deletion(history: History, end: Installation) -> None:
    del history
    states = [entry["before"] for entry in end.cloud.world.record.of("state")]
    assert any(len(state.claims) > 1 and any(claim.replaced for claim in state.claims.values()) for state in states)


def the_neighbour_is_left_alone_and_holds_no_other_up(history: History, end: Installation) -> None:
    patched = [call.what for call in end.call_gate.calls if call.what.startswith("patch")]
    assert patched, "the other nodes go as if it were not there"
    assert not any(end.cloud.node_names["web"][PLACES[history.name]] in call for call in patched)


def nodes_are_held_softly_and_orders_end(history: History, end: Installation) -> None:
    orders_end(history, end)
    nodes_are_held_softly(history, end)


SHOWS: Mapping[str, Callable[[History, Installation], None] | None] = {
    "plain": orders_end,
    "rich": None,
    "returning": only_what_fits_is_moved,
    "buffered": buffers_keep_their_room_and_the_rest_is_saved,
    "surging": single_replicas_leave_their_nodes,
    "steered": pods_of_nodes_that_wait_are_marked,
    "waved": nodes_are_held_softly,
    "replaced": a_node_goes_while_another_waits_for_its_deletion,
    "neighbours": the_neighbour_is_left_alone_and_holds_no_other_up,
    "partly": nodes_are_held_softly_and_orders_end,
}
"""What a world of each family shows; the rules of the rich ones have mutants of their own."""


@pytest.mark.parametrize(
    ("family", "history"),
    [
        pytest.param(family.worlds.name, history, id=history.name)
        for family in FAMILIES
        for history in family.worlds.by_hand()
    ],
)
def test_a_history_without_faults_keeps_the_promise_and_shows_what_its_world_is_for(
    family: str, history: History
) -> None:
    end = run(history)

    assert breaches(end) == []
    if shows := SHOWS[family]:
        shows(history, end)


@cases(
    "seed, draw",
    *((f"plain {seed}", seed, drawn) for seed in range(20)),
    *((f"rich {seed}", seed, drawn_rich) for seed in some(range(40), "drawn rich worlds", 4)),
)
def test_drawn_worlds_without_faults_keep_the_promise(seed: int, draw: Callable[[int], Setting]) -> None:
    assert breaches(run(History(draw(seed), seed))) == []


@pytest.mark.parametrize(
    ("setting", "acts"),
    [
        pytest.param(setting, acts, id=f"{setting.name}: {', '.join(f'{at:g} s {act}' for at, act in acts)}")
        for found, done in ((steered_settings(), steering.ACTS), (waved_settings(), waved_worlds.ACTS))
        for setting in found
        for acts in done
    ],
)
def test_whatever_people_do_nothing_of_theirs_is_touched_and_nothing_of_ours_is_left(
    setting: Setting, acts: tuple[tuple[float, Act], ...]
) -> None:
    assert breaches(run(History(setting, acts=acts))) == []


def test_a_scale_in_takes_the_pods_that_are_marked() -> None:
    end = run(History(steered_settings()[0], acts=((20.0, steering.ACTS[0][0][1]),)))
    given_up = [
        change
        for change in end.cloud.world.record.of("change")
        if change["actor"] == "controller-manager" and change.get("terminating")
    ]
    assert len(given_up) == 2
    assert all(change.get("mark") for change in given_up)


def test_a_history_goes_on_while_an_order_that_was_lost_may_still_arrive() -> None:
    """The first pass reads for 140 s, in which the autoscaler fills the node whose order the second pass loses."""
    slow, lost = {16: CallFault(before=70.0, after=70.0)}, MessageFaults(lost=frozenset({3}))

    end = run(History(steered_settings()[1], faults=slow, message_faults=lost))

    assert (end.lost_orders != set(), end.remembered().published, breaches(end)) == (True, {}, [])


def test_equal_seeds_make_equal_histories() -> None:
    first, second = (run(History(settings()[0], seed=5)) for _ in range(2))
    assert first.call_gate.calls == second.call_gate.calls
    assert list(map(str, first.cloud.world.record.entries)) == list(map(str, second.cloud.world.record.entries))


def test_no_instance_that_still_sleeps_outlives_its_history() -> None:
    calls = run(History(settings()[0])).call_gate.calls
    first = next(call.number for call in calls if call.actor.startswith("push"))
    end = run(History(settings()[0], faults={first: CallFault(before=100_000.0)}))
    assert end.is_busy()
    assert all(actor.over for actor in end.threads.actors)


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


@pytest.mark.parametrize("at", range(2, 42, 8))
def test_an_owner_who_rolls_out_meanwhile_gets_the_version_and_no_gap(at: int) -> None:
    end = run(History(plain("two single replicas").setting, acts=((float(at), roll_out("one")),)))

    (found,) = (
        deployment for deployment in end.cloud.world.store.all("deployments") if deployment["metadata"]["name"] == "one"
    )
    assert breaches(end) == []
    assert found["spec"]["template"]["metadata"]["annotations"]["version"] == "2"


def test_what_somebody_undid_before_it_was_written_down_is_not_restarted_once_more() -> None:
    end = run(next(a_restart_is_undone_before_it_was_written_down()))

    assert (breaches(end), stamps(end)) == ([], set())
    ends = [record.value.why for record in end.state.all("drains", DrainRecord).values() if record.value is not None]
    assert ReturnReason.SURGE_FAILED in ends


def test_what_a_drain_leaves_hanging_is_undone_after_it() -> None:
    with swapped((finish, "undo_restarts", lambda *_: None)):
        end = run(plain(NEVER_READY))

    assert (breaches(end), stamps(end)) == ([], set())
