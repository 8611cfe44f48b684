"""Posts each weekly summary of Ebb to Slack; a message on the results topic calls it."""

import base64
import json
import os
from typing import Any

import functions_framework
import requests


@functions_framework.cloud_event
def post(event: Any) -> None:
    message = event.data["message"]
    if message.get("attributes", {}).get("kind") != "weekly_summary":
        return
    week = json.loads(base64.b64decode(message["data"]))
    # Slack's own three: https://docs.slack.dev/messaging/formatting-message-text#escaping
    text = week["text"].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    requests.post(os.environ["SLACK_WEBHOOK"], json={"text": text}, timeout=10).raise_for_status()
