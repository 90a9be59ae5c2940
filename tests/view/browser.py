# SPDX-License-Identifier: MIT
"""
Debian's chromium without a screen, driven by its DevTools protocol over a pipe. A page's messages on its console, and
its errors, are kept: a test asks for them at its end.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 120  # seconds until something that has to happen is given up


class Browser:
    def __init__(self, program="chromium", size=(1400, 900), scale=1):
        self.profile = tempfile.mkdtemp(prefix="browser.")
        from_browser, to_us = os.pipe()
        from_us, to_browser = os.pipe()
        self.reader, self.writer = from_browser, to_browser
        self.rest = b""
        self.number = 0
        self.told = []  # console messages, exceptions, refused loads
        self.requests = []  # addresses that were asked for

        def pipes():
            # The browser reads its descriptor 3 and writes 4.
            inside = os.dup(from_us), os.dup(to_us)
            os.dup2(inside[0], 3)
            os.dup2(inside[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
             f"--window-size={size[0]},{size[1]}", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(from_us)
        os.close(to_us)
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.ask(f"{domain}.enable")
        self.size(*size, scale)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.reader)
        os.close(self.writer)
        for _ in range(50):
            shutil.rmtree(self.profile, ignore_errors=True)
            if not os.path.exists(self.profile):
                break
            time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ------------------------------------------------------------------------------------------- protocol

    def ask(self, method, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive(time.monotonic() + PATIENCE)
            if answer is None:
                raise TimeoutError(f"{method} is not answered")
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.reader], [], [], max(until - time.monotonic(), 0))[0]:
                return None
            got = os.read(self.reader, 1 << 20)
            if not got:
                raise RuntimeError("the browser ended")
            self.rest += got
        one, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(one)
        self.keep(message.get("method"), message.get("params", {}))
        return message

    def keep(self, method, params):
        if method == "Runtime.consoleAPICalled":
            self.told.append("console: " + " ".join(str(arg.get("value", arg.get("description"))) for arg in params["args"]))
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.told.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.told.append("log: " + params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.told.append("dialog: " + params["message"])
            self.number += 1
            os.write(self.writer, json.dumps({"id": self.number, "method": "Page.handleJavaScriptDialog",
                                              "params": {"accept": True}, "sessionId": self.session}).encode() + b"\0")

    # ---------------------------------------------------------------------------------------------- pages

    def size(self, width, height, scale=1):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def dark(self, dark):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, address):
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=address)

    def run(self, expression):
        """The value of an expression in the page; promises are waited for."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait(self, expression):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            value = self.run(expression)
            if value:
                return value
            time.sleep(0.02)
        raise TimeoutError(f"{expression} does not become true; {self.told}")

    def settle(self):
        """Two frames later everything is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def picture(self, path):
        self.settle()
        data = base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as out:
            out.write(data)

    def key(self, key, modifiers=0):
        # A key that types a character has that text; other keys have only a name.
        params = {"key": key, "modifiers": modifiers}
        if len(key) == 1:
            params["text"] = key
        elif key == "Enter":
            params["text"] = "\r"
        self.ask("Input.dispatchKeyEvent", type="keyDown", **params)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def mouse(self, kind, x, y, **params):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **params)

    def click(self, x, y, clicks=1):
        for count in range(1, clicks + 1):
            self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=count)
            self.mouse("mouseReleased", x, y, button="left", clickCount=count)

    def drag(self, x, y, to_x, to_y, modifiers=0):
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        for part in (0.3, 0.6, 1):
            self.mouse("mouseMoved", x + (to_x - x) * part, y + (to_y - y) * part, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1, modifiers=modifiers)

    def wheel(self, x, y, dx, dy, modifiers=0):
        self.mouse("mouseWheel", x, y, deltaX=dx, deltaY=dy, modifiers=modifiers)

    def tree(self):
        """The accessibility tree: role and name of each node that a screen reader finds."""
        nodes = self.ask("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes
                if not node.get("ignored") and "role" in node]
