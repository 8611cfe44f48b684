"""A policy with odd words in it is refused in sentences that repeat a part of each wrong value and no more."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.policy.parsing import parse
from shared.errors import BadPolicy
from tests.builders import node
from tests.functions.fake_ebb import FakeEbb
from tests.security.secrets import ALL, leaked

LONG = "y" * 5_000
MOST_FAULT = 1_000
"""Characters of one fault; the longest lists the fields that there are."""


def faults(text: str) -> tuple[str, ...]:
    try:
        parse(text.encode(errors="surrogatepass"))
    except BadPolicy as refused:
        return refused.faults
    return ()


def in_place(path: str, value: object) -> str:
    """A policy in which one value is another."""
    whole: object = value
    for step in reversed(path.split(".")):
        whole = [whole] if step == "0" else {step: whole}
    return json.dumps(whole)


PLACES = (
    "dryRun", "cluster", "cluster.minimumNodes", "cluster.timeGap", "cluster.rate.per", "cluster.freezes.0.from",
    "drain.maxGracePeriod", "manual.mayIgnore.0", "nodePools", "nodePools.web.enabled",
    "nodePools.web.disruption.consolidationPolicy", "nodePools.web.disruption.consolidateAfter",
    "nodePools.web.disruption.budgets.0.nodes", "nodePools.web.disruption.budgets.0.schedule",
    "nodePools.web.disruption.budgets.0.duration", "nodePools.web.disruption.budgets.0.reasons.0",
    "nodePools.web.disruption.windows.0.timeZone", "nodePools.web.kubeSystemPods", "nodePools.web.headroom",
)  # fmt: skip


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize(
    "value", [LONG, f"{LONG}\n{LONG}", "\x1b[31m\u2028", {LONG: LONG}], ids=["long", "two lines", "control", "a key"]
)
def test_a_fault_is_short_and_one_line_wherever_it_is(path: str, value: object) -> None:
    found = faults(in_place(path, value))
    assert found
    assert max(map(len, found)) < MOST_FAULT
    assert all(fault.isprintable() for fault in found)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"a: &{LONG} [*{LONG}, *x]", id="anchors"),
        pytest.param(f"a: !{LONG} 1", id="a tag"),
        pytest.param(f"{LONG}: 1\n{LONG}: 2", id="a key that stands twice"),
        pytest.param(json.dumps({LONG: 1})[:-1] + json.dumps({LONG: 2}).replace("{", ", "), id="twice in JSON"),
        pytest.param(f"a: '{LONG}", id="a quote without an end"),
        pytest.param(f"%{LONG} 1\n---\na: 1", id="a directive"),
        pytest.param(LONG, id="a word"),
        pytest.param(f"nodePools: {{{LONG}: 1}}", id="a pool's name"),
        pytest.param(f"nodePools: {{web: {{{LONG}: 1}}}}", id="an unknown field"),
    ],
)
def test_a_document_that_cannot_be_read_is_refused_in_a_short_sentence(text: str) -> None:
    found = faults(text)
    assert found
    assert max(map(len, found)) < MOST_FAULT


@pytest.mark.parametrize("schedule", [f"{LONG} * * * *", f"1-{LONG} * * * *", f"*/{LONG} * * * *", f"0,{LONG} * * * *"])
def test_of_a_schedule_only_a_part_is_repeated(schedule: str) -> None:
    budget = {"nodes": 1, "schedule": schedule, "duration": "1h"}
    found = faults(in_place("nodePools.web.disruption.budgets.0", budget))
    assert found
    assert max(map(len, found)) < MOST_FAULT


@given(st.sampled_from(PLACES), st.recursive(st.text() | st.sampled_from((LONG, *ALL)), st.lists, max_leaves=3))
def test_no_value_makes_a_long_fault(path: str, value: object) -> None:
    assert all(len(fault) < MOST_FAULT and fault.isprintable() for fault in faults(in_place(path, value)))


@pytest.mark.parametrize("secret", ALL)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("# {0}\ndryRun: maybe", id="in a comment"),
        pytest.param("dryRun: true\npassword: {0}", id="in a field that no policy has"),
        pytest.param("dryRun: true\ntoken: '{0}", id="in a quote without an end"),
        pytest.param("nodePools: {{web: {{password: '{0}'}}}}", id="in a field that no pool has"),
        pytest.param("- {0}", id="in a list"),
        pytest.param("{0}", id="alone"),
    ],
)
def test_what_stands_where_no_setting_is_is_not_repeated_anywhere(text: str, secret: str) -> None:
    said = faults(text.format(secret))
    assert said
    fake_ebb = FakeEbb(node("n1"), policy=BadPolicy(*said))
    fake_ebb.tick()
    assert fake_ebb.log.of("policy_invalid")
    assert leaked(" ".join(str(line) for line in fake_ebb.log.lines)) == []
