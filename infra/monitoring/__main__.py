"""`python -m infra.monitoring`: write metrics and alerts into docs/events.md, and the alerts of the runbook."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

INFRA: Final = Path(__file__).parents[1]
DOCS: Final = INFRA.parent / "docs"
ALERTS: Final[dict[str, dict[str, Any]]] = yaml.safe_load((INFRA / "alerts.yaml").read_text(encoding="utf-8"))
"""The alert policies that Terraform reads, by key: title, severity, conditions, and the section of the runbook."""
METRICS: Final[dict[str, dict[str, Any]]] = yaml.safe_load((INFRA / "metrics.yaml").read_text(encoding="utf-8"))
"""The log-based metrics that Terraform makes, by name."""
_DESCRIPTION: Final = re.compile(r"(.*) \((counter|gauge|amount|spread)(?:; (.*))?\)")
"""What a metric counts, its kind, and what estafette or node-refiner called it."""
_WORDS: Final = {
    "${cluster}": "CLUSTER",
    "${name}": "NAME",
    "${missed_passes}": "three",
    "${dead_letters_subscription}": "NAME-dead-letters",
}
"""What the tokens read like where Terraform has not filled them in."""
_REFERENCE: Final = """\
## Metrics

`logging.googleapis.com/user/NAME/…`, where NAME is Terraform's output `name`. A gauge is a distribution of which the
mean is read, an amount one of which the sum is. The metrics of single nodes exist only with `EBB_DECISION_LOG=all`.

| metric | kind | unit | labels | what | there before as |
|---|---|---|---|---|---|
{metrics}
## Alerts

[The runbook](run.md#runbook) has what each means and what to do; the alert itself carries the same text.

| alert | when |
|---|---|
{alerts}"""


def files() -> dict[Path, str]:
    """Return the text of each page that has a generated part."""
    return {
        DOCS / "events.md": _with_part(DOCS / "events.md", "metrics", _reference()),
        DOCS / "run.md": _with_part(DOCS / "run.md", "runbook", runbook()),
    }


def _with_part(page: Path, name: str, body: str) -> str:
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    return before + start + body + end + rest.partition(end)[2]


def runbook() -> str:
    """Return the alerts as people read them, with words in the place of Terraform's tokens."""
    alerts = "\n".join(f"#### Ebb: {alert['title']}\n\n{alert['documentation']}" for alert in ALERTS.values())
    text = f"### Alerts\n\nEach alert carries its own section.\n\n{alerts}"
    for token, word in _WORDS.items():
        text = text.replace(token, word)
    return text


def _reference() -> str:
    whens = ((alert["title"], "; ".join(part["title"] for part in alert["conditions"])) for alert in ALERTS.values())
    return _REFERENCE.format(
        metrics="".join(_metric(*metric) for metric in METRICS.items()), alerts="".join(_row(*when) for when in whens)
    )


def _metric(name: str, metric: Mapping[str, Any]) -> str:
    described = _DESCRIPTION.fullmatch(metric["description"])
    if not described:
        raise ValueError(f"metrics.yaml: the description of {name} does not end in its kind")
    about, kind, seed = described.groups("")
    labels = ", ".join(f"`{label}`" for label in metric["labels"])
    return _row(f"`{name}`", kind, metric["unit"], labels, about, seed)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.name} is up to date\n")
