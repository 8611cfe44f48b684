"""`ebb dump`: the command that prints everything a plan reads, run where asked, and its answer under other names."""

import gzip
import json
import os
import stat
from pathlib import Path

import pytest

from functions.cli.dumps.contents import OPTIONAL, RESOURCES, DumpContents
from tests.cli import dumps
from tests.cli.dumps.rich_dump import OWN, rich_dump
from tests.cli.running import ROOT, ebb, read_json, run_ebb
from tests.depth import cases

ODD = {"kind": "Namespace", "metadata": {"name": "a", "ownerReferences": 7}}
KUBECTL = """#!/bin/sh
echo "$@" > "$(dirname "$0")/asked"
cat "$(dirname "$0")/answer"
cat "$(dirname "$0")/said" >&2 2>/dev/null
exit {code}
"""


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kubectl that prints a dump, and notes what it was asked; its folder is returned."""
    return written_kubectl(tmp_path / "bin", monkeypatch, 0)


def written_kubectl(folder: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> Path:
    folder.mkdir()
    program = folder / "kubectl"
    program.write_text(KUBECTL.format(code=code))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (folder / "answer").write_text(json.dumps({"kind": "List", "items": rich_dump(1)}))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def test_the_command_asks_for_every_kind_that_a_plan_reads_as_the_readme_does() -> None:
    shown, command = ebb("dump"), f"kubectl get {','.join(RESOURCES.values())} -A -o json > "
    assert shown.stdout == f"{command}dump.json\n"
    assert f"where the cluster has them, add {', '.join(OPTIONAL.values())}" in shown.stderr
    assert {*RESOURCES, *OPTIONAL} == {*DumpContents().adders}
    assert command in (ROOT / "README.md").read_text()


def test_the_command_names_the_cluster_that_was_named() -> None:
    shown = ebb("dump", "--context", "gke prod", "--kubeconfig", "k.yaml").stdout
    assert shown.startswith("kubectl --kubeconfig k.yaml --context 'gke prod' get nodes,")


@pytest.mark.parametrize("name", ["dump.json", "dump.json.gz"])
def test_it_is_run_where_a_file_is_named(name: str, kubectl: Path, tmp_path: Path) -> None:
    shown = ebb("dump", "--out", tmp_path / name, "--context", "prod")
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "environment variables too: --anonymize leaves them out" in shown.stderr
    asked = (kubectl / "asked").read_text().split()
    assert asked[:4] == ["--context", "prod", "--request-timeout=120s", "get"]
    data = (tmp_path / name).read_bytes()
    assert (gzip.decompress(data) if name.endswith("gz") else data) == (kubectl / "answer").read_bytes()


MANY = """#!/bin/sh
for word in "$@"; do case "$word" in
  api-resources) echo "pods"; echo "{there}"; exit 1;;
  can-i) exit {refused};;
  get) echo "$@" > "$(dirname "$0")/asked"; cat "$(dirname "$0")/answer";;
esac; done
"""
AUTOSCALERS = OPTIONAL["VerticalPodAutoscaler"]


@cases(
    "expected, there, refused",
    ("there, though another API of the cluster does not answer", True, AUTOSCALERS, 0),
    ("not there", False, "nodes", 0),
    ("not for this person to list", False, AUTOSCALERS, 1),
)
def test_a_kind_that_only_some_clusters_have_is_asked_for_where_it_is(
    expected: bool, there: str, refused: int, kubectl: Path, tmp_path: Path
) -> None:
    (kubectl / "kubectl").write_text(MANY.format(there=there, refused=refused))
    shown = ebb("dump", "--out", tmp_path / "dump.json")

    assert shown.exit_code == 0
    assert (f",{AUTOSCALERS} -A" in (kubectl / "asked").read_text()) is expected


def test_a_kubectl_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written_kubectl(tmp_path / "bin", monkeypatch, 1)
    (folder / "said").write_text("warming up\nError from server (Forbidden): csinodes is forbidden\n")
    shown = ebb("dump", "--out", tmp_path / "dump.json")
    assert (shown.exit_code, shown.stderr) == (
        1,
        "ebb: kubectl: Error from server (Forbidden): csinodes is forbidden\n",
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin"]


def test_a_kubectl_that_is_not_there_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    shown = ebb("dump", "--out", tmp_path / "dump.json")
    assert shown.exit_code == 1
    assert shown.stderr.startswith("ebb: kubectl: cannot be run (No such file or directory)")


def test_an_anonymous_dump_comes_from_a_cluster_at_once(kubectl: Path, tmp_path: Path) -> None:
    shown = ebb("dump", "--anonymize", "--out", tmp_path / "a.json")
    assert shown.exit_code == 0
    assert OWN in (kubectl / "answer").read_text()
    assert OWN not in (tmp_path / "a.json").read_text()
    assert ebb("plan", "--dump", tmp_path / "a.json").exit_code == 0


@pytest.mark.parametrize("typed", ["file", "pipe"])
def test_an_anonymous_dump_comes_from_a_dump(typed: str, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "dump.json.gz", 12)
    if typed == "file":
        shown = run_ebb("dump", "--anonymize", "--dump", dump)
        assert (shown.returncode, shown.stderr) == (0, "")
        text = shown.stdout
    else:
        text = ebb("dump", "--anonymize", "--dump", "-", stdin=dump.read_bytes()).stdout
    (tmp_path / "anonymous.json").write_text(text)
    assert "gke-prod" not in text
    sums = [read_json("plan", "--dump", path, "--potential") for path in (dump, tmp_path / "anonymous.json")]
    assert sums[0]["totals"] == sums[1]["totals"]
    assert sums[0]["potential"]["saving_per_hour"] == sums[1]["potential"]["saving_per_hour"]


def test_who_shares_a_dump_can_translate_the_answer(tmp_path: Path) -> None:
    dump, names = dumps.write(tmp_path / "dump.json", 4), tmp_path / "names.json"
    assert ebb("dump", "--anonymize", "--dump", dump, "--out", tmp_path / "a.json", "--names", names).exit_code == 0
    table = json.loads(names.read_text())
    assert table["pool"] == {"default-pool": "pool-1", "web-pool": "pool-2"}
    assert stat.S_IMODE(names.stat().st_mode) == 0o600


@cases(
    "expected, typed",
    ("a dump and nothing to do", "--dump: names what --anonymize reads", ("--dump", "a.json")),
    ("names without other names", "--names: is written by --anonymize", ("--names", "n.json")),
    ("a dump and a cluster", "leave out --kubeconfig", ("--anonymize", "--dump", "a.json", "--context", "c")),
    ("no such dump", "gone.json does not exist", ("--anonymize", "--dump", "gone.json")),
)
def test_options_that_do_not_go_together_are_named(expected: str, typed: tuple[str, ...]) -> None:
    shown = ebb("dump", *typed)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert expected in shown.stderr


@cases(
    "expected, content",
    ("before a name is given", "is cut off; run: ebb dump", '{"items": [{"kind": '),
    ("after some are", "items[1] (Namespace a): ", json.dumps({"items": [dumps.node(1), ODD]})),
)
def test_what_is_no_dump_gets_no_other_names(expected: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(content)
    shown = ebb("dump", "--anonymize", "--dump", tmp_path / "bad.json", "--out", tmp_path / "out.json")
    assert shown.exit_code == 2
    assert expected in shown.stderr
    assert not (tmp_path / "out.json").exists()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, kubectl: Path) -> None:
    del kubectl
    shown = ebb("dump", "--out", tmp_path / "no" / "folder.json")
    assert shown.exit_code == 2
    assert "folder.json: cannot be written" in shown.stderr
