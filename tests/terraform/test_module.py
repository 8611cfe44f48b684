"""The module: what it makes and refuses."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from infra.archive import source_files
from tests.cli.running import run_program
from tests.real.needs import skip_or_fail
from tests.terraform.linter import tflint
from tests.terraform.module_runs import MODULE, ROOT, Terraform

ROOTS = [
    ".",
    "inputs",
    "rbac",
    "review",
    *sorted(str(path.parent.relative_to(MODULE)) for path in MODULE.glob("examples/**/main.tf")),
]
LONG = {"tests/switches.tftest.hcl", "tests/monitoring.tftest.hcl"}
SUITES = [
    *sorted(f"tests/{path.name}" for path in MODULE.glob("tests/*.tftest.hcl")),
    *sorted(f"{path.parent.parent.name}/tests/{path.name}" for path in MODULE.glob("r*/tests/*.tftest.hcl")),
]


def test_the_form_is_terraforms_own(values_tool: Terraform, tmp_path: Path) -> None:
    shutil.copytree(MODULE, tmp_path / "terraform")
    done = values_tool.run(tmp_path / "terraform", "fmt", "-check", "-recursive", "-diff")

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("root", ROOTS)
def test_every_root_is_valid(tool: Terraform, module: Path, root: str) -> None:
    assert tool.init(module / root) is None

    done = tool.run(module / root, "validate", "-no-color")
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stdout + done.stderr


def test_the_examples_are_those_that_the_readme_names() -> None:
    page = (MODULE / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| \[`[^`]+`\]\((examples/[\w/-]+)/README\.md\)", page, re.MULTILINE)

    assert sorted(named) == [root for root in ROOTS if root.startswith("examples/")]


@pytest.mark.parametrize("suite", [pytest.param(suite, marks=[pytest.mark.deep] * (suite in LONG)) for suite in SUITES])
def test_the_modules_own_tests_pass(tool: Terraform, module: Path, suite: str) -> None:
    folder = module / Path(suite).parent.parent
    assert tool.init(folder) is None

    done = tool.run(folder, "test", "-no-color", f"-filter=tests/{Path(suite).name}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed" in done.stdout


def test_the_page_has_the_end_of_every_runtime_that_can_be_written() -> None:
    rule = re.search(
        r"contains\(\[(.*)\], var\.input\.functions\.runtime\)", (MODULE / "inputs/variables.tf").read_text()
    )
    page = (MODULE / "README.md").read_text(encoding="utf-8")

    assert rule
    assert re.findall(r"^\| `(python\d+)`", page, re.MULTILINE) == re.findall(r"python\d+", rule[1])


@pytest.mark.parametrize("folder", [".", "rbac", "review"])
def test_a_module_brings_no_provider_of_its_own(folder: str) -> None:
    """Whoever calls it says as whom; a module with a provider can neither be repeated nor removed."""
    texts = [path.read_text(encoding="utf-8") for path in (MODULE / folder).glob("*.tf")]

    assert texts
    assert not [text for text in texts if re.search(r"^provider ", text, re.MULTILINE)]


@pytest.mark.parametrize("kind", ["variable", "output"])
def test_inputs_and_outputs_stand_in_alphabetical_order_and_are_explained(kind: str) -> None:
    for path in [*MODULE.glob(f"{kind}s*.tf"), *MODULE.glob(f"r*/{kind}s*.tf")]:
        text = path.read_text(encoding="utf-8")
        names = re.findall(rf'^{kind} "([^"]+)"', text, re.MULTILINE)

        assert names == sorted(names), path
        assert len(re.findall(r"^  description = ", text, re.MULTILINE)) == len(names), path


def test_terraform_packs_the_files_that_the_tested_archive_has(values_tool: Terraform, tmp_path: Path) -> None:
    """The very expression of functions.tf, on the repository itself."""
    text = (MODULE / "functions.tf").read_text(encoding="utf-8")
    expression = text.split("  source_files = ")[1].split("\n\n")[0].replace("local.root", f'"{ROOT}"')
    output = {"output": {"files": {"value": f"${{{expression}}}"}}}
    (tmp_path / "main.tf.json").write_text(json.dumps(output), encoding="utf-8")
    events = values_tool.events(tmp_path, "apply", "-auto-approve")

    found = [event["outputs"]["files"] for event in events if event["type"] == "outputs"]
    assert found[-1]["value"] == source_files()


@pytest.fixture(scope="module")
def linter() -> Path:
    try:
        return tflint(build=os.environ.get("CI") == "true")
    except RuntimeError as failed:
        skip_or_fail(str(failed))


@pytest.mark.parametrize("root", ROOTS)
def test_tflint_finds_nothing(linter: Path, root: str) -> None:
    """Unused declarations, missing types and versions, deprecated forms; .tflint.hcl says what is off, and why."""
    of_examples = ("terraform_documented_outputs", "terraform_documented_variables")  # explained by a comment, or above
    less = [f"--disable-rule={rule}" for rule in of_examples if root.startswith(("examples/", "inputs"))]
    done = run_program(linter, f"--chdir={MODULE / root}", f"--config={MODULE / '.tflint.hcl'}", "--no-color", *less)

    assert done.returncode == 0, done.stdout + done.stderr
