"""What each level of visitation promises while workers are stopped, drained and replaced in the middle of an epoch.

Every element is accounted for. LEAT_VISITS is the number of trials of each kind, LEAT_VISITS_FROM the first one's seed.
"""

import collections
import os
import random
import socket
import threading

import pytest

import leat as tf

service = tf.data.experimental.service
TRIALS = int(os.environ.get("LEAT_VISITS", "1"))
FIRST = int(os.environ.get("LEAT_VISITS_FROM", "0"))
ELEMENTS = 8000
LEVELS = ("at_most_once", "at_least_once", "exactly_once")


class Service:
    """A dispatcher and three workers, of which one goes, and another one comes, when `change` is called."""

    def __init__(self, protocol, seed):
        self.random = random.Random(seed)
        # Elements may go by a protocol of their own.
        self.protocol = "local" if protocol == "local" else "grpc"
        self.transfer = None if protocol == "local" else protocol
        config = service.DispatcherConfig(protocol=self.protocol, worker_timeout_ms=1000)
        self.dispatcher = service.DispatchServer(config)
        self.made = 0
        self.workers = [self.worker() for _ in range(3)]
        self.drains = []

    def worker(self):
        self.made += 1
        config = service.WorkerConfig(self.dispatcher._address, protocol=self.protocol, heartbeat_interval_ms=100,
                                      data_transfer_protocol=self.transfer)
        return service.WorkerServer(config)

    def change(self):
        i = self.random.randrange(len(self.workers))
        worker = self.workers[i]
        if self.random.random() < 0.4:
            # It waits for the client to read, which is this thread.
            self.drains.append(threading.Thread(target=worker._server.drain, args=(60_000,)))
            self.drains[-1].start()
        else:
            worker.stop()
        self.workers[i] = self.worker()

    def cut(self):
        """Ends a connection by which elements come, both ways."""
        own = {int(server._address.rsplit(":", 1)[1]) for server in (self.dispatcher, *self.workers)}
        found = []
        for name in os.listdir("/proc/self/fd"):
            try:
                if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                    found.append(socket.fromfd(int(name), -1, -1))
            except OSError:  # it was closed meanwhile
                continue
        carries = [one for one in found if carries_elements(one, own, self.transfer)]
        if carries:
            self.random.choice(carries).shutdown(socket.SHUT_RDWR)
        for one in found:
            one.close()
        return len(carries)

    def stop(self):
        for drain in self.drains:
            drain.join()
        for worker in self.workers:
            worker.stop()
        self.dispatcher.stop()


def carries_elements(one, own, transfer):
    """Is the socket one of a stream, and no server's or gRPC's?"""
    try:
        here, there = one.getsockname(), one.getpeername()
    except OSError:
        return False
    if transfer == "shm":
        return one.family == socket.AF_UNIX and b"\0leat-" in (here[:6], there[:6])
    if one.family not in (socket.AF_INET, socket.AF_INET6):
        return False
    return (here[1] in own or there[1] in own) == (transfer == "grpc")


def count(protocol, level, mode, seed, cuts=False):
    """How many workers there were, and how often each element came. Workers go, or `cuts`: connections break."""
    running = Service(protocol, seed)
    dataset = tf.data.Dataset.range(ELEMENTS).map(lambda x: x * 2)
    dataset = dataset.apply(service._distribute(mode, running.dispatcher.target, task_refresh_interval_hint_ms=20,
                                                visitation=level, data_transfer_protocol=running.transfer))
    among = ELEMENTS // 4 if cuts else ELEMENTS
    changes = set(running.random.sample(range(among), running.random.randrange(1, 6)))
    seen, cut = collections.Counter(), 0
    for i, value in enumerate(dataset):
        seen[int(value) // 2] += 1
        if i in changes and cuts:
            cut += running.cut()
        elif i in changes:
            running.change()
    running.stop()
    # What is confirmed is confirmed on the stream, which is there as long.
    assert not cuts or level == "at_most_once" or cut > 0
    return running.made, seen


@pytest.mark.parametrize("protocol", ["local", "grpc", "shm", "tcp"])
@pytest.mark.parametrize("level", LEVELS)
def test_dynamic(protocol, level):
    for seed in range(FIRST, FIRST + TRIALS):
        seen = count(protocol, level, service.ShardingPolicy.DYNAMIC, seed)[1]
        assert set(seen) <= set(range(ELEMENTS)), seed
        if level != "at_most_once":
            assert len(seen) == ELEMENTS, seed
        if level != "at_least_once":
            assert set(seen.values()) == {1}, seed


@pytest.mark.parametrize("protocol", ["local", "grpc", "shm", "tcp"])
@pytest.mark.parametrize("level", LEVELS)
def test_off(protocol, level):
    """Every worker gives the dataset: whole, from however many of them; never more often than there were workers."""
    for seed in range(FIRST, FIRST + TRIALS):
        made, seen = count(protocol, level, service.ShardingPolicy.OFF, seed)
        assert set(seen) <= set(range(ELEMENTS)), seed
        if level != "at_most_once":
            assert len(seen) == ELEMENTS, seed
        if level == "exactly_once":
            assert len(set(seen.values())) == 1, seed
        if level != "at_least_once":
            assert max(seen.values()) <= made, seed


@pytest.mark.parametrize("protocol", ["shm", "tcp"])
@pytest.mark.parametrize("level", LEVELS)
def test_connections_that_break(protocol, level):
    """Workers stay: what they had sent and nobody had taken comes again, unless the level says that it is lost."""
    for seed in range(FIRST, FIRST + TRIALS):
        made, seen = count(protocol, level, service.ShardingPolicy.DYNAMIC, seed, cuts=True)
        assert made == 3
        assert set(seen) <= set(range(ELEMENTS)), seed
        if level != "at_most_once":
            assert len(seen) == ELEMENTS, seed
        if level != "at_least_once":
            assert set(seen.values()) == {1}, seed
