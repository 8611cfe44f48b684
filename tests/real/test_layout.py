"""The API server's record is read while the API server writes it."""

from pathlib import Path

from tests.real.control_plane.layout import Layout


def test_a_line_of_the_record_that_is_not_written_to_its_end_is_left_for_later(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.logs.mkdir(parents=True)
    (layout.logs / "audit.log").write_text('{"verb": "get", "user": {"username": "a"}}\n{"verb": "get", "user": {}')

    assert layout.audit() == [{"verb": "get", "user": {"username": "a"}}]
