"""`ebb pause` and `ebb resume` as a person runs them, on the state that the planner reads."""

from pathlib import Path

from msgspec.structs import replace

from functions.cli.drains.client import ALREADY, sentences, set_flag
from shared.adapters.sqlite import SqliteState
from shared.core.records.state import ClusterState
from shared.ports import CLUSTER_KEY
from shared.store.compare_and_set import read_cluster
from tests.builders import CLUSTER, claim, node, pod
from tests.cli.running import run_ebb
from tests.depth import cases
from tests.fakes import FakeClock, FakeState
from tests.functions.fake_ebb import FakeEbb


def test_a_pass_on_a_paused_state_orders_nothing_and_shows_why_and_resume_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    names = {"EBB_CLUSTER": CLUSTER, "EBB_STATE": f"sqlite:{path}"}
    planner = FakeEbb(*(node(f"n{number}") for number in range(3)), pod("p", on="n0", cpu=1))
    shared = SqliteState(str(path), CLUSTER, planner.clock.now)
    planner.state = shared  # type: ignore[assignment]  # another State, in the place of the fake one

    paused = run_ebb("pause", "--reason", "release week", **names)
    assert (paused.returncode, paused.stderr) == (0, "")
    assert paused.stdout.startswith(f"{CLUSTER} is paused (release week).\n")
    assert planner.tick()["orders"] == []
    assert set(planner.reasons("node_decision")) == {"paused"}

    resumed = run_ebb("resume", **names)
    assert (resumed.returncode, "0 drains" in resumed.stdout) == (0, True)
    planner.pass_time(minutes=5)
    assert planner.tick()["orders"] != []


def test_a_pause_leaves_the_rest_of_the_document_alone() -> None:
    state = FakeState()
    before = ClusterState(claims={"uid-n1": claim("n1")})
    state.put(CLUSTER_KEY, before, None)
    set_flag(CLUSTER, state, FakeClock(), paused=True, reason="why")
    assert read_cluster(state)[0] == replace(before, paused=True, pause_reason="why")


@cases("expected, again", ("no other reason", "why", ""), ("another one", "because", "because"))
def test_a_pause_of_what_is_paused_keeps_the_reason_unless_it_has_one(expected: str, again: str) -> None:
    state = FakeState()
    first = set_flag(CLUSTER, state, FakeClock(), paused=True, reason="why")
    second = set_flag(CLUSTER, state, FakeClock(), paused=True, reason=again)

    assert read_cluster(state)[0].pause_reason == expected
    assert (ALREADY in first, ALREADY in second) == (False, True)


def test_a_resume_forgets_the_reason() -> None:
    state = FakeState()
    set_flag(CLUSTER, state, FakeClock(), paused=True, reason="why")
    set_flag(CLUSTER, state, FakeClock(), paused=False, reason="")
    assert read_cluster(state)[0] == ClusterState()


@cases(
    "expected, state",
    ("a pause without a reason", "is paused.", ClusterState(paused=True)),
    ("a reason", "is paused (because).", ClusterState(paused=True, pause_reason="because")),
    ("what becomes of drains", "1 drain", ClusterState(paused=True, claims={"uid-n1": claim("n1")})),
    ("what may hold still", "unless the policy has paused: true", ClusterState()),
)
def test_it_is_shown_what_holds(expected: str, state: ClusterState) -> None:
    assert expected in "\n".join(sentences(CLUSTER, state))
