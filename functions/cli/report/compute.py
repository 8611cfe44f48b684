"""`ebb report`: gather, plan as `ebb plan` does, write the page or print its data. Must not decide anything."""

import json
from pathlib import Path
from typing import Final

import typer

from functions.cli.inputs import Inputs, Sources, gather
from functions.cli.options import ReportOutput
from functions.cli.plan.compute import PlanOptions, timed_view
from functions.cli.plan.ladder_rows import DEFAULTS, POLICY
from functions.cli.report.document import document
from functions.cli.report.material import Material
from functions.cli.report.page import page
from functions.cli.terminal import print_sentence
from shared.errors import BadInput

PAGE: Final = Path("ebb-report.html")
STDOUT: Final = Path("-")


def write_report(sources: Sources, out: Path | None, output: ReportOutput, *, assume_marked: bool) -> None:
    """Write the page or its data, and say where it is; data is printed where no file was named.

    Raises:
        BadInput: as `gather`, or the page cannot be written.
    """
    material = material_of(gather(sources), POLICY if sources.policy else DEFAULTS, assume_marked=assume_marked)
    as_json = output is ReportOutput.JSON
    told = document(material)
    text = f"{json.dumps(told, indent=2, ensure_ascii=False)}\n" if as_json else page(told)
    file = out or (STDOUT if as_json else PAGE)
    if file == STDOUT:
        typer.echo(text, nl=False)
        return
    _write(file, text)
    print_sentence(material.view.summary)
    print_sentence(f"{file}: {len(text.encode()) // 1024 + 1:,} KiB, with the names of nodes and pods in it.")


def material_of(inputs: Inputs, whose: str, *, assume_marked: bool = False) -> Material:
    """Return what a report of one cluster is drawn from."""
    view = timed_view(inputs, PlanOptions(assume_marked=assume_marked), whose)
    return Material(view, inputs.snapshot, inputs.policy, whose)


def _write(out: Path, text: str) -> None:
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"--out: {out} cannot be written ({error.strerror}).") from error
