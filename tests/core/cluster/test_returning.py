from typing import Any

import pytest

from shared.core.cluster.pod import Pod
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import Resources
from shared.core.cluster.returning import ContainerPolicy, StartupBoost, VerticalAutoscaler, as_they_return
from shared.core.cluster.workloads import Workload
from tests.builders import pod, pod_class, pod_template, resources

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


@pytest.mark.parametrize(
    ("expected", "given", "workloads"),
    [
        pytest.param(HERE, running(), {}, id="nothing is known of its controller"),
        pytest.param(HERE, running(), workload(app(1, 1)), id="the template shows the same"),
        pytest.param(HERE, running(), workload(app(0.5, 0.5)), id="the template asks for less"),
        pytest.param(resources(2, 1), running(), workload(app(2, 0.5)), id="the template asks for more of one"),
        pytest.param(resources(2, 1), running(booked=resources(2, 1)), {}, id="its node has given it more"),
        pytest.param(resources(2.5, 1), running(), workload(app(2), PROXY), id="the template has one container more"),
        pytest.param(
            resources(2.5, 1),
            pod("web-1", on="n1", kind=pod_class(requests=resources(1, 1), asks=asks(app(0.5, 1), PROXY))),
            workload(app(2)),
            id="a webhook has added a container",
        ),
        pytest.param(resources(2, 1), pod("web-1", on="n1", cpu=1, memory=1), workload(app(2)), id="no containers"),
    ],
)
def test_a_pod_needs_elsewhere_the_highest_of_itself_and_its_template(
    expected: Resources, given: Pod, workloads: dict[str, Workload]
) -> None:
    (found,) = as_they_return([given], workloads)

    assert amounts(found) == (given.requests, expected)


def test_of_two_templates_the_highest_amounts_count() -> None:
    both = {SET: Workload(WEB, templates=(pod_template(app(2, 0.5)), pod_template(app(0.5, 2))))}
    (found,) = as_they_return([running()], both)

    assert amounts(found) == (HERE, resources(2, 2))


@pytest.mark.parametrize(
    ("expected", "autoscaler"),
    [
        pytest.param(resources(3, 2), vpa(), id="its target"),
        pytest.param(resources(3, 2), vpa(SET), id="its target, of the ReplicaSet itself"),
        pytest.param(HERE, vpa("default/Deployment/other"), id="for another workload"),
        pytest.param(HERE, vpa("other/Deployment/web"), id="for another namespace"),
        pytest.param(HERE, vpa(acts=False), id="mode Off"),
        pytest.param(HERE, vpa(recommended={"app": resources(0.1, 0.1)}), id="less than it has"),
        pytest.param(HERE, vpa(recommended={"gone": resources(3, 2)}), id="for a container that it does not have"),
        pytest.param(HERE, vpa(policies={"app": ContainerPolicy(scaled=False)}), id="the container's mode is Off"),
        pytest.param(
            resources(3, 2),
            vpa(policies={"*": ContainerPolicy(scaled=False), "app": ContainerPolicy()}),
            id="its own policy stands before the one for all",
        ),
        pytest.param(resources(2, 2), bound(most=resources(2)), id="maxAllowed"),
        pytest.param(resources(4, 2), bound(least=resources(4, 1)), id="minAllowed, of one"),
        pytest.param(resources(1, 2), bound(controlled=frozenset({"memory"})), id="memory alone"),
        pytest.param(resources(6, 2), vpa(boost=StartupBoost(factor=2)), id="boosted for its start, above its target"),
        pytest.param(resources(3, 1), vpa(acts=False, boost=StartupBoost(factor=3)), id="boosted, though mode is Off"),
        pytest.param(resources(3.5, 2), vpa(boost=StartupBoost(more=500)), id="boosted by an amount"),
        pytest.param(
            resources(3, 2),
            vpa(boost=StartupBoost(2), policies={"app": ContainerPolicy(boost=StartupBoost())}),
            id="its own boost stands before the one for all",
        ),
        pytest.param(resources(12, 2), bound(StartupBoost(4), most=resources(4)), id="a boost above maxAllowed"),
    ],
)
def test_a_pod_needs_elsewhere_what_an_autoscaler_that_acts_recommends(
    expected: Resources, autoscaler: VerticalAutoscaler
) -> None:
    (found,) = as_they_return([running()], workload(app(1, 1)), [autoscaler])

    assert amounts(found) == (HERE, expected)


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        pytest.param(resources(2, 1), {}, id="a target ends at the limit"),
        pytest.param(resources(1.999, 1), {"acts": False, "boost": StartupBoost(9)}, id="a boost just below it"),
    ],
)
def test_limits_that_stay_hold_what_is_written_below_them(expected: Resources, changes: dict[str, Any]) -> None:
    fixed = vpa(recommended={"app": resources(3)}, policies={"*": ContainerPolicy(below_limits=True)}, **changes)
    (found,) = as_they_return([running()], workload(app(1, 1, limits=resources(2))), [fixed])

    assert found.spec.requests == expected


@pytest.mark.parametrize(
    ("owner", "target"),
    [
        pytest.param("StatefulSet/db", "default/StatefulSet/db", id="a StatefulSet"),
        pytest.param("Job/nightly-29384756", "default/CronJob/nightly", id="a CronJob, by the name of its Job"),
        pytest.param("Job/once", "default/Job/once", id="a Job"),
        pytest.param("ReplicationController/old", "default/ReplicationController/old", id="a ReplicationController"),
    ],
)
def test_an_autoscaler_is_found_by_every_kind_that_makes_pods_again(owner: str, target: str) -> None:
    (found,) = as_they_return([running(owner=owner)], {}, [vpa(target)])

    assert found.spec.requests == resources(3, 2)


def test_an_autoscaler_is_found_by_what_controls_a_replica_set() -> None:
    rollout = {SET: Workload(SET, owner="default/Rollout/web")}
    (found,) = as_they_return([running()], rollout, [vpa("default/Rollout/web")])

    assert found.spec.requests == resources(3, 2)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(running(on=""), id="without a node: it is what the scheduler will book"),
        pytest.param(running(owner="DaemonSet/web"), id="of a DaemonSet: it goes with its node"),
        pytest.param(running(owner=None), id="of nobody: nothing comes back"),
    ],
)
def test_what_does_not_come_back_elsewhere_is_left_as_it_is(given: Pod) -> None:
    every = [vpa(), vpa("default/DaemonSet/web")]

    assert as_they_return([given], workload(app(9)), every) == (given,)


def test_pods_of_one_class_stay_of_one_class() -> None:
    kind = running().spec
    pods = [pod(f"web-{number}", on="n1", kind=kind) for number in range(3)]
    found = as_they_return(pods, workload(app(2)))

    assert len({row.spec for row in found}) == 1


@pytest.mark.parametrize(
    ("expected", "given", "autoscalers"),
    [
        pytest.param((), running(), [], id="nothing"),
        pytest.param((BY_TEMPLATE,), running(), [], id="the template"),
        pytest.param((BY_TEMPLATE, "VerticalPodAutoscaler default/web"), running(), [vpa()], id="an autoscaler, too"),
        pytest.param((BY_RESIZE,), running(booked=resources(9, 9)), [], id="its status"),
    ],
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
