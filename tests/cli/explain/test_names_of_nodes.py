"""Names of nodes in words and in tables: they give way before anything is broken, to a file they are whole."""

from io import StringIO

import pytest
from rich.console import Console

from functions.cli.explain.parts import NodeNamer, place_table
from functions.cli.output.tables import draw

WEB = tuple(f"gke-c-web-1f2e-{at:04}" for at in range(6))
DB = tuple(f"gke-c-db-8d9c-{at:04}" for at in range(2))
POOLS = {**dict.fromkeys(WEB, "web"), **dict.fromkeys(DB, "db"), "bare": ""}


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        pytest.param("all 6 of web", WEB, id="a whole pool"),
        pytest.param("…0000, …0001, …0002 and 2 more of web", WEB[:5], id="the first of many"),
        pytest.param("…0003 of web", WEB[3:4], id="one"),
        pytest.param("all 6 of web; …0001 of db", (*WEB, DB[1]), id="several pools, the most first"),
        pytest.param("bare of no pool", ("bare",), id="a node without a pool"),
    ],
)
def test_nodes_are_named(expected: str, names: tuple[str, ...]) -> None:
    assert NodeNamer(POOLS, cut=True).text(names) == expected


def test_a_pool_is_whole_without_the_node_that_the_pod_is_on() -> None:
    assert NodeNamer(POOLS, cut=True).text(WEB[1:], leaving=WEB[0]) == "all 5 of web"


def test_a_pipe_gets_whole_names() -> None:
    assert NodeNamer(POOLS, cut=False).text(WEB[:1]) == f"{WEB[0]} of web"


def test_of_many_pools_the_rest_is_counted() -> None:
    pools = {f"n{at}": f"p{at}" for at in range(6)}
    assert NodeNamer(pools, cut=True).text(pools).endswith("; 2 of 2 more pools")


WEB_NODE = "gke-prod-europe-west4-web-pool-1a2b3c4d-0001"
DB_NODE = "gke-prod-europe-west4-db-pool-9f8e7d6c-0002"
POOL_OF = {WEB_NODE: "web-pool", DB_NODE: "db-pool"}
ROWS = [("shop/web-5d4f8b9c77-x2x4z", WEB_NODE, DB_NODE, "pdb_exhausted"), ("shop/db-0", DB_NODE, "nowhere", "")]


def printed(width: int, *, terminal: bool = True) -> str:
    page = StringIO()
    console = Console(file=page, width=width, force_terminal=terminal, color_system=None)
    titles, namer = ("pod", "on", "would go to", "kept by"), NodeNamer(POOL_OF, cut=terminal)
    draw(console, place_table(titles, ROWS, (1, 2), namer, width))
    return page.getvalue()


@pytest.mark.parametrize(
    ("expected", "width"),
    [
        pytest.param(f"shop/web-5d4f8b9c77-x2x4z  {WEB_NODE}  {DB_NODE}", 200, id="whole names where there is room"),
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
    assert f"{WEB_NODE}  {DB_NODE}" in printed(10_000, terminal=False)
