"""The example workflow for policy repositories: its commands, options and files exist, and those of Ebb run."""

import re
import shlex
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from typer.testing import CliRunner

from functions.cli.main import app
from tests.cli import dumps
from tests.docs.shell import unknown_to_ebb
from tests.pages import ROOT

EXAMPLE: Final = ROOT / "terraform" / "examples" / "fleet"
WORKFLOW: Final[dict[Any, Any]] = yaml.safe_load((EXAMPLE / "policy-workflow.yaml").read_text(encoding="utf-8"))
STEPS: Final = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
KNOWN: Final = {
    "echo": set(),
    "gh pr comment": {"--body-file"},
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


def of_ebb() -> list[list[str]]:
    return [words[1:] for words in lines() if words[0] == "ebb"]


def test_every_command_and_option_exists() -> None:
    for words in lines():
        if words[0] == "ebb":
            assert unknown_to_ebb(tuple(words[1:])) == [], words
            continue
        name = next(name for name in KNOWN if words[: len(name.split())] == name.split())
        assert {word.partition("=")[0] for word in words if word.startswith("-")} <= KNOWN[name], words


def test_it_checks_tests_and_plans_as_a_comment() -> None:
    verbs = [" ".join(words[:3]) for words in lines()]

    for verb in ("ebb policy check", "ebb policy diff", "terraform test", "terraform plan", "gh pr comment"):
        assert [each for each in verbs if each.startswith(verb)], verb
    assert not [each for each in verbs if "apply" in each]
    assert WORKFLOW["permissions"] == {"contents": "read", "id-token": "write", "pull-requests": "write"}


def test_every_file_that_is_named_is_in_the_example() -> None:
    named = {word.partition("=")[2] for words in lines() for word in words if word.startswith("-var-file=")}

    assert named
    assert all((EXAMPLE / name).is_file() for name in {*named, "policy.yaml"})


def test_what_is_used_is_named_by_its_version() -> None:
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+", step["uses"]) for step in STEPS if "uses" in step)


@pytest.mark.parametrize("words", of_ebb(), ids=" ".join)
def test_the_commands_of_ebb_run(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dumps.write(tmp_path / "cluster.json")
    for name in ("policy.yaml", "before.yaml"):
        (tmp_path / name).write_text((EXAMPLE / "policy.yaml").read_text(encoding="utf-8"), encoding="utf-8")

    assert CliRunner().invoke(app, words).exit_code == 0
