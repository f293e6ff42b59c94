"""Strangers at the ports of a data service whose processes may have 256 descriptors: 5,000 connections that say nothing, and some that speak a
byte at a time, say what is no protocol, begin to speak HTTP/2 and go, or stay and ping. Whoever is in reads on, who has the token comes in, and what
strangers cost the process is printed. That decides the test only where it is far beyond what is meant: 1 MB and 1 % of a core."""
import os
import pathlib
import resource
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from service import TOKEN, ServiceTest  # noqa: E402

CROWD = 5000
DESCRIPTORS = 256
WINDOW_S = 10
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
PING = b"\0\0\x08\x06\0\0\0\0\0" + b"12345678"
ENV = {"LEAT_SERVICE_TOKEN": TOKEN}


def pause(seconds):
    threading.Event().wait(seconds)


class Strangers:
    """Connections to one port, which begin and are not waited for."""

    def __init__(self, port):
        self.port, self.all = port, []

    def come(self, count):
        for _ in range(count):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", self.port))
            self.all.append(one)
        return self

    def say(self, what):
        """Whoever was sent away comes again."""
        for i, one in enumerate(self.all):
            try:
                one.send(what)
            except BlockingIOError:
                pass
            except OSError:
                one.close()
                self.all[i:i + 1] = Strangers(self.port).come(1).all

    def go(self):
        for one in self.all:
            one.close()
        self.all.clear()


def cost(pid):
    """When, seconds of the processor, KiB of memory."""
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        words = file.read().rpartition(")")[2].split()
    with open("/proc/%d/statm" % pid, encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return time.monotonic(), (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") // 1024


def ports(pid):
    """The ports on which a process listens."""
    sockets = set()
    for name in os.listdir("/proc/%d/fd" % pid):
        try:
            sockets.add(os.readlink("/proc/%d/fd/%s" % (pid, name)))
        except OSError:
            pass    # closed meanwhile
    rows = []
    for name in ("tcp", "tcp6"):
        with open("/proc/net/" + name, encoding="ascii") as file:
            rows += [line.split() for line in list(file)[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A" and "socket:[%s]" % row[9] in sockets}


class StrangersTest(ServiceTest):
    def setUp(self):
        super().setUp()
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard != resource.RLIM_INFINITY and hard < CROWD + 200:
            self.skipTest("this process may not have %d descriptors" % (CROWD + 200))
        resource.setrlimit(resource.RLIMIT_NOFILE, (CROWD + 200, hard))

    def measured(self, what, pid, turn):
        before = cost(pid)
        while cost(pid)[0] < before[0] + WINDOW_S:
            turn()
        after = cost(pid)
        used, grown = (after[1] - before[1]) / (after[0] - before[0]), after[2] - before[2]
        print("%s: %.2f %% of a core, %+d KiB" % (what, 100 * used, grown))
        self.assertLess(used, 0.1, what)
        self.assertLess(grown, 1024, what)

    def crowd(self, victim, port):
        strangers = Strangers(port)
        self.addCleanup(strangers.go)
        self.measured("nobody", victim, lambda: pause(0.1))
        strangers.come(CROWD)
        self.measured("5,000 that say nothing", victim, lambda: pause(0.1))
        self.assertEqual(self.workers_of(self.address), {self.worker_address: "ready"})
        strangers.go()
        strangers.come(60)
        self.measured("60 that say a byte each 10 ms", victim, lambda: strangers.say(b"P") or pause(0.01))
        strangers.go()
        for what in (os.urandom(2000), PREFACE):
            def turn(what=what):
                strangers.come(20)
                pause(0.02)
                strangers.say(what)
                strangers.go()
            self.measured("20 that say %r and go, each 20 ms" % what[:6], victim, turn)
        strangers.come(200)
        pause(0.1)
        strangers.say(PREFACE)
        self.measured("200 that speak and stay", victim, lambda: pause(0.1))
        self.measured("the same, with pings", victim, lambda: strangers.say(PING) or pause(0.02))
        self.assertEqual(self.workers_of(self.address), {self.worker_address: "ready"})

    def state(self, address, *options):
        return super().state(address, "--token", TOKEN, "--timeout", "100", *options)

    def served(self, few):
        """A dispatcher and a worker, of which one has few descriptors."""
        before = ("prlimit", "--nofile=%d" % DESCRIPTORS)
        dispatcher = self.dispatcher(env=ENV, before=before if few == "dispatcher" else ())
        worker = self.worker(dispatcher.address, env=ENV, before=before if few == "worker" else ())
        self.address, self.worker_address = dispatcher.address, worker.address
        victim = dispatcher if few == "dispatcher" else worker
        reader = self.reader(dispatcher.address, visitation=2, env={**ENV, "READER_TRANSFER": "grpc"}).paused()
        self.crowd(victim.pid, int(victim.address.rpartition(":")[2]))
        self.assert_whole(reader.rest())
        late = self.reader(dispatcher.address, visitation=2, pause=0, env={**ENV, "READER_TRANSFER": "grpc"})
        self.assert_whole(late.rest())

    def test_tcp(self):
        """The second port of a worker."""
        dispatcher = self.dispatcher(env=ENV)
        worker = self.worker(dispatcher.address, "--transfer-protocol", "tcp", env=ENV, before=("prlimit", "--nofile=%d" % DESCRIPTORS))
        (port,) = ports(worker.pid) - {int(worker.address.rpartition(":")[2])}
        strangers = Strangers(port)
        self.addCleanup(strangers.go)
        strangers.come(CROWD)
        self.measured("tcp: 5,000 that say nothing", worker.pid, lambda: pause(0.1))
        strangers.go()

        def turn():
            strangers.come(20)
            pause(0.02)
            strangers.say(b"nothing that is known")
            strangers.go()
        self.measured("tcp: 20 that say something and go, each 20 ms", worker.pid, turn)
        late = self.reader(dispatcher.address, visitation=2, pause=0, env={**ENV, "READER_TRANSFER": "tcp"})
        self.assert_whole(late.rest())

    def test_dispatcher(self):
        self.served("dispatcher")

    def test_worker(self):
        self.served("worker")


if __name__ == "__main__":
    sys.exit(unittest.main())
