"""Clusters of a data service for tests: short times, work folders, workers in processes of their own.

Run as a program it is such a worker: its arguments are the fields of its configuration as JSON.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np

import leat as tf

import service_configs

service = tf.data.experimental.service
Policy = service.ShardingPolicy
HEARTBEAT_MS, DISPATCHER_TIMEOUT_MS, WORKER_TIMEOUT_MS, GC_CHECK_MS = 100, 5000, 200, 1000
TRIES = 600
# What TensorFlow's tests look for in errors.
WORDS = json.loads((pathlib.Path(__file__).parent / "data" / "service_words.json").read_text())


def free_port():
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return one.getsockname()[1]


def worker_config(dispatcher_address, **fields):
    fields = {name: value for name, value in fields.items() if value is not None}
    return service_configs.worker(
        dispatcher_address=dispatcher_address, worker_address="localhost:%port%", protocol="grpc",
        heartbeat_interval_ms=HEARTBEAT_MS, dispatcher_timeout_ms=DISPATCHER_TIMEOUT_MS, **fields)


class Worker:
    """A worker of this process that can be started again."""

    def __init__(self, dispatcher_address, start=True, **fields):
        self.dispatcher_address, self.fields = dispatcher_address, fields
        self.server = service.WorkerServer(worker_config(dispatcher_address, **fields), start=False)
        self.running = False
        if start:
            self.start()

    def start(self):
        self.server.start()
        self.port = int(self.address.split(":")[1])
        self.running = True

    def stop(self):
        self.server._stop()
        self.running = False

    def drain(self):
        self.server._server.drain(DISPATCHER_TIMEOUT_MS)
        self.running = False

    def restart(self, same_port=True):
        if self.running:
            self.stop()
        fields = {**self.fields, "port": self.port if same_port else 0}
        self.server = service.WorkerServer(worker_config(self.dispatcher_address, **fields))
        self.port = int(self.address.split(":")[1])
        self.running = True

    @property
    def address(self):
        return self.server._address

    def num_tasks(self):
        return self.server._num_tasks()


class Remote:
    """A worker in a process of its own."""

    def __init__(self, dispatcher_address, **fields):
        here = str(pathlib.Path(__file__).parent)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
        self.process = subprocess.Popen([sys.executable, __file__, dispatcher_address, json.dumps(fields)],
                                        stdout=subprocess.PIPE, env=environment, text=True)
        self.address = self.process.stdout.readline().strip()
        if self.address.startswith("RuntimeError"):
            raise RuntimeError(self.address)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Cluster:
    """A dispatcher, `num_workers` workers of this process and `num_remote` of others."""

    def __init__(self, num_workers=1, num_remote=0, work_dir=None, fault_tolerant_mode=True, start=True, tags=None,
                 quiet_ms=0, port=0, data_transfer_protocol=None, **fields):
        self.folder = None
        if work_dir is None:
            self.folder = tempfile.TemporaryDirectory()
            work_dir = self.folder.name
        self.fields = {"job_gc_check_interval_ms": GC_CHECK_MS, "worker_timeout_ms": WORKER_TIMEOUT_MS,
                       "work_dir": work_dir, "fault_tolerant_mode": fault_tolerant_mode, **fields}
        self.worker_fields = {"shutdown_quiet_period_ms": quiet_ms, "worker_tags": tags,
                              "data_transfer_protocol": data_transfer_protocol}
        self.dispatcher = service.DispatchServer(service_configs.dispatcher(port=port, protocol="grpc", **self.fields),
                                                 start=start)
        self.workers, self.remotes = [], []
        try:
            for _ in range(num_workers):
                self.add_worker(start=start)
            for _ in range(num_remote):
                self.add_remote()
        except BaseException:
            self.stop()
            raise

    @property
    def address(self):
        return self.dispatcher.target.split("://")[1]

    @property
    def target(self):
        return self.dispatcher.target

    def add_worker(self, **fields):
        self.workers.append(Worker(self.address, **{**self.worker_fields, **fields}))
        return self.workers[-1]

    def add_remote(self, **fields):
        self.remotes.append(Remote(self.address, **{**self.worker_fields, **fields}))
        return self.remotes[-1]

    def restart_dispatcher(self):
        port = int(self.address.split(":")[1])
        self.dispatcher._stop()
        self.dispatcher = service.DispatchServer(service_configs.dispatcher(port=port, protocol="grpc", **self.fields))

    def num_tasks(self):
        return sum(worker.num_tasks() for worker in self.workers)

    def distribute(self, dataset, mode="parallel_epochs", **arguments):
        return dataset.apply(service._distribute(mode, self.address, task_refresh_interval_hint_ms=20, **arguments))

    def range(self, stop, mode="parallel_epochs", **arguments):
        return self.distribute(tf.data.Dataset.range(stop), mode, **arguments)

    def coordinated(self, num_consumers, mode="parallel_epochs"):
        """Element i is what consumer i % num_consumers reads; each worker begins with 0 and gives groups of numbers
        that follow each other, so that a group shows who made it."""
        def group(x):
            x %= 2 ** 32
            return tf.data.Dataset.range(x * num_consumers, (x + 1) * num_consumers)
        dataset = tf.data.Dataset.from_tensors(np.int64(0)).concatenate(tf.data.Dataset.random()).flat_map(group)
        consumers = [self.distribute(dataset, mode, job_name="test", consumer_index=i, num_consumers=num_consumers)
                     for i in range(num_consumers)]
        return tf.data.Dataset.from_tensor_slices(consumers).interleave(
            lambda x: x, cycle_length=num_consumers, num_parallel_calls=num_consumers)

    def stop(self):
        for one in [*self.workers, *self.remotes]:
            one.stop()
        self.dispatcher._stop()
        if self.folder:
            self.folder.cleanup()


def plain(value):
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def values(dataset):
    return [plain(value) for value in dataset.as_numpy_iterator()]


def rest(iterator):
    return [plain(value.numpy()) for value in iterator]


def take(iterator, count):
    return [plain(next(iterator).numpy()) for _ in range(count)]


def same(found, expected):
    """Whether both have the same elements, in any order."""
    assert sorted(found) == sorted(expected)


def eventually(condition):
    """Waits for what comes by itself."""
    for _ in range(TRIES):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it does not come")


def groups_fit(found, num_consumers):
    groups = [found[i:i + num_consumers] for i in range(0, len(found), num_consumers)]
    wrong = [group for group in groups if group != list(range(group[0], group[0] + len(group)))]
    assert not wrong, f"{wrong} of {groups}"


def main():
    server = service.WorkerServer(worker_config(sys.argv[1], **json.loads(sys.argv[2])), start=False)
    try:
        server.start()
    except RuntimeError as error:
        print(f"RuntimeError: {error}".replace("\n", " "), flush=True)
        return
    print(server._address, flush=True)
    server.join()


if __name__ == "__main__":
    main()
