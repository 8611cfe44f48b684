"""`ebb policy import` as a person runs it: the policy on stdout, notes on stderr, one sentence for bad input."""

from pathlib import Path

from tests.cli.running import run_ebb
from tests.depth import cases

ESTAFETTE = '{"nodePools": {"web": {"enabled": true, "scaleDownCPURequestRatioLimit": 0.75}}}'
KARPENTER = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: web}, spec: {weight: 3}}"
NODE_REFINER = '{kind: ConfigMap, data: {time_gap: "5"}}'


@cases(
    "expected, tool, given, options",
    ("estafette", "pool web", "estafette", ESTAFETTE, ()),
    ("node-refiner", "pools batch, web", "node-refiner", NODE_REFINER, ("--pool", "web", "--pool", "batch")),
    ("karpenter", "pool web", "karpenter", KARPENTER, ()),
)
def test_what_is_printed_passes_the_check(
    expected: str, tool: str, given: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    found = run_ebb("policy", "import", tool, "-", *options, stdin=given)
    assert found.returncode == 0
    assert all(line.startswith("note: ") for line in found.stderr.splitlines())
    policy = tmp_path / "policy.yaml"
    policy.write_text(found.stdout)
    checked = run_ebb("policy", "check", policy)
    assert checked.returncode == 0
    assert f"{expected}\n" in checked.stdout


def test_the_environment_of_estafettes_process_counts(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(ESTAFETTE)
    found = run_ebb("policy", "import", "estafette", path, MINIMUM_NODE_AGE_SECONDS="60").stdout
    assert "minimumNodeAge: 60s  # MINIMUM_NODE_AGE_SECONDS" in found


@cases(
    "expected, code, args, stdin",
    ("no file", "ebb: nowhere.yaml: cannot be read (No such file or directory).", 2,
     ("import", "karpenter", "nowhere.yaml"), ""),
    ("no NodePool", "ebb: stdin: it holds no NodePool", 1, ("import", "karpenter", "-"), NODE_REFINER),
    ("a fault", "ebb: stdin: time_gap: value 'x' is wrong", 1, ("import", "node-refiner", "-"), '{time_gap: "x"}'),
)  # fmt: skip
def test_bad_input_is_one_sentence(expected: str, code: int, args: tuple[str, ...], stdin: str) -> None:
    found = run_ebb("policy", *args, stdin=stdin)
    assert (found.returncode, found.stdout) == (code, "")
    assert found.stderr.startswith(expected)
    assert len(found.stderr.splitlines()) == 1
