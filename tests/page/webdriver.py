"""A WebDriver client of what the test needs, over chromedriver; the standard library alone.

https://www.w3.org/TR/webdriver2/ names the commands, the goog/cdp one reaches what it lacks."""

import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "End": "\ue010",
    "Home": "\ue011",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "Shift": "\ue008",
}


def find_browser():
    """Paths of browser and driver, or None where either is missing."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class DriverError(Exception):
    pass


class Browser:
    """One headless browser window. Use as a context manager: it ends what it started."""

    def __init__(self, paths, width=1280, height=800, ratio=1):
        self.folder = tempfile.mkdtemp(prefix="stowage-page-")
        self.downloads = os.path.join(self.folder, "downloads")
        os.mkdir(self.downloads)
        self.driver = subprocess.Popen(
            [paths[1], "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.session = None
        try:
            self.connection = http.client.HTTPConnection("127.0.0.1", self._port(), timeout=120)
            self._open(paths[0], width, height, ratio)
        except BaseException:
            self.close()
            raise

    def _port(self):
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
        raise DriverError("chromedriver did not start")

    def _open(self, browser, width, height, ratio):
        arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-quic",
            "--disable-sync",
            "--force-device-scale-factor=%g" % ratio,
            "--window-size=%d,%d" % (width, height),
            "--user-data-dir=" + os.path.join(self.folder, "profile"),
        ]
        options = {
            "binary": browser,
            "args": arguments,
            "prefs": {"download.default_directory": self.downloads},
        }
        answer = self._call(
            "POST",
            "/session",
            {
                "capabilities": {
                    "alwaysMatch": {
                        "goog:chromeOptions": options,
                        "unhandledPromptBehavior": "ignore",
                        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                    }
                }
            },
        )
        self.session = "/session/" + answer["sessionId"]
        self.resize(width, height)
        self.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.downloads)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        try:
            if self.session:
                self._call("DELETE", self.session, None)
        except (DriverError, OSError, http.client.HTTPException):
            pass
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _call(self, method, path, body):
        text = None if body is None else json.dumps(body)
        self.connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = json.loads(self.connection.getresponse().read())["value"]
        if isinstance(answer, dict) and "error" in answer:
            raise DriverError(answer["error"] + ": " + answer.get("message", ""))
        return answer

    def post(self, path, **body):
        return self._call("POST", self.session + path, body)

    def get(self, path):
        return self._call("GET", self.session + path, None)

    def cdp(self, command, **parameters):
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    # The inner size of the page, whatever the window's.
    def resize(self, width, height, ratio=0, mobile=False):
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=ratio,
            mobile=mobile,
        )

    def load(self, path):
        self.post("/url", url="file://" + os.path.abspath(path))

    def run(self, script, *arguments):
        return self.post("/execute/sync", script=script, args=list(arguments))

    def run_async(self, script, *arguments):
        """The script's last argument is the function that takes its result."""
        return self.post("/execute/async", script=script, args=list(arguments))

    def settle(self):
        """Waits until the frame that was asked for is drawn."""
        self.run_async(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => done()));"
        )

    def element(self, selector):
        return self.post("/element", using="css selector", value=selector)[ELEMENT]

    def click(self, selector):
        self.post("/element/%s/click" % self.element(selector))

    def type(self, selector, text):
        self.post("/element/%s/value" % self.element(selector), text=text)

    def keys(self, *names, shift=False):
        """Presses keys one after the other, wherever the focus is."""
        actions = [{"type": "keyDown", "value": KEYS["Shift"]}] if shift else []
        for name in names:
            key = KEYS.get(name, name)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        if shift:
            actions.append({"type": "keyUp", "value": KEYS["Shift"]})
        self.post("/actions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])
        self.settle()

    def pointer(self, *actions):
        """Moves and presses the mouse: ("move", x, y), ("down",), ("up",)."""
        steps = []
        for action in actions:
            if action[0] == "move":
                steps.append(
                    {
                        "type": "pointerMove",
                        "duration": 0,
                        "x": round(action[1]),
                        "y": round(action[2]),
                        "origin": "viewport",
                    }
                )
            else:
                steps.append({"type": "pointer" + action[0].capitalize(), "button": 0})
        self.post(
            "/actions",
            actions=[
                {
                    "type": "pointer",
                    "id": "mouse",
                    "parameters": {"pointerType": "mouse"},
                    "actions": steps,
                }
            ],
        )
        self.settle()

    def click_at(self, x, y):
        self.pointer(("move", x, y), ("down",), ("up",))

    def wheel(self, x, y, delta):
        self.post(
            "/actions",
            actions=[
                {
                    "type": "wheel",
                    "id": "wheel",
                    "actions": [
                        {
                            "type": "scroll",
                            "x": round(x),
                            "y": round(y),
                            "deltaX": 0,
                            "deltaY": delta,
                            "duration": 0,
                            "origin": "viewport",
                        }
                    ],
                }
            ],
        )
        self.settle()

    def log(self, kind):
        return self.post("/se/log", type=kind)

    def has_dialog(self):
        try:
            self.get("/alert/text")
        except DriverError:
            return False
        return True

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.get("/screenshot")))
