"""Terraform on copies of the module, so that no `.terraform` and no lock file lands in the repository.

Two grounds: the whole module with its providers (from the mirror that EBB_TFMIRROR names, or the registry), and the
values alone (names, schedule, policy and every validation), which need no provider and judge a thousand cases in a
second.
"""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tests.cli.running import run_program
from tests.terraform.mirror import completed

ROOT: Final = Path(__file__).parents[2]
MODULE: Final = ROOT / "terraform"
CLUSTER: Final = {"name": "prod", "location": "europe-west1"}


Cases = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Part:
    """A part of the module in which no resource stands: its files, inputs that vary, and values to look at."""

    files: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: Mapping[str, str]


NAMES: Final = Part(
    files=("inputs", "names", "schedule", "sizes", "variables"),
    inputs=("cluster", "functions", "prefix", "schedule"),
    outputs={
        "cron": "local.cron",
        "identities": "[local.bucket_name, local.database_name, local.planner_name, local.drainer_name, "
        "local.role_id, local.orders_name, local.dead_letters_name, local.rejected_name, local.results_name]",
        "interval": "local.interval_minutes",
        "memory": "[local.planner_memory, local.drainer_memory]",
        "name": "local.name",
        "offset": "local.offset_minutes",
    },
)
POLICY: Final = Part(
    files=(*NAMES.files, "policy_document", "policy_faults", "variables-policy"),
    inputs=("paused", "policy", "policy_file"),
    outputs={"document": "local.policy_document", "faults": "local.policy_faults", "most_drains": "local.most_drains"},
)


@dataclass(frozen=True)
class Terraform:
    """The binary with the environment in which it finds its providers."""

    program: str
    environment: Mapping[str, str]

    def run(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return run_program(self.program, *words, cwd=folder, env=dict(self.environment))

    def init(self, folder: Path) -> str | None:
        """Fetch modules and providers; return why that failed."""
        done = self.run(folder, "init", "-backend=false", "-no-color")
        return None if done.returncode == 0 else done.stderr.strip() or done.stdout.strip()

    def events(self, folder: Path, *words: str) -> Iterator[dict[str, Any]]:
        done = self.run(folder, *words, "-json")
        for line in done.stdout.splitlines():
            yield json.loads(line)


def without_providers(program: str) -> Terraform:
    return Terraform(program, {**os.environ, "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1", "TF_CLI_ARGS": ""})


def with_providers(tool: Terraform) -> Terraform:
    """Return Terraform with the mirror that EBB_TFMIRROR names, or as it is if none is named.

    Raises:
        RuntimeError: the mirror could not be built; says why.
    """
    named = os.environ.get("EBB_TFMIRROR", "")
    if not named:
        return tool
    mirror = completed(Path(named))
    built = run_program(f"{mirror}/mirror.sh", cwd=mirror)
    if built.returncode != 0:
        why = (built.stderr.strip().splitlines() or ["no word why"])[-1]
        raise RuntimeError(
            f"the mirror that EBB_TFMIRROR names could not be built, which takes Go 1.25 or later: {why}"
        )
    name, _, value = shlex.split(built.stdout)[1].partition("=")
    return replace(tool, environment={**tool.environment, name: value})


def copy_of_module(target: Path) -> Path:
    """Copy what the module reads and return the module's copy; of the functions' source a single file is enough."""
    left = (".terraform*", "terraform.tfstate*", "local", "__pycache__")
    shutil.copytree(MODULE, target / "terraform", ignore=shutil.ignore_patterns(*left))
    shutil.copytree(ROOT / "infra", target / "infra", ignore=shutil.ignore_patterns(*left, "*.py"))
    (target / "main.py").write_text("", encoding="utf-8")
    if os.environ.get("EBB_TFMIRROR"):  # its google is 6.50, to which the mirror adds the one type that needs 7.31
        for path in (target / "terraform").rglob("*.tf"):
            path.write_text(path.read_text("utf-8").replace('">= 7.31, < 9"', '">= 6.13, < 9"'), encoding="utf-8")
    return target / "terraform"


def values_only(target: Path, part: Part) -> Path:
    """Copy that part of the module, with an output for each value that tests look at."""
    folder = target / "terraform"
    folder.mkdir(parents=True)
    (target / "infra").mkdir()
    for name in part.files:
        shutil.copy(MODULE / f"{name}.tf", folder)
    shutil.copytree(MODULE / "inputs", folder / "inputs", ignore=shutil.ignore_patterns(".terraform*"))
    shutil.copy(ROOT / "infra" / "policy.schema.json", target / "infra")
    outputs = {name: {"value": f"${{{value}}}"} for name, value in part.outputs.items()}
    _write(folder / "outputs.tf.json", {"output": outputs})
    return target


def valued(tool: Terraform, target: Path, part: Part, cases: Cases) -> dict[str, dict[str, Any]]:
    """Return the outputs of each case; a case names the inputs that it sets.

    Raises:
        AssertionError: Terraform refused one; says what it said.
    """
    folder = values_only(target, part)
    _write(folder / "cases.json", {name: {"cluster": CLUSTER, **inputs} for name, inputs in cases.items()})
    inputs = {name: f"${{try(each.value.{name}, null)}}" for name in {"cluster", *part.inputs}}
    call = {"source": "./terraform", "for_each": '${jsondecode(file("cases.json"))}', "project": "my-project", **inputs}
    outputs = {"cases": {"value": "${module.case}"}}
    _write(folder / "main.tf.json", {"module": {"case": call}, "output": outputs})
    events = answered(tool, folder)
    assert not sentences(events), sentences(events)
    found: dict[str, dict[str, Any]] = next(
        event["outputs"]["cases"]["value"] for event in events if _has_values(event)
    )
    return found


def refused(tool: Terraform, target: Path, cases: Cases) -> dict[str, list[tuple[str, str]]]:
    """Return, by case, each sentence that its inputs are refused with, and the place of the rule.

    Each case has a copy of the module: of what a module within it refuses, the file alone says whose it was.
    """
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in cases}
    rest = dict(cases)
    while rest and (said := _said(tool, target / str(len(rest)), rest)):
        for origin, sentence, place in said:
            found[origin].append((sentence, place.removeprefix(f"{origin}/")))
        rest = {name: inputs for name, inputs in rest.items() if not found[name]}
    return found


def _said(tool: Terraform, folder: Path, cases: Cases) -> list[tuple[str, str, str]]:
    """Refuse what is refused first: while the module itself refuses a value, the one within is not asked."""
    folder.mkdir(parents=True)
    calls = {}
    for name, inputs in cases.items():
        values_only(folder / name, POLICY if any(part in inputs for part in POLICY.inputs) else NAMES)
        call = {"source": f"./{name}/terraform", "project": "my-project", "cluster": CLUSTER}
        calls[name] = {**call, **_escaped(inputs)}
    _write(folder / "main.tf.json", {"module": calls})
    _write(folder / "list.json", [])  # a file that is no policy
    (folder / "functions.zip").write_bytes(b"PK\3\4")
    return sentences(answered(tool, folder))


def answered(tool: Terraform, folder: Path) -> list[dict[str, Any]]:
    """Apply values, which changes nothing but Terraform's own record in the folder; only then are they known."""
    failed = tool.init(folder)
    assert failed is None, failed
    return list(tool.events(folder, "apply", "-auto-approve"))


def _has_values(event: Mapping[str, Any]) -> bool:
    return event["type"] == "outputs" and "value" in event["outputs"].get("cases", {})


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _escaped(value: Any) -> Any:
    """Return a value as Terraform's JSON wants it: text is a template there."""
    if isinstance(value, str):
        return value.replace("${", "$${").replace("%{", "%%{")
    if isinstance(value, Mapping):
        return {key: _escaped(part) for key, part in value.items()}
    return [_escaped(part) for part in value] if isinstance(value, list | tuple) else value


def sentences(events: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return each error as the folder or the module call that it comes from, its sentence, and the rule's place."""
    rows = (event["diagnostic"] for event in events if event["type"] == "diagnostic")
    return [_sentence(row) for row in rows if row["severity"] == "error"]


def _sentence(diagnostic: Mapping[str, Any]) -> tuple[str, str, str]:
    where = diagnostic.get("range") or {}
    folder, below, _ = str(where.get("filename", "")).partition("/")
    context = str((diagnostic.get("snippet") or {}).get("context") or "")
    sentence, _, place = str(diagnostic.get("detail", "")).partition("\n\nThis was checked by the validation rule at ")
    if "precondition" in str(diagnostic["summary"]):  # it stands at its condition, a line below its own beginning
        place = f"{where['filename']}:{where['start']['line'] - 1}"
    return (
        folder if below else context.removeprefix("module."),
        sentence or str(diagnostic["summary"]),
        place.partition(",")[0],
    )


def planned(events: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what each run of `terraform test -verbose` plans: by run, then by address, the attributes known."""
    return {
        event["@testrun"]: {
            change["address"]: change["change"]["after"] for change in event["test_plan"]["resource_changes"]
        }
        for event in events
        if event["type"] == "test_plan"
    }
