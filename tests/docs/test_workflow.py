"""The example workflow for policy repositories: its commands, options and files exist, and those of Ebb run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from shared import VERSION
from tests.cli import dumps
from tests.cli.running import ebb
from tests.depth import cases
from tests.docs.shell import unknown_to_ebb
from tests.pages import ROOT

EXAMPLE: Final = ROOT / "terraform" / "examples" / "fleet"
TEXT: Final = (EXAMPLE / "policy-workflow.yaml").read_text(encoding="utf-8")
WORKFLOW: Final[dict[Any, Any]] = yaml.safe_load(TEXT)
RELEASE: Final = (ROOT / ".github" / "workflows" / "release.yaml").read_text(encoding="utf-8")
RELEASE_STEPS: Final = yaml.safe_load(RELEASE)["jobs"]["release"]["steps"]
STEPS: Final = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
KNOWN: Final = {
    "cat": set(),
    "echo": set(),
    "gh pr comment": {"--body-file", "--create-if-none", "--edit-last"},
    "git show": set(),
    "pipx install": set(),
    "terraform init": {"-input", "-backend-config"},
    "terraform plan": {"-input", "-lock", "-no-color", "-var-file"},
    "terraform test": set(),
    "terraform validate": set(),
}
"""By command, what its reference knows and the workflow uses: https://cli.github.com/manual/gh_pr_comment,
https://developer.hashicorp.com/terraform/cli/commands."""


def lines() -> list[list[str]]:
    """Return the words of every command, without what is redirected."""
    told = (line for step in STEPS for line in step.get("run", "").splitlines())
    return [shlex.split(re.sub(r">>? \S+$", "", re.sub(r"\$\{\{.*?\}\}", "1", line))) for line in told]


def test_every_command_and_option_exists() -> None:
    for words in lines():
        if words[0] == "ebb":
            assert unknown_to_ebb(tuple(words[1:])) == [], words
            continue
        name = next(name for name in KNOWN if words[: len(name.split())] == name.split())
        assert {word.partition("=")[0] for word in words if word.startswith("-")} <= KNOWN[name], words


def test_it_checks_compares_tests_and_plans_and_applies_nothing() -> None:
    verbs = [" ".join(words[:3]) for words in lines()]

    for verb in ("ebb policy check", "ebb policy diff", "terraform test", "terraform plan", "gh pr comment"):
        assert [known for known in verbs if known.startswith(verb)], verb
    assert not [verb for verb in verbs if "apply" in verb]


def test_no_job_may_do_what_only_the_other_needs() -> None:
    granted = {name: job["permissions"] for name, job in WORKFLOW["jobs"].items()}

    assert WORKFLOW["permissions"] == {}
    assert granted == {
        "summary": {"contents": "read", "pull-requests": "write"},
        "plan": {"contents": "read", "id-token": "write"},
    }
    checkouts = [step for step in STEPS if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_the_summary_is_written_into_the_job_and_as_a_comment_of_a_branch_of_our_own() -> None:
    steps = {step.get("name"): step for step in WORKFLOW["jobs"]["summary"]["steps"]}

    assert 'cat comment.md >> "$GITHUB_STEP_SUMMARY"' in steps["Show what would change"]["run"]
    assert "--body-file comment.md" in steps["Comment"]["run"]
    ours = "github.event.pull_request.head.repo.full_name == github.repository"
    assert steps["Comment"]["if"] == WORKFLOW["jobs"]["plan"]["if"] == ours


def test_nothing_that_a_pull_request_may_name_is_pasted_into_a_script() -> None:
    assert [step["run"] for step in STEPS if "${{" in step.get("run", "")] == []


def test_every_file_that_is_named_is_in_the_example() -> None:
    named = {word.partition("=")[2] for words in lines() for word in words if word.startswith("-var-file=")}

    assert named
    assert all((EXAMPLE / name).is_file() for name in {*named, "policy.yaml"})


def test_what_is_used_is_pinned_by_its_commit_and_shows_which_release_that_is() -> None:
    used = re.findall(r"uses: (.+)", TEXT)

    assert used
    assert [each for each in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []


@pytest.mark.parametrize("words", [words[1:] for words in lines() if words[0] == "ebb"], ids=" ".join)
def test_the_commands_of_ebb_run(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dumps.write(tmp_path / "cluster.json")
    for name in ("policy.yaml", "before.yaml"):
        (tmp_path / name).write_text((EXAMPLE / "policy.yaml").read_text(encoding="utf-8"), encoding="utf-8")

    assert ebb(*words).exit_code == 0


def test_a_release_is_built_from_pinned_actions_and_by_targets_that_exist() -> None:
    used = [line.strip() for line in RELEASE.splitlines() if "uses:" in line]
    targets = re.findall(r"make (\w+)", " ".join(step.get("run", "") for step in RELEASE_STEPS))
    known = re.findall(r"^(\w+)(?=[ \w]*:)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)

    assert used
    assert [line for line in used if not re.search(r"@[0-9a-f]{40} # v[\d.]+$", line)] == []
    assert targets == ["test", "dist"]
    assert set(targets) <= set(known)


@cases("expected, tag", ("its own tag", 0, f"v{VERSION}"), ("the tag of another version", 1, "v9.9.9"))
def test_a_release_is_refused_under_another_tag(expected: int, tag: str) -> None:
    check = next(step["run"] for step in RELEASE_STEPS if "tag is" in step.get("name", ""))
    folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "GITHUB_REF_NAME": tag, "PATH": f"{folder}:{os.environ['PATH']}"}

    assert subprocess.run(["/bin/sh", "-c", check], cwd=ROOT, env=environment, check=False).returncode == expected
