"""A data service in a Ray cluster: dispatcher and workers as actors. ray itself is imported by the first call.

    with leat.ray.start_service(num_workers=4, max_workers=16) as service:
        dataset = dataset.apply(tf.data.experimental.service.distribute("distributed_epoch", service.address))

docs/SERVICE.md tells the rest.
"""

import json
import logging
import os
import secrets
import socket
import threading
import time

from leat import _native
from leat._core.later import public
from leat.errors import OpError

__dir__ = public(globals())

__all__ = ["Service", "start_service"]

_LOG = logging.getLogger("leat")
_CALL_MS = 10_000


def _ray():
    try:
        import ray
    except ModuleNotFoundError:
        raise ImportError("leat.ray needs the package ray; install it (pip install ray)") from None
    return ray


# ---- in the actors ----

class _Dispatcher:
    """A dispatcher in an actor's process. Started again, it has the same port and work folder."""

    def __init__(self, environment, port, work_dir, worker_timeout_s):
        os.environ.update(environment)
        from leat.data import service
        self._server = service.DispatchServer(service.DispatcherConfig(
            port=port, work_dir=work_dir, fault_tolerant_mode=work_dir is not None,
            worker_timeout_ms=int(worker_timeout_s * 1000)))

    def port(self):
        """Where it listens."""
        return int(self._server.target.rpartition(":")[2])


class _Worker:
    """A worker in an actor's process. Started again, it is another worker for the dispatcher."""

    def __init__(self, environment, dispatcher, setup):
        os.environ.update(environment)
        from leat.data import service
        if setup is not None:
            setup()
        self._server = service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher))

    def address(self):
        """What clients connect to."""
        return self._server._address

    def stop(self):
        """Ends it: what it has not given is lost unless it was drained."""
        self._server.stop()


# ---- the service ----

class Service:
    """A service that start_service has started. Its actors end with it, with the program, or by stop().

    address: "host:port" of the dispatcher, for ``distribute``.
    token: What whoever connects must know. This process has it in its environment.
    environment: What other tasks and actors need that read from the service:
        ``runtime_env={"env_vars": service.environment}``.
    """

    def __init__(self, address, token, dispatcher, worker_class, worker_args, limits):
        self.address = address
        self.token = token
        self.environment = {"LEAT_SERVICE_ADDRESS": address, "LEAT_SERVICE_TOKEN": token}
        self._dispatcher = dispatcher
        self._worker_class, self._worker_args = worker_class, worker_args
        self._least, self._most = limits
        self._workers = []
        self._lock = threading.Lock()   # of _workers
        self._stopping = threading.Event()
        self._follower = None

    @property
    def num_workers(self):
        """How many workers there shall be now."""
        with self._lock:
            return len(self._workers)

    def status(self):
        """What the dispatcher knows, as docs/SERVICE.md lists it."""
        return json.loads(_native.service_status(self.address, _CALL_MS))

    def scale(self, num_workers, drain_timeout_s=60):
        """Makes it so many workers. Those that are too many are drained: what they have is given first, for
        drain_timeout_s at most."""
        if num_workers < 1:
            raise ValueError(f"num_workers is {num_workers}; expected 1 or more")
        with self._lock:
            while len(self._workers) < num_workers:
                self._workers.append(self._worker_class.remote(*self._worker_args))
            going, self._workers = self._workers[num_workers:], self._workers[:num_workers]
        self._end(going, drain_timeout_s)

    def wait(self, num_workers=None, timeout_s=60):
        """Waits until so many workers (None: all) are ready; TimeoutError where they are not in time."""
        wanted = self.num_workers if num_workers is None else num_workers
        end = time.monotonic() + timeout_s
        while True:
            ready = sum(worker["state"] == "ready" for worker in self._try_status().get("workers", ()))
            if ready >= wanted:
                return
            if time.monotonic() >= end or self._stopping.is_set():
                raise TimeoutError(f"{ready} of {wanted} workers are ready after {timeout_s:g} s; has the cluster the "
                                   "resources that worker_options asks for? `ray status` says what waits")
            self._stopping.wait(0.05)

    def stop(self, drain_timeout_s=0):
        """Ends workers and dispatcher, any number of times. Readers get UnavailableError, unless workers are drained
        first, for drain_timeout_s at most."""
        ray = _ray()
        self._stopping.set()
        if self._follower is not None and self._follower is not threading.current_thread():
            self._follower.join()
        with self._lock:
            going, self._workers = self._workers, []
        if ray.is_initialized():
            self._end(going, drain_timeout_s)
            ray.kill(self._dispatcher)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()

    def _try_status(self):
        """{} while the dispatcher is away, as one is that Ray starts again."""
        try:
            return self.status()
        except OpError:
            return {}

    def _end(self, workers, drain_timeout_s):
        ray = _ray()
        end = time.monotonic() + drain_timeout_s
        addresses = self._drain(workers, end) if drain_timeout_s > 0 else []
        while addresses and time.monotonic() < end:
            left = {worker["address"] for worker in self._try_status().get("workers", ())
                    if worker["state"] in ("ready", "draining")}
            if not left.intersection(addresses):
                break
            time.sleep(0.05)
        for worker in workers:
            ray.kill(worker)    # for good: Ray starts it no more

    def _drain(self, workers, end):
        """Has them drain; the addresses of those that do."""
        ray = _ray()
        addresses = []
        for worker in workers:
            try:
                address = ray.get(worker.address.remote(), timeout=max(0.1, end - time.monotonic()))
                _native.service_drain(self.address, address, _CALL_MS)
                addresses.append(address)
            except (ray.exceptions.RayError, OpError) as error:
                _LOG.warning("a worker of the data service ends without being drained: %s", error)
        return addresses

    # ---- following the recommendation ----

    def _follow(self, interval_s, patience):
        self._follower = threading.Thread(target=self._follow_for_ever, args=(interval_s, patience), daemon=True,
                                          name="leat-ray-service")
        self._follower.start()

    def _follow_for_ever(self, interval_s, patience):
        less = 0
        while not self._stopping.wait(interval_s):
            wanted = wanted_workers(self._try_status(), self.num_workers, self._least, self._most)
            # More at once, as somebody waits; fewer when it has been so for a while.
            less = less + 1 if wanted < self.num_workers else 0
            if wanted > self.num_workers or less >= patience:
                less = 0
                _LOG.info("the data service gets %d workers, it had %d", wanted, self.num_workers)
                self.scale(wanted)


def wanted_workers(status, present, least, most):
    """How many workers a status asks for: the most that any of its active jobs needs, between least and most; as
    many as there are where no job says."""
    asked = [job["optimal_workers"] for job in status.get("jobs", ())
             if job.get("state") == "active" and "optimal_workers" in job]
    return min(max(max(asked, default=present), least), most)


def start_service(num_workers, *, min_workers=1, max_workers=None, worker_options=None, dispatcher_options=None,
                  work_dir=None, max_restarts=-1, worker_setup=None, token=None, worker_timeout_s=10.0,
                  follow_interval_s=5.0, follow_patience=12, ready_timeout_s=60.0):
    """Starts a dispatcher and workers as actors of the Ray cluster that this process is connected to; a Service.

    num_workers: How many workers, one process each.
    min_workers, max_workers: With max_workers their number follows what the dispatcher recommends, between the two.
    worker_options, dispatcher_options: Of the actors, as for ray.remote: num_cpus, memory, resources,
        scheduling_strategy. A worker has one CPU and is spread; the dispatcher has none and lives on this node, so
        that its address stays when it is started again.
    work_dir: A folder on this node where the dispatcher keeps its state, so that it goes on where it was when Ray
        starts it again. None: in memory; jobs fail if it dies.
    max_restarts: How often Ray starts each of them again; -1: always.
    worker_setup: A function that each worker calls before it serves, as to register a generator.
    token: None draws one.
    worker_timeout_s: A worker that is silent for so long is lost.
    follow_interval_s, follow_patience: How often the recommendation is looked at, and after how many looks that say so
        workers are taken away.
    ready_timeout_s: How long the first worker may take.
    """
    ray = _ray()
    if num_workers < 1 or min_workers < 1:
        raise ValueError(f"num_workers is {num_workers} and min_workers {min_workers}; expected 1 or more")
    if max_workers is not None and not min_workers <= num_workers <= max_workers:
        raise ValueError(f"num_workers is {num_workers}; expected {min_workers} to {max_workers}, its limits")
    if not ray.is_initialized():
        ray.init()
    token = token or os.environ.get("LEAT_SERVICE_TOKEN") or secrets.token_hex(32)
    # Also for clients in this process.
    os.environ["LEAT_SERVICE_TOKEN"] = token
    environment = {"LEAT_SERVICE_TOKEN": token}
    context = ray.get_runtime_context()
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(context.get_node_id(), soft=False)
    options = {"num_cpus": 0, "scheduling_strategy": here, "max_restarts": max_restarts, **(dispatcher_options or {})}
    port = _free_port()
    dispatcher = ray.remote(_Dispatcher).options(**options).remote(environment, port, work_dir, worker_timeout_s)
    try:
        ray.get(dispatcher.port.remote(), timeout=ready_timeout_s)
    except BaseException as error:
        ray.kill(dispatcher)
        if isinstance(error, ray.exceptions.GetTimeoutError):
            raise TimeoutError(f"the dispatcher is not ready after {ready_timeout_s:g} s; has this node the resources "
                               "that dispatcher_options asks for? `ray status` says what waits") from None
        raise
    address = f"{ray.util.get_node_ip_address()}:{port}"
    options = {"num_cpus": 1, "scheduling_strategy": "SPREAD", "max_restarts": max_restarts, **(worker_options or {})}
    service = Service(address, token, dispatcher, ray.remote(_Worker).options(**options),
                      (environment, address, worker_setup), (min_workers, max_workers or num_workers))
    try:
        service.scale(num_workers)
        service.wait(1, ready_timeout_s)
    except BaseException:
        service.stop()
        raise
    if max_workers is not None:
        service._follow(follow_interval_s, follow_patience)
    return service


def _free_port():
    """A port of this node that nobody has now. The dispatcher keeps it over its restarts."""
    with socket.socket() as found:
        found.bind(("", 0))
        return found.getsockname()[1]
