"""The web page in a browser: headless Chromium by its WebDriver protocol, beside a server whose state this test says.

Skipped only where Chromium, or a leat with the page, is missing.
"""
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

import pytest

BUILD = os.environ.get("LEAT_BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
SERVE = os.path.join(BUILD, "tests", "web_serve")
TOKEN = "s3cret"
LIMIT_S = 30

pytestmark = [
    pytest.mark.skipif(shutil.which("chromedriver") is None, reason="chromium-driver is missing"),
    pytest.mark.skipif(not os.path.exists(SERVE), reason="this build has no libmicrohttpd"),
]


class Browser:
    """A session of chromedriver, which is a process of its own."""

    def __init__(self, width, dark):
        for _ in range(5):
            # It ends where somebody takes the port that it has found before it has it for both kinds of addresses.
            self.process = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
            found = (re.search(r"successfully on port (\d+)", line) for line in self.process.stdout)
            port = next((match[1] for match in found if match), None)
            if port is not None:
                break
            self.process.wait()
        self.base = "http://127.0.0.1:%s/session" % port
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
                   "mobileEmulation": {"deviceMetrics": {"width": width, "height": 800, "pixelRatio": 1.0}}}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = self.send("", {"capabilities": {"alwaysMatch": capabilities}})
        self.base += "/" + session["sessionId"]
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": [scheme]}})

    def send(self, path, body, method="POST"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return json.loads(answer.read())["value"]

    def open(self, url):
        self.send("/url", {"url": url})

    def run(self, script):
        return self.send("/execute/sync", {"script": script, "args": []})

    def wait(self, condition):
        """Until a condition of the page is true, whatever page that is by then."""
        end = time.monotonic() + LIMIT_S
        script = "try { return Boolean(%s); } catch { return false; }" % condition
        while time.monotonic() < end:
            try:
                if self.run(script):
                    return
            except urllib.error.HTTPError:
                pass  # another page is coming
        pytest.fail("never true: " + condition)

    def mistakes(self):
        """What scripts and the policy of the page complain about. That a server is gone is no mistake of the page's."""
        return [line for line in self.send("/se/log", {"type": "browser"})
                if line["source"] not in ("network", "recommendation")]

    def close(self):
        try:
            self.send("", None, "DELETE")
        finally:
            self.process.terminate()
            self.process.wait()
            self.process.stdout.close()


class Server:
    """tests/web/serve.c, told a state."""

    def __init__(self, state, port=0, token=None):
        command = [SERVE, str(port), "20"] + ([token] if token else [])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say(state)
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.split(":")[2].strip("/"))

    def say(self, state):
        self.process.stdin.write(json.dumps(state) + "\n")
        self.process.stdin.flush()

    def stop(self):
        self.process.stdin.close()
        self.process.wait(LIMIT_S)
        self.process.stdout.close()


@pytest.fixture(params=[(360, True), (1280, False)], ids=["phone", "desk"])
def browser(request):
    made = Browser(*request.param)
    made.width = request.param[0]
    yield made
    made.close()


@pytest.fixture
def serve():
    servers = []

    def start(*args, **kwargs):
        servers.append(Server(*args, **kwargs))
        return servers[-1]
    yield start
    for server in servers:
        if server.process.poll() is None:
            server.stop()


def service(second, incarnation="one", **changes):
    """A data service's state after so many seconds: a thousand elements in each."""
    worker = {"uid": "a", "address": "10.0.0.7:7001", "state": "ready", "tasks": 2, "elements": 1000 * second,
              "busy": 0.6, "slowest": {"operator": "map \"decode\"", "share": 0.8}, "heard_ms": 300}
    lost = {"uid": "b", "address": "10.0.0.8:7001", "state": "lost", "why": "no heartbeat for 31 s", "elements": 5}
    evil = {"uid": "c", "address": "no<img src=x onerror=alert(1)>", "state": "ready", "elements": 1}
    return {"kind": "service", "name": "train <i>", "now_ms": 1700000000000 + 1000 * second, "uptime_ms": 1000 * second,
            "incarnation": incarnation, "actions": ["drain"], "workers": [worker, lost, evil],
            "totals": {"elements": 1000 * second, "buffered": 17, "stall": 0.25},
            "jobs": [{"id": 1, "name": "resnet", "policy": "DYNAMIC", "elements": 1000 * second, "splits_given": 3,
                      "splits_total": 9}],
            "clients": [{"id": 1, "job": "resnet", "address": "10.0.1.1:1", "stall": 0.5, "elements_per_s": 990,
                         "transfers": {"shm": 2, "grpc": 1}, "unreached": ["10.0.0.8:7001"]}],
            **changes}


def cell(table, row, label):
    """The script of a cell's text."""
    return "[...document.querySelectorAll('#%s tbody tr')].find(r => r.textContent.includes('%s'))" \
        ".querySelector('[data-label=\"%s\"]').textContent" % (table, row, label)


def test_a_service(browser, serve):
    """Numbers appear and move, what comes from outside is text, and nothing is wider than the screen."""
    server = serve(service(1))
    browser.open(server.url)
    browser.wait("document.title.includes('train <i>')")
    browser.wait("%s === '1,000'" % cell("workers", "10.0.0.7", "Elements"))
    assert "no heartbeat" in browser.run("return " + cell("workers", "10.0.0.8", "State"))
    assert browser.run("return " + cell("workers", "10.0.0.7", "Slowest operator")) == "map \"decode\", 80 %"
    assert browser.run("return " + cell("jobs", "resnet", "Splits")) == "3 of 9"
    assert browser.run("return " + cell("clients", "10.0.1.1", "Waits")) == "50 %"
    assert browser.run("return " + cell("clients", "10.0.1.1", "Streams")) == "2 shm, 1 grpc"
    assert browser.run("return " + cell("clients", "10.0.1.1", "No way to")) == "10.0.0.8:7001"
    server.say(service(3))
    browser.wait("%s === '3,000'" % cell("workers", "10.0.0.7", "Elements"))
    browser.wait("document.querySelector('#chart-elements .now').textContent === '1.00 k'")
    assert browser.run("return document.querySelector('#chart-buffered .now').textContent") == "17"
    assert browser.run("return document.querySelector('#chart-stall .now').textContent") == "25 %"
    assert browser.run("return document.querySelectorAll('main img').length") == 0
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    # Loaded again, the curve is there at once.
    browser.open(server.url)
    browser.wait("document.querySelector('#chart-elements .now').textContent === '1.00 k'")
    assert browser.mistakes() == []


def test_a_restart(browser, serve):
    """The page says that the server is gone, and goes on with the next one at the same place."""
    server = serve(service(5))
    browser.open(server.url)
    browser.wait("%s === '5,000'" % cell("workers", "10.0.0.7", "Elements"))
    server.stop()
    browser.wait("document.getElementById('link').textContent === 'no connection'")
    again = serve(service(9, "two", uptime_ms=1000), port=server.port)
    browser.wait("document.getElementById('link').textContent === 'live'")
    browser.wait("%s === '9,000'" % cell("workers", "10.0.0.7", "Elements"))
    assert "again" in browser.run("return document.getElementById('notice').textContent")
    again.say(service(10, "two"))
    browser.wait("%s === '10,000'" % cell("workers", "10.0.0.7", "Elements"))
    assert browser.mistakes() == []


def test_draining(browser, serve):
    """The button asks first; what the server says is shown as text."""
    server = serve(service(1))
    browser.open(server.url)
    button = "[...document.querySelectorAll('#workers button')].find(b => b.ariaLabel.includes('%s'))"
    browser.wait(button % "10.0.0.7" + " !== undefined")
    browser.run("(%s).click()" % (button % "10.0.0.7"))
    assert browser.run("return document.getElementById('ask').open")
    browser.run("document.querySelector('#ask [value=no]').click()")
    browser.wait("!document.getElementById('ask').open")
    browser.run("(%s).click()" % (button % "10.0.0.7"))
    browser.run("document.getElementById('ask-yes').click()")
    # Only the second click reaches the server.
    assert server.process.stdout.readline() == "act drain 10.0.0.7:7001\n"
    browser.wait("document.getElementById('notice').className === 'good'")
    browser.run("(%s).click()" % (button % "no<img"))
    browser.run("document.getElementById('ask-yes').click()")
    browser.wait("document.getElementById('notice').className === 'bad'")
    assert "<b>no<img" in browser.run("return document.getElementById('notice').textContent")
    draining = {"address": "10.0.0.7:7001", "uid": "a", "state": "draining", "why": "asked for", "elements": 1}
    server.say(service(2, workers=[draining]))
    browser.wait("document.querySelectorAll('#workers button').length === 0")
    assert browser.mistakes() == []


def test_the_token(browser, serve):
    """Without the token there is a form; after it the page, also after a restart with the same token."""
    server = serve(service(1), token=TOKEN)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(server.url + "state", timeout=LIMIT_S)
    browser.open(server.url)
    assert browser.run("return document.getElementById('workers') === null && document.querySelector('.bad').hidden")
    for word in ("wrong", TOKEN):
        browser.run("document.getElementById('token').value = '%s'; document.querySelector('button').click()" % word)
        if word == "wrong":
            browser.wait("!document.querySelector('.bad').hidden")
    browser.wait("%s === '1,000'" % cell("workers", "10.0.0.7", "Elements"))
    server.stop()
    again = serve(service(2), port=server.port, token=TOKEN)
    browser.wait("%s === '2,000'" % cell("workers", "10.0.0.7", "Elements"))
    again.stop()
    # Another token: the form again.
    serve(service(3), port=server.port, token="another")
    browser.wait("document.getElementById('token') !== null")
    # A link brings the token behind '#', and the address keeps none of it.
    browser.open(again.url + "?#token=another")
    browser.wait("%s === '3,000'" % cell("workers", "10.0.0.7", "Elements"))
    assert "another" not in browser.run("return location.href")
    assert browser.mistakes() == []


def test_a_pipeline(browser, serve):
    """One card per iterator; rates and what an operator does come from the differences."""
    def state(second):
        root = {"name": "prefetch", "depth": 0, "elements": 10 * second, "busy_ms": 0, "waiting_ms": 900 * second,
                "full_ms": 0, "threads": 1, "buffered": 2, "buffer_limit": 8, "bytes": 2048}
        source = {"name": "map \"decode\"", "depth": 1, "elements": 10 * second, "busy_ms": 950 * second,
                  "waiting_ms": 0, "full_ms": 0, "threads": 1, "buffered": 0, "buffer_limit": 0, "bytes": 0}
        pipeline = {"id": 7, "name": "digits", "elements": 10 * second, "waiting_ms": 400 * second,
                    "operators": [root, source], "slowest": {"operator": "map \"decode\"", "share": 0.95},
                    "autotune": "prefetch: 2 -> 8"}
        return {"kind": "pipeline", "pid": 42, "now_ms": 1700000000000 + 1000 * second, "name": "digits",
                "pipelines": [pipeline],
                "totals": {"elements": 10 * second, "buffered": 2, "waiting_ms": 400 * second, "consumers": 1}}
    server = serve(state(1))
    browser.open(server.url)
    browser.wait(cell("pipeline-7", "prefetch", "Buffer") + " === '2 of 8'")
    server.say(state(3))
    browser.wait(cell("pipeline-7", "prefetch", "Elements/s") + " === '10'")
    assert browser.run("return " + cell("pipeline-7", "decode", "Now")) == "computes"
    assert browser.run("return " + cell("pipeline-7", "prefetch", "Now")) == "waits for its input"
    assert browser.run("return document.querySelector('#chart-stall .now').textContent") == "40 %"
    assert "40 %" in browser.run("return document.querySelector('#pipeline-7 .sum').textContent")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    server.say({**state(4), "pipelines": []})
    browser.wait("document.getElementById('pipeline-7') === null")
    assert browser.mistakes() == []
