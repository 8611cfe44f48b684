"""The report names the workloads that request most beyond what is recommended; the command reads both from a dump."""

from pathlib import Path
from typing import Any

from functions.cli.report.extras import REQUESTS
from tests.cli import dumps
from tests.cli.running import read_json

NODES = 4


def written(folder: Path, *more: dict[str, Any]) -> Path:
    return dumps.write_items(folder / "c.json", [*dumps.items(NODES), *more])


def sections(dump: Path, *more: str) -> list[dict[str, Any]]:
    found = read_json("report", dump, *more)["report"]["extras"]
    return [section for section in found if section["title"] == REQUESTS]


def test_a_workload_with_a_smaller_recommendation_has_a_row(tmp_path: Path) -> None:
    """Each of 28 pods has 200m too much, of 3,920m for $108 a month: half of their share is $77."""
    [section] = sections(written(tmp_path, dumps.autoscaler("web", "100m")))

    assert section["table"]["rows"] == [["shop/ReplicaSet/web-5d4f8b", "28", "8.4 to 2.8", "21.0 to 21.0", "$77"]]
    assert not [sentence for sentence in section["sentences"] if "Less memory" in sentence]


def test_the_ten_largest_are_named_and_how_many_there_are(tmp_path: Path) -> None:
    apps = [f"app-{number:02}" for number in range(12)]
    pods = (dumps.pod(f"{name}-x", dumps.name_of(0), app=name, cpu=f"{100 + at}m") for at, name in enumerate(apps))
    [section] = sections(written(tmp_path, *pods, *(dumps.autoscaler(name, "10m", "512Mi") for name in apps)))

    named = [row[0].removeprefix("shop/ReplicaSet/").removesuffix("-5d4f8b") for row in section["table"]["rows"]]
    assert named == apps[:1:-1]
    assert section["sentences"][0].startswith("The 10 largest of 12 workloads ")
    assert any("Less memory is recommended." in sentence for sentence in section["sentences"])


def test_without_prices_there_is_no_column_of_money(tmp_path: Path) -> None:
    free = tmp_path / "free.yaml"
    free.write_text("families: {e2: {vcpu: 0, gib: 0, spot: 1, shapes: {standard: 4}}}\n")
    [section] = sections(written(tmp_path, dumps.autoscaler("web", "100m")), "--prices", str(free))

    assert section["table"]["columns"][-1] == "memory (GiB)"
    assert len(section["table"]["rows"][0]) == len(section["table"]["columns"])


def test_where_nothing_less_is_recommended_there_is_no_section(tmp_path: Path) -> None:
    assert sections(written(tmp_path, dumps.autoscaler("web", "300m"))) == []


def test_why_not_reads_recommendations_from_the_dump(tmp_path: Path) -> None:
    dump = written(tmp_path, dumps.autoscaler("web", "10m", "16Mi"))
    found = read_json("why-not", dump, "--top", "1")["recommended_requests"]

    assert [workload["workload"] for workload in found["workloads"]] == ["shop/ReplicaSet/web-5d4f8b"]
    assert found["workloads"][0]["recommended"] == {"cpu": 280, "memory": 28 * (16 << 20)}
