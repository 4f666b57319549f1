"""A headless Chromium to look at pages with: started as a child, driven over a pair of pipes (the DevTools protocol,
messages of JSON with a NUL byte behind each), so that nothing but the browser is needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path


def find_chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """Use as a context: the browser ends with it."""

    def __init__(self, program: str, timeout: float = 60) -> None:
        self.program, self.timeout = program, timeout
        self.number, self.buffer, self.events = 0, b"", []

    def __enter__(self) -> Browser:
        self.profile = tempfile.TemporaryDirectory(prefix="burin-pages-", ignore_cleanup_errors=True)
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def place_pipes() -> None:  # the browser reads 3 and writes 4
            first, second = os.dup(to_read), os.dup(from_write)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [self.program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_write)
        os.close(self.from_read)
        self.profile.cleanup()

    def open(self, page: Path, width: int, height: int, dark: bool = False) -> None:
        """Shows a file as a screen of that size would; `events` begins anew."""
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.call("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.events = []
        self.call("Page.navigate", {"url": page.absolute().as_uri()})
        self.wait_for("Page.loadEventFired")

    def evaluate(self, script: str) -> object:
        answer = self.call("Runtime.evaluate", {"expression": script, "returnByValue": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """What the page's console would show in red, or as a warning."""
        found = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"]["text"])
            if event["method"] == "Runtime.consoleAPICalled":
                found.append(str(event["params"]["args"]))
            if event["method"] == "Log.entryAdded":
                found.append(event["params"]["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """Addresses that the page asked for, its own among them."""
        return [event["params"]["request"]["url"] for event in self.events
                if event["method"] == "Network.requestWillBeSent"]

    def screenshot(self, file: Path, whole: bool = True) -> None:
        answer = self.call("Page.captureScreenshot", {"captureBeyondViewport": whole})
        file.write_bytes(base64.b64decode(answer["data"]))

    # ---- The protocol

    def call(self, method: str, parameters: dict | None = None) -> dict:
        self.number += 1
        message: dict = {"id": self.number, "method": method, "params": parameters or {}}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_write, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def wait_for(self, method: str) -> None:
        while not any(event["method"] == method for event in self.events):
            self.receive()

    def receive(self) -> dict:
        end = time.monotonic() + self.timeout
        while b"\0" not in self.buffer:
            if not select.select([self.from_read], [], [], max(0, end - time.monotonic()))[0]:
                raise RuntimeError(f"the browser said nothing for {self.timeout:.0f} s")
            data = os.read(self.from_read, 1 << 20)
            if not data:
                raise RuntimeError(f"the browser ended, exit status {self.process.wait()}")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message
