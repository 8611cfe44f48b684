"""The commands that write a file: `ebb report` and `ebb dump`."""

from pathlib import Path
from typing import Annotated

import typer

from functions.cli.input.options import (
    AssumeMarked,
    By,
    Context,
    Kubeconfig,
    OneDump,
    ReportOutput,
    Sources,
    option,
    with_sources,
)


@with_sources("cluster")
def report(
    *,
    sources: Sources,
    out: Annotated[Path | None, option("--out", "FILE", "Output file, else ./ebb-report.html; - for stdout.")] = None,
    output: Annotated[
        ReportOutput,
        typer.Option("--output", "-o", help="Output format: the page, or its data as JSON (to stdout without --out)."),
    ] = ReportOutput.HTML,
    assume_marked: AssumeMarked = False,
    by: By = None,
) -> None:
    """Write one HTML page to share: possible savings, the cluster before and after, and what keeps nodes.

    The page is one file. It works offline and loads nothing from any server.
    Changes nothing, and needs nothing installed in the cluster.

    Examples:
      ebb report --dump cluster.json --out report.html
      ebb report --dump cluster.json --policy policy.yaml --discount 28%
      ebb report --context prod -o json > report.json
    """
    from functions.cli.plan.compute import PlanOptions
    from functions.cli.report.compute import write_report

    write_report(sources, out, output, PlanOptions(assume_marked=assume_marked, by=by or ""))


def dump(
    *,
    out: Annotated[Path | None, option("--out", "FILE", "Run kubectl and write its output; .gz compresses it.")] = None,
    anonymize: Annotated[
        bool, option("--anonymize", None, "Replace every name, and leave out what no rule reads.")
    ] = False,
    dump: OneDump = None,
    names: Annotated[
        Path | None, option("--names", "FILE", "Write the replaced names to a file, for your eyes only.")
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Show the kubectl command that dumps a cluster, or run it. --anonymize makes a dump safe to share.

    An anonymous dump keeps every rule (labels, selectors, zones, machine
    types, disks, owners): its plan is the original's, under other names.

    Examples:
      ebb dump
      ebb dump --context gke_shop_europe-west4_prod --out prod.json.gz
      ebb dump --anonymize --dump prod.json.gz --out to-share.json.gz
    """
    from functions.cli.input.dump_command import DumpRequest, make_dump

    make_dump(DumpRequest(tuple(dump or ()), kubeconfig, context, out, anonymize, names))
