"""Random pipelines over a data service whose iterators are saved and restored while workers come and go.

`trial(seed, folder)` starts a dispatcher and workers, builds a pipeline that reads through them, and takes its elements
while it saves iterators, restores their states on used iterators, fresh ones and ones of a dataset that was built anew,
goes on behind a state and falls back to it, stops, drains and adds workers, and starts the dispatcher again on its
folder. A state carries the account of what was taken before it. It returns what is wrong with the account at the end of
the epochs, or None.
"""

import collections
import random
import socket
import threading

import leat as tf

service = tf.data.experimental.service
_MOST_WORKERS = 4


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


class _Service:
    """Servers of this process; with gRPC the dispatcher can be started again."""

    def __init__(self, draw, folder, protocol):
        self.draw, self.folder, self.protocol = draw, folder, protocol
        self.port = _free_port() if protocol == "grpc" else 0
        self.dispatcher = self._start()
        self.workers = [self._worker() for _ in range(draw.randint(1, 3))]
        self.drains = []

    def _start(self):
        config = service.DispatcherConfig(port=self.port, protocol=self.protocol, work_dir=self.folder,
                                          fault_tolerant_mode=True, worker_timeout_ms=400)
        return service.DispatchServer(config)

    def _worker(self):
        config = service.WorkerConfig(self.dispatcher._address, protocol=self.protocol, heartbeat_interval_ms=50)
        return service.WorkerServer(config)

    def change(self):
        """Another number of workers, or the dispatcher anew: what was done."""
        kinds = ["stop", "drain", "add", "replace"] + ["dispatcher"] * (self.protocol == "grpc")
        kind = self.draw.choice(kinds)
        if kind == "dispatcher":
            self.dispatcher.stop()
            self.dispatcher = self._start()
            return kind
        if kind != "add":
            worker = self.workers.pop(self.draw.randrange(len(self.workers)))
            if kind == "drain":
                self.drains.append(threading.Thread(target=worker._server.drain, args=(60_000,)))
                self.drains[-1].start()
            else:
                worker.stop()
        if kind in ("add", "replace") and len(self.workers) < _MOST_WORKERS or not self.workers:
            self.workers.append(self._worker())
        return kind

    def stop(self):
        for drain in self.drains:
            drain.join()
        for worker in self.workers:
            worker.stop()
        self.dispatcher.stop()


class _Pipeline:
    """A dataset that reads through the service: the same one each time that it is built."""

    def __init__(self, draw, running, level):
        self.running, self.level = running, level
        self.elements = draw.choice((1, 30, 200, 1000))
        self.epochs = draw.choice((1, 1, 2, 3))
        self.policy = draw.choice(2 * (service.ShardingPolicy.DYNAMIC,) + (service.ShardingPolicy.OFF,))
        self.job_name = draw.choice((None, "job"))
        self.inside = [draw.choice(("map", "batch", "shuffle", "none")) for _ in range(2)]
        self.batched = draw.random() < 0.4
        steps = ("map", "batch", "shuffle", "prefetch", "parallel_map", "none")
        self.behind = [draw.choice(steps) for _ in range(2)]
        self.batch = draw.choice((2, 7, 32))

    def _step(self, kind, dataset):
        if kind == "map":
            return dataset.map(lambda x: x + 0)
        if kind == "parallel_map":
            return dataset.map(lambda x: x + 0, num_parallel_calls=2)
        if kind == "batch":
            return dataset.batch(self.batch).unbatch()
        if kind == "shuffle":
            return dataset.shuffle(self.batch, seed=3)
        return dataset.prefetch(self.batch) if kind == "prefetch" else dataset

    def build(self):
        dataset = tf.data.Dataset.range(self.elements)
        for kind in self.inside:
            dataset = self._step(kind, dataset)
        dataset = dataset.batch(self.batch) if self.batched else dataset
        reading = service._distribute(self.policy, self.running.dispatcher.target, job_name=self.job_name,
                                      task_refresh_interval_hint_ms=20, visitation=self.level)
        dataset = dataset.apply(reading)
        dataset = dataset.repeat(self.epochs)
        dataset = dataset.unbatch() if self.batched else dataset
        for kind in self.behind:
            dataset = self._step(kind, dataset)
        return dataset

    def problem(self, seen):
        """What the counts of the elements say against the level."""
        counts = [seen[i] for i in range(self.elements)]
        if len(seen) > self.elements:
            return "elements that are none: %s" % sorted(set(seen) - set(range(self.elements)))
        if min(counts) < self.epochs:
            return "%d came less than %d times" % (sum(c < self.epochs for c in counts), self.epochs)
        exact = self.level == "exactly_once"
        if exact and self.policy == service.ShardingPolicy.DYNAMIC and max(counts) > self.epochs:
            return "%d came more than %d times" % (sum(c > self.epochs for c in counts), self.epochs)
        if exact and min(counts) != max(counts):
            return "some came %d times, others %d" % (min(counts), max(counts))
        return None


def trial(seed, folder):
    """One pipeline, and what became of its elements: what is wrong, or None."""
    draw = random.Random(seed)
    running = _Service(draw, folder, draw.choice(("grpc", "local")))
    try:
        return _read(draw, running)
    finally:
        running.stop()


def _read(draw, running):
    pipeline = _Pipeline(draw, running, draw.choice(("exactly_once", "exactly_once", "at_least_once")))
    dataset, seen, done = pipeline.build(), collections.Counter(), []
    iterator, saved = iter(dataset), None
    events = draw.randint(1, 8)
    most = max(1, pipeline.elements * pipeline.epochs // events)
    for _ in range(events):
        for _ in range(draw.randint(0, 2 * most)):
            value = next(iterator, None)
            if value is None:
                break
            seen[int(value)] += 1
        kind = draw.choice(("save", "save", "restore", "restore", "change"))
        if kind == "save":
            saved = iterator.save(), seen.copy()
        elif kind == "change":
            kind = running.change()
        elif saved is not None:
            kind = draw.choice(("restore used", "restore fresh", "restore anew"))
            if kind != "restore used":
                # The one before may live on for a while.
                dataset = pipeline.build() if kind == "restore anew" else dataset
                before, iterator = iterator, iter(dataset)
                if draw.random() < 0.5:
                    del before
            iterator.restore(saved[0])
            seen = saved[1].copy()
        done.append(kind)
    for value in iterator:
        seen[int(value)] += 1
    problem = pipeline.problem(seen)
    return problem and "%s (%s)" % (problem, ", ".join(done))
