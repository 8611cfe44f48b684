"""`python -m infra.monitoring`: write what Terraform and people read from the tables.

Metrics, the tables of the events page, and the alerts of the runbook.
"""

import sys
from pathlib import Path
from typing import Any, Final

import yaml

from infra.monitoring.metrics import METRICS, Kind, Metric
from infra.monitoring.reference import ALERTS, reference

INFRA: Final = Path(__file__).parents[1]
DOCS: Final = INFRA.parent / "docs"
_OPENING: Final = "# Written by `make monitoring` from the tables in infra/monitoring; do not edit it here.\n"
_WORDS: Final = {
    "${cluster}": "CLUSTER",
    "${name}": "NAME",
    "${missed_passes}": "three",
    "${dead_letters_subscription}": "NAME-dead-letters",
}
"""What the tokens read like where Terraform has not filled them in."""


def files() -> dict[Path, str]:
    """Return the text of each generated file."""
    return {INFRA / "metrics.yaml": _yaml({metric.name: _metric(metric) for metric in METRICS})}


def parts() -> dict[Path, tuple[str, str]]:
    """Return the pages with a generated part: its name, and its text."""
    return {DOCS / "events.md": ("events", reference()), DOCS / "run.md": ("runbook", runbook())}


def page_of(path: Path) -> str:
    """Return a page of `parts` with its part in it."""
    name, body = parts()[path]
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, _, rest = path.read_text(encoding="utf-8").partition(start)
    return before + start + body + end + rest.partition(end)[2]


def runbook() -> str:
    """Return the alerts as people read them, with words in the place of Terraform's tokens."""
    alerts = "\n".join(f"#### Ebb: {alert['title']}\n\n{alert['documentation']}" for alert in ALERTS.values())
    text = f"### Alerts\n\nEach alert carries its own section.\n\n{alerts}"
    for token, word in _WORDS.items():
        text = text.replace(token, word)
    return text


def _metric(metric: Metric) -> dict[str, Any]:
    counted = metric.kind is Kind.COUNTER
    return {
        "description": f"{metric.about} ({metric.kind.value}{f'; {metric.seed}' if metric.seed else ''})",
        "filter": metric.filter,
        "value_type": "INT64" if counted else "DISTRIBUTION",
        "unit": "1" if counted else metric.unit,
        "value": "" if counted else f"EXTRACT(jsonPayload.{metric.value})",
        "labels": {name: f"EXTRACT({path})" for name, path in metric.label_paths.items()},
        "per_node": metric.per_node,
    }


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _block(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _block)


def _yaml(value: dict[str, Any]) -> str:
    return _OPENING + yaml.dump(value, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)


if __name__ == "__main__":
    for path, text in (files() | {path: page_of(path) for path in parts()}).items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.name} is up to date\n")
