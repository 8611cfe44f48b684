from pathlib import Path

import pytest

from functions.cli.input.options import profile_folder, read_profile, use_profile
from shared.errors import BadInput
from tests.cli.fleet.fleets import write_profile
from tests.depth import cases

PROD = "projects/p/locations/l/clusters/prod"
TEST = "projects/p/locations/l/clusters/test"
MINE = "projects/p/locations/l/clusters/mine"
PROFILE = {"EBB_CLUSTER": PROD, "EBB_STATE": "firestore"}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment whose profiles are prod and test."""
    (tmp_path / "ebb").mkdir()
    for cluster in (PROD, TEST):
        profile = tmp_path / "ebb" / f"{cluster.rpartition('/')[2]}.env"
        write_profile(profile, {"EBB_CLUSTER": cluster, "EBB_STATE": "firestore"})
    return {"XDG_CONFIG_HOME": str(tmp_path), "PATH": "/bin"}


@pytest.mark.parametrize("cluster", ["prod", "prod.env"])
def test_a_profile_is_found_by_its_name(cluster: str, home: dict[str, str]) -> None:
    use_profile(cluster, home)
    assert (home["EBB_CLUSTER"], home["EBB_STATE"]) == (PROD, "firestore")


def test_a_profile_may_lie_anywhere(home: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / "x.txt"
    path.parent.mkdir()
    path.write_text(f"EBB_CLUSTER={PROD}")
    use_profile(str(path), home)
    assert home["EBB_CLUSTER"] == PROD


def test_the_only_profile_needs_no_name_and_is_shown(
    home: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ebb" / "test.env").unlink()
    use_profile(None, home)
    assert home["EBB_CLUSTER"] == PROD
    assert "prod.env" in capsys.readouterr().err


@cases(
    "expected, cluster, given",
    ("no profile: all stays", {"EBB_CLUSTER": MINE}, None, {"EBB_CLUSTER": MINE}),
    ("one of another cluster: nothing of that stays", PROFILE, "prod", {"EBB_CLUSTER": TEST, "EBB_TOPIC": "t"}),
    ("one of the same: what is added stays", {**PROFILE, "EBB_LOG_LEVEL": "DEBUG"}, "prod",
     {"EBB_CLUSTER": PROD, "EBB_LOG_LEVEL": "DEBUG"}),
)  # fmt: skip
def test_what_becomes_of_an_environment_that_names_a_cluster(
    expected: dict[str, str], cluster: str | None, given: dict[str, str], home: dict[str, str]
) -> None:
    found = home | given
    use_profile(cluster, found)
    assert found == home | expected


@cases(
    "expected, cluster",
    ("a name that is not there, with those that are", "there: prod, test", "gone"),
    ("a name that is not there, with how to write it", "terraform output -raw cli >", "gone"),
    ("several, and none named", "--cluster and one of prod, test", None),
)
def test_no_profile_is_guessed(expected: str, cluster: str | None, home: dict[str, str]) -> None:
    with pytest.raises(BadInput, match=expected):
        use_profile(cluster, home)


@cases(
    "expected, text",
    ("as Terraform writes it", {"EBB_CLUSTER": PROD}, f"export EBB_CLUSTER='{PROD}'"),
    ("with comments", {"EBB_CLUSTER": PROD}, f"\n# mine\nEBB_CLUSTER={PROD}  # prod\n"),
    ("nothing is expanded", {"EBB_STATE": "sqlite:$HOME/x"}, "EBB_STATE='sqlite:$HOME/x'"),
    ("Google's own", {"GOOGLE_CLOUD_PROJECT": "p"}, "export GOOGLE_CLOUD_PROJECT=p"),
    ("nothing", {}, ""),
)
def test_a_file_is_read_as(expected: dict[str, str], text: str, tmp_path: Path) -> None:
    (tmp_path / "p.env").write_text(text)
    assert read_profile(tmp_path / "p.env") == expected


@cases(
    "text",
    ("another's variable", "export PATH=/tmp"),
    ("a command", "EBB_CLUSTER=x\nrm -rf /"),
    ("an open quote", "EBB_CLUSTER='x"),
    ("what Terraform shows without outputs", "Error: no outputs found"),
)
def test_a_file_of_something_else_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "p.env").write_text(text)
    with pytest.raises(BadInput, match=r"p\.env:\d: "):
        read_profile(tmp_path / "p.env")


def test_profiles_lie_in_the_folder_for_configuration() -> None:
    assert profile_folder({}) == Path.home() / ".config" / "ebb"
    assert profile_folder({"XDG_CONFIG_HOME": "/x"}) == Path("/x/ebb")
