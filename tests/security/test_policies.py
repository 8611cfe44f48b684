"""Whatever stands in a policy, no line of the log becomes two; the pages and the supply of SECURITY.md."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from packaging.utils import canonicalize_name
from packaging.version import Version

from shared.core.policy.parsing import parse
from shared.core.policy.values import MOST_POLICY_BYTES
from shared.core.records.orders import decode, quoted_value
from shared.errors import BadOrder, BadPolicy
from tests.builders import CLUSTER, NOW, node
from tests.depth import cases
from tests.functions.fake_ebb import FakeEbb
from tests.pages import ROOT
from tests.security.test_messages import ALL, leaked
from tests.zip.test_packages import pins

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


@cases(
    "text",
    ("anchors", f"a: &{LONG} [*{LONG}, *x]"),
    ("a tag", f"a: !{LONG} 1"),
    ("a key that stands twice", f"{LONG}: 1\n{LONG}: 2"),
    ("twice in JSON", json.dumps({LONG: 1})[:-1] + json.dumps({LONG: 2}).replace("{", ", ")),
    ("a quote without an end", f"a: '{LONG}"),
    ("a directive", f"%{LONG} 1\n---\na: 1"),
    ("a word", LONG),
    ("a pool's name", f"nodePools: {{{LONG}: 1}}"),
    ("an unknown field", f"nodePools: {{web: {{{LONG}: 1}}}}"),
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
@cases(
    "text",
    ("in a comment", "# {0}\ndryRun: maybe"),
    ("in a field that no policy has", "dryRun: true\npassword: {0}"),
    ("in a quote without an end", "dryRun: true\ntoken: '{0}"),
    ("in a field that no pool has", "nodePools: {{web: {{password: '{0}'}}}}"),
    ("in a list", "- {0}"),
    ("alone", "{0}"),
)
def test_what_stands_where_no_setting_is_is_not_repeated_anywhere(text: str, secret: str) -> None:
    said = faults(text.format(secret))
    assert said
    fake_ebb = FakeEbb(node("n1"), policy=BadPolicy(*said))
    fake_ebb.tick()
    assert fake_ebb.log.of("policy_invalid")
    assert leaked(" ".join(str(line) for line in fake_ebb.log.lines)) == []


TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_limits_are_those_of_the_code() -> None:
    assert "at most 64 KiB" in " ".join(TEXT.split())
    with pytest.raises(BadOrder, match="at most 65536"):
        decode(b" " * (64 * 1024 + 1), CLUSTER, "id", NOW)
    assert f"at most {MOST_POLICY_BYTES // 1024} KiB" in " ".join(TEXT.split())
    assert len(quoted_value("x" * 1000)) == 81, "eighty characters and the mark that some are missing"


PINNED = [(pin.name, Version(rule.version)) for pin, _ in pins() for rule in pin.specifier]
KNOWN: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("advisories.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", KNOWN["fixed"], ids=lambda row: f"{row['project']} {row['advisory']}")
def test_no_pin_is_older_than_a_known_fix(row: dict[str, str]) -> None:
    pinned = [version for name, version in PINNED if name == canonicalize_name(row["project"])]
    assert pinned, f"{row['project']} is no longer pinned: take the row out"
    assert min(pinned) >= Version(row["version"]), f"{row['advisory']}: run `make requirements`; see {row['source']}"


def test_no_pin_is_a_version_before_its_release() -> None:
    early = [name for name, version in PINNED if version.is_prerelease]
    assert early in ([], ["opentelemetry-semantic-conventions"]), "OpenTelemetry's conventions have only such versions"
