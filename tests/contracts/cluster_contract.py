"""The laws of the port `Cluster`, for every implementation: derive a test class and give it a `world`."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import Taint
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.records.drain_record import EvictionAnswer
from shared.errors import Gone, Stale
from tests.builders import NOW
from tests.contracts.cluster_world import FOREIGN, SHOP, World, costs, counts, still_there
from tests.depth import cases


class ClusterContract:
    """Derive, and define the fixture `world`."""

    def node(self, world: World, *taints: Taint) -> Node:
        world.add_node("n1", *taints)
        return world.cluster.node("n1")

    def pod(self, world: World) -> Pod:
        self.node(world)
        world.add_pod("web-1", on="n1")
        return world.cluster.pods_on("n1")[0]

    def test_a_snapshot_holds_everything_that_is_there(self, world: World) -> None:
        pod = self.pod(world)
        world.add_budget("guard", allowed=0)

        reading = world.cluster.read()

        assert [node.name for node in reading.nodes] == ["n1"]
        assert [(found.key, found.uid, found.node) for found in reading.pods] == [("default/web-1", pod.uid, "n1")]
        assert [budget.key for budget in reading.disruption_budgets] == ["default/guard"]
        assert "default" in reading.namespaces
        alone = world.cluster.read(whole=False)
        assert [node.name for node in alone.nodes] == ["n1"]
        assert [found.key for found in alone.pods] == ["default/web-1"]

    def test_what_is_asked_of_the_api_is_counted_and_asking_for_the_count_is_not(self, world: World) -> None:
        self.pod(world)
        before = world.cluster.traffic()
        world.cluster.read()
        after = world.cluster.traffic()

        assert before.calls < after.calls
        assert before.bytes < after.bytes
        assert world.cluster.traffic() == after

    def test_a_budget_shows_what_it_allows_and_whom_it_means(self, world: World) -> None:
        pod = self.pod(world)
        world.add_budget("guard", allowed=1)

        (budget,) = world.cluster.disruption_budgets()

        assert (budget.disruptions_allowed, budget.matches(pod.spec)) == (1, True)

    def test_only_the_pods_of_a_node_are_on_it(self, world: World) -> None:
        self.pod(world)
        world.add_node("n2")
        world.add_pod("web-2", on="n2")

        assert [pod.name for pod in world.cluster.pods_on("n2")] == ["web-2"]
        assert world.cluster.pods_on("nowhere") == ()

    def test_a_pods_workload_shows_how_many_are_wanted_and_there(self, world: World) -> None:
        self.node(world)
        world.add_replicas(2, on="n1")

        pods = world.cluster.pods_on("n1")
        (key,) = {pod.spec.workload for pod in pods}

        expected = {key: Workload("default/Deployment/shop", 2, 2, created=2)}
        assert counts(world.cluster.workloads_of(pod.spec.workload for pod in pods)) == expected
        assert counts(world.cluster.read().workloads) == expected

    def deployment(self, world: World) -> Deployment:
        self.node(world)
        world.add_replicas(1, on="n1")
        return world.cluster.deployment(SHOP)

    def test_a_deployment_is_read_as_it_is_rolled_out(self, world: World) -> None:
        found = self.deployment(world)

        assert (found.name, found.wanted, found.stamp) == (SHOP, 1, "")
        assert found.settled
        assert (found.surge, found.unavailable) == (1, 0)
        with pytest.raises(Gone):
            world.cluster.deployment("default/Deployment/nobody")

    def test_a_restart_writes_our_stamp_and_nothing_else_until_it_is_taken_away(self, world: World) -> None:
        before = self.deployment(world)

        stamped = world.cluster.restart(before, "order-1")
        assert (stamped.stamp, stamped.uid, stamped.template) == ("order-1", before.uid, before.template)
        assert not stamped.settled
        assert world.cluster.deployment(SHOP).stamp == "order-1"

        world.cluster.restart(world.cluster.deployment(SHOP), "")
        after = world.cluster.deployment(SHOP)
        assert (after.stamp, after.template) == ("", before.template)

    def test_a_restart_after_another_shows_which_it_replaced_until_it_is_taken_back(self, world: World) -> None:
        first = world.cluster.restart(self.deployment(world), "order-1")

        second = world.cluster.restart(first, "order-2")
        back = world.cluster.restart(second, "order-1")

        assert [found.stamp for found in (first, second, back)] == ["order-1", "order-2", "order-1"]
        assert [found.earlier for found in (first, second, back)] == ["", "order-1", ""]
        assert first.generation < second.generation < back.generation

    @pytest.mark.parametrize("stamp", ["order-1", ""])
    def test_a_stamp_that_stands_already_changes_nothing(self, world: World, stamp: str) -> None:
        standing = world.cluster.restart(self.deployment(world), stamp)

        again = world.cluster.restart(standing, stamp)

        assert (again.stamp, again.resource_version) == (stamp, standing.resource_version)
        assert world.cluster.deployment(SHOP).resource_version == standing.resource_version

    def test_a_restart_tried_dry_shows_the_same_and_does_nothing(self, world: World) -> None:
        before = self.deployment(world)

        assert world.cluster.restart(before, "order-1", dry_run=True).stamp == "order-1"
        assert world.cluster.deployment(SHOP) == before

    @pytest.mark.parametrize("dry_run", [False, True])
    def test_a_deployment_that_changed_since_it_was_read_is_not_restarted(self, world: World, *, dry_run: bool) -> None:
        before = self.deployment(world)
        world.change_template()

        with pytest.raises(Stale):
            world.cluster.restart(before, "order-1", dry_run=dry_run)

        after = world.cluster.deployment(SHOP)
        assert after.stamp == ""
        assert after.template != before.template

    def test_a_deployment_that_is_not_there_is_not_restarted(self, world: World) -> None:
        before = self.deployment(world)
        world.delete_replicas()

        with pytest.raises(Gone):
            world.cluster.restart(before, "order-1")

    def test_a_workload_that_is_not_there_is_missing(self, world: World) -> None:
        pod = self.pod(world)

        assert world.cluster.workloads_of([pod.spec.workload]) == {}

    def test_a_claim_leads_to_its_volume_and_its_volume_to_its_zone(self, world: World) -> None:
        world.add_disk("data", zone="z1")

        storage = world.cluster.storage()

        claim = storage.claims["default/data"]
        (term,) = storage.volumes[claim.volume].node_terms or ()
        assert (claim.bound, storage.known) == (True, True)
        assert [term.matches({names.ZONE_LABEL: zone}, "n1") for zone in ("z1", "z2")] == [True, False]

    def test_a_node_that_is_not_there_is_gone(self, world: World) -> None:
        with pytest.raises(Gone):
            world.cluster.node("nowhere")

    def test_a_taken_node_is_cordoned_and_shows_whose_it_is(self, world: World) -> None:
        taken = world.cluster.take(self.node(world, FOREIGN), "order-1", NOW)

        assert world.cluster.node("n1") == taken
        assert (taken.unschedulable, taken.drain_taint) == (True, "order-1")
        assert FOREIGN in taken.taints
        record = json.loads(taken.annotations[names.OUR_ANNOTATION])
        assert record == {"order_id": "order-1", "since": NOW.isoformat()}

    def test_a_node_returned_is_as_before(self, world: World) -> None:
        before = self.node(world, FOREIGN)

        after = world.cluster.return_node(world.cluster.take(before, "order-1", NOW), "order-1")

        assert world.cluster.node("n1") == after
        assert (after.unschedulable, after.drain_taint) == (False, None)
        assert FOREIGN in after.taints
        assert names.OUR_ANNOTATION not in after.annotations

    def test_returning_for_another_order_changes_nothing(self, world: World) -> None:
        taken = world.cluster.take(self.node(world), "order-1", NOW)

        assert world.cluster.return_node(taken, "order-2") == taken
        assert world.cluster.node("n1") == taken

    def test_returning_twice_changes_nothing_the_second_time(self, world: World) -> None:
        after = world.cluster.return_node(world.cluster.take(self.node(world), "order-1", NOW), "order-1")

        assert world.cluster.return_node(after, "order-1") == after

    @cases(
        "expected, cordons",
        ("ours is undone, though somebody removed its taint", False, ()),
        ("one that somebody set after ours was undone stays", True, (False, True)),
    )
    def test_of_a_node_without_our_taint_only_our_cordon_is_undone(
        self, world: World, expected: bool, cordons: tuple[bool, ...]
    ) -> None:
        world.cluster.take(self.node(world, FOREIGN), "order-1", NOW)
        world.untaint("n1")
        for yes in cordons:
            world.cordon("n1", yes=yes)

        after = world.cluster.return_node(world.cluster.node("n1"), "order-1")

        assert world.cluster.node("n1") == after
        assert (after.unschedulable, names.OUR_ANNOTATION in after.annotations) == (expected, False)

    def test_an_annotation_of_another_order_proves_nothing(self, world: World) -> None:
        world.cluster.take(self.node(world), "order-1", NOW)
        world.untaint("n1")
        before = world.cluster.node("n1")

        assert world.cluster.return_node(before, "order-2") == before

    @cases(
        "expected, meanwhile",
        ("it changed since it was read", Stale, lambda world: world.touch("n1")),
        ("another node has its name", Gone, lambda world: world.replace("n1")),
    )
    def test_a_node_that_is_not_as_it_was_read_is_not_taken(
        self, world: World, expected: type[Exception], meanwhile: Callable[[World], None]
    ) -> None:
        read = self.node(world)
        meanwhile(world)

        with pytest.raises(expected):
            world.cluster.take(read, "order-1", NOW)

        assert not world.cluster.node("n1").unschedulable

    def test_a_node_that_changed_since_it_was_read_is_not_returned(self, world: World) -> None:
        taken = world.cluster.take(self.node(world), "order-1", NOW)
        world.touch("n1")

        with pytest.raises(Stale):
            world.cluster.return_node(taken, "order-1")

        assert world.cluster.node("n1").unschedulable

    def test_a_soft_taint_is_written_and_removed_and_leaves_the_rest_as_it_was(self, world: World) -> None:
        before = self.node(world, FOREIGN)

        held = world.cluster.set_soft_taint(before, held=True)
        free = world.cluster.set_soft_taint(held, held=False)

        assert (held.held, held.unschedulable, held.drain_taint) == (True, False, None)
        assert FOREIGN in held.taints
        assert replace(free, resource_version="") == replace(before, resource_version="")

    def test_a_soft_taint_stays_through_a_drain_that_is_returned(self, world: World) -> None:
        held = world.cluster.set_soft_taint(self.node(world), held=True)
        taken = world.cluster.take(held, "order", NOW)
        assert world.cluster.return_node(taken, "order").held

    @pytest.mark.parametrize("is_another", [False, True])
    def test_no_soft_taint_is_written_on_a_node_that_is_not_as_it_was_read(
        self, world: World, *, is_another: bool
    ) -> None:
        before = self.node(world)
        (world.replace if is_another else world.touch)("n1")
        with pytest.raises((Gone, Stale) if is_another else Stale):
            world.cluster.set_soft_taint(before, held=True)
        assert not world.cluster.node("n1").held

    def test_an_evicted_pod_is_on_its_way_out(self, world: World) -> None:
        pod = self.pod(world)

        assert world.cluster.evict(pod, 30).answer is EvictionAnswer.GRANTED
        assert all(found.deleting for found in world.cluster.pods_on("n1"))

    def test_a_dry_run_shows_the_same_and_does_nothing(self, world: World) -> None:
        pod = self.pod(world)

        assert world.cluster.evict(pod, 30, dry_run=True).answer is EvictionAnswer.GRANTED
        assert still_there(world, pod)

    def test_a_budget_without_room_is_named(self, world: World) -> None:
        pod = self.pod(world)
        world.add_budget("guard", allowed=0)

        for dry_run in (True, False):
            said = world.cluster.evict(pod, 30, dry_run=dry_run)
            assert (said.answer, said.detail) == (EvictionAnswer.BUDGET, "default/guard")

    def test_two_budgets_over_one_pod_are_an_answer_of_their_own(self, world: World) -> None:
        pod = self.pod(world)
        world.add_budget("guard", allowed=1)
        world.add_budget("second", allowed=1)

        assert world.cluster.evict(pod, 30).answer is EvictionAnswer.SEVERAL_PDBS

    def test_another_pod_under_that_name_is_left_alone(self, world: World) -> None:
        pod = self.pod(world)
        former = Pod(pod.name, "a-former-uid", pod.spec, pod.node)

        assert world.cluster.evict(former, 30).answer is EvictionAnswer.GONE
        assert still_there(world, pod)

    def test_a_pod_that_is_not_there_is_gone(self, world: World) -> None:
        pod = self.pod(world)

        assert world.cluster.evict(Pod("web-9", "u", pod.spec), 30).answer is EvictionAnswer.GONE

    @pytest.mark.parametrize("cost", [-1, -1000])
    def test_a_deletion_cost_of_ours_is_known_by_its_mark_and_the_pods_kind_does_not_know_it(
        self, world: World, cost: int
    ) -> None:
        pod = self.pod(world)

        assert world.cluster.set_deletion_cost(pod, cost)

        (found,) = world.cluster.pods_on("n1")
        assert (found.steered, found.spec.annotations) == (str(cost), {})

    @cases("expected, cost", ("that which stands", False, -3), ("another", True, -2))
    def test_only_another_cost_is_written_over_ours(self, world: World, expected: bool, cost: int) -> None:
        pod = self.pod(world)
        world.cluster.set_deletion_cost(pod, -3)

        assert world.cluster.set_deletion_cost(pod, cost) is expected
        assert [found.steered for found in world.cluster.pods_on("n1")] == [str(cost)]

    def test_a_cost_that_is_taken_back_leaves_the_pod_as_it_was(self, world: World) -> None:
        pod = self.pod(world)
        world.cluster.set_deletion_cost(pod, -3)

        assert world.cluster.set_deletion_cost(pod, None)
        assert costs(world) == [("", None)]
        assert not world.cluster.set_deletion_cost(pod, None)

    def test_a_cost_that_somebody_else_wrote_stays(self, world: World) -> None:
        pod = self.pod(world)
        world.annotate("web-1", **{names.DELETION_COST: "7"})

        assert not world.cluster.set_deletion_cost(pod, -3)
        assert not world.cluster.set_deletion_cost(pod, None)
        assert costs(world) == [("", "7")]

    @pytest.mark.parametrize("cost", [None, -3, -2])
    def test_of_a_cost_that_somebody_wrote_over_ours_only_our_mark_goes(self, world: World, cost: int | None) -> None:
        pod = self.pod(world)
        world.cluster.set_deletion_cost(pod, -3)
        world.annotate("web-1", **{names.DELETION_COST: "7"})
        assert costs(world) == [("-3", "7")]

        assert world.cluster.set_deletion_cost(pod, cost)
        assert costs(world) == [("", "7")]

    def test_no_cost_is_written_on_another_pod_of_that_name_or_on_one_that_is_not_there(self, world: World) -> None:
        pod = self.pod(world)

        for other in (Pod(pod.name, "a-former-uid", pod.spec, pod.node), Pod("web-9", "u", pod.spec)):
            with pytest.raises(Gone):
                world.cluster.set_deletion_cost(other, -3)
        assert costs(world) == [("", None)]

    def test_a_note_can_be_written(self, world: World) -> None:
        node = self.node(world)

        world.cluster.note(node, "EbbCordoned", "cordoned by order-1")

        assert world.cluster.node("n1") == node
