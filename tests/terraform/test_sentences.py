"""Every validation refuses, with a sentence that says what to write instead."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.terraform.module_runs import MODULE, Terraform, refused

CASES: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "refusals.yaml").read_text(encoding="utf-8"))
Answers = dict[str, list[tuple[str, str]]]


@pytest.fixture(scope="module")
def answers(values_tool: Terraform, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """All cases at once, each by its place in the table."""
    inputs = {f"case{number}": case["inputs"] for number, case in enumerate(CASES.values())}
    return refused(values_tool, tmp_path_factory.mktemp("sentences") / "ground", {**inputs, "good": {}})


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_work_is_refused_with_a_remedy(answers: Answers, name: str) -> None:
    expected, said = CASES[name]["says"], [sentence for sentence, _ in answers[f"case{list(CASES).index(name)}"]]

    assert [sentence for sentence in said if sentence.startswith(expected)], said
    assert all(re.fullmatch(r"[A-Za-z_.]+(, [A-Za-z_.]+)*: .+\.", sentence) for sentence in said)


def test_what_can_work_is_not_refused(answers: Answers) -> None:
    assert answers["good"] == []


def test_every_validation_of_the_module_was_seen_to_refuse(answers: Answers) -> None:
    seen = {place for rows in answers.values() for _, place in rows}
    written = {
        f"terraform/{path.name}:{number}"
        for path in MODULE.glob("variables*.tf")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.strip() == "validation {"
    }

    assert written == seen
