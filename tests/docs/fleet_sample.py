"""What docs/fleet.md shows of a fleet that is made here: what the commands print."""

import tempfile
from contextlib import chdir
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.cli import dumps
from tests.cli.fleet.fleets import CUT_OFF, dump, installation
from tests.cli.running import ebb

COMMAND: Final = ("fleet", "dumps/", "--installations", "--state-only", "--assume-marked")
_LONG_AGO, _JUST_NOW = datetime(2026, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
"""Whenever a page is written, the one is too long ago and the other is not."""
_OLD: Final = """\
dryRun: false
cluster: {timeSinceLastAddition: 1m}
nodePools: {default-pool: {enabled: true}, web-pool: {enabled: false}}
"""
_NEW: Final = _OLD.replace("web-pool: {enabled: false}", "web-pool: {enabled: true, maxNodesPerPass: 2}")
_CPU: Final = "350m"
"""A little above half full: the autoscaler alone leaves the nodes as they are."""


def parts() -> dict[str, str]:
    return {"fleet": fleet(), "diff": diff()}


def fleet(out: Path | None = None) -> str:
    """Return what the command prints; with `out` it also writes the page."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        here = Path()
        (here / "dumps").mkdir()
        dump(here / "dumps" / "prod.json", "prod", 60, "shop", cpu=_CPU)
        dump(here / "dumps" / "stage.json", "stage", 24, "shop", cpu=_CPU)
        (here / "dumps" / "test.json").write_text(CUT_OFF)
        installation(Path(folder), "prod", "shop", last_pass=_LONG_AGO)
        installation(Path(folder), "stage", "shop", last_pass=_JUST_NOW, paused=True, pause_reason="release week")
        installation(Path(folder), "tools", "shop", dry_run=False, last_pass=_JUST_NOW)
        words = (*COMMAND, "--out", str(out.resolve())) if out else COMMAND
        return f"```console\n$ ebb {' '.join(COMMAND)}\n{_printed(*words, home=folder, code=1)}```\n"


def diff() -> str:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        here = Path()
        dumps.write(here / "cluster.json", 24, cpu=_CPU)
        for name, text in (("old.yaml", _OLD), ("new.yaml", _NEW)):
            (here / name).write_text(text)
        options = ("--dump", "cluster.json", "--assume-marked", "--output", "markdown")
        return _printed("policy", "diff", "old.yaml", "new.yaml", *options)


def _printed(*words: str, home: str = "", code: int = 0) -> str:
    shown = ebb(*words, **({"XDG_CONFIG_HOME": home} if home else {}))
    if shown.exit_code != code:
        raise RuntimeError(shown.output)
    return shown.stdout
