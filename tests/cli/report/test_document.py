"""The data of a report: the plan's own figures, the same pods before and after, and nothing that is not known."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from functions.cli.analysis.forecast.scenarios import Scenario, ScenarioKind
from functions.cli.input.inputs import gather
from functions.cli.input.options import Sources
from functions.cli.output.format import monthly
from functions.cli.plan import as_json
from functions.cli.plan.compute import PlanOptions
from functions.cli.plan.view import with_scenarios
from functions.cli.report.cluster_section import ReportInput, kept_costs, workloads_and_pods, zones
from functions.cli.report.compute import document, draw_report, input_of
from shared.adapters.prices import load
from shared.core.cluster.names import ZONE_LABEL
from shared.core.cluster.pod import Phase
from shared.core.policy.values import Capacity, Commitment, Commitments
from shared.core.reasons import Blocker, PodBlock, Reason, Unremovable
from tests.builders import pod
from tests.cli.plan.plans import billed, some_committed, some_scenarios
from tests.cli.report import reports
from tests.depth import cases

PRICES = load()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ReportInput:
    return reports.report_input(reports.shop(tmp_path_factory.mktemp("shop")))


@pytest.fixture(scope="module")
def told(made: ReportInput) -> dict[str, Any]:
    return document(made)


@pytest.fixture(scope="module")
def report(told: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = told["report"]
    return found


def test_it_is_the_plans_json_with_one_key_more(made: ReportInput, told: dict[str, Any]) -> None:
    assert {name: value for name, value in told.items() if name != "report"} == as_json.document(made.view)


def test_the_scenarios_are_those_of_the_table(made: ReportInput, report: dict[str, Any]) -> None:
    assert made.view.scenarios
    names = ("title", "nodes", "month", "year", "evictions")
    printed = [[getattr(row, name).strip() for name in names] for row in made.view.scenarios.rows[1:]]

    assert [[row[name] for name in names] for row in report["ladder"]] == printed
    assert report["sentences"] == list(made.view.scenarios.sentences)


def test_a_scenario_is_compared_with_now_and_what_goes_beyond_the_policy_with_the_policy(
    report: dict[str, Any],
) -> None:
    cost = {row["rung"]: row["cost"] for row in report["ladder"]}
    base = {row["rung"]: row["from"] for row in report["ladder"]}

    assert {base.pop(name) for name in ("now", "autoscaler_alone", "policy_at_rest")} == {cost["now"]}
    assert base == dict.fromkeys(("relaxed", "bound"), cost["policy_at_rest"])


def test_every_living_pod_is_there_once_and_lies_in_steady_state_on_a_node_that_is_left(
    made: ReportInput, report: dict[str, Any]
) -> None:
    nodes, pods = reports.objects(report["nodes"]), reports.objects(report["pods"])
    workloads = reports.objects(report["workloads"])

    assert len(pods) == len(made.now.pods)
    assert [nodes[row["at_rest"]]["gone"] for row in pods if row["at_rest"] >= 0].count(True) == 0
    lost = [row for row in pods if row["at_rest"] < 0]
    assert {workloads[row["workload"]]["name"] for row in lost} == {"kube-system/DaemonSet/logs-5d4f8b"}
    assert len(lost) == sum(node["gone"] for node in nodes) > 0


def test_no_node_in_steady_state_holds_more_than_it_offers(report: dict[str, Any]) -> None:
    nodes, pods = reports.objects(report["nodes"]), reports.objects(report["pods"])
    for resource in ("cpu", "memory"):
        asked = [0] * len(nodes)
        for row in pods:
            if row["at_rest"] >= 0:
                asked[row["at_rest"]] += row[resource]
        assert [number for number, node in enumerate(nodes) if asked[number] > node[resource]] == []


def test_zones_are_counted_and_rounded_as_pools_are(made: ReportInput, report: dict[str, Any]) -> None:
    nodes = (replace(node, labels={**node.labels, ZONE_LABEL: "z"}) for node in made.now.nodes)
    in_one = replace(made.now, nodes=tuple(nodes))
    found = document(replace(made, now=in_one, view=replace(made.view, scenarios=None)))["report"]

    pools = [(pool["name"], pool["nodes"], pool["cpu"], pool["memory"]) for pool in found["pools"] if not pool["sum"]]
    assert [(zone["pool"], zone["nodes"], zone["cpu"], zone["memory"]) for zone in found["zones"]] == pools
    left = sum(not thing["gone"] for thing in reports.objects(report["nodes"]))
    assert sum(zone["nodes_at_rest"] for zone in report["zones"]) == left


def test_the_order_names_each_node_that_goes_once_and_follows_the_clock(report: dict[str, Any]) -> None:
    nodes, order = reports.objects(report["nodes"]), reports.objects(report["order"])

    assert sorted(thing["node"] for thing in order) == [number for number, node in enumerate(nodes) if node["gone"]]
    times = [thing["begins"] for thing in order if thing["begins"] != "-"]
    assert times == sorted(times)
    assert {thing["by"] for thing in order} == {"this policy", "the autoscaler"}
    assert {thing["by"] for thing in order if thing["begins"] == "-"} == {"the autoscaler"}


def test_every_blocker_has_the_tables_money_and_a_remedy(made: ReportInput, report: dict[str, Any]) -> None:
    entries = {entry.word: (entry.cost, entry.nodes) for entry in made.view.legend}
    remedies = {reason.value: reason.remedy for kind in (Unremovable, PodBlock) for reason in kind}
    rows = [row for group in report["blockers"] for row in group["rows"]]

    assert {row["reason"] for row in rows} >= {"blocked_by_pod", "local_storage", "pdb_never_allows", "job_running"}
    assert [(row["cost"], row["nodes"]) for row in rows] == [entries[row["reason"]] for row in rows]
    assert [row["remedy"] for row in rows] == [remedies[row["reason"]] for row in rows]
    blockers = (blocker for node in made.view.nodes for blocker in node.decision.blockers)
    assert report["reasons"].keys() == {blocker.reason.value for blocker in blockers}


def test_a_workload_keeps_the_nodes_on_which_a_pod_of_it_may_not_be_moved(report: dict[str, Any]) -> None:
    held = {row["reason"]: (row["nodes"], row["month"]) for blocker in report["blockers"] for row in blocker["rows"]}
    kept = {
        thing["name"]: (thing["keeps"], thing["month"])
        for thing in reports.objects(report["workloads"])
        if thing["keeps"]
    }

    assert kept == {
        "shop/StatefulSet/sessions": held["local_storage"],
        "backend/StatefulSet/ledger": held["pdb_never_allows"],
        "data/Job/importer-5d4f8b": held["job_running"],
    }


def test_the_orders_of_this_pass_come_first(tmp_path: Path) -> None:
    sources = reports.shop(tmp_path, 20)
    found = document(input_of(gather(sources), PlanOptions(assume_marked=True)))
    order, nodes = reports.objects(found["report"]["order"]), found["nodes"]

    going = [order["node"] for order in found["orders"]]
    assert [nodes[thing["node"]]["name"] for thing in order[: len(going)]] == going
    assert {thing["begins"] for thing in order[: len(going)]} == {"in this pass"}
    assert "in this pass" not in {thing["begins"] for thing in order[len(going) :]}


def test_the_calendar_shows_when_each_pool_may_go(report: dict[str, Any]) -> None:
    calendar = report["calendar"]
    web = next(pool for pool in calendar["pools"] if pool["names"] == ["web-pool"])
    hours = [(run["from"], run["hours"], run["nodes"]) for run in web["days"][1]["runs"]]

    assert (calendar["time_zone"], calendar["off"]) == ("Europe/Amsterdam", ["batch-pool"])
    assert (web["days"][1]["day"], hours) == ("Thu 5 Mar", [(0, 9, "5"), (9, 8, "0"), (17, 7, "5")])
    assert calendar["notes"] == ["dryRun is true: nothing is drained at any time. This is what holds once it is false."]


def test_a_cluster_of_which_too_little_is_known_has_no_picture_in_steady_state(made: ReportInput) -> None:
    partial = replace(made, view=replace(made.view, scenarios=None))
    found = document(partial)["report"]

    assert (found["has_rest"], found["ladder"], found["figures"], found["order"]["rows"]) == (False, [], [], [])
    assert {thing["gone"] for thing in reports.objects(found["nodes"])} == {False}
    assert {thing["at_rest"] == thing["node"] for thing in reports.objects(found["pods"])} == {True}


@cases(
    "expected, now, alone, rest",
    ("some go", "Ebb saves $73 a month more than the autoscaler alone: 9 nodes instead of 10", 10, 10, 9),
    ("some by both", "Ebb saves $73 a month more than the autoscaler alone: 8 nodes instead of 9", 10, 9, 8),
    ("nothing goes", "Ebb saves nothing: all 10 nodes stay", 10, 10, 10),
    ("one node", "Ebb saves nothing: 1 node stays", 1, 1, 1),
    ("autoscaler", "Ebb saves nothing more than the autoscaler alone, which saves $73", 10, 9, 9),
)
def test_the_title_shows_what_a_reader_should_keep(
    made: ReportInput, expected: str, now: int, alone: int, rest: int
) -> None:
    kinds = (ScenarioKind.NOW, ScenarioKind.AUTOSCALER_ALONE, ScenarioKind.POLICY_AT_REST)
    pairs = zip(kinds, (now, alone, rest), strict=True)
    first, left_alone, at_rest = (Scenario(kind, nodes, nodes * 10**5) for kind, nodes in pairs)
    scenarios = replace(some_scenarios(), now=first, alone=left_alone, at_rest=at_rest)
    view = with_scenarios(made.view, scenarios)
    assert document(replace(made, view=view))["report"]["title"].startswith(expected)


@cases(
    "zone, paused, zones_written",
    ("one", "Europe/Amsterdam", "false", ("Europe/Amsterdam",) * 2),
    ("several: that of none of them", "UTC", "true", ("Europe/Amsterdam", "America/New_York")),
)
def test_the_calendars_hours_are_those_of_the_zone_of_all_schedules_and_a_pause_is_shown(
    zone: str, paused: str, zones_written: tuple[str, ...], tmp_path: Path
) -> None:
    sources = reports.shop(tmp_path, 6)
    windows = ", ".join(f'{{schedule: "0 20 * * *", duration: 8h, timeZone: {zone}}}' for zone in zones_written)
    pool = f"web-pool: {{enabled: true, disruption: {{windows: [{windows}]}}}}"
    policy = tmp_path / "policy.yaml"
    policy.write_text(f"paused: {paused}\nnodePools: {{{pool}}}\n", encoding="utf-8")
    calendar = reports.told(Sources(sources.dumps, policy=policy))["report"]["calendar"]

    assert calendar["time_zone"] == zone
    assert any(note.startswith("paused is true: ") for note in calendar["notes"]) is (paused == "true")


def test_pods_that_have_ended_ask_for_nothing(made: ReportInput) -> None:
    first = made.now.nodes[0].name
    ended = pod("ended", on=first, cpu=3, phase=Phase.SUCCEEDED)
    more = replace(made, now=replace(made.now, pods=(*made.now.pods, ended)))

    assert workloads_and_pods(more) == workloads_and_pods(made)
    assert [(row["cpu"], row["memory"]) for row in zones(more)] == [(row["cpu"], row["memory"]) for row in zones(made)]


def test_memory_is_shown_in_mebibytes(made: ReportInput, report: dict[str, Any]) -> None:
    offered = [made.now.node_by_name[node.name].allocatable.memory for node in made.view.nodes]

    assert [thing["memory"] for thing in reports.objects(report["nodes"])] == [size // 2**20 for size in offered]
    asked = [pod_.requests.memory for pod_ in made.now.pods]
    assert [thing["memory"] for thing in reports.objects(report["pods"])] == [size // 2**20 for size in asked]


@cases(
    "keeps, reason",
    ("which may not be moved", True, PodBlock.LOCAL_STORAGE),
    ("which only finds no place", False, Unremovable.NO_PLACE_FOR_PODS),
)
def test_a_workload_keeps_the_node_of_a_pod(*, keeps: bool, reason: Reason, made: ReportInput) -> None:
    held = made.now.pods[0]
    first = next(node for node in made.view.nodes if node.name == held.node)
    decision = replace(first.decision, blockers=(Blocker(reason, held.key),))
    one = replace(made, view=replace(made.view, nodes=(replace(first, decision=decision),)))

    assert list(kept_costs(one)) == [made.workload_of(held)] * keeps


def test_a_node_that_two_pods_of_a_workload_keep_is_kept_once(made: ReportInput) -> None:
    held = made.now.pods[0]
    twin = structs.replace(held, name="twin", uid="twin")
    first = next(node for node in made.view.nodes if node.name == held.node)
    blockers = tuple(Blocker(PodBlock.LOCAL_STORAGE, kept_.key) for kept_ in (held, twin))
    shown = replace(first, decision=replace(first.decision, blockers=blockers))
    now = replace(made.now, pods=(*made.now.pods, twin))

    kept = kept_costs(replace(made, now=now, view=replace(made.view, nodes=(shown,))))

    assert kept[made.workload_of(held)] == [first.decision.cost]


def test_where_capacity_is_committed_the_figures_are_the_bill_with_the_list_price_next_to_it(made: ReportInput) -> None:
    view = replace(made.view, committed=some_committed())
    billed_input = replace(made, view=with_scenarios(view, billed(at_rest=20)))
    shown = document(billed_input)["report"]
    adds, _, now, rest, _ = shown["figures"]

    assert "$146 a month" in shown["title"]
    assert [figure["value"] for figure in (adds, now, rest)] == ["$146", "$438", "$146"]
    assert ["at list prices" in figure["note"] for figure in (adds, now, rest)] == [True] * 3
    assert "$365 is committed and idle" in rest["note"]
    assert [row["list"] for row in shown["ladder"][:3]] == ["$730", "$584", "$511"]
    assert [row["cost"] for row in shown["ladder"][:3]] == [600_000, 400_000, 200_000]
    assert {"bill", "commitment, committed, idle", "list price"} <= {row["word"] for row in shown["glossary"]}
    assert "bill a month" in draw_report(document(billed_input))


def test_without_commitments_no_word_of_bills_is_on_the_page(report: dict[str, Any]) -> None:
    assert {row["list"] for row in report["ladder"]} == {None}
    assert "bill" not in {row["word"] for row in report["glossary"]}


def test_where_capacity_is_committed_the_order_shows_what_each_node_adds_to_the_saving(made: ReportInput) -> None:
    """All but one node's worth is committed: the first that goes saves its price, and the others nothing."""
    number, *_ = document(made)["report"]["order"]["rows"][0]
    first = made.now.node_by_name[made.view.nodes[number].name]
    on_demand = [node for node in made.now.nodes if not node.spot]
    sizes = [size for node in on_demand if (size := PRICES.size(node.machine))]
    family, own = PRICES.size(first.machine) or ("", Capacity())
    vcpu, gib = (sum(getattr(size, axis) for name, size in sizes if name == family) for axis in ("vcpu", "gib"))
    whole = Capacity(vcpu - own.vcpu, gib - own.gib)
    committed = Commitments((Commitment(family, whole),), elsewhere={})
    shown = document(replace(made, policy=replace(made.policy, commitments=committed)))["report"]["order"]

    saved = [row[-1] for row in shown["rows"]]
    assert len(saved) > 1
    assert saved == [monthly(PRICES.of(first).per_hour), *["$0"] * (len(saved) - 1)]
