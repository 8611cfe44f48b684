"""`make pictures`: the picture of docs/simulation.md, played from the dump that the tests of the commands share.

Nobody's names are in it.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from typer.testing import CliRunner

from functions.cli.main import app
from tests.cli import dumps
from tests.pages import DOCS

PICTURE: Final = DOCS / "pictures" / "simulated-week.svg"
POLICIES: Final = {
    "by-night.yaml": """\
defaults:
  disruption: {windows: [{schedule: "0 20 * * *", duration: 9h}]}
nodePools: {default-pool: {enabled: true}, web-pool: {enabled: true}}
""",
}
DEMAND: Final = ("--days", "7", "--night", "75", "--at", "2026-03-09T00:00:00Z")


def draw(picture: Path) -> None:
    """Play the week and draw it."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        dumps.write(folder / "cluster.json", 60)
        for name, text in POLICIES.items():
            (folder / name).write_text(text, encoding="utf-8")
        here = Path.cwd()
        os.chdir(folder)
        try:
            options = [f"--policy={name}" for name in POLICIES]
            typed = ["simulate", "--dump", "cluster.json", *DEMAND, *options, "--picture", str(picture.absolute())]
            found = CliRunner().invoke(app, typed, catch_exceptions=False)
        finally:
            os.chdir(here)
        assert found.exit_code == 0, found.output


if __name__ == "__main__":
    draw(PICTURE)
