"""`make pages`: the parts of pages that come from the code; `make monitoring` and `bench.idle_cost` write others."""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from functions.cli.analysis.exclusions import Exclusion
from shared.core.reasons import Outcome, PodBlock, Reason, Refusal, ReturnReason, Shortfall, Unremovable
from tests.cli import dumps
from tests.cli.running import ebb
from tests.docs import fleet_sample
from tests.docs.module_reference import inputs, outputs
from tests.docs.policy_page import gates, table
from tests.docs.policy_schema import schema
from tests.pages import DOCS, README, ROOT, filled

REASONS: Final = DOCS / "reasons.md"
POLICY: Final = DOCS / "policy.md"
FLEET: Final = DOCS / "fleet.md"
MODULE: Final = ROOT / "terraform"
KINDS: Final[Mapping[str, type[Reason]]] = {
    "nodes": Unremovable,
    "pods": PodBlock,
    "refusals": Refusal,
    "give-backs": ReturnReason,
    "outcomes": Outcome,
    "exclusions": Exclusion,
    "shortfalls": Shortfall,
}
SAMPLE: Final = ("plan", "cluster.json")
NODES: Final = 60


def written() -> dict[Path, str]:
    return {
        REASONS: _with(REASONS, {name: reasons(kind) for name, kind in KINDS.items()}),
        POLICY: _with(POLICY, {"fields": table(schema()), "gates": gates()}),
        README: _with(README, {"sample": f"```console\n$ ebb {' '.join(SAMPLE)}\n{sample()}```\n"}),
        FLEET: _with(FLEET, fleet_sample.parts()),
        MODULE / "README.md": _with(
            MODULE / "README.md",
            {"inputs": inputs(MODULE), "outputs": outputs(MODULE), "rbac": inputs(MODULE / "rbac")},
        ),
    }


def reasons(kind: type[Reason]) -> str:
    columns = {
        "word": [f"`{word.value}`" for word in kind],
        "meaning": [word.sentence for word in kind],
        "what to do": [word.remedy for word in kind],
        "the autoscaler's message id": [f"`{word.message_id}`" if word.message_id else "" for word in kind],
    }
    filled_ones = {head: cells for head, cells in columns.items() if any(cells)}
    rows = (f"| {' | '.join(cells)} |\n" for cells in (filled_ones, *zip(*filled_ones.values(), strict=True)))
    return f"{next(rows)}|{'---|' * len(filled_ones)}\n{''.join(rows)}"


def sample() -> str:
    """Return what the command of the README prints of a small cluster, as a file would have it."""
    with tempfile.TemporaryDirectory() as folder:
        dump = dumps.write_items(Path(folder) / SAMPLE[-1], _cluster())
        shown = ebb(*SAMPLE[:-1], dump)
    if shown.exit_code != 0:
        raise RuntimeError(shown.output)
    return shown.output


def _cluster() -> list[dict[str, Any]]:
    """Return a cluster with what stands behind their pods, so that the plan has nothing to say of the dump.

    Most are a little above half full: the autoscaler alone leaves them as they are.
    """
    items = list(dumps.items(NODES, cpu="350m"))
    replicas = sum(item["kind"] == "Pod" and item["metadata"]["labels"]["app"] == "web" for item in items)
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
