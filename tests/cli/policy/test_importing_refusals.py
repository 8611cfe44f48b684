"""What the origin of a configuration would have refused, or Ebb has nothing for, is converted with a note."""

from typing import Any

import pytest
import yaml

from functions.cli.policy.importing import from_karpenter, from_node_refiner

AFTER = {"consolidateAfter": "1m"}
NIGHTLY = {"schedule": "0 9 * * 1-5", "duration": "8h"}
SUNDAY_AS_7 = "budgets[0].schedule: Karpenter cannot read weekday 7"


def pool(version: str = "v1", age: str = "48h", **disruption: Any) -> bytes:
    """A NodePool that Karpenter takes but for what is given; `age` stands where v1 has it."""
    spec: dict[str, Any] = {"template": {"spec": {"expireAfter": age} if version == "v1" else {}}}
    spec["disruption"] = disruption or AFTER
    thing = {"apiVersion": f"karpenter.sh/{version}", "kind": "NodePool", "metadata": {"name": "a"}, "spec": spec}
    return yaml.safe_dump(thing).encode()


def v1(**disruption: Any) -> bytes:
    return pool(**AFTER | disruption)


def budget(version: str = "v1", **given: Any) -> bytes:
    budgets = [{"nodes": "1", **given}]
    return v1(budgets=budgets) if version == "v1" else pool(version, budgets=budgets)


@pytest.mark.parametrize(
    ("expected", "data"),
    [
        pytest.param(SUNDAY_AS_7, budget(schedule="0 9 * * 1-7", duration="8h"), id="a range to Sunday"),
        pytest.param(SUNDAY_AS_7, budget(schedule="0 9 * * 7", duration="8h"), id="Sunday as 7"),
        pytest.param(SUNDAY_AS_7, budget(schedule="0 9 * * mon,7", duration="8h"), id="the same in a list"),
        pytest.param("budgets[0].duration: '1d' is refused", budget(schedule="@daily", duration="1d"), id="days"),
        pytest.param("budgets[0].duration: '30m1h' is refused", budget(schedule="@daily", duration="30m1h"),
                     id="minutes before hours"),
        pytest.param("budgets[0].nodes: '2' is refused", budget(nodes=2), id="a number without quotes"),
        pytest.param("budgets[0].reasons: 'empty' is refused", budget(reasons=["empty"]), id="in small letters"),
        pytest.param("budgets[0].reasons: 'Expired' is refused", budget(reasons=["Expired"]), id="a reason of Ebb's"),
        pytest.param("budgets[0].timeZone: Karpenter knows no such field", budget(timeZone="Asia/Tokyo", **NIGHTLY),
                     id="a field of Ebb's"),
        pytest.param("a.disruption.windows: Karpenter knows no such field", v1(windows=[NIGHTLY]), id="windows"),
        pytest.param("a.disruption.consolidateAfter: '1d' is refused", v1(consolidateAfter="1d"), id="a mark in days"),
        pytest.param("a.template.spec.expireAfter: '30d' is refused", pool(age="30d"), id="v1's age in days"),
        pytest.param("a.disruption.expireAfter: '30d' is refused", pool("v1beta1", expireAfter="30d"),
                     id="v1beta1's age in days"),
        pytest.param("without it karpenter.sh/v1 refuses", pool(budgets=[]), id="v1 without the age of a mark"),
        pytest.param("without it karpenter.sh/v1beta1 refuses", pool("v1beta1", consolidationPolicy="WhenEmpty"),
                     id="v1beta1 without it, where it asks for one"),
        pytest.param("karpenter.sh/v1beta1 refuses it with WhenUnderutilized", pool("v1beta1", consolidateAfter="1m"),
                     id="v1beta1 with it, where it asks for none"),
        pytest.param("'WhenUnderutilized' is refused by karpenter.sh/v1;", v1(consolidationPolicy="WhenUnderutilized"),
                     id="v1beta1's word in v1"),
        pytest.param("'WhenEmptyOrUnderutilized' is refused by karpenter.sh/v1beta1;",
                     pool("v1beta1", consolidationPolicy="WhenEmptyOrUnderutilized"), id="v1's word in v1beta1"),
    ],
)  # fmt: skip
def test_what_karpenter_would_have_refused_has_a_note(expected: str, data: bytes) -> None:
    assert [expected in note for note in from_karpenter(data).notes].count(True) == 1


@pytest.mark.parametrize("schedule", ["0 9 * * 1-5", "*/7 7-17 7 7 0-6/7", "@daily", "0 9 * * sun", "7 7 7 7 *"])
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_what_karpenter_takes_has_no_such_note(version: str, schedule: str) -> None:
    notes = from_karpenter(budget(version, schedule=schedule, duration="23h50m", reasons=["Empty"])).notes
    assert [note for note in notes if "refuse" in note or "cannot read" in note or "no effect" in note] == []


@pytest.mark.parametrize(
    ("expected", "reasons"),
    [
        pytest.param(["it binds Drifted alone"], ["Drifted"], id="none that Ebb has"),
        pytest.param(["Ebb removes no node for Drifted"], ["Drifted", "Empty"], id="one of two"),
        pytest.param([], ["Underutilized", "Empty"], id="all of them"),
    ],
)
def test_a_budget_of_reasons_that_ebb_does_not_have_has_a_note(expected: list[str], reasons: list[str]) -> None:
    about_it = [note for note in from_karpenter(budget(reasons=reasons)).notes if ".budgets[0]" in note]
    assert [words for words, note in zip(expected, about_it, strict=True) if words in note] == expected


def config_map(value: object, name: str = "node-refiner-cm") -> bytes:
    return yaml.safe_dump({"kind": "ConfigMap", "metadata": {"name": name}, "data": {"time_gap": value}}).encode()


@pytest.mark.parametrize(
    ("expected", "data"),
    [
        pytest.param(["'x': node-refiner reads no ConfigMap of that name"], config_map("5", "x"), id="its name"),
        pytest.param(["time_gap: node-refiner refuses '5\\n'"], config_map("5\n"), id="a line's end"),
        pytest.param(["time_gap: the API server refuses"], config_map(5), id="a number without quotes"),
        pytest.param([], config_map("5"), id="what it reads"),
    ],
)
def test_what_node_refiner_would_not_have_read_has_a_note(expected: list[str], data: bytes) -> None:
    refused = [note for note in from_node_refiner(data).notes if "refuses" in note or "reads no" in note]
    assert [words for words, note in zip(expected, refused, strict=True) if words in note] == expected
