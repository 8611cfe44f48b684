"""One page in Chromium over two pipes of its DevTools protocol (https://chromedevtools.github.io/devtools-protocol)."""

import base64
import json
import os
import select
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from tests.browser.chromium import Chromium, ChromiumError

_ANSWER_SECONDS: Final = 60.0
_END_SECONDS: Final = 10.0
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",  # a container's root has none
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
_READ, _WRITE = 3, 4
"""Where Chromium reads and writes."""


@dataclass
class Page:
    pipe: "_Pipe"
    session: str
    said: list[str] = field(default_factory=list)
    """Errors and warnings of its console, and exceptions that nobody caught."""
    asked: list[str] = field(default_factory=list)
    """Addresses that it wanted to load."""

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        return self.pipe.call(method, given, self.session)

    def open(self, address: str) -> None:
        self.pipe.forget()
        self.call("Page.navigate", url=address)
        self.pipe.wait(lambda: bool(self.pipe.events("Page.loadEventFired")), f"{address} did not load")
        self.look_back()

    def value(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        self.look_back()
        return answer["result"].get("value")

    def of_all(self, selector: str, expression: str) -> list[Any]:
        found: list[Any] = self.value(f"[...document.querySelectorAll({selector!r})].map((each) => {expression})")
        return found

    def texts(self, selector: str) -> list[str]:
        return self.of_all(selector, "each.innerText")

    def rows(self, table: str) -> list[list[str]]:
        cells = "[...each.children].map((cell) => (cell.innerText || cell.textContent).trim())"
        return self.of_all(f"{table} tbody tr", cells)

    def number(self, selector: str) -> int:
        return len(self.of_all(selector, "1"))

    def click(self, selector: str) -> None:
        self.value(f"document.querySelector({selector!r}).click()")

    def press(self, key: str, code: int = 0, *, shift: bool = False) -> None:
        text = {"text": "\r"} if key == "Enter" else {}
        given = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **given, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    def write(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def sized(self, width: int, height: int, *, dark: bool = False, media: str = "screen") -> None:
        """Let the window be so large, in the colours that its person prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        preferred = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", media=media, features=preferred)

    def show(self, path: Path, *, dark: bool = False) -> Self:
        self.sized(1280, 900, dark=dark)
        self.open(path.as_uri())
        return self

    def picture(self, *, whole: bool = False, clip: Mapping[str, float] | None = None) -> bytes:
        """Return a PNG of what is seen, of the whole page, or of a part of it."""
        part = {"clip": {**clip, "scale": 1}} if clip else {}
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole or bool(clip), **part)
        return base64.b64decode(answer["data"])

    def printed(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def look_back(self) -> None:
        self.said = [*map(_console, self.pipe.events("Runtime.consoleAPICalled", self.session))]
        self.said += [
            str(event["exceptionDetails"]) for event in self.pipe.events("Runtime.exceptionThrown", self.session)
        ]
        self.said += [event["entry"]["text"] for event in self.pipe.events("Log.entryAdded", self.session)]
        self.asked = [event["request"]["url"] for event in self.pipe.events("Network.requestWillBeSent", self.session)]


def _console(event: Mapping[str, Any]) -> str:
    return f"{event['type']}: {[argument.get('value', argument.get('description')) for argument in event['args']]}"


@contextmanager
def opened(chromium: Chromium) -> Iterator[Page]:
    with tempfile.TemporaryDirectory(prefix="ebb-chromium-", ignore_cleanup_errors=True) as folder:
        pipe = _Pipe.start(chromium, Path(folder))
        try:
            target = pipe.call("Target.createTarget", {"url": "about:blank"})["targetId"]
            session = pipe.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
            page = Page(pipe, session)
            for domain in ("Page", "Runtime", "Network", "Log"):
                page.call(f"{domain}.enable")
            yield page
        finally:
            pipe.close()


@dataclass
class _Pipe:
    """The process with both ends of the conversation; messages are JSON that ends with a zero byte."""

    process: int
    reads: int
    writes: int
    log: Path
    _rest: bytes = b""
    _number: int = 0
    _answers: dict[int, dict[str, Any]] = field(default_factory=dict)
    _events: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def start(cls, chromium: Chromium, folder: Path) -> "_Pipe":
        """Start the process with the pipes where it looks for them, and its words in a file."""
        theirs_in, writes = os.pipe()
        reads, theirs_out = os.pipe()
        log = folder / "log"
        said = os.open(log, os.O_WRONLY | os.O_CREAT, 0o600)
        # Copies out of the way first: a pipe's own number may be one that is overwritten.
        first, second = os.dup2(theirs_in, 100), os.dup2(theirs_out, 101)
        wiring = [
            (os.POSIX_SPAWN_DUP2, first, _READ),
            (os.POSIX_SPAWN_DUP2, second, _WRITE),
            (os.POSIX_SPAWN_DUP2, said, 1),
            (os.POSIX_SPAWN_DUP2, said, 2),
        ]
        words = [str(chromium.program), *_FLAGS, f"--user-data-dir={folder / 'profile'}"]
        environment = {**os.environ, "HOME": str(folder), **chromium.environment}
        process = os.posix_spawn(words[0], words, environment, file_actions=wiring)
        for end in (theirs_in, theirs_out, first, second, said):
            os.close(end)
        return cls(process, reads, writes, log)

    def call(self, method: str, given: Mapping[str, Any], session: str = "") -> dict[str, Any]:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": given, **({"sessionId": session} if session else {})}
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        self.wait(lambda: number in self._answers, f"{method} was not answered")
        answer = self._answers.pop(number)
        if "error" in answer:
            raise ChromiumError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def events(self, method: str, session: str = "") -> list[dict[str, Any]]:
        return [
            event["params"]
            for event in self._events
            if event["method"] == method and session in {"", event.get("sessionId")}
        ]

    def forget(self) -> None:
        self._events.clear()

    def wait(self, come: Callable[[], bool], otherwise: str) -> None:
        """Read until that has come. Raises ChromiumError if it does not come in time, or the browser ends before."""
        until = time.monotonic() + _ANSWER_SECONDS
        while not come():
            readable, _, _ = select.select([self.reads], [], [], max(0.0, until - time.monotonic()))
            data = os.read(self.reads, 1 << 20) if readable else b""
            if not data:
                raise ChromiumError(f"{otherwise}:\n{self.log.read_text(errors='replace')[-2000:]}")
            self._take(data)

    def _take(self, data: bytes) -> None:
        *messages, self._rest = (self._rest + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self._events.append(message)

    def close(self) -> None:
        for end in (self.writes, self.reads):
            os.close(end)
        until = time.monotonic() + _END_SECONDS
        while time.monotonic() < until:
            if os.waitpid(self.process, os.WNOHANG)[0]:
                return
            select.select([], [], [], 0.05)
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
