"""A data service one of whose processes, dispatcher, worker or client, is killed, stopped, cut off, held up, slow, without room on its
disk or given another time of day, at a random moment: of an epoch under each level of visitation, of a snapshot that is written and loaded,
of coordinated reads and of reads through a cross-trainer cache. Every element is accounted for, and nothing may hang or end otherwise than by the
end of the epoch; consumers that read together fail when one of them is lost, and say so.

A moment is an element that the client has taken, a time, or, of a dispatcher or a client that saves its state, a call on files: leases,
acknowledgements and states are cut in two by that. LEAT_SERVICE_FAULTS is how many moments for each, LEAT_SERVICE_FAULTS_FROM the first seed,
LEAT_SERVICE_FAULTS_ONLY a word of them ("rounds", "worker stop"). A client that was killed goes on from its last state, or, under at_most_once,
by joining its job again."""
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
TAKEN = 4000    # of an endless dataset, by each of CONSUMERS
CONSUMERS = 2
TRIALS = int(os.environ.get("LEAT_SERVICE_FAULTS", "50"))
FIRST = int(os.environ.get("LEAT_SERVICE_FAULTS_FROM", "0"))
ONLY = os.environ.get("LEAT_SERVICE_FAULTS_ONLY", "")    # "worker stop", say
AT_MOST_ONCE, AT_LEAST_ONCE, EXACTLY_ONCE = range(3)
SAVED, ROUNDS, CACHED = "saved", "rounds", "cached"
PRELOAD = os.path.join(BUILD, "tests", "faults_preload.so")
TIMEOUT_S = 1    # of workers
LOST_S = 5       # of a client; a stop is shorter
FAULTS = [(who, what) for who in ("dispatcher", "worker", "client")
          for what in ("kill", "call", "stop", "cut", "hold", "slow", "clock", "full") if who == "dispatcher" or what not in ("call", "full")]
FAULTS += [("client", "call")]
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
    readers = 1

    def __init__(self, test, level, seed):
        self.test, self.level, self.draw = test, level, random.Random("%s/%d" % (level, seed))
        self.who, self.what = self.draw.choice([one for one in FAULTS if ONLY in "%s %s %s" % (level, *one) and self.has(*one)])
        self.folder = os.path.join(test.folder, "trial-%s-%d" % (level, seed))
        os.mkdir(self.folder)
        self.proxies, self.gone, self.workers, self.dispatcher, self.clients = [], set(), [], None, []
        # Now and then for longer than a worker may be silent.
        self.while_s = self.draw.choice([self.draw.uniform(0, 0.3), self.draw.uniform(0, 0.3), TIMEOUT_S * self.draw.uniform(1, 2)])
        self.state = os.path.join(self.folder, "state")
        # Shared memory would pass by a proxy.
        self.transfer = "grpc" if self.is_proxied("worker") or self.is_proxied("client") else self.draw.choice([None, "grpc", "tcp"])
        self.options = ("--transfer-protocol", "tcp") if self.transfer == "tcp" else ()

    def __str__(self):
        return "%s %s for %.2f s, by %s" % (self.who, self.what, self.while_s, self.transfer or "the best way")

    def has(self, who, what):
        """Can it be done to this kind?"""
        return who != "client" or what != "call" or self.level in (AT_LEAST_ONCE, EXACTLY_ONCE)

    # ---- processes ----

    def preloaded(self, who):
        """The time of day jumps at a counted call of the process; it is killed in front of one, or its disk is full from one on. Forwards
        alone: the system's own clock stays, so that gRPC's waits until a time of day in its past would be over at once, again and
        again."""
        if who != self.who or self.what not in ("clock", "full", "call"):
            return {}
        if self.what == "clock":
            jump = self.draw.choice([2, 3600, 86400, 3650 * 86400])
            found = {"LEAT_FAULTS_FOLDER": "/", "LEAT_FAULTS_JUMP": str(jump), "LEAT_FAULTS_JUMP_AT": str(self.draw.randrange(200))}
        elif self.what == "full":
            found = {"LEAT_FAULTS_FOLDER": self.folder, "LEAT_FAULTS_FULL_AT": str(self.test.calls + self.draw.randrange(80))}
        elif who == "client":
            found = {"LEAT_FAULTS_FOLDER": self.folder, "LEAT_FAULTS_KILL_AT": str(self.draw.randrange(1, 40))}
        else:
            found = {"LEAT_FAULTS_FOLDER": self.folder, "LEAT_FAULTS_KILL_AT": str(self.test.calls + self.draw.randrange(300))}
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
        self.dispatcher = self.test.dispatcher("--worker-timeout", str(TIMEOUT_S), "--client-timeout", str(LOST_S), "--work-dir",
                                               os.path.join(self.folder, "work"), "--fault-tolerant", "--port", str(port), env=env)

    def start_worker(self, env=None, proxied=False):
        options = self.options
        if proxied:
            port = free_port()
            options += ("--port", str(port), "--address", self.through("127.0.0.1:%d" % port))
        self.workers.append(self.test.worker(self.address, *options, env=env))

    def start(self):
        self.start_dispatcher(free_port(), self.preloaded("dispatcher"))
        # All reach a dispatcher that is cut off by the proxy, and a client that is.
        self.address = self.through(self.dispatcher.address) if self.is_proxied("dispatcher") else self.dispatcher.address
        for i in range(self.draw.randint(2, 3)):
            self.start_worker(self.preloaded("worker") if i == 0 else None,
                              self.is_proxied("client") or (self.is_proxied("worker") and i == 0))
        self.reader_address = self.through(self.address) if self.is_proxied("client") else self.address
        self.pause = self.moment()
        for i in range(self.readers):
            self.start_reader(i, self.pause)

    def moment(self):
        """After how many elements; 0: after a time."""
        by_elements = self.draw.random() < 0.7
        return self.draw.randrange(1, COUNT) if by_elements and self.what not in ("clock", "full", "call") else 0

    def start_reader(self, i, pause):
        env = {**self.preloaded("client" if i == 0 else ""), **({"READER_TRANSFER": self.transfer} if self.transfer else {})}
        self.clients[i:i + 1] = [self.make_reader(i, pause, env)]

    def make_reader(self, i, pause, env):
        return self.test.reader(self.reader_address, count=COUNT, visitation=self.level, pause=pause, state=(self.state,), env=env)

    # ---- the fault ----

    def victim(self):
        return {"dispatcher": lambda: self.dispatcher.process, "worker": lambda: self.workers[0].process,
                "client": lambda: self.clients[0].process}[self.who]()

    def begin(self):
        if self.what == "kill":
            self.victim().kill()
            self.gone.add(self.victim().pid)
        elif self.what == "call":
            # It was to be killed by now, unless it has done all that it had to do.
            threading.Event().wait(self.draw.uniform(0.2, 1))
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
        if self.who == "dispatcher" and self.what in ("kill", "full", "call"):
            self.gone.add(self.dispatcher.pid)
            port = self.dispatcher.address.rpartition(":")[2]
            self.dispatcher.kill()
            self.start_dispatcher(port)
        elif self.who == "worker" and self.what == "kill":
            self.start_worker()
        elif self.who == "client" and self.what in ("kill", "call"):
            self.clients[0].kill()
            self.what = "killed"
            self.start_reader(0, 0)

    def run(self):
        self.start()
        if self.pause:
            for one in self.clients:
                one.paused()
        else:
            threading.Event().wait(self.draw.uniform(0, 0.5))
        self.begin()
        if self.pause:
            for one in self.clients:
                if one.process.pid not in self.gone:
                    one.go_on()
        threading.Event().wait(self.while_s)
        self.mend()
        return [one.rest() for one in self.clients]

    def end(self):
        """Ends all; what they said that they should not."""
        said = []
        for process in [self.dispatcher, *self.workers] if self.dispatcher else ():
            if process.process.poll() is not None and process.pid not in self.gone:
                said.append("a process ended with status %d: %s" % (process.process.returncode, "".join(process.failed)))
            process.kill()
            said += [line for line in process.failed if BAD.search(line)]
        for one in self.clients:
            one.kill()
        for one in self.proxies:
            one.close()
        shutil.rmtree(self.folder)
        return said

    def check(self, read, case):
        """What each reader was given is what is promised."""
        (one,) = read
        self.test.assertEqual(one["code"], "OUT_OF_RANGE", case)
        if self.level != AT_LEAST_ONCE:
            self.test.assertEqual(one["doubled"], 0, case)
        if self.level != AT_MOST_ONCE:
            self.test.assertEqual(one["missing"], 0, case)


class SavedTrial(Trial):
    """A snapshot, which is loaded while it is written."""

    def __init__(self, test, level, seed):
        super().__init__(test, level, seed)
        self.options += ("--snapshot-chunk-bytes", "16000")

    def has(self, who, what):
        # A client that is started again would save to a folder that is there.
        return who != "client" or what not in ("kill", "call")

    def make_reader(self, i, pause, env):
        return self.test.reader(self.reader_address, count=COUNT, visitation=SAVED, pause=pause, state=(self.state + "-saved",), env=env)


    def check(self, read, case):
        (one,) = read
        # The dispatcher's disk is the snapshot's, too: that ends it, and the error names the file.
        if self.what == "full" and one["code"] == "RESOURCE_EXHAUSTED":
            self.test.assertIn("state-saved", case)
        else:
            super().check(read, case)


class SharedTrial(Trial):
    """Several readers of an endless dataset."""
    readers = CONSUMERS

    def moment(self):
        return min(super().moment(), TAKEN - 1)

    def make_reader(self, i, pause, env):
        return self.test.reader(self.reader_address, count=TAKEN, visitation=self.level, pause=pause,
                                state=("%d/%d" % (i, CONSUMERS),), env=env)

    def check(self, read, case):
        for one in read:
            self.test.assertEqual((one["code"], len(one["values"])), ("OK", TAKEN), case)


class RoundsTrial(SharedTrial):
    """Coordinated reads: what the consumers get in one turn is one round of one worker."""

    def check(self, read, case):
        if self.what == "killed":
            for one in read:
                # One that had all of its elements before needs nobody.
                whole = (one["code"], len(one["values"])) == ("OK", TAKEN)
                self.test.assertTrue(one["code"] == "FAILED_PRECONDITION" or whole, case)
        else:
            super().check(read, case)
        for turn in zip(*(one["values"] for one in (read[1:] if self.what == "killed" else read))):
            self.test.assertEqual({value - i for i, value in enumerate(turn, self.what == "killed")}, {turn[0] - (self.what == "killed")}, case)
            self.test.assertEqual(turn[0] % CONSUMERS, int(self.what == "killed"), case)


TRIALS_OF = {AT_MOST_ONCE: Trial, AT_LEAST_ONCE: Trial, EXACTLY_ONCE: Trial, SAVED: SavedTrial, ROUNDS: RoundsTrial, CACHED: SharedTrial}


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
        trial = TRIALS_OF[level](self, level, seed)
        self.counts["%s %s %s" % (level, trial.who, trial.what)] += 1
        case = "%s, seed %d, %s" % (level, seed, trial)
        try:
            read = trial.run()
        except subprocess.TimeoutExpired:
            self.fail("%s: it hangs" % case)
        finally:
            wrong = trial.end()
        said = " ".join(text for _, text in read)
        case += ": %.2000s %s" % ([one for one, _ in read], said)
        self.assertEqual(wrong, [], case)
        trial.check([one for one, _ in read], case)

    def test_faults(self):
        self.calls = self.measure()
        for seed in range(FIRST, FIRST + TRIALS):
            for level in TRIALS_OF:
                if any(ONLY in "%s %s %s" % (level, *one) for one in FAULTS):
                    with self.subTest(level=level, seed=seed):
                        self.trial(level, seed)


if __name__ == "__main__":
    sys.exit(unittest.main())
