"""`ebb release`: which nodes a release is for, when they count as free, and what is said of each."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from _pytest.capture import CaptureResult

from functions.cli.drains.client import Installation
from functions.cli.drains.release import ReleaseTarget, VisibleNodes, is_free, order_release, read_nodes
from functions.cli.output.format import moment
from functions.drainer.main import PushReply
from shared.core.cluster import names
from shared.core.reasons import Outcome, Refusal
from shared.core.records.orders import OrderKind, Origin
from shared.core.records.state import ClusterState, Wave, WaveNode
from shared.errors import BadInput, BadSettings
from shared.ports import WAVE_KEY, DocumentKey
from tests.builders import CLUSTER, NOW, claim, node, order, our_taint, pod
from tests.cli.running import run_ebb
from tests.depth import cases
from tests.fakes import FakeState
from tests.functions.fake_ebb import FakeEbb

TOPIC = "projects/p/topics/orders"


class Subscription:
    """Delivers one message whenever time passes and no step is at work; what is not acknowledged comes again."""

    def __init__(self, fake_ebb: FakeEbb) -> None:
        self._fake_ebb = fake_ebb
        self._next = 0
        self._at_work = False
        fake_ebb.clock.moves.append(self._push)

    def _push(self) -> None:
        if self._at_work or self._next >= len(self._fake_ebb.bus.published):
            return
        self._at_work = True
        if self._fake_ebb.deliver(self._fake_ebb.bus.published[self._next]) is PushReply.DONE:
            self._next += 1
        self._at_work = False


def installation_of(fake_ebb: FakeEbb, *, pushed: bool = True, cluster: str = CLUSTER) -> Installation:
    """Return what a command works with while the drainer is pushed what it published.

    `pushed=False` is a topic whose subscription is missing.
    """
    if pushed:
        Subscription(fake_ebb)
    return Installation(cluster, TOPIC, fake_ebb.state, fake_ebb.bus, fake_ebb.clock, "jane")


BLIND = VisibleNodes(note="The cluster is not looked at.")


def fake_ebb(*things: Any) -> FakeEbb:
    """Five nodes; n1 and n2 are drained and held by claims."""
    made = FakeEbb(*(node(f"n{number}") for number in range(1, 6)), pod("p", on="n1"), *things)
    for name in ("n1", "n2"):
        made.drain(order(name, order_id=f"order-{name}"))
    made.bus.published.clear()
    return made


def blind() -> VisibleNodes:
    return BLIND


Release = Callable[..., CaptureResult[str]]


@pytest.fixture
def release(capsys: pytest.CaptureFixture[str]) -> Release:
    """Give what releases nodes of a cluster that is seen, expects an exit code, and returns what was printed."""

    def run(cluster: FakeEbb, name: str = "all", code: int = 0, *, pushed: bool = True, **given: Any) -> Any:
        nodes = given.pop("nodes", lambda: VisibleNodes(cluster.cluster, cluster.cluster.all_nodes()))
        assert order_release(installation_of(cluster, pushed=pushed), name, nodes, **given) == code
        return capsys.readouterr()

    return run


def test_a_node_that_is_held_is_free_when_its_claim_has_ended(release: Release) -> None:
    cluster = fake_ebb()
    shown = release(cluster, "n1", nodes=blind)

    until = moment(cluster.remembered().backoffs["uid-n1"].until)
    assert shown.out == f"n1  released  {Outcome.RELEASED.sentence} It is left alone until {until}.\n"
    assert set(cluster.remembered().claims) == {"uid-n2"}
    assert cluster.cluster.nodes["n1"].drain_taint is None


def test_the_order_names_the_very_node_and_who_asked(release: Release) -> None:
    cluster = fake_ebb()
    shown = release(cluster, "n1", nodes=blind, pushed=False, wait=False)

    (sent,) = cluster.bus.published
    assert (sent.kind, sent.origin, sent.node, sent.node_uid) == (OrderKind.RELEASE, Origin.MANUAL, "n1", "uid-n1")
    assert sent.requested_by == "jane"
    assert shown.out == "n1  published  The release of order order-n1.\n"


def test_all_releases_every_claim_and_every_node_with_our_taint(release: Release) -> None:
    cluster = fake_ebb(node("orphan", unschedulable=True, taints=(our_taint("lost"),)))
    shown = release(cluster)

    assert sorted(line.split()[0] for line in shown.out.splitlines()) == ["n1", "n2", "orphan"]
    assert cluster.remembered().claims == {}
    assert [
        one_node.name for one_node in cluster.cluster.nodes.values() if one_node.drain_taint or one_node.unschedulable
    ] == []
    assert "Run ebb pause first" in shown.err


def test_all_ends_the_wave_and_frees_the_nodes_that_it_held(release: Release) -> None:
    cluster = fake_ebb()
    for name in ("n3", "n4"):
        cluster.cluster.set_soft_taint(cluster.cluster.node(name), held=True)
    wave = Wave(id="w", nodes=(WaveNode("uid-n3", "n3"),), policy_hash="", began=NOW, deadline=NOW + timedelta(hours=1))
    cluster.state.put(WAVE_KEY, wave, None)

    assert release(cluster).out
    assert cluster.state.get(WAVE_KEY).value is None
    assert not any(one_node.held for one_node in cluster.cluster.nodes.values())


@pytest.mark.parametrize(("code", "pushed"), [(0, True), (1, False)], ids=["removed", "nobody takes the order"])
def test_all_waits_for_soft_taints_too(code: int, pushed: bool, release: Release) -> None:
    """`0 = all are free`: what follows is terraform destroy, and an order that nobody takes any more is lost."""
    cluster = FakeEbb(node("n3"))
    cluster.cluster.set_soft_taint(cluster.cluster.node("n3"), held=True)

    assert "Nothing to release" not in release(cluster, code=code, pushed=pushed).out
    assert any(one_node.held for one_node in cluster.cluster.nodes.values()) is not pushed


class OvertakenState(FakeState):
    """A state in which a pass writes the wave's document just before somebody first deletes it."""

    overtakes = True

    def delete(self, key: DocumentKey[Any], expected: str) -> None:
        if self.overtakes:
            self.overtakes = False
            self.put(key, self.get(key).value, expected)
        super().delete(key, expected)


def test_all_frees_every_node_although_a_pass_writes_the_wave_first(release: Release) -> None:
    cluster = fake_ebb()
    cluster.state = OvertakenState(now=cluster.clock.now, documents=cluster.state.documents)
    cluster.state.put(WAVE_KEY, Wave(id="w", nodes=(), policy_hash="", began=NOW, deadline=NOW), None)

    assert release(cluster).out
    assert cluster.state.get(WAVE_KEY).value is None
    assert cluster.remembered().claims == {}


def test_without_a_cluster_all_means_the_claims_and_that_is_shown(release: Release) -> None:
    cluster = fake_ebb(node("orphan", unschedulable=True, taints=(our_taint("lost"),)))

    assert BLIND.note in release(cluster, nodes=blind).err
    assert cluster.cluster.nodes["orphan"].drain_taint == "lost"


def test_a_pause_is_not_asked_for_twice(release: Release) -> None:
    cluster = FakeEbb(node("n1"))
    cluster.remember(ClusterState(paused=True))

    assert release(cluster) == ("Nothing to release: no claim stands, and no node carries our taint.\n", "")


@cases(
    "code, expected, name, sighted",
    ("no such node", 1, f"n9: node_unknown. {Refusal.NODE_UNKNOWN.sentence}", "n9", True),
    ("a node that is not held", 0, "n3  free  Neither a claim nor our taint holds it.", "n3", True),
    ("a node that cannot be seen", 0, "n3  published  No claim stands on it;", "n3", False),
)
def test_a_node_without_a_claim(code: int, expected: str, name: str, sighted: bool, release: Release) -> None:
    cluster = fake_ebb()

    assert release(cluster, name, code, **{} if sighted else {"nodes": blind}).out.startswith(expected)
    assert len(cluster.bus.published) == (0 if sighted else 1)


def test_a_release_that_nobody_carries_out_shows_what_to_check_and_what_is_still_held(release: Release) -> None:
    shown = release(fake_ebb(), "n1", 1, nodes=blind, pushed=False, timeout=timedelta(minutes=2)).out
    assert shown.count("1 node not free after 1m. Check") == 1
    assert f"The push subscription of {TOPIC}" in shown
    assert 'labels.order_id="order-n1"' in shown
    assert shown.splitlines()[-1].startswith("n1  held  Not free after 2m.")


def test_nodes_that_were_claimed_meanwhile_are_named(release: Release) -> None:
    cluster = fake_ebb()
    moves = cluster.clock.moves

    def drain_another() -> None:
        moves.remove(drain_another)
        cluster.drain(order("n3", order_id="late"))

    moves.append(drain_another)

    shown = release(cluster, code=1, nodes=blind).out
    assert "Claimed meanwhile: n3. Run ebb pause, then ebb release all again." in shown


@cases(
    "expected, claims, things",
    ("its claim stands", False, {"uid-n1": claim("n1")}, (node("n1"),)),
    ("its taint stands", False, {}, (node("n1", taints=(our_taint(),)),)),
    ("another order took it since", True, {"uid-n1": claim("n1", order_id="next")}, (node("n1"),)),
    ("it carries another order's taint since", True, {}, (node("n1", taints=(our_taint("next"),)),)),
    ("neither stands", True, {}, (node("n1"),)),
    ("the node is gone", True, {}, ()),
    ("another node has its name", True, {}, (node("n1", uid="reborn", taints=(our_taint(),)),)),
)
def test_a_node_is_free_of_claim_and_taint(expected: bool, claims: dict[str, Any], things: tuple[Any, ...]) -> None:
    target = ReleaseTarget("n1", "uid-n1", "order")
    assert is_free(target, ClusterState(claims=claims), FakeEbb(*things).cluster) is expected


def test_a_kubeconfig_that_was_given_must_work(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="cannot be used"):
        read_nodes({"EBB_CLUSTER": CLUSTER}, tmp_path / "none")


def test_without_a_gke_api_and_a_kubeconfig_the_cluster_is_not_looked_at() -> None:
    visible = read_nodes({"EBB_CLUSTER": CLUSTER, "EBB_GKE_API": "none"}, None)
    assert (visible.cluster, visible.nodes) == (None, ())
    assert "Give --kubeconfig" in visible.note


def test_a_gke_api_that_does_not_answer_is_a_note_and_no_fault() -> None:
    visible = read_nodes({"EBB_CLUSTER": CLUSTER, "EBB_GKE_API": "http://127.0.0.1:9"}, None)
    assert visible.cluster is None
    assert visible.note.startswith("The cluster cannot be read (GKE API")


def test_a_name_that_no_node_can_have_is_bad_use() -> None:
    cluster = fake_ebb()
    with pytest.raises(BadInput, match="NODE: 'ALL'"):
        order_release(installation_of(cluster), "ALL", blind)


def test_all_finds_a_node_whose_taint_somebody_removed_by_the_annotation(release: Release) -> None:
    note = {names.OUR_ANNOTATION: '{"order_id": "lost", "since": "2026-03-04T22:00:00Z"}'}
    cluster = fake_ebb(node("orphan", unschedulable=True, annotations=note))
    release(cluster)

    found = cluster.cluster.nodes["orphan"]
    assert (found.unschedulable, names.OUR_ANNOTATION in found.annotations) == (False, False)


def test_a_process_shows_that_nothing_is_held(tmp_path: Path) -> None:
    state, nobody = f"sqlite:{tmp_path / 'state.db'}", {"EBB_GKE_API": "none", "PUBSUB_EMULATOR_HOST": "127.0.0.1:9"}
    ended = run_ebb("release", "all", EBB_CLUSTER=CLUSTER, EBB_TOPIC=TOPIC, EBB_STATE=state, **nobody)
    assert (ended.returncode, ended.stdout) == (0, "Nothing to release: no claim stands.\n")
