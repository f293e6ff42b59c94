"""A data service one of whose processes, dispatcher, worker or client, is killed, stopped, cut off, held up, slow, without room on its
disk or given another time of day, at a random moment of an epoch and under each level of visitation. Every element is accounted for, and
nothing may hang or end otherwise than by the end of the epoch.

LEAT_SERVICE_FAULTS is how often for each level, LEAT_SERVICE_FAULTS_FROM the first seed. A client that was killed goes on from its last
state, or, under at_most_once, by joining its job again."""
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/cli"), str(ROOT / "tools/chaos")]
import proxy  # noqa: E402
from service import ServiceTest  # noqa: E402
from tool import BUILD  # noqa: E402

COUNT = 60000
TRIALS = int(os.environ.get("LEAT_SERVICE_FAULTS", "20"))
FIRST = int(os.environ.get("LEAT_SERVICE_FAULTS_FROM", "0"))
ONLY = os.environ.get("LEAT_SERVICE_FAULTS_ONLY", "")    # "worker stop", say
AT_MOST_ONCE, AT_LEAST_ONCE, EXACTLY_ONCE = range(3)
PRELOAD = os.path.join(BUILD, "tests", "faults_preload.so")
TIMEOUT_S = 1    # of workers
FAULTS = [(who, what) for who in ("dispatcher", "worker", "client")
          for what in ("kill", "stop", "cut", "hold", "slow", "clock", "full") if what != "full" or who == "dispatcher"]
BAD = re.compile(r"sanitizer|assert|internal|crash|fatal", re.I)


def free_port():
    """One that no connection is given by itself, so that it is free for a server that is started again."""
    for port in random.sample(range(20000, 30000), 100):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise AssertionError("no port is free")


class Trial:
    """One service, one reader, one fault."""

    def __init__(self, test, level, seed):
        self.test, self.level, self.draw = test, level, random.Random("%d/%d" % (level, seed))
        self.who, self.what = self.draw.choice([one for one in FAULTS if ONLY in " ".join(one)])
        self.folder = os.path.join(test.folder, "trial-%d-%d" % (level, seed))
        os.mkdir(self.folder)
        self.proxies, self.gone, self.workers, self.dispatcher, self.reader = [], set(), [], None, None
        # Now and then for longer than a worker may be silent.
        self.while_s = self.draw.choice([self.draw.uniform(0, 0.3), self.draw.uniform(0, 0.3), TIMEOUT_S * self.draw.uniform(1, 2)])
        self.state = os.path.join(self.folder, "state")

    def __str__(self):
        return "%s %s for %.2f s" % (self.who, self.what, self.while_s)

    # ---- processes ----

    def preloaded(self, who):
        """The time of day jumps at a counted call of the process; its disk is full from one on. Forwards alone: the system's own
        clock stays, so that gRPC's waits until a time of day in its past would be over at once, again and again."""
        if who != self.who or self.what not in ("clock", "full"):
            return {}
        if self.what == "clock":
            jump = self.draw.choice([2, 3600, 86400, 3650 * 86400])
            found = {"LEAT_FAULTS_FOLDER": "/", "LEAT_FAULTS_JUMP": str(jump), "LEAT_FAULTS_JUMP_AT": str(self.draw.randrange(200))}
        else:
            found = {"LEAT_FAULTS_FOLDER": self.folder, "LEAT_FAULTS_FULL_AT": str(self.test.calls + self.draw.randrange(80))}
        return {"LD_PRELOAD": PRELOAD, **found}

    def through(self, address):
        """The address of a proxy in front of it."""
        host, _, port = address.rpartition(":")
        one = proxy.Proxy((host, int(port)))
        one.start()
        self.proxies.append(one)
        return "localhost:%d" % one.port

    def is_proxied(self, who):
        return self.what in ("cut", "hold", "slow") and who == self.who

    def start_dispatcher(self, port, env=None):
        self.dispatcher = self.test.dispatcher("--worker-timeout", str(TIMEOUT_S), "--work-dir", os.path.join(self.folder, "work"),
                                               "--fault-tolerant", "--port", str(port), env=env)

    def start_worker(self, env=None, proxied=False):
        options = ()
        if proxied:
            port = free_port()
            options = ("--port", str(port), "--address", self.through("127.0.0.1:%d" % port))
        self.workers.append(self.test.worker(self.address, *options, env=env))

    def start(self):
        self.start_dispatcher(free_port(), self.preloaded("dispatcher"))
        # All reach a dispatcher that is cut off by the proxy, and a client that is.
        self.address = self.through(self.dispatcher.address) if self.is_proxied("dispatcher") else self.dispatcher.address
        for i in range(self.draw.randint(2, 3)):
            self.start_worker(self.preloaded("worker") if i == 0 else None,
                              self.is_proxied("client") or (self.is_proxied("worker") and i == 0))
        self.reader_address = self.through(self.address) if self.is_proxied("client") else self.address
        self.pause = self.draw.randrange(1, COUNT) if self.what not in ("clock", "full") else 0
        self.start_reader(self.pause)

    def start_reader(self, pause):
        self.reader = self.test.reader(self.reader_address, count=COUNT, visitation=self.level, pause=pause, state=(self.state,),
                                       env=self.preloaded("client"))

    # ---- the fault ----

    def victim(self):
        return {"dispatcher": lambda: self.dispatcher.process, "worker": lambda: self.workers[0].process,
                "client": lambda: self.reader.process}[self.who]()

    def begin(self):
        if self.what in ("kill", "full"):
            if self.what == "kill":
                self.victim().kill()
                self.gone.add(self.victim().pid)
        elif self.what == "stop":
            self.victim().send_signal(signal.SIGSTOP)
        for one in self.proxies:
            one.mode = self.what

    def mend(self):
        if self.what == "stop":
            self.victim().send_signal(signal.SIGCONT)
        for one in self.proxies:
            one.mode = "pass"
        if self.who == "dispatcher" and self.what in ("kill", "full"):
            self.gone.add(self.dispatcher.pid)
            port = self.dispatcher.address.rpartition(":")[2]
            self.dispatcher.kill()
            self.start_dispatcher(port)
        elif self.who == "worker" and self.what == "kill":
            self.start_worker()
        elif self.who == "client" and self.what == "kill":
            self.reader.kill()
            self.start_reader(0)

    def run(self):
        self.start()
        if self.pause:
            self.reader.paused()
        self.begin()
        if self.pause and self.reader.process.pid not in self.gone:
            self.reader.go_on()
        threading.Event().wait(self.while_s)
        self.mend()
        return self.reader.rest()

    def end(self):
        """Ends all; what they said that they should not."""
        said = []
        for process in [self.dispatcher, *self.workers] if self.dispatcher else ():
            if process.process.poll() is not None and process.pid not in self.gone:
                said.append("a process ended with status %d: %s" % (process.process.returncode, "".join(process.failed)))
            process.kill()
            said += [line for line in process.failed if BAD.search(line)]
        if self.reader:
            self.reader.kill()
        for one in self.proxies:
            one.close()
        shutil.rmtree(self.folder)
        return said


@unittest.skipUnless(os.path.exists(PRELOAD), "tests/faults_preload.so was not built")
class FaultsTest(ServiceTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.counts = collections.Counter()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        print(", ".join("%s %d" % one for one in sorted(cls.counts.items())))

    def measure(self):
        """How many calls a dispatcher has made on files of its folder when it serves."""
        count = os.path.join(self.folder, "count")
        dispatcher = self.dispatcher("--work-dir", os.path.join(self.folder, "first"), "--fault-tolerant",
                                     env={"LD_PRELOAD": PRELOAD, "LEAT_FAULTS_FOLDER": os.path.join(self.folder, "first"),
                                          "LEAT_FAULTS_COUNT": count})
        dispatcher.signal(signal.SIGTERM)
        dispatcher.end()
        with open(count, encoding="ascii") as file:
            return max(int(line) for line in file)

    def trial(self, level, seed):
        trial = Trial(self, level, seed)
        self.counts["%s %s" % (trial.who, trial.what)] += 1
        try:
            read, said = trial.run()
        except subprocess.TimeoutExpired:
            read, said = {"code": "HANG"}, ""
        finally:
            wrong = trial.end()
        case = "level %d, seed %d, %s: %s %s" % (level, seed, trial, read, said)
        self.assertEqual(read["code"], "OUT_OF_RANGE", case)
        self.assertEqual(wrong, [], case)
        if level != AT_LEAST_ONCE:
            self.assertEqual(read["doubled"], 0, case)
        if level != AT_MOST_ONCE:
            self.assertEqual(read["missing"], 0, case)

    def test_faults(self):
        self.calls = self.measure()
        for seed in range(FIRST, FIRST + TRIALS):
            for level in (AT_MOST_ONCE, AT_LEAST_ONCE, EXACTLY_ONCE):
                with self.subTest(level=level, seed=seed):
                    self.trial(level, seed)


if __name__ == "__main__":
    sys.exit(unittest.main())
