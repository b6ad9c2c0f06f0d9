# SPDX-License-Identifier: MIT
"""A headless Chromium, driven by its own protocol over two pipes: pages are opened, asked, and photographed."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-headless-shell", "google-chrome", "chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
         "--disable-extensions", "--hide-scrollbars", "--mute-audio", "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe")


def program() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)


class BrowserError(RuntimeError):
    """The browser or a page of it did not answer."""


class Browser:
    """One page at a time. Nothing outside this machine can be reached from it."""

    def __init__(self, seconds: float = 60):
        self.seconds, self.number, self.events = seconds, 0, []
        self.profile = tempfile.TemporaryDirectory(prefix="gather-browser-", ignore_cleanup_errors=True)
        to_child, self.out = os.pipe()
        self.read, from_child = os.pipe()
        self.rest = b""

        def place() -> None:  # the protocol's pipes are 3 and 4
            first, second = os.dup(to_child), os.dup(from_child)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen([program(), *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"], preexec_fn=place,  # noqa: PLW1509
                                        pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.out)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        self.profile.cleanup()

    def message(self) -> dict:
        """The next message of the browser."""
        while b"\0" not in self.rest:
            more = os.read(self.read, 1 << 20)
            if not more:
                raise BrowserError("the browser ended")
            self.rest += more
        first, _, self.rest = self.rest.partition(b"\0")
        return json.loads(first)

    def call(self, method: str, **parameters: object) -> dict:
        """Calls a method of the protocol; events that arrive meanwhile are kept."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if hasattr(self, "session"):
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url: str) -> None:
        """Opens a page and waits until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def ask(self, expression: str) -> object:
        """The value of an expression in the page; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def until(self, expression: str) -> object:
        """Waits until an expression is true, and returns it."""
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            try:
                if value := self.ask(expression):
                    return value
            except BrowserError:
                pass  # between two pages there is none to ask
            time.sleep(0.02)
        raise BrowserError(f"not within {self.seconds} seconds: {expression}")

    def look(self, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """The size of the window, and whether the user prefers dark pages."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def photograph(self, path: str) -> None:
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def faults(self) -> list[str]:
        """What the console of the open page says of errors, exceptions, and requests to other machines."""
        self.ask("1")
        found = []
        for event in self.events:
            method, given = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(given["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            elif method == "Runtime.consoleAPICalled" and given["type"] in {"error", "warning"}:
                found.append(" ".join(str(argument.get("value", "")) for argument in given["args"]))
            elif method == "Log.entryAdded" and given["entry"]["level"] == "error":
                found.append(f"{given['entry']['text']} {given['entry'].get('url', '')}")
            elif method == "Network.requestWillBeSent" and given["request"]["url"].split(":")[0] in {"http", "https", "ws", "wss"}:
                found.append(f"asks another machine: {given['request']['url']}")
        return found
