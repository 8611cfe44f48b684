"""The example that posts to Slack, called as the platform calls it."""

import base64
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import functions_framework
import pytest

from tests.terraform.module_runs import MODULE

EXAMPLE = MODULE / "examples" / "slack" / "main.py"


class Slack(HTTPServer):
    """Keeps what is posted to it."""

    def __init__(self, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.posted = status, list[Any]()


class _Handler(BaseHTTPRequestHandler):
    server: Slack

    def do_POST(self) -> None:
        self.server.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Stay quiet."""


@pytest.fixture
def slack() -> Iterator[Slack]:
    server = Slack()
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def call(slack: Slack, data: dict[str, Any], monkeypatch: pytest.MonkeyPatch, **attributes: str) -> int:
    monkeypatch.setenv("SLACK_WEBHOOK", f"http://127.0.0.1:{slack.server_port}/")
    app = functions_framework.create_app("post", str(EXAMPLE), "cloudevent")  # type: ignore[no-untyped-call]  # no types
    client = app.test_client()
    message = {"data": base64.b64encode(json.dumps(data).encode()).decode(), "attributes": attributes}
    event = {
        "specversion": "1.0",
        "id": "1",
        "type": "google.cloud.pubsub.topic.v1.messagePublished",
        "source": "//pubsub.googleapis.com/projects/p/topics/results",
        "data": {"message": message, "subscription": "s"},
    }
    status: int = client.post("/", data=json.dumps(event), content_type="application/cloudevents+json").status_code
    return status


def test_a_summary_is_posted_with_markup_escaped(slack: Slack, monkeypatch: pytest.MonkeyPatch) -> None:
    status = call(slack, {"text": "a <!channel> & b"}, monkeypatch, kind="weekly_summary")
    assert (status, slack.posted) == (200, [{"text": "a &lt;!channel&gt; &amp; b"}])


def test_results_are_left_alone(slack: Slack, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (call(slack, {"order_id": "x"}, monkeypatch), slack.posted) == (200, [])


def test_a_message_that_slack_does_not_take_comes_again(slack: Slack, monkeypatch: pytest.MonkeyPatch) -> None:
    slack.status = 503
    assert call(slack, {"text": "a"}, monkeypatch, kind="weekly_summary") == 500
