"""Every code block of every page is tested: its commands exist, its policy parses, its orders are orders."""

import re
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest
from yaml import safe_load

from shared.adapters.kubernetes import buffer_objects
from shared.adapters.kubernetes.buffer_objects import autoscaling_policy
from shared.core.cluster.autoscaling import AutoscalingPolicy
from shared.core.policy.parsing import parse
from shared.core.records.orders import OrderKind, decode
from tests.builders import CLUSTER, NOW
from tests.cli import dumps
from tests.cli.running import ebb
from tests.docs.shell import FOREIGN, SHELL, Line, lines, unknown_to_ebb
from tests.pages import DOCS, README, ROOT, RUN, blocks, languages, pages

TAKEN = {
    "sh": "this module",
    "console": "this module, and tests.docs.written",
    "yaml": "this module",
    "hcl": "tests/terraform/test_walkthrough.py",
    "": "tests/monitoring: queries of the runbook",
}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def of(program: str) -> list[Line]:
    found = [line for line in lines() if line.program == program]
    assert found, program
    return found


def named(line: Line) -> str:
    return f"{line.page.name}: {' '.join(line.words[:4])}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_code_block_is_in_a_language_that_a_test_takes(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert languages(text) <= TAKEN.keys()
    if "hcl" in languages(text):
        assert page in {README, ROOT / "terraform" / "README.md"}
    if "" in languages(text):
        assert page in {RUN, DOCS / "architecture.md"}


def test_every_program_is_known() -> None:
    assert {line.program for line in lines()} <= {"each.sh", "ebb", "make", "python", *FOREIGN, *SHELL}


@pytest.mark.parametrize("line", of("ebb"), ids=named)
def test_every_command_and_option_of_ebb_exists(line: Line) -> None:
    assert unknown_to_ebb(line.words[1:]) == []


def test_a_command_or_an_option_that_does_not_exist_is_found() -> None:
    assert unknown_to_ebb(("plan", "--dmup", "x")) == ["--dmup"]
    assert unknown_to_ebb(("policy", "chekc", "x")) == ["chekc", "x"]


def test_every_make_target_that_is_named_exists() -> None:
    texts = [page.read_text(encoding="utf-8") for page in pages()]
    targets = {target for text in texts for target in re.findall(r"`make ([a-z]+)", text)}
    targets |= {line.words[1] for line in of("make")}

    assert {target for target in targets if not re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)} == set()


def test_every_module_that_is_started_exists() -> None:
    texts = [page.read_text(encoding="utf-8") for page in pages()]
    modules = {
        name for text in texts for name in re.findall(r"python -m ((?:functions|infra|shared|tests)[\w.]*)", text)
    }

    assert modules
    for name in modules:
        path = ROOT / name.replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), name


def test_every_folder_that_terraform_is_sent_to_is_there() -> None:
    words = [word for line in of("terraform") for word in line.words if word.startswith("-chdir=")]

    assert words
    assert [word for word in words if not (ROOT / word.removeprefix("-chdir=") / "main.tf").is_file()] == []


SHOWN = [text for page in pages() for text in blocks(page.read_text(encoding="utf-8"), "yaml")]
POLICIES = [text for text in SHOWN if not text.startswith("apiVersion:")]


@pytest.mark.parametrize("text", POLICIES)
def test_every_policy_shown_is_valid(text: str) -> None:
    assert parse(text.encode()).pools["default-pool"].enabled


def test_the_compute_class_shown_is_a_reapers() -> None:
    (shown,) = [safe_load(text) for text in SHOWN if text not in POLICIES]

    assert shown["kind"] == "ComputeClass"
    said = autoscaling_policy(msgspec.convert(shown, buffer_objects.ComputeClass))
    assert said == AutoscalingPolicy(threshold=Fraction(0), delay=timedelta(minutes=1))


def test_every_order_shown_is_an_order() -> None:
    messages = [line.words[-1].replace("$node", "gke-a-b") for line in of("gcloud") if "--message" in line.words]

    orders = [decode(message.encode(), CLUSTER, "id", NOW) for message in messages]
    assert {order.kind for order in orders} == {OrderKind.DRAIN, OrderKind.RELEASE}, "those that people send"
    assert {order.dry_run for order in orders} == {False, True}
    assert any(order.ignore for order in orders)


NODE_POOLS = """\
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: default-pool}
spec: {disruption: {consolidationPolicy: WhenUnderutilized}}
"""
WITHOUT_A_CLOUD = {"plan", "report", "explain", "policy"}
ON_FILES = (line for line in of("ebb") if line.words[1] in WITHOUT_A_CLOUD and "--context" not in line.words)
OFFLINE = {line.words: line for line in ON_FILES if line.words[0] == "ebb"}


@pytest.mark.parametrize("line", OFFLINE.values(), ids=named)
def test_every_command_that_needs_only_files_works_on_them(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dumps.write(tmp_path / "cluster.json", 8)
    for name in ("policy.yaml", "policy.json", "old.yaml"):  # JSON is YAML, and either is read
        (tmp_path / name).write_text(POLICIES[0], encoding="utf-8")
    (tmp_path / "new.yaml").write_text(POLICIES[-1], encoding="utf-8")
    (tmp_path / "nodepools.yaml").write_text(NODE_POOLS, encoding="utf-8")
    (tmp_path / "commitments.json").write_text("[]", encoding="utf-8")
    words = [dumps.name_of(1) if word == "NODE" else word for word in line.words[1:]]

    ended = ebb(*words)

    assert (ended.exit_code, bool(ended.output)) == (0, True), ended.output
