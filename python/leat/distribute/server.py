"""``tf.distribute.Server``: a task of a cluster in this process, which a coordinator uses."""

import atexit
import collections
import logging
import os
import threading
import weakref

from leat import _native, errors
from leat._core.cluster import ClusterSpec
from leat.distribute import peers
from leat.distribute.messages import packed, unpacked
from leat.distribute.task import Task

_THREADS = 16  # calls that are answered at the same time
_HERE = ("localhost", "127.0.0.1", "::1", "[::1]")

ServerDef = collections.namedtuple("ServerDef", ["cluster", "job_name", "task_index", "protocol"])
ServerDef.__doc__ = "What a server was made of (``tf.train.ServerDef``)."


def _definition(given, job_name, task_index, protocol):
    """The ServerDef of the arguments; what they say counts before what a given one says."""
    if hasattr(given, "job_name") and hasattr(given, "cluster"):
        job_name = given.job_name if job_name is None else job_name
        task_index = given.task_index if task_index is None else task_index
        protocol = given.protocol if protocol is None else protocol
        given = given.cluster
    try:
        spec = ClusterSpec(given)
    except TypeError:
        raise TypeError("Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or "
                        "`tf.train.ClusterSpec`.") from None
    if job_name is None:
        if len(spec.jobs) != 1:
            raise ValueError("Must specify an explicit `job_name`.")
        job_name = spec.jobs[0]
    if task_index is None:
        indices = spec.task_indices(job_name)
        if len(indices) != 1:
            raise ValueError("Must specify an explicit `task_index`.")
        task_index = indices[0]
    return ServerDef(spec, job_name, task_index, protocol or "grpc")


def _place(address):
    """(host, port) of an address."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        raise errors.InvalidArgumentError(None, None, f"{address!r} is no address of a task; expected \"host:port\"")
    return host, int(port)


def _answered(task, call):
    """The bytes that answer a call."""
    try:
        return packed(*task.answer(call.method, *unpacked(call.request)))
    except Exception as error:  # whatever it is, the caller hears of it
        return packed({"failure": peers.failure(error)})


def _serve(native, task):
    while True:
        call = native.next(-1)
        if call is None:
            return
        call.answer(_answered(task, call))
        del call


_servers = weakref.WeakSet()


@atexit.register
def _stop_all():
    for server in list(_servers):
        server.stop()


class Server:
    """A worker or a parameter server in this process (``tf.distribute.Server``); `join` waits for ever.

    `server_or_cluster_def`: a ClusterSpec, what one is made of, or a ServerDef. The task listens at its address there.
    On the loopback only processes of this host reach it; elsewhere set LEAT_SERVICE_TOKEN or the certificates of
    docs/SERVICE.md for all tasks, because whoever reaches a task may have it compute. UnimplementedError for another
    protocol than "grpc"; FailedPreconditionError where the port is taken.
    """

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        self._server_def = _definition(server_or_cluster_def, job_name, task_index, protocol)
        if self._server_def.protocol != "grpc":
            raise errors.UnimplementedError(None, None, f"protocol {self._server_def.protocol!r}: tasks speak \"grpc\"")
        self._address = self._server_def.cluster.task_address(self._server_def.job_name, self._server_def.task_index)
        self._host, self._port = _place(self._address)
        self._native, self._ended = None, threading.Event()
        if start:
            self.start()

    server_def = property(lambda self: self._server_def, doc="What it was made of.")

    def start(self):
        """Serves; calls that come are answered by threads of their own."""
        if self._native is not None:
            return
        definition = self._server_def
        self._native = _native.CallServer(None if self._host in _HERE else self._host, self._port)
        if self._host not in _HERE and not any(map(os.environ.get, ("LEAT_SERVICE_TOKEN", "LEAT_SERVICE_TLS_CA"))):
            logging.getLogger("leat").warning(
                "%s: whoever reaches %s may have this task compute and read files; set LEAT_SERVICE_TOKEN for all "
                "tasks and the coordinator", peers.task_name(definition.job_name, definition.task_index), self._address)
        task = Task(peers.task_name(definition.job_name, definition.task_index))
        for number in range(_THREADS):
            threading.Thread(target=_serve, args=(self._native, task), name=f"leat-task-{number}", daemon=True).start()
        _servers.add(self)

    def join(self):
        """Waits until it is stopped: for ever, but for Ctrl-C."""
        self._ended.wait()

    def stop(self):
        """Ends serving (leat's)."""
        if self._native is not None:
            self._native.stop()
        self._ended.set()

    @property
    def target(self):
        """Where it is reached, "grpc://localhost:2222"."""
        return f"grpc://{self._host}:{self._port if self._native is None else self._native.port}"

    @staticmethod
    def create_local_server(config=None, start=True):
        """A server of a cluster of one task, at any free port."""
        return Server({"localhost": ["localhost:0"]}, config=config, start=start)
