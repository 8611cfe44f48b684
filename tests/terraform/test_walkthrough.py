"""docs/install.md leads from nothing to the first dry-run report: walked as far as that goes without a cloud."""

import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared.core.records.orders import OrderKind, Origin, decode
from tests.builders import CLUSTER, NOW
from tests.cli import dumps
from tests.cli.running import ebb
from tests.depth import cases
from tests.pages import INSTALL, README, ROOT, blocks, section
from tests.terraform.mocked import outputs_of, plan_of
from tests.terraform.module_runs import Terraform

SECTION = section(INSTALL, "## One cluster")
CLOUD = "cloud:"
"""How a comment begins that names what needs a cloud."""


@dataclass(frozen=True)
class Command:
    """One line of the walk-through: each program of its pipe with its words, and what is said of it."""

    programs: tuple[tuple[str, ...], ...]
    comment: str

    @property
    def needs_cloud(self) -> bool:
        return self.comment.startswith(CLOUD)


def commands() -> list[Command]:
    return [_command(line) for line in blocks(SECTION, "sh")[0].splitlines() if line.strip()]


def _command(line: str) -> Command:
    words = shlex.split(line, comments=True)
    comment = line.partition("  # ")[2] if "  # " in line else ""
    programs: list[list[str]] = [[]]
    for word in words:
        programs.append([]) if word == "|" else programs[-1].append(word)
    return Command(tuple(tuple(program) for program in programs), comment.strip())


def modules() -> list[str]:
    pages = (README, ROOT / "terraform" / "README.md")
    return [text for page in pages for text in blocks(page.read_text(encoding="utf-8"), "hcl")]


KNOWN_FLAGS = {
    "gcloud container clusters get-credentials": {"--location", "--project"},
    "gcloud logging read": {"--project", "--limit", "--format"},
    "gcloud auth application-default login": set(),
    "terraform init": {"-chdir"},
    "terraform apply": {"-chdir", "-var"},
    "terraform output": {"-chdir", "-raw"},
}
"""By command, what its reference knows and the walk-through uses: https://cloud.google.com/sdk/gcloud/reference,
https://kubernetes.io/docs/reference/kubectl, https://developer.hashicorp.com/terraform/cli/commands."""


def words(program: str, *verbs: str) -> list[Command]:
    return [command for command in commands() if any(_is(words, program, verbs) for words in command.programs)]


def _is(program: tuple[str, ...], name: str, verbs: tuple[str, ...]) -> bool:
    plain = [word for word in program if not word.startswith("-")]
    return plain[: len(verbs) + 1] == [name, *verbs]


APPLIED = words("terraform", "apply")[0].programs[0]
GIVEN = [word for pair in pairwise(APPLIED) if pair[0] == "-var" for word in pair]
"""The variables that the page applies with."""


@pytest.fixture(scope="module")
def example(tool: Terraform, module: Path) -> dict[str, Any]:
    """The outputs of the example that the walk-through applies, with the variables that it names."""
    root = module.parent / next(word for word in APPLIED if word.startswith("-chdir=")).removeprefix("-chdir=")
    (root / "rbac.tf").write_text('output "rbac" { value = module.ebb.rbac }')
    return outputs_of(tool, root, "../../tests/mocks", *GIVEN)


def test_the_page_takes_an_evening_at_most() -> None:
    assert 1 < len(commands()) <= 13
    assert len(INSTALL.read_text(encoding="utf-8").splitlines()) <= 48


def test_what_needs_a_cloud_shows_it_and_nothing_else_does() -> None:
    for command in commands():
        first = command.programs[0]
        in_cloud = first[0] == "gcloud" or "apply" in first or first[:2] in (("ebb", "dump"), ("ebb", "doctor"))

        assert command.needs_cloud == in_cloud, first


@pytest.mark.parametrize("command", commands(), ids=lambda command: " ".join(command.programs[0][:3]))
def test_every_flag_is_one_that_its_command_knows(command: Command) -> None:
    for program in command.programs:
        if program[0] not in ("gcloud", "kubectl", "terraform"):
            continue
        name = next(name for name in KNOWN_FLAGS if _is(program, name.split()[0], tuple(name.split()[1:])))
        flags = {word.partition("=")[0] for word in program if word.startswith("-") and word != "-"}

        assert flags <= KNOWN_FLAGS[name]


@cases(
    "more, example, variables",
    ("one cluster", 0, "simple", GIVEN),
    ("one of a fleet, with the state's guard", 1, "fleet", ["-var-file=clusters/prod-west.tfvars"]),
)
def test_the_number_of_resources_is_that_of_the_plan(
    tool: Terraform, module: Path, more: int, example: str, variables: list[str]
) -> None:
    planned = plan_of(tool, module / "examples" / example, "../../tests/mocks", *variables)
    told = re.search(r"`(\d+) to add`", INSTALL.read_text(encoding="utf-8"))

    assert told
    assert int(told[1]) + more == sum(not re.search(r"(^|\.)data\.", address) for address in planned)


def test_the_outputs_that_are_printed_are_there(example: dict[str, Any]) -> None:
    lines = [word.programs[0] for word in words("terraform", "output")]
    named = {line[line.index("-raw") + 1] for line in lines}

    assert named == {"policy"}
    assert {"cli", *named} <= example.keys()


def test_the_rights_that_are_applied_are_those_of_the_single_source(example: dict[str, Any]) -> None:
    applied = list(yaml.safe_load_all(example["rbac"]))
    files = ((ROOT / "infra" / name).read_text(encoding="utf-8") for name in ("rbac.yaml", "admission.yaml"))
    source = [thing for text in files for thing in yaml.safe_load_all(text)]

    assert [(thing["kind"], thing["metadata"]["name"], thing.get("rules")) for thing in applied] == [
        (thing["kind"], thing["metadata"]["name"], thing.get("rules")) for thing in source
    ]
    subjects = [subject["name"] for thing in applied for subject in thing.get("subjects", [])]
    assert len(subjects) == 2
    assert all(re.fullmatch(r"[^@]+@my-project\.iam\.gserviceaccount\.com", name) for name in subjects)


def test_the_reports_are_made_of_a_dump_and_the_policy_that_terraform_writes(
    example: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dumps.write(tmp_path / "cluster.json")
    (tmp_path / "policy.json").write_text(example["policy"], encoding="utf-8")
    lines = [word.programs[0][1:] for word in words("ebb") if word.programs[0][1] in ("plan", "policy")]
    runs = [ebb(*line) for line in lines]

    assert [run.exit_code for run in runs] == [0, 0, 0], [run.output for run in runs]
    assert "dry run" in runs[2].output.lower()


def test_the_drain_command_publishes_an_order_for_the_node_that_is_put_in(example: dict[str, Any]) -> None:
    command = shlex.split(example["drain_command"].replace("NODE", "gke-a-b"))
    order = decode(command[-1].encode(), CLUSTER, "1234", NOW)

    assert command[:4] == ["gcloud", "pubsub", "topics", "publish"]
    assert re.fullmatch(r"projects/my-project/topics/\S+", command[4])
    assert (order.kind, order.node, order.order_id, order.origin) == (OrderKind.DRAIN, "gke-a-b", "1234", Origin.MANUAL)


def test_the_follow_command_finds_what_became_of_the_order(example: dict[str, Any]) -> None:
    command = shlex.split(example["follow_command"].replace("ID", "1234"))

    assert command[3] == 'operation.id="1234" OR jsonPayload.message_id="1234"'
    assert command[command.index("--project") + 1] == "my-project"


@pytest.mark.parametrize("text", modules())
def test_the_module_is_used_as_the_pages_show(tool: Terraform, module: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "ebb").symlink_to(module.parent)
    (tmp_path / "main.tf").write_text(text, encoding="utf-8")

    assert outputs_of(tool, tmp_path, "./ebb/terraform/tests/mocks") == {}
