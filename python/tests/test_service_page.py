"""The page of a data service in a browser, with real processes: a dispatcher that is started again, workers, a reader.

Also the metrics that docs/SERVICE.md lists, held against what the servers print.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from test_web_page import BUILD, LIMIT_S, SERVE, Browser, cell

LEAT = os.path.join(BUILD, "bin", "leat")
TOKEN = "a-token-of-the-tests"
DOCUMENT = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "SERVICE.md")

pytestmark = pytest.mark.skipif(not os.path.exists(SERVE), reason="this build has no libmicrohttpd")

READER = """
import sys
import leat as tf
service = tf.data.experimental.service
pictures = tf.data.Dataset.range(1 << 40).map(lambda i: tf.random.stateless_uniform([64, 64], [i, i])).batch(4)
distribute = service.distribute(service.ShardingPolicy.DYNAMIC, "grpc://" + sys.argv[1], job_name="pictures")
for _ in pictures.apply(distribute):
    pass
"""


class Server:
    """A process of the tool with a page; `line` is what it says first of its address."""

    def __init__(self, *arguments):
        environment = {**os.environ, "LEAT_SERVICE_TOKEN": TOKEN}
        command = [LEAT, "service", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        self.address = self.read(r" at (?:grpc://)?(\S+:\d+)")
        self.url = self.read(r"(http://\S+/)")

    def read(self, pattern):
        for line in self.process.stdout:
            found = re.search(pattern, line)
            if found:
                return found[1]
        pytest.fail("a server ended without saying " + pattern)

    def get(self, path):
        request = urllib.request.Request(self.url + path, headers={"Authorization": "Bearer " + TOKEN})
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return answer.read().decode()

    def end(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(LIMIT_S)
        self.process.stdout.close()


class Service:
    """A dispatcher with its state in a folder, two workers, and a program that reads from them."""

    def __init__(self, folder, stack):
        self.folder, self.stack = folder, stack
        self.dispatcher = self.start("dispatcher", "--port", "0", "--web-port", "0")
        worker = ("worker", "--dispatcher", self.dispatcher.address, "--web-port", "0")
        self.workers = [self.start(*worker) for _ in range(2)]
        reader = subprocess.Popen([sys.executable, "-c", READER, self.dispatcher.address],
                                  env={**os.environ, "LEAT_SERVICE_TOKEN": TOKEN})
        stack.callback(lambda: (reader.kill(), reader.wait()))

    def start(self, kind, *arguments):
        more = ("--work-dir", str(self.folder), "--fault-tolerant") if kind == "dispatcher" else ()
        server = Server(kind, "--host", "localhost", *more, *arguments)
        self.stack.callback(server.end)
        return server

    def restart(self):
        """Another dispatcher in the place of the one that is killed."""
        ports = [place.rstrip("/").rsplit(":", 1)[1] for place in (self.dispatcher.address, self.dispatcher.url)]
        self.dispatcher.end()
        self.dispatcher = self.start("dispatcher", "--port", ports[0], "--web-port", ports[1])


@pytest.fixture
def service(tmp_path):
    with contextlib.ExitStack() as stack:
        yield Service(tmp_path, stack)


def state_when(service, condition):
    """The state as soon as the condition holds of it."""
    while True:
        state = json.loads(service.dispatcher.get("state"))
        # Before the first figures are there it is of a kind and nothing else.
        if "workers" in state and condition(state):
            return state


def test_figures_of_workers(service):
    """What workers measure: the operator that bounds them by its name, shares between 0 and 1, sums that grow."""
    def measured(state):
        return [row for row in state["workers"] if row.get("slowest") and row["busy"] > 0 and row["bytes"] > 0]
    state = state_when(service, lambda now: len(measured(now)) == 2 and "stall" in now["totals"])
    for worker in measured(state):
        assert re.fullmatch(r'[a-z_]+( "[^"]*")?', worker["slowest"]["operator"])
        assert 0 < worker["slowest"]["share"] <= 1 and 0 < worker["busy"] <= 1 and 0 <= worker["full"] <= 1
    assert [job["name"] for job in state["jobs"]] == ["pictures"]
    more = state_when(service, lambda later: later["jobs"][0]["elements"] > state["jobs"][0]["elements"] and
                      later["totals"]["elements"] > state["totals"]["elements"])
    assert more["totals"]["bytes"] > state["totals"]["bytes"]
    command = [LEAT, "service", "status", "--dispatcher", service.dispatcher.address]
    table = subprocess.run(command, text=True, check=True, stdout=subprocess.PIPE,
                           env={**os.environ, "LEAT_SERVICE_TOKEN": TOKEN}).stdout
    assert re.search(r"BUSY +FULL +SLOWEST", table) and re.search(r"\d+% +\d+% +map.* \d+%", table)


def families(text):
    """(name, type) -> the names of the labels of its samples."""
    found, current = {}, None
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            current = tuple(line.split()[2:4])
            found[current] = set()
        elif not line.startswith("#"):
            assert current is not None and re.match(re.escape(current[0]) + r"[ {]", line), line
            found[current] |= set(re.findall(r'[{,](\w+)="', line.rsplit(" ", 1)[0]))
    return found


def listed(server):
    """What the page of the documents lists of a server's metrics: (name, type) -> labels."""
    with open(DOCUMENT, encoding="utf-8") as page:
        row = r"^\| `(leat_\w+)` \| (\w+) \|\s*(\w*)\s*\|([^|]*)\| (\w+) \|"
        rows = re.findall(row, page.read(), re.M)
    assert rows
    for name, kind, unit, _, _ in rows:
        assert not unit or unit in name.removesuffix("_total").split("_"), name
        assert (kind == "counter") == name.endswith("_total")
    return {(name, kind): set(re.findall(r"`(\w+)`", labels)) for name, kind, _, labels, of in rows if of == server}


def settled(server, kind, seconds=60):
    """The families of a server once they are those listed: it writes its figures anew twice a second,
    and a client's streams are told with its next heartbeat. After seconds, what there is."""
    deadline = time.monotonic() + seconds
    while (found := families(server.get("metrics"))) != listed(kind) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def test_metrics_are_those_of_the_page(service):
    state_when(service, lambda state: all(worker.get("slowest") for worker in state["workers"]) and
               len(state["workers"]) == 2 and state["clients"])
    assert settled(service.dispatcher, "dispatcher") == listed("dispatcher")
    assert settled(service.workers[0], "worker") == listed("worker")


@pytest.mark.skipif(shutil.which("chromedriver") is None, reason="chromium-driver is missing")
@pytest.mark.parametrize("width, dark", [(360, True), (1280, False)], ids=["phone", "desk"])
def test_the_page(service, width, dark):
    """Figures appear and move, a restart of the dispatcher is outlived, a button drains, a killed worker is lost."""
    browser = Browser(width, dark)
    try:
        follow(browser, service)
        assert browser.mistakes() == []
    finally:
        browser.close()


def number_of(label, row="''"):
    return "Number((%s).replaceAll(',', ''))" % cell("workers", row, label)


def follow(browser, service):
    first, second = (worker.address for worker in service.workers)
    browser.open(service.dispatcher.url)
    # Without the token there is a form.
    assert browser.run("return document.getElementById('workers') === null")
    browser.run("document.getElementById('token').value = '%s'; document.querySelector('button').click()" % TOKEN)
    browser.wait("%s > 0" % number_of("Elements", first))
    browser.wait("/^map.*, [1-9]\\d* %$/.test(" + cell("workers", first, "Slowest operator") + ")")
    browser.wait("/^[1-9]\\d* %$/.test(" + cell("workers", first, "Busy") + ")")
    browser.wait("/\\d/.test(" + cell("workers", first, "Elements/s") + ")")
    browser.wait("/\\d/.test(" + cell("jobs", "pictures", "Elements/s") + ")")
    for chart in ("elements", "buffered", "stall"):
        browser.wait("/\\d/.test(document.querySelector('#chart-%s .now').textContent)" % chart)
    seen = browser.run("return " + number_of("Elements", first))
    browser.wait("%s > %d" % (number_of("Elements", first), seen))
    service.restart()
    browser.wait("document.getElementById('notice').textContent.includes('started again')")
    browser.wait("document.getElementById('link').textContent === 'live'")
    browser.wait("%s > %d" % (number_of("Elements", first), seen))
    button = "[...document.querySelectorAll('#workers button')].find(b => b.ariaLabel.includes('%s'))" % first
    browser.run("(%s).click()" % button)
    browser.run("document.getElementById('ask-yes').click()")
    browser.wait(cell("workers", first, "State") + ".includes('it was drained')")
    assert service.workers[0].process.wait(LIMIT_S) == 0
    service.workers[1].end()
    browser.wait(cell("workers", second, "State") + ".startsWith('lost')")
    assert len(browser.run("return " + cell("workers", second, "State"))) > len("lost")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
