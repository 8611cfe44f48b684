"""The command as a person runs it: what it prints, where, and how it ends."""

import json
import os
import re
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import Result

from functions.cli.input.inputs import MARKED, NO_PROFILE, PACKING, gather
from functions.cli.input.options import Sources
from functions.cli.main import GONE, app
from functions.cli.output.format import use_currency
from functions.cli.plan.compute import BEYOND
from shared.core.cluster.names import PACKING_SCHEDULER
from tests.adapters.scripted import document
from tests.cli import dumps
from tests.cli.running import ROOT, ebb, run_ebb, run_program, start_ebb
from tests.depth import cases
from tests.measured_figures import cpu_of, slowness

LAST_VERSION = (
    *("plan", "explain", "why-not", "shapes", "report", "fleet", "top", "dump", "demo", "simulate", "policy", "status"),
    *("history", "drain", "release", "pause", "resume", "doctor"),
    *("policy check", "policy init", "policy windows", "policy diff", "policy import"),
)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dumps.write(tmp_path_factory.mktemp("dump") / "night.json")


@cache
def plan(dump: Path, *args: str) -> Result:
    """Plan the dump, once for all tests that look at the same output."""
    return ebb("plan", "--dump", dump, *args)


def test_the_scenarios_come_first_and_the_last_line_repeats_them(dump: Path) -> None:
    first, *_, last = plan(dump).output.splitlines()

    assert first.split() == ["nodes", "a", "month", "a", "year", "saved", "evictions", "a", "node"]
    assert "Now 60 nodes for $6,463 a month; autoscaler alone 54 nodes for $5,817; with Ebb" in last


@cases(
    "expected",
    ("that pools are read from labels", "A dump has no GKE API"),
    ("that marks are new", "No marks of earlier passes are known"),
    ("that rollouts are not seen", "No ReplicaSets, Deployments and StatefulSets are known"),
    ("the dump's newest timestamp as now", "night.json, 2026-03-04 22:00:00 UTC"),
    ("which nodes wait", "marked_recently"),
    ("until when they wait", "from 22:05"),
    ("which pod keeps a node", "pod: not_replicated"),
    ("which pods a PodDisruptionBudget keeps", "shop/db-7, shop/db-19, shop/db-31 and 2 more (shop/db, "),
)
def test_the_table_shows(expected: str, dump: Path) -> None:
    assert expected in plan(dump, "--nodes").output


STORAGE = "persistentvolumeclaims, persistentvolumes, storageclasses, csinodes"


@cases(
    "expected, kinds",
    ("an old one", f"no {STORAGE} are known; add {STORAGE.replace(' ', '')} to the dump.", ()),
    ("a whole dump", "", ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode")),
)  # fmt: skip
def test_a_dump_without_storage_shows_it_where_a_pod_has_a_claim(
    expected: str, kinds: tuple[str, ...], tmp_path: Path
) -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    claiming = dumps.pod("db-0", dumps.name_of(0), app="db", kind="StatefulSet", volumes=volumes)
    rows = [{"kind": kind, "metadata": {"name": "data", "namespace": "shop"}, "spec": {}} for kind in kinds]
    given = dumps.write_items(tmp_path / "night.json", [dumps.node(0), claiming, *rows])

    said = [line for line in ebb("plan", "--dump", given).output.splitlines() if "volume claims" in line]

    assert said == ([f"Pods with volume claims stay where they are: {expected}"] if expected else [])


def test_a_file_gets_no_colours(dump: Path) -> None:
    assert "\x1b" not in start_ebb("plan", "--dump", dump, "--potential").stdout


def test_the_time_asked_for_counts(dump: Path) -> None:
    shown = ebb("plan", "--dump", dump, "--at", "2026-03-05T09:00:00+01:00", "--output", "json")
    assert json.loads(shown.stdout)["taken_at"] == "2026-03-05T08:00:00Z"


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_a_dump_may_come_from_a_pipe(suffix: str, tmp_path: Path) -> None:
    data = dumps.write(tmp_path / f"dump{suffix}", 2).read_bytes()
    shown = ebb("plan", "--dump", "-", stdin=data)
    assert shown.exit_code == 0
    assert "Cluster    stdin, " in shown.output


@pytest.mark.deep
def test_a_plan_of_sixty_nodes_takes_less_than_a_second(dump: Path, tmp_path: Path) -> None:
    """CPU of the whole process once its code is compiled, the best of four: wall time is the machine's own business.

    So is how much it does in a second of CPU: what takes a second elsewhere is measured by its side.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)

    command = [sys.executable, "-m", "functions.cli.main", "plan", "--dump", str(dump)]
    rounds = ((cpu_of(command, cwd=ROOT, env=environment), slowness()) for _ in range(4))
    plans, seconds = zip(*rounds, strict=True)
    assert min(plans) < min(seconds), (plans, seconds)


MOST_LOADED = 151
"""Modules of ours, packages among them, that a plan of a dump may load: who reads the code from here reads these."""


def test_a_plan_of_a_dump_loads_few_modules_no_cloud_client_and_no_template_engine(dump: Path) -> None:
    program = (
        "import sys; from typer.testing import CliRunner; from functions.cli.main import app;"
        f"assert CliRunner().invoke(app, ['plan', '--dump', {str(dump)!r}]).exit_code == 0;"
        "print(*sys.modules)"
    )
    shown = run_program(sys.executable, "-c", program, cwd=ROOT)
    assert shown.returncode == 0, shown.stderr
    loaded = shown.stdout.split()
    clients = ("google.cloud.", "google.a", "kubernetes", "grpc", "jinja2")
    assert [name for name in loaded if name.startswith(clients)] == []
    assert sum(name.partition(".")[0] in {"functions", "infra", "shared"} for name in loaded) <= MOST_LOADED


@cases(
    "code, sentence, typed",
    ("no such dump", 2, "--dump: gone.json does not exist", "plan --dump gone.json"),
    ("a dump that is no JSON", 2, "bad.json", "plan --dump bad.json"),
    ("JSON that is no dump", 2, "other.json", "plan --dump other.json"),
    ("a dump and a kubeconfig", 2, "leave out --kubeconfig", "plan --dump a.json --kubeconfig k"),
    ("a dump and a context", 2, "leave out --kubeconfig", "plan --dump a.json --context c"),
    ("a kubeconfig that is none", 2, "kubeconfig k cannot be used", "plan --kubeconfig k"),
    ("a time that is none", 2, "write for example 2026", "plan --dump a.json --at yesterday"),
    ("a time without zone", 2, "write for example 2026", "plan --dump a.json --at 2026-01-31T09:00:00"),
    ("an unknown output", 2, "'xml' is not one of 'table'", "plan --dump a.json --output xml"),
    ("no such policy", 2, "gone.yaml: cannot be read", "plan --dump a.json --policy gone.yaml"),
    ("a policy with a fault", 1, "timeGap", "plan --dump a.json --policy bad.yaml"),
    ("a policy with a fault, checked", 1, "timeGap", "policy check bad.yaml"),
    ("no such policy, checked", 2, "gone.yaml: cannot be read", "policy check gone.yaml"),
    ("a node that is not there", 2, "no node 'x'", "explain x --dump a.json"),
    ("an unknown command", 2, "No such command", "fly"),
    ("a cluster that does not answer", 1, "Kubernetes API", "plan --kubeconfig dead"),
)
def test_a_mistake_is_one_sentence_on_stderr(code: int, sentence: str, typed: str, tmp_path: Path) -> None:
    dumps.write(tmp_path / "a.json", 2)
    (tmp_path / "bad.json").write_text("nodes: []")
    (tmp_path / "other.json").write_text('{"kind": "Deployment"}')
    (tmp_path / "bad.yaml").write_text("cluster: {timeGap: soon}\n")
    (tmp_path / "k").write_text("no kubeconfig")
    (tmp_path / "dead").write_text(json.dumps(document(server="https://127.0.0.1:9")))
    ended = run_ebb(*typed.split(), cwd=tmp_path, COLUMNS="200")
    assert (ended.returncode, sentence in ended.stderr, ended.stdout) == (code, True, ""), ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_version_is_the_packages() -> None:
    assert ebb("--version").output == f"ebb {version('ebb')}\n"


def test_without_a_forecast_there_are_no_scenarios_and_the_pass_is_the_same(dump: Path) -> None:
    whole, short = (json.loads(plan(dump, "-o", "json", *more).stdout) for more in ((), ("--no-forecast",)))
    assert whole["ladder"]
    assert short["ladder"] == []
    assert short["nodes"] == [{**node, "removed_by": None} for node in whole["nodes"]]
    assert "autoscaler alone" not in ebb("plan", "--dump", dump, "--no-forecast", "--potential").output


def test_what_the_potential_counts_beyond_the_policy_is_shown(dump: Path) -> None:
    assert BEYOND in plan(dump, "--potential").output
    assert BEYOND not in plan(dump).output


def test_marks_may_be_assumed(dump: Path) -> None:
    waiting, assumed = (plan(dump, "-o", "json", *given) for given in ((), ("--assume-marked",)))

    assert json.loads(waiting.stdout)["totals"]["removable"] == 0
    assert json.loads(assumed.stdout)["totals"]["removable"] > 0
    assert MARKED in assumed.stderr


def test_prices_are_ones_own(dump: Path) -> None:
    listed, less = (
        json.loads(plan(dump, "-o", "json", *given).stdout)
        for given in ((), ("--discount", "25%", "--currency", "EUR=2"))
    )

    use_currency("USD")  # a process shows money in one currency
    assert less["totals"]["cost_per_hour"] == pytest.approx(listed["totals"]["cost_per_hour"] * 0.75 * 2, abs=0.001)
    assert less["prices"]["currency"] == "EUR"
    assert less["prices"]["discounts"] == [{"family": None, "share": 0.25}]
    assert [scenario["rung"] for scenario in less["ladder"]][:3] == ["now", "autoscaler_alone", "policy_at_rest"]


def test_the_profile_is_shown_by_the_scheduler_that_pods_name(dump: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.json"
    packed.write_text(dump.read_text().replace("default-scheduler", PACKING_SCHEDULER))

    assert NO_PROFILE in plan(dump).output
    assert PACKING in ebb("plan", "--dump", packed).output
    assert gather(Sources((packed,))).snapshot.profile == "OPTIMIZE_UTILIZATION"


def test_every_command_of_the_last_version_is_there_or_names_what_replaces_it() -> None:
    root: Any = get_command(app)
    there = {(name,) for name in root.commands} | {("policy", name) for name in root.commands["policy"].commands}
    assert {*there, *GONE} >= {tuple(words.split()) for words in LAST_VERSION}
    assert not there & GONE.keys()


@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words)) for words in GONE])
def test_a_command_that_went_names_in_one_line_what_to_use_instead(words: tuple[str, ...]) -> None:
    root: Any = get_command(app)
    shown = ebb(*words, "policy.yaml", "--help")
    named = re.findall(r"ebb ((?:policy )?[a-z-]+)", shown.stderr.partition("; ")[2])
    assert (shown.exit_code, shown.stdout, shown.stderr.count("\n")) == (2, "", 1)
    assert named
    for command, *below in map(str.split, named):
        assert set(below) <= set(getattr(root.commands[command], "commands", {}))
