"""The alert policies, as they stand in `infra/alerts.yaml`, which Terraform reads."""

from pathlib import Path
from typing import Any, Final

import yaml

FILE: Final = Path(__file__).parents[1] / "alerts.yaml"
ALERTS: Final[dict[str, dict[str, Any]]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
"""By key: title, severity, conditions, and the documentation, which is the alert's section of the runbook."""
