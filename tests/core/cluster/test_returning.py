from typing import Any

from shared.core.cluster.pod import Pod
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import Resources
from shared.core.cluster.returning import ContainerPolicy, StartupBoost, VerticalAutoscaler, as_they_return
from shared.core.cluster.workloads import Workload
from tests.builders import pod, pod_class, pod_template, resources
from tests.depth import cases

SET, WEB = "default/ReplicaSet/web", "default/Deployment/web"


def asks(*containers: Container, **more: Resources) -> ContainerRequests:
    return ContainerRequests(containers, **more)


def app(cpu: float = 0, memory: float = 0, name: str = "app", **more: Any) -> Container:
    return Container(name, resources(cpu, memory), **more)


def running(cpu: float = 1, memory: float = 1, **changes: Any) -> Pod:
    return pod("web-1", on=changes.pop("on", "n1"), cpu=cpu, memory=memory, asks=asks(app(cpu, memory)), **changes)


def workload(*containers: Container, **changes: Any) -> dict[str, Workload]:
    return {SET: Workload(WEB, templates=(pod_template(*containers),) if containers else (), **changes)}


def vpa(target: str = WEB, **changes: Any) -> VerticalAutoscaler:
    given = {"recommended": {"app": resources(3, 2)}, **changes}
    return VerticalAutoscaler("default", "web", target, **given)


def bound(boost: StartupBoost | None = None, **policy: Any) -> VerticalAutoscaler:
    """One with a policy for all containers."""
    return vpa(boost=boost, policies={"*": ContainerPolicy(**policy)})


def amounts(given: Pod) -> tuple[Resources, Resources]:
    """What it takes here, and what it needs elsewhere."""
    return given.requests, given.spec.requests


HERE = resources(1, 1)
PROXY = app(0.5, name="proxy")
BY_TEMPLATE, BY_RESIZE = f"the template of {WEB}", "a resize in place that its node has not ended"


@cases(
    "expected, given, workloads",
    ("nothing is known of its controller", HERE, running(), {}),
    ("the template shows the same", HERE, running(), workload(app(1, 1))),
    ("the template asks for less", HERE, running(), workload(app(0.5, 0.5))),
    ("the template asks for more of one", resources(2, 1), running(), workload(app(2, 0.5))),
    ("its node has given it more", resources(2, 1), running(booked=resources(2, 1)), {}),
    ("the template has one container more", resources(2.5, 1), running(), workload(app(2), PROXY)),
    ("a webhook has added a container", resources(2.5, 1),
     pod("web-1", on="n1", kind=pod_class(requests=resources(1, 1), asks=asks(app(0.5, 1), PROXY))), workload(app(2))),
    ("no containers", resources(2, 1), pod("web-1", on="n1", cpu=1, memory=1), workload(app(2))),
)  # fmt: skip
def test_a_pod_needs_elsewhere_the_highest_of_itself_and_its_template(
    expected: Resources, given: Pod, workloads: dict[str, Workload]
) -> None:
    (found,) = as_they_return([given], workloads)

    assert amounts(found) == (given.requests, expected)


def test_of_two_templates_the_highest_amounts_count() -> None:
    both = {SET: Workload(WEB, templates=(pod_template(app(2, 0.5)), pod_template(app(0.5, 2))))}
    (found,) = as_they_return([running()], both)

    assert amounts(found) == (HERE, resources(2, 2))


@cases(
    "expected, autoscaler",
    ("its target", resources(3, 2), vpa()),
    ("its target, of the ReplicaSet itself", resources(3, 2), vpa(SET)),
    ("for another workload", HERE, vpa("default/Deployment/other")),
    ("for another namespace", HERE, vpa("other/Deployment/web")),
    ("mode Off", HERE, vpa(acts=False)),
    ("less than it has", HERE, vpa(recommended={"app": resources(0.1, 0.1)})),
    ("for a container that it does not have", HERE, vpa(recommended={"gone": resources(3, 2)})),
    ("the container's mode is Off", HERE, vpa(policies={"app": ContainerPolicy(scaled=False)})),
    ("its own policy stands before the one for all", resources(3, 2),
     vpa(policies={"*": ContainerPolicy(scaled=False), "app": ContainerPolicy()})),
    ("maxAllowed", resources(2, 2), bound(most=resources(2))),
    ("minAllowed, of one", resources(4, 2), bound(least=resources(4, 1))),
    ("memory alone", resources(1, 2), bound(controlled=frozenset({"memory"}))),
    ("boosted for its start, above its target", resources(6, 2), vpa(boost=StartupBoost(factor=2))),
    ("boosted, though mode is Off", resources(3, 1), vpa(acts=False, boost=StartupBoost(factor=3))),
    ("boosted by an amount", resources(3.5, 2), vpa(boost=StartupBoost(more=500))),
    ("its own boost stands before the one for all", resources(3, 2),
     vpa(boost=StartupBoost(2), policies={"app": ContainerPolicy(boost=StartupBoost())})),
    ("a boost above maxAllowed", resources(12, 2), bound(StartupBoost(4), most=resources(4))),
)  # fmt: skip
def test_a_pod_needs_elsewhere_what_an_autoscaler_that_acts_recommends(
    expected: Resources, autoscaler: VerticalAutoscaler
) -> None:
    (found,) = as_they_return([running()], workload(app(1, 1)), [autoscaler])

    assert amounts(found) == (HERE, expected)


@cases(
    "expected, changes",
    ("a target ends at the limit", resources(2, 1), {}),
    ("a boost just below it", resources(1.999, 1), {"acts": False, "boost": StartupBoost(9)}),
)
def test_limits_that_stay_hold_what_is_written_below_them(expected: Resources, changes: dict[str, Any]) -> None:
    fixed = vpa(recommended={"app": resources(3)}, policies={"*": ContainerPolicy(below_limits=True)}, **changes)
    (found,) = as_they_return([running()], workload(app(1, 1, limits=resources(2))), [fixed])

    assert found.spec.requests == expected


@cases(
    "owner, target",
    ("a StatefulSet", "StatefulSet/db", "default/StatefulSet/db"),
    ("a CronJob, by the name of its Job", "Job/nightly-29384756", "default/CronJob/nightly"),
    ("a Job", "Job/once", "default/Job/once"),
    ("a ReplicationController", "ReplicationController/old", "default/ReplicationController/old"),
)
def test_an_autoscaler_is_found_by_every_kind_that_makes_pods_again(owner: str, target: str) -> None:
    (found,) = as_they_return([running(owner=owner)], {}, [vpa(target)])

    assert found.spec.requests == resources(3, 2)


def test_an_autoscaler_is_found_by_what_controls_a_replica_set() -> None:
    rollout = {SET: Workload(SET, owner="default/Rollout/web")}
    (found,) = as_they_return([running()], rollout, [vpa("default/Rollout/web")])

    assert found.spec.requests == resources(3, 2)


@cases(
    "given",
    ("without a node: it is what the scheduler will book", running(on="")),
    ("of a DaemonSet: it goes with its node", running(owner="DaemonSet/web")),
    ("of nobody: nothing comes back", running(owner=None)),
)
def test_what_does_not_come_back_elsewhere_is_left_as_it_is(given: Pod) -> None:
    every = [vpa(), vpa("default/DaemonSet/web")]

    assert as_they_return([given], workload(app(9)), every) == (given,)


def test_pods_of_one_class_stay_of_one_class() -> None:
    kind = running().spec
    pods = [pod(f"web-{number}", on="n1", kind=kind) for number in range(3)]
    found = as_they_return(pods, workload(app(2)))

    assert len({row.spec for row in found}) == 1


@cases(
    "expected, given, autoscalers",
    ("nothing", (), running(), []),
    ("the template", (BY_TEMPLATE,), running(), []),
    ("an autoscaler, too", (BY_TEMPLATE, "VerticalPodAutoscaler default/web"), running(), [vpa()]),
    ("its status", (BY_RESIZE,), running(booked=resources(9, 9)), []),
)
def test_a_class_shows_what_raises_it(
    expected: tuple[str, ...], given: Pod, autoscalers: list[VerticalAutoscaler]
) -> None:
    known = workload(app(2)) if BY_TEMPLATE in expected else {}
    (found,) = as_they_return([given], known, autoscalers)

    assert found.spec.raised_by == expected


def test_a_boost_counts_from_what_the_template_asks_for_where_nothing_is_recommended() -> None:
    (found,) = as_they_return([running(0.5)], workload(app(2)), [vpa(recommended={}, boost=StartupBoost(2))])

    assert found.spec.requests == resources(4, 1)


def test_an_init_container_is_not_what_an_autoscaler_writes_to() -> None:
    init = app(1, 1, init=True)
    given = pod("web-1", on="n1", kind=pod_class(requests=resources(1, 1), asks=asks(app(0.5), init)))
    (found,) = as_they_return([given], {}, [vpa(SET, recommended={"app": resources(0.7)})])

    assert found.spec.requests == resources(1, 1)
