"""The parts of the pages that are written from the code: `make pages` brings them up to date.

The other generated pages have commands of their own: `make monitoring` and `python -m tests.bench.idle_cost`.
"""

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from typer.testing import CliRunner

from functions.cli.analysis.exclusions import Exclusion
from functions.cli.analysis.remedies import REMEDIES
from functions.cli.drains.outcome import HALT_REMEDIES, REFUSAL_REMEDIES
from functions.cli.main import app
from functions.cli.policy.reference.page import precedence, schema, table
from infra.module_reference import inputs, outputs
from shared.core.outcomes import Halt, Outcome, Refusal
from shared.core.reasons import PodBlock, Reason, Unremovable
from tests.cli import dumps
from tests.docs import fleet_sample
from tests.pages import DOCS, README, ROOT, filled

REASONS: Final = DOCS / "reasons.md"
POLICY: Final = DOCS / "policy.md"
FLEET: Final = DOCS / "fleet.md"
MODULE: Final = ROOT / "terraform"
KINDS: Final[Mapping[str, type[Reason]]] = {
    "nodes": Unremovable,
    "pods": PodBlock,
    "refusals": Refusal,
    "give-backs": Halt,
    "outcomes": Outcome,
    "exclusions": Exclusion,
}
_BY_KIND: Final[Mapping[type[Reason], Mapping[str, str]]] = {Refusal: REFUSAL_REMEDIES, Halt: HALT_REMEDIES}
SAMPLE: Final = ("plan", "--dump", "cluster.json")
NODES: Final = 60


def written() -> dict[Path, str]:
    """Return the text of each page with its generated parts as they should be."""
    return {
        REASONS: _with(REASONS, {name: reasons(kind) for name, kind in KINDS.items()}),
        POLICY: _with(POLICY, {"fields": table(schema()), "precedence": precedence()}),
        README: _with(README, {"sample": f"```console\n$ ebb {' '.join(SAMPLE)}\n{sample()}```\n"}),
        FLEET: _with(FLEET, fleet_sample.parts()),
        MODULE / "README.md": _with(
            MODULE / "README.md",
            {"inputs": inputs(MODULE), "outputs": outputs(MODULE), "rbac": inputs(MODULE / "rbac")},
        ),
    }


def reasons(kind: type[Reason]) -> str:
    """Return the table of one group of reasons; with what can be done where the CLI says it.

    The reasons that keep a node are told with the autoscaler's own message ids, too.
    """
    remedies = {each: _remedy(kind, each) for each in kind}
    if not any(remedies.values()):
        rows = "".join(f"| `{each.value}` | {each.sentence} |\n" for each in kind)
        return f"| word | meaning |\n|---|---|\n{rows}"
    if not any(each.message_id for each in kind):
        rows = "".join(f"| `{each.value}` | {each.sentence} | {remedies[each]} |\n" for each in kind)
        return f"| word | meaning | what to do |\n|---|---|---|\n{rows}"
    rows = "".join(_row(each, remedies[each]) for each in kind)
    return f"| word | meaning | what to do | the autoscaler's message id |\n|---|---|---|---|\n{rows}"


def _remedy(kind: type[Reason], reason: Reason) -> str:
    """Words of several kinds differ in what helps: `cordoned_by_other` keeps a node, and ends a drain."""
    if kind in _BY_KIND:
        return _BY_KIND[kind][reason.value]
    return REMEDIES.get(reason, "") if kind is not Outcome else ""


def _row(reason: Reason, remedy: str) -> str:
    theirs = f"`{reason.message_id}`" if reason.message_id else ""
    return f"| `{reason.value}` | {reason.sentence} | {remedy} | {theirs} |\n"


def sample() -> str:
    """Return what the command of the README prints of a small cluster, as a file would have it."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / SAMPLE[2]
        dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": _cluster()}), encoding="utf-8")
        shown = CliRunner().invoke(app, [str(dump) if word == SAMPLE[2] else word for word in SAMPLE])
    if shown.exit_code != 0:
        raise RuntimeError(shown.output)
    return shown.output


def _cluster() -> list[dict[str, Any]]:
    """Return a cluster with what stands behind their pods, so that the plan has nothing to say of the dump.

    Most are a little above half full: the autoscaler alone leaves them as they are.
    """
    items = list(dumps.items(NODES, cpu="350m"))
    replicas = sum(each["kind"] == "Pod" and each["metadata"]["labels"]["app"] == "web" for each in items)
    return [*items, *(_workload(kind, replicas) for kind in ("ReplicaSet", "Deployment", "StatefulSet"))]


def _workload(kind: str, replicas: int) -> dict[str, Any]:
    counted = {"replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"namespace": "shop", "name": "web-5d4f8b", "uid": "rs-web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}},
        "status": counted,
    }


def _with(page: Path, parts: Mapping[str, str]) -> str:
    text = page.read_text(encoding="utf-8")
    for name, body in parts.items():
        text = filled(text, name, body)
    return text


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)} is up to date\n")
