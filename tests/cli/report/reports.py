"""Reports of dumps, for what is asked of them."""

from pathlib import Path
from typing import Any

from functions.cli.input.inputs import gather
from functions.cli.input.options import Sources
from functions.cli.plan.compute import PlanOptions
from functions.cli.report.compute import document, input_of
from functions.cli.report.report_input import ReportInput
from tests.cli.report import big_shop


def shop(folder: Path, nodes: int = 60) -> Sources:
    """A shop's cluster with its policy, as files."""
    policy = folder / "policy.yaml"
    policy.write_text(big_shop.POLICY, encoding="utf-8")
    return Sources((big_shop.write(folder / "shop.json", nodes),), policy=policy)


def report_input(sources: Sources) -> ReportInput:
    return input_of(gather(sources), PlanOptions())


def told(sources: Sources) -> dict[str, Any]:
    return document(report_input(sources))


def objects(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a list by column as one of objects."""
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
