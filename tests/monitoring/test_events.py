"""The table of events is what is written, no more and no less."""

from pathlib import Path

import pytest

from infra.monitoring.events import EVENTS, Event
from shared.log import LABELS
from tests.monitoring.entries import Entry
from tests.monitoring.histories import HISTORIES, entries, outage
from tests.monitoring.log_checks import faults


@pytest.fixture(scope="session")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    """All lines of all histories."""
    logged = [entry for make in HISTORIES.values() for entry in entries(make())]
    return [*logged, *outage(Path(tmp_path_factory.mktemp("outage")))]


def test_every_line_has_only_declared_events_labels_and_fields_of_their_types(lines: list[Entry]) -> None:
    assert faults(lines) == []


@pytest.mark.parametrize("event", [pytest.param(event, id=event.name) for event in EVENTS])
def test_every_event_declared_is_written_with_all_it_declares(event: Event, lines: list[Entry]) -> None:
    own = [entry for entry in lines if entry["labels"]["event"] == event.name]

    labels = {name for entry in own for name in entry["labels"]}
    fields = {name for entry in own for name, value in entry["jsonPayload"].items() if value is not None}
    assert labels == {"cluster", "event", *event.labels, *event.other_labels}
    assert fields == {"message", *(field.name for field in event.fields)}


def test_the_table_knows_no_label_that_the_log_does_not(lines: list[Entry]) -> None:
    declared = {label for event in EVENTS for label in (*event.labels, *event.other_labels)}

    assert declared | {"cluster", "event"} == set(LABELS)
    assert lines
