"""`ebb drain`: what a person is told of an order, from its publishing to its end."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from google.pubsub_v1 import PublisherClient, SubscriberClient

from functions.cli.drains import client
from functions.cli.drains.drain import DrainOptions, Ending, ending_of, order_drain
from functions.cli.errors import INTERRUPTED
from functions.cli.output.terminal import BULLET
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Volume
from shared.core.reasons import Outcome, PodBlock, Refusal, ReturnReason, Unremovable
from shared.core.records.drain_record import DrainPhase, DrainRecord, EvictionAnswer
from shared.core.records.orders import CLAIM_WITHIN, OrderKind, Origin, decode
from shared.errors import BadInput
from shared.ports import Eviction
from tests.builders import CLUSTER, NOW, node, order, pod, policy
from tests.cli.drains.test_release import TOPIC, installation_of
from tests.cli.running import ebb, run_ebb
from tests.depth import cases
from tests.functions.drainer.one_drain import fake_ebb
from tests.functions.fake_ebb import FakeEbb
from tests.real.emulators import PubSubEmulator

SECONDS = 30.0
HELD = Eviction(EvictionAnswer.BUDGET, "default/web")
GRANTED = Eviction(EvictionAnswer.GRANTED)
BLOCKS = (PodBlock.NOT_REPLICATED, PodBlock.LOCAL_STORAGE)


Drain = Callable[..., str]


@pytest.fixture
def drain(capsys: pytest.CaptureFixture[str]) -> Drain:
    """Give what orders the drain of a node `of` a cluster, expects an exit code, and returns what was printed."""

    def run(cluster: FakeEbb, code: int, name: str = "n1", *, pushed: bool = True, **options: Any) -> str:
        installation = installation_of(cluster, pushed=pushed, cluster=options.pop("of", CLUSTER))
        wait = options.pop("wait", True)
        assert order_drain(installation, name, DrainOptions(**options), wait=wait) == code
        return capsys.readouterr().out

    return run


def words(shown: str) -> list[str]:
    rows = [line.split() for line in shown.splitlines() if line[:2].isdigit()]
    return [row[1] for row in rows]


def test_a_drain_is_shown_phase_by_phase_until_the_node_is_left_to_the_autoscaler(drain: Drain) -> None:
    cluster = fake_ebb(step_seconds=3)

    shown = drain(cluster, 0)
    assert words(shown) == ["published", "accepted", "claimed", "cordoned", "eviction", "drained"]
    assert "default/p granted" in shown
    assert shown.splitlines()[-1].startswith("n1: drained. The cluster autoscaler deletes it next.")
    assert cluster.cluster.nodes["n1"].unschedulable


def test_the_order_is_a_persons_and_its_times_are_the_states(drain: Drain) -> None:
    cluster = fake_ebb()
    drain(cluster, 0, pushed=False, wait=False, dry_run=True, ignore=("windows",))

    (sent,) = cluster.bus.published
    assert (sent.kind, sent.origin, sent.node, sent.requested_by) == (OrderKind.DRAIN, Origin.MANUAL, "n1", "jane")
    assert (sent.issued_at, sent.expires_at) == (NOW, NOW + CLAIM_WITHIN)
    assert (sent.dry_run, sent.ignore) == (True, ("windows",))


def held_for_good(cluster: FakeEbb) -> None:
    cluster.cluster.answers["default/p"] = [GRANTED, *[HELD] * 1000]


def once_held(cluster: FakeEbb, act: Callable[[Node], object]) -> None:

    def look() -> None:
        if (mine := cluster.cluster.nodes["n1"]).drain_taint:
            act(mine)

    cluster.clock.moves.append(look)


def taken_back(cluster: FakeEbb) -> None:
    once_held(cluster, lambda mine: cluster.cluster.put(replace(mine, unschedulable=False)))


def nothing(cluster: FakeEbb) -> None:
    del cluster


@cases(
    "expected, remedy, things, name, happens",
    ("an unknown node", "refused, node_unknown.", "kubectl get nodes", (), "n9", nothing),
    ("a node that a person cordoned", "refused, cordoned_by_other.", "Run kubectl uncordon n4.",
     (node("n4", unschedulable=True),), "n4", nothing),
    ("a pod that may not be moved", "refused, blocked_by_pod.", "Run the pod under a controller",
     (pod("bare", on="n1", owner=None),), "n1", nothing),
    ("a budget that never opens", "given_back, deadline.", "or raise drain.timeout", (), "n1", held_for_good),
    ("a person uncordons it", "overruled, overruled.", "after 24 h", (), "n1", taken_back),
)  # fmt: skip
def test_what_does_not_go_as_asked_is_named_with_its_remedy(
    expected: str, remedy: str, things: tuple[Any, ...], name: str, happens: Callable[[FakeEbb], None], drain: Drain
) -> None:
    cluster = fake_ebb(*things)
    happens(cluster)

    shown = drain(cluster, 1, name)
    assert f"{name}: {expected}" in shown
    assert remedy in shown


def test_everything_in_the_way_is_shown_with_its_remedy(drain: Drain) -> None:
    bare = pod("bare", on="n1", owner=None)
    data = pod("data", on="n1", volumes=(Volume("tmp", "emptyDir"),))
    cluster = fake_ebb(bare, data, policy=policy(cluster_wide={"paused": True}))

    first, *points = drain(cluster, 1, ignore=("gates",)).split("n1: ")[1].splitlines()
    assert first == "refused, blocked_by_pod. A pod on the node may not be moved."
    assert [line.split(":")[0] for line in points[:2]] == [
        "  - not_replicated (default/bare, no controller)",
        "  - local_storage (default/data, tmp)",
    ]
    assert all(reason.remedy in line for reason, line in zip(BLOCKS, points, strict=False))
    assert points[2:] == ["Of ignore, gates did not count: manual.mayIgnore of the policy allows windows."]


def test_one_thing_in_the_way_is_shown_once(drain: Drain) -> None:
    cluster = fake_ebb(policy=policy(cluster_wide={"paused": True}))

    last = drain(cluster, 1).splitlines()[-2:]
    assert last == ["n1: refused, paused. Ebb is paused. (policy)", Unremovable.PAUSED.remedy]


def ended(outcome: str, why: str = "", detail: str = "", **more: Any) -> Ending:
    given = order("n1", dry_run=more.pop("dry_run", False))
    record = DrainRecord(order=given, phase=DrainPhase.SETTLED, outcome=outcome, why=why, detail=detail, **more)
    found = ending_of(record, None)
    assert found is not None
    return found


@cases(
    "expected, ending",
    ("a refusal of an older drainer: explain", Unremovable.BLOCKED_BY_POD.remedy.replace("NODE", "n1"),
     ended("refused", "blocked_by_pod", "default/bare")),
    ("a pod that stopped a drain", PodBlock.SURGE_IMPOSSIBLE.remedy,
     ended("given_back", "pod_blocks", "a/p: surge_impossible")),
    ("a pause that ended a drain", ReturnReason.PAUSED.remedy, ended("given_back", "paused")),
    ("a pause that refused an order", Unremovable.PAUSED.remedy, ended("refused", "paused")),
    ("what a dry run would restart", "It would restart a/Deployment/b; would restart c.",
     ended("would_drain", detail="would restart a/Deployment/b; would restart c", dry_run=True)),
)  # fmt: skip
def test_the_last_sentence_is_what_can_be_done(expected: str, ending: Ending) -> None:
    assert ending.sentences[-1] == expected
    assert not ending.sentences[-1].startswith(BULLET)


@cases("expected, options", ("waits", (1, "n9: refused, node_unknown."), ()), ("not", (0, ""), ("--no-wait",)))
def test_without_a_terminal_the_command_waits_unless_shown_not_to(
    expected: tuple[int, str], options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = fake_ebb()
    monkeypatch.setattr(client, "open_installation", lambda _: installation_of(cluster))

    ended = ebb("drain", "n9", *options)

    code, told = expected
    assert (ended.exit_code, told in ended.output) == (code, True)
    assert (ended.output == f"{cluster.bus.published[0].order_id}\n") is bool(options)


def test_the_budget_that_holds_a_pod_is_named_while_it_does(drain: Drain) -> None:
    cluster = fake_ebb(step_seconds=5)
    held_for_good(cluster)

    shown = drain(cluster, 1)
    assert shown.count("default/p held by PodDisruptionBudget default/web") == 1
    assert "0 evictions granted; held by default/web; returned at 22:09:" in shown
    assert words(shown).count("waiting") > 5


def test_a_node_that_vanishes_meanwhile_is_removed(drain: Drain) -> None:
    cluster = fake_ebb()

    def vanish() -> None:
        if cluster.remembered().claims:
            cluster.cluster.nodes.pop("n1", None)

    cluster.clock.moves.append(vanish)

    assert "n1: removed. The node is gone." in drain(cluster, 0)


@cases(
    "expected, asked, policys",
    ("a dry run that was asked for", False, True, False),
    ("a dry run of the policy", True, False, True),
)
def test_a_dry_run_shows_what_would_be(expected: bool, asked: bool, policys: bool, drain: Drain) -> None:
    cluster = fake_ebb(policy=policy(cluster_wide={"dry_run": policys}))

    shown = drain(cluster, 0, dry_run=asked)
    assert f"n1: would_drain. {Outcome.WOULD_DRAIN.sentence}" in shown
    assert ("set dryRun: false" in shown) is expected
    assert cluster.effects() == []


def test_an_order_that_nobody_takes_shows_what_to_check_once_and_ends_as_expired(drain: Drain) -> None:
    cluster = fake_ebb()

    shown = drain(cluster, 1, pushed=False)
    assert shown.count("Nothing has taken the order for 60 s.") == 1
    assert f"The push subscription of {TOPIC}" in shown
    assert f'labels.order_id="{cluster.bus.published[0].order_id}"' in shown
    assert "No pass was ever completed in this state" in shown
    assert f"n1: refused, expired. {Refusal.EXPIRED.sentence}" in shown


def test_an_order_for_another_cluster_than_the_drainers_points_to_it(drain: Drain) -> None:
    cluster = fake_ebb()
    other = "projects/p/locations/l/clusters/other"

    shown = drain(cluster, 1, of=other)
    assert cluster.reasons("message_rejected") == ["other_cluster"]
    assert f"other_cluster there means that the drainer's EBB_CLUSTER is not {other}" in shown


def test_patience_may_end_before_the_drain(drain: Drain) -> None:
    cluster = fake_ebb(step_seconds=5)
    held_for_good(cluster)

    assert "n1: not done after 2m." in drain(cluster, 1, timeout=timedelta(minutes=2))
    assert cluster.remembered().claims


def test_who_stops_watching_is_shown_that_the_drain_goes_on(drain: Drain) -> None:
    cluster = fake_ebb()

    def interrupted() -> None:
        raise KeyboardInterrupt

    cluster.clock.moves.append(interrupted)

    assert "goes on: ebb status shows it, ebb release n1 ends it." in drain(cluster, INTERRUPTED, pushed=False)


@cases(
    "expected, name, options",
    ("word", "--ignore: budget is not one of budgets, gates, windows.", "n1", DrainOptions(ignore=("budget",))),
    ("node", "NODE: 'N 1' cannot be a node's name", "N 1", DrainOptions()),
)
def test_bad_use_publishes_nothing(expected: str, name: str, options: DrainOptions) -> None:
    cluster = fake_ebb()
    with pytest.raises(BadInput, match=expected):
        order_drain(installation_of(cluster), name, options, wait=True)
    assert cluster.bus.published == []


NAMED = {"EBB_CLUSTER": CLUSTER, "EBB_STATE": "sqlite:/gone/state.db"}


@cases(
    "code, expected, typed, environment",
    ("neither cluster nor topic", 2, "EBB_CLUSTER is not set, nor is EBB_TOPIC; Terraform's output cli ", "drain n1",
     {}),
    ("no topic", 2, "EBB_TOPIC is not set; Terraform's output cli ", "drain n1", NAMED),
    ("a timeout that is none", 2, "--timeout: 'soon'", "drain n1 --timeout soon", {}),
    ("no time at all", 2, "--timeout: '0'", "release n1 --timeout 0", NAMED),
    ("no cluster", 2, "EBB_CLUSTER is not set; Terraform's output cli ", "pause", {}),
    ("no line of a reason", 2, "--reason: write one line", "pause --reason two\x07lines", NAMED),
    ("no cluster to show", 2, "EBB_CLUSTER is not set; ", "status", {}),
    ("a state that cannot be opened", 1, "state file", "status", NAMED),
)  # fmt: skip
def test_a_mistake_is_one_sentence(code: int, expected: str, typed: str, environment: dict[str, str]) -> None:
    ended = run_ebb(*typed.split(), **environment)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr.startswith(f"ebb: {expected}")
    assert "Traceback" not in ended.stderr


@pytest.fixture
def wired(
    pubsub_emulator: PubSubEmulator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> tuple[dict[str, str], str]:
    """An environment with a topic of its own, and the subscription that reads it."""
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator.host)
    topic, subscription = (f"projects/p/{kind}/ebb-{uuid4().hex[:8]}" for kind in ("topics", "subscriptions"))
    with PublisherClient() as topics, SubscriberClient() as readers:
        topics.create_topic(request={"name": topic}, timeout=SECONDS)
        readers.create_subscription(request={"name": subscription, "topic": topic}, timeout=SECONDS)
    state = f"sqlite:{tmp_path / 'state.db'}"
    return {"EBB_CLUSTER": CLUSTER, "EBB_TOPIC": topic, "EBB_STATE": state}, subscription


@pytest.mark.emulator
@pytest.mark.xdist_group("emulator")
def test_what_the_command_publishes_decodes_as_an_order(wired: tuple[dict[str, str], str]) -> None:
    environment, subscription = wired

    ended = run_ebb("drain", "n1", "--no-wait", "--ignore", "windows", **environment)

    assert (ended.returncode, ended.stderr) == (0, "")
    with SubscriberClient() as readers:
        pulled = readers.pull(request={"subscription": subscription, "max_messages": 1}, timeout=SECONDS)
    message = pulled.received_messages[0].message
    sent = decode(message.data, "", message.message_id, NOW)
    assert (sent.order_id, sent.node, sent.cluster, sent.ignore) == (ended.stdout.strip(), "n1", CLUSTER, ("windows",))
    assert dict(message.attributes) == sent.attributes
    assert json.loads(message.data)["origin"] == "manual"
