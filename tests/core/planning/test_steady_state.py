from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import never
from shared.core.planning.make_plan import PassOptions, make_plan
from shared.core.planning.plan import Plan
from shared.core.policy import Budget, Limit, Policy, Preference, Rate, Schedule
from shared.core.records.state import Backoff
from shared.core.rules.pod_costs import EVICTION, eviction_cost
from shared.core.rules.situation import Situation
from tests.builders import NOW, buffer, cluster, held, node, only_empty, pdb, pod, policy, resources
from tests.core.planning.passes import MINUTE, between_passes, marked, ordered, plan, verdicts
from tests.depth import cases

HOUR = timedelta(hours=1)
SSD = {"disk": "ssd"}
AGENT = {"agent": "yes"}
WAITS = {"consolidate_after": 5 * MINUTE}
"""The marks of nodes that are not named are too young."""
TWO_DUE = marked("big", "left")


def rules(**settings: Any) -> Policy:
    return policy(**{"required_count": 0, "max_nodes_per_pass": 9, **settings})


def one_or_two() -> Snapshot:
    """On `rest` alone there is room: for the pod of `big`, or for those of both others, which are used more."""
    nodes = [node("big"), *(node(name, labels=AGENT) for name in ("left", "right")), node("rest", pool="b", labels=SSD)]
    pods = [pod("p-big", on="big", cpu=1.2, node_selector=SSD, owner="ReplicaSet/big"), pod("stays", on="rest", cpu=2)]
    for name in ("left", "right"):
        pods.append(pod(f"p-{name}", on=name, cpu=1, node_selector=SSD, owner=f"ReplicaSet/{name}"))
        pods.append(pod(f"agent-{name}", on=name, cpu=1, owner="DaemonSet/agent", node_selector=AGENT))
    return only_empty(cluster(nodes, pods))


def at_rest(made: Plan) -> tuple[str, ...]:
    assert made.at_rest is not None
    return made.at_rest.nodes


def test_a_node_that_is_less_used_does_not_spoil_two_that_save_more() -> None:
    made = plan(one_or_two(), rules())
    assert (ordered(made), made.at_rest and at_rest(made)) == (["left", "right"], ("left", "right"))
    assert verdicts(made)["big"][0] == "keep"


def test_what_cannot_go_after_all_keeps_no_room_from_what_could() -> None:
    """The pods of both go one after another, and take ten minutes each: the drain would never end in time."""
    picture, start = one_or_two(), NOW - HOUR
    slow: dict[str, Any] = {"cpu": 0.5, "node_selector": SSD, "owner": "ReplicaSet/slow", "labels": {"app": "slow"}}
    kept = [any_pod for any_pod in picture.pods if any_pod.name not in {"p-left", "p-right"}]
    late = [
        pod(f"{name}-{number}", on=name, started=start, ready_since=start + 10 * MINUTE, **slow)
        for name in ("left", "right")
        for number in range(2)
    ]

    made = plan(
        only_empty(cluster(picture.nodes, [*kept, *late], disruption_budgets=(pdb("slow", app="slow"),))), rules()
    )

    assert at_rest(made) == ("left", "right")
    assert (ordered(made), verdicts(made)["left"]) == (["big"], ("keep", "drain_too_long"))


def beside_a_buffer() -> Snapshot:
    """Two nodes of 4 CPU and two of 2, each with one pod; the buffer's two chunks ask for 1.5 CPU each."""
    sizes = {"big": (4, 0.25), "large": (4, 0.25), "little": (2, 0.75), "small": (2, 0.75)}
    nodes = [node(name, cpu=cpu) for name, (cpu, _) in sizes.items()]
    pods = [pod(f"p-{name}", on=name, cpu=asked, owner=f"ReplicaSet/{name}") for name, (_, asked) in sizes.items()]
    return cluster(nodes, pods, buffers=held(buffer("web", 2, cpu=1.5)))


def test_the_plan_in_steady_state_holds_only_what_leaves_a_buffer_its_room_and_all_of_it_goes() -> None:
    """A search that is told of buffers by its proof alone plans `big` and `little`, of which one goes."""
    made = plan(beside_a_buffer(), rules())

    assert set(at_rest(made)) == set(ordered(made)) == {"little", "small"}


def test_what_the_plan_in_steady_state_keeps_is_room_until_what_it_takes_is_gone() -> None:
    """`right` is not due yet; `big` would fit now, and is kept for both by name."""
    made = plan(one_or_two(), rules(**WAITS), marks=TWO_DUE)
    decision = made.of("big")
    assert decision is not None
    assert ordered(made) == ["left"]
    assert verdicts(made)["right"] == ("waiting", "marked_recently")
    assert [(blocker.reason, blocker.object, blocker.detail) for blocker in decision.blockers] == [
        ("kept_as_destination", "left", "and 1 more")
    ]


@cases(
    "expected, settings, state",
    ("it waits for its mark", "kept_as_destination", {}, {}),
    ("it failed and is left alone for a while", "order", {},
     {"backoffs": {"uid-right": Backoff("right", NOW + HOUR, HOUR, "deadline")}}),
)  # fmt: skip
def test_only_what_time_alone_keeps_is_waited_for(
    expected: str, settings: dict[str, Any], state: dict[str, Any]
) -> None:
    """`left` is not due; with `right` it would save more than `big`, alone it would not."""
    given = between_passes(**state)
    made = plan(one_or_two(), rules(**WAITS, **settings), marks=marked("big"), state=given)
    verdict, reason = verdicts(made)["big"]
    assert expected in {verdict, reason}


def test_budgets_that_are_used_up_are_waited_for_and_the_others_are_not() -> None:
    """One may go at a time: `left` goes, `right` follows, `big` stays."""
    made = plan(one_or_two(), rules(budgets=(Budget(Limit(count=1)),)))
    assert ordered(made) == ["left"]
    assert at_rest(made) == ("left", "right")


@cases(
    "settings",
    ("no window is open", {"windows": (Schedule("0 12 * * *", HOUR),)}),
    ("a budget of nothing", {"budgets": (Budget(Limit(count=0)),)}),
    ("a rate of nothing", {"rate": Rate(Limit(count=0), HOUR)}),
    ("nothing is due", {"consolidate_after": HOUR}),
)
def test_where_nothing_may_go_nothing_is_searched(settings: dict[str, Any]) -> None:
    assert plan(one_or_two(), rules(**settings)).at_rest is None


@cases(
    "expected, settings, cluster_wide, pool",
    ("none", 2, {}, {}, {}),
    ("of the cluster", 1, {}, {"minimum_nodes": 3}, {}),
    ("of nodes without taints", 1, {}, {"minimum_non_tainted_nodes": 3}, {}),
    ("of the pool", 1, {}, {}, {"min_total": 2}),
    ("of its zone", 1, {}, {}, {"min_per_zone": 2}),
    ("the required count", 1, {"required_count": 3}, {}, {}),
    ("the excess", 1, {"excess_threshold": 1}, {}, {}),
)
def test_the_plan_in_steady_state_leaves_what_must_remain(
    expected: int, settings: dict[str, Any], cluster_wide: dict[str, Any], pool: dict[str, Any]
) -> None:
    pools = {"a": NodePool("a", **pool), "b": NodePool("b")}
    picture = cluster(one_or_two().nodes, one_or_two().pods, pools=pools)
    made = plan(only_empty(picture), rules(cluster_wide=cluster_wide, **settings))
    assert len(at_rest(made)) == len(made.orders) == expected


def test_an_empty_node_goes_though_the_plan_in_steady_state_needs_others_more() -> None:
    picture = one_or_two()
    made = plan(cluster([*picture.nodes, node("empty")], picture.pods), rules(**WAITS), marks=marked("big", "empty"))
    assert ordered(made) == ["empty"]


def test_an_empty_node_takes_nothing_of_the_required_count_from_others() -> None:
    """Of four that are little used one more than three may go; the empty one waits for its mark."""
    picture = one_or_two()
    given = rules(**WAITS, required_count=4)
    made = plan(cluster([*picture.nodes, node("empty")], picture.pods), given, marks=marked("big", "left", "right"))
    assert (len(at_rest(made)), "empty" in at_rest(made)) == (2, True)
    assert "empty" not in made.wave, "nor does it wait for others"


@pytest.mark.parametrize(("cpu", "memory"), [(12, 0), (0, 48)])
def test_the_plan_in_steady_state_leaves_what_the_autoscaler_keeps(cpu: float, memory: float) -> None:
    """Four nodes offer 16 CPU and 64 GiB."""
    made = plan(replace(one_or_two(), minimum=resources(cpu, memory)), rules())
    assert len(at_rest(made)) == 1


def test_a_brake_ends_the_search_and_the_plan_shows_it() -> None:
    situation = Situation(one_or_two(), between_passes(), rules())
    plans = [make_plan(situation, {}, load(), options=PassOptions(brake)) for brake in (never, lambda: True)]
    assert [row.at_rest is not None and row.at_rest.braked for row in plans] == [False, True]


@cases(
    "expected, least",
    ("off by default", ["big", "left"], 0),
    ("big saves 24 dollars a month for each of its four pods", ["left"], 30),
    ("neither saves so much", [], 100),
)
def test_a_node_must_be_worth_its_evictions(expected: list[str], least: int) -> None:
    nodes = [node("big"), node("left"), node("rest", pool="b", cpu=16, memory=64)]
    pods = [
        *(pod(f"p{number}", on="big", cpu=0.1) for number in range(4)),
        pod("one", on="left", cpu=1, owner="ReplicaSet/one"),
    ]
    made = plan(only_empty(cluster(nodes, pods)), rules(minimum_saving=Fraction(least)))
    assert ordered(made) == expected
    for name in {"big", "left"}.difference(expected):
        assert verdicts(made)[name] == ("keep", "saving_too_small")
    assert set(made.marks["a"].marks) == {"uid-big", "uid-left"}


def test_pods_that_go_with_their_node_are_no_evictions_that_it_must_be_worth() -> None:
    agents = [pod(f"agent{number}", on="n1", cpu=0.1, owner=f"DaemonSet/agent{number}") for number in range(9)]

    made = plan(cluster([node("n1"), node("n2", pool="b")], [pod("p", on="n1"), *agents]), rules(minimum_saving=90))

    assert ordered(made) == ["n1"]


def test_what_a_node_saves_is_shown_for_each_eviction() -> None:
    made = plan(cluster([node("n1"), node("n2")], [pod("p", on="n1"), pod("q", on="n1")]), rules(minimum_saving=1000))
    decision = made.of("n1")
    assert decision is not None
    assert decision.blockers[0].detail == "$48.91 a month for each of 2 pods, minimum $1000"


def preferred(*words: Preference) -> Plan:
    """One of three may go now, of which the one by name would, all being alike but in one thing each."""
    nodes = [
        node("n1", labels={names.SPOT_LABELS[0]: "true"}),
        node("n2", created=NOW - timedelta(days=30)),
        node("n3", machine="e2-standard-8"),
        node("rest", pool="b", cpu=16, memory=64),
    ]
    pods = [pod(f"p-{any_node.name}", on=any_node.name, cpu=1) for any_node in nodes]
    return plan(only_empty(cluster(nodes, pods)), rules(max_nodes_per_pass=1, cluster_wide={"prefer": words}))


@cases(
    "expected, words",
    ("none: what saves most", "n3", ()),
    ("expensive", "n3", (Preference.EXPENSIVE,)),
    ("old", "n2", (Preference.OLD,)),
    ("the first word counts most", "n1", (Preference.SPOT, Preference.OLD)),
    ("on demand, of these the old", "n2", (Preference.ON_DEMAND, Preference.OLD)),
)
def test_the_policy_shows_which_go_first(expected: str, words: tuple[Preference, ...]) -> None:
    assert ordered(preferred(*words)) == [expected]


def aged(hours: float, **spec: Any) -> Pod:
    return pod("p", created=NOW - timedelta(hours=hours), **spec)


@cases(
    "expected, given",
    ("an ordinary pod", EVICTION, aged(24)),
    ("one that has probably just been moved", 2 * EVICTION, aged(11.9)),
    ("half a day is enough", EVICTION, aged(12)),
    ("its deletion cost", EVICTION + 100, aged(24, annotations={names.DELETION_COST: "100"})),
    ("a negative one", EVICTION - 100, aged(24, annotations={names.DELETION_COST: "-100"})),
    ("its disruption cost", EVICTION + 7, aged(24, annotations={names.DISRUPTION_COSTS[0]: "7"})),
    ("never below nothing", 0, aged(24, annotations={names.DELETION_COST: "-2147483648"})),
    ("its priority", 2 * EVICTION, aged(24, priority=2**25)),
    ("ten pods at most", 10 * EVICTION, aged(24, priority=2_000_000_000)),
)
def test_what_an_eviction_costs(expected: int, given: Pod) -> None:
    assert eviction_cost(given, NOW) == expected


def test_of_two_nodes_that_save_the_same_the_one_with_cheaper_pods_goes() -> None:
    """One of them can go; `dear` is less used."""
    nodes = [node("cheap"), node("dear"), node("rest", pool="b", labels=SSD)]
    pods = [
        pod("low", on="cheap", cpu=1.5, node_selector=SSD, annotations={names.DELETION_COST: "-1000"}),
        pod("plain", on="dear", cpu=1.2, node_selector=SSD),
        pod("stays", on="rest", cpu=2),
    ]
    assert ordered(plan(cluster(nodes, pods), rules())) == ["cheap"]
