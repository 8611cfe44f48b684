"""Names of nodes give way before anything is broken: what all share, what a pool shares, at the end the pool."""

from io import StringIO

import pytest
from rich.console import Console

from functions.cli.explain.parts import NodeNamer, place_table
from functions.cli.output.tables import draw

WEB = "gke-prod-europe-west4-web-pool-1a2b3c4d-0001"
DB = "gke-prod-europe-west4-db-pool-9f8e7d6c-0002"
POOLS = {WEB: "web-pool", DB: "db-pool"}
ROWS = [("shop/web-5d4f8b9c77-x2x4z", WEB, DB, "pdb_exhausted"), ("shop/db-0", DB, "nowhere", "")]


def printed(width: int, *, terminal: bool = True) -> str:
    page = StringIO()
    console = Console(file=page, width=width, force_terminal=terminal, color_system=None)
    titles, namer = ("pod", "on", "would go to", "kept by"), NodeNamer(POOLS, cut=terminal)
    draw(console, place_table(titles, ROWS, (1, 2), namer, width))
    return page.getvalue()


@pytest.mark.parametrize(
    ("expected", "width"),
    [
        pytest.param(f"shop/web-5d4f8b9c77-x2x4z  {WEB}  {DB}", 200, id="whole names where there is room"),
        pytest.param("…web-pool-1a2b3c4d-0001  …db-pool-9f8e7d6c-0002  pdb", 100, id="without what all share"),
        pytest.param("web-pool …0001  db-pool …0002  pdb_exhausted", 80, id="their pool in its place"),
        pytest.param("x2x4z  …0001  …0002        pdb_exhausted", 65, id="without the pool"),
        pytest.param("…0001  …0002", 30, id="so too where nothing is short enough"),
    ],
)
def test_names_are_as_long_as_there_is_room_for(expected: str, width: int) -> None:
    assert expected in printed(width)


def test_what_names_have_lost_is_shown() -> None:
    begins = "gke-prod-europe-west4-db-pool-9f8e7d6c- (db-pool), gke-prod-europe-west4-web-pool-1a2b3c4d- (web-pool)"
    assert f"Names of nodes begin with {begins}" in " ".join(printed(80).split())
    assert "begin with" not in printed(200)


def test_a_file_gets_whole_names() -> None:
    assert f"{WEB}  {DB}" in printed(10_000, terminal=False)
