#!/usr/bin/env python3
"""leat watch PID: what a program that runs shows, and what a killed one leaves."""
import copy
import fcntl
import http.server
import json
import os
import signal
import subprocess
import threading
import unittest
import unittest.mock

from service import Process, until
from tool import BUILD, LEAT, ToolTest

FOREVER = {"op": "repeat", "args": {"count": -1}, "input": {"op": "range", "args": {"stop": 10}}}



class SeenTest(ToolTest):
    """A test with a folder of its own for what programs tell of their pages."""

    def setUp(self):
        super().setUp()
        environment = unittest.mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": self.folder})
        environment.start()
        self.addCleanup(environment.stop)

    def watch(self, pid, *options):
        watching = Process(["watch", *options, str(pid)])
        self.addCleanup(watching.kill)
        return watching


@unittest.skipUnless(os.path.exists(os.path.join(BUILD, "tests", "web_serve")), "this build has no libmicrohttpd")
class WatchTest(SeenTest):
    def start(self):
        """A program with a page, once it has said so."""
        plan = self.write("plan.json", json.dumps(FOREVER))
        program = subprocess.Popen([LEAT, "watch", plan], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.stderr.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program, program.stderr.readline().split(" at ")[1].strip()

    def test_program(self):
        program, url = self.start()
        pid = str(program.pid)
        table = ""
        while "OPERATOR" not in table:  # the page is there before the pipeline
            table = self.succeed("watch", "--count", "1", pid)
        self.assertEqual(table.splitlines()[0].split()[1::6], [pid, url])
        self.assertEqual([line.split()[0] for line in table.splitlines()[3:]], ["OPERATOR", "repeat", "range"])
        states = [json.loads(line) for line in self.succeed("watch", "--json", "--count", "2", "--interval", "0.01", pid).splitlines()]
        self.assertEqual([state["pid"] for state in states], [program.pid] * 2)
        for option in (["--limit", "3"], ["--seed", "0"], ["--threads", "2"], ["--port", "80"], ["--no-rewrites"]):
            self.fail_with(2, "option", "watch", *option, pid)
        left = os.path.join(self.folder, "leat", pid)
        program.kill()
        program.wait()
        self.assertTrue(os.path.exists(left))
        self.fail_with(1, "LEAT_WATCH=1", "watch", pid)
        self.assertFalse(os.path.exists(left))
        self.fail_with(1, "LEAT_WATCH=1", "watch", str(os.getpid()))
        self.fail_with(1, "number", "watch", "0")
        self.fail_with(1, "number", "watch", "99999999999999999999")

    def test_its_end(self):
        """Also of a process that nobody has waited for yet; Ctrl-C ends the looking alone."""
        program, _ = self.start()
        watching, left = [self.watch(program.pid, "--interval", "0.05") for _ in range(2)]
        for process in (watching, left):
            process.line("range")
        left.signal(signal.SIGINT)
        self.assertEqual(left.end()[0], 130)
        self.assertIsNone(program.poll())
        program.kill()
        watching.line("process %d has ended" % program.pid)
        self.assertEqual(watching.end(), (0, ""))

    def test_options_of_programs(self):
        plan = self.write("plan.json", json.dumps({"op": "range", "args": {"stop": 10}}))
        for option in (["--json"], ["--interval", "2"], ["--count", "1"]):
            self.fail_with(2, option[0], "watch", *option, plan)

    def test_another_users(self):
        """The first process is root's: root asks as somebody else."""
        somebody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if somebody:
            os.chown(self.folder, 65534, 65534)
        done = subprocess.run([LEAT, "watch", "1"], capture_output=True, text=True, timeout=60, **somebody)
        self.assertEqual(done.returncode, 1)
        self.assert_named("another", done.stderr)


FIRST = {
    "kind": "pipeline", "version": "1.2", "pid": os.getpid(), "now_ms": 100000, "pipelines": [{
        "id": 7, "name": "tr\x1b[2Jain", "elements": 500, "waiting_ms": 2500.0, "started_ms": 90000, "memory": 3 << 20,
        "slowest": {"operator": "map", "share": 0.8},
        "operators": [
            {"name": "prefetch", "depth": 0, "elements": 500, "errors": 0, "busy_ms": 100.0, "waiting_ms": 1000.0,
             "full_ms": 5000.0, "threads": 1, "buffered": 3, "buffer_limit": 16, "bytes": 1536},
            {"name": "map", "depth": 1, "elements": 2000, "errors": 2, "busy_ms": 16000.0, "waiting_ms": 200.0, "full_ms": 0.0,
             "threads": 2, "buffered": 0, "buffer_limit": 0, "bytes": 0}]}]}


def second():
    """Two seconds later, with one more pipeline that began in between."""
    state = copy.deepcopy(FIRST)
    state["now_ms"] += 2000
    [pipeline] = state["pipelines"]
    pipeline.update(elements=700, waiting_ms=3500.0)
    pipeline["operators"][0].update(elements=700, waiting_ms=2000.0, full_ms=5500.0)
    pipeline["operators"][1].update(elements=2400, busy_ms=17000.0)
    state["pipelines"].append({"id": 8, "started_ms": 101000, "elements": 4, "waiting_ms": 5000.0,
                               "operators": [{"name": "range", "elements": 4, "threads": 1}]})
    return state


class Page(http.server.BaseHTTPRequestHandler):
    """States one after the other, the last one again and again; None: there is none yet."""

    def do_GET(self):
        states, token = self.server.states, self.server.token
        state = states.pop(0) if len(states) > 1 else states[0]
        known = token is None or self.headers["Authorization"] == "Bearer " + token
        self.send_response(401 if not known else 503 if state is None else 200)
        self.end_headers()
        self.wfile.write(json.dumps(state).encode())

    def log_message(self, *_):
        pass


class StatesTest(SeenTest):
    """This process is the program: it has a page with states that are known."""

    def show(self, *states, token=None):
        server = http.server.HTTPServer(("127.0.0.1", 0), Page)
        server.states, server.token = list(states), token
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.tell(server)
        return server

    def tell(self, server):
        """Holds the file that says where the page is, until its descriptor is closed."""
        path = os.path.join(self.folder, "leat", str(os.getpid()))
        if os.path.exists(path):
            os.remove(path)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        server.seen = open(path, "w", encoding="utf-8")
        fcntl.flock(server.seen, fcntl.LOCK_EX)
        # Who looks removes what nobody holds, perhaps before it was held.
        while not os.path.exists(path) or os.stat(path).st_ino != os.fstat(server.seen.fileno()).st_ino:
            server.seen.close()
            server.seen = open(path, "w", encoding="utf-8")
            fcntl.flock(server.seen, fcntl.LOCK_EX)
        server.seen.write("http://127.0.0.1:%d/\n" % server.server_port)
        server.seen.flush()
        self.addCleanup(server.seen.close)

    def test_figures(self):
        """Since the pipeline's beginning, then since the look before; a state that is seen twice has the figures of one look."""
        server = self.show(None, FIRST, second())
        said = self.succeed("watch", "--count", "3", "--interval", "0.01", str(os.getpid()))
        head = "process %d (leat 1.2), its page is http://127.0.0.1:%d/" % (os.getpid(), server.server_port)
        columns = "OPERATOR ELEMENTS EL/S BUSY WAITS FULL THREADS BUFFER HOLDS ERRORS".split()
        later = [
            [head], ["tr?[2Jain: 700 elements, 100 each second; its consumer waits 50% of the time; 3.0 MiB held; slowest: map 80%"],
            columns, "prefetch 700 100 0% 50% 25% 1 3/16 1.5 KiB -".split(), "map 2,400 200 25% 0% 0% 2 - - 2".split(),
            ["pipeline: 4 elements, 4.0 each second; its consumer waits 100% of the time; 0 bytes held"],
            "OPERATOR ELEMENTS EL/S THREADS".split(), "range 4 4.0 1".split()]
        self.assertEqual([line.split() if line.startswith((" ", "OP", "pre", "range")) else [line] for line in said.splitlines() if line], [
            [head], ["tr?[2Jain: 500 elements, 50 each second; its consumer waits 25% of the time; 3.0 MiB held; slowest: map 80%"],
            columns, "prefetch 500 50 1% 10% 50% 1 3/16 1.5 KiB -".split(), "map 2,000 200 80% 2% 0% 2 - - 2".split(), *later, *later])

    def test_two_pages(self):
        """One behind the other, each with its address; as JSON a line for each."""
        servers = [self.show({**FIRST, "now_ms": 1}), self.show({**FIRST, "now_ms": 2})]
        servers[1].seen.write("http://127.0.0.1:%d/\n" % servers[0].server_port)
        servers[1].seen.flush()
        tables = self.succeed("watch", "--count", "1", str(os.getpid())).split("\n\nprocess ")
        self.assertEqual([str(server.server_port) in table for table, server in zip(tables, reversed(servers))], [True, True])
        states = self.succeed("watch", "--json", "--count", "1", str(os.getpid())).splitlines()
        self.assertEqual([json.loads(state)["now_ms"] for state in states], [2, 1])

    def test_token(self):
        self.show(FIRST, token="s3cret")
        self.fail_with(1, "LEAT_WATCH_TOKEN", "watch", str(os.getpid()))
        with unittest.mock.patch.dict(os.environ, LEAT_WATCH_TOKEN="s3cret"):
            self.assertEqual(json.loads(self.succeed("watch", "--json", "--count", "1", str(os.getpid()))), FIRST)

    def test_between_pipelines(self):
        """A program that has no page for a while is asked on."""
        server = self.show(FIRST)
        watching = self.watch(os.getpid(), "--json", "--interval", "0.02")
        watching.line("100000")
        server.states[:] = [{**FIRST, "now_ms": 200000}]
        server.seen.close()
        until(lambda: watching.failed, "it says that there is no pipeline")
        self.tell(server)
        watching.line("200000")
        watching.signal(signal.SIGINT)
        self.assertEqual(watching.end()[0], 130)


if __name__ == "__main__":
    unittest.main()
