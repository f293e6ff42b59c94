"""``tf.data.experimental.service``: pipelines that run on other processes and machines (docs/SERVICE.md)."""

import atexit
import collections
import enum
import json
import uuid
import weakref

from leat import _native, nest
from leat._core.tensor import Tensor, convert_to_tensor
from leat.data.dataset import AUTOTUNE, Dataset
from leat.data.options import AutoShardPolicy, Options
from leat.errors import InvalidArgumentError, OpError

__all__ = ["CrossTrainerCache", "DispatchServer", "DispatcherConfig", "ShardingPolicy", "WorkerConfig", "WorkerServer",
           "distribute", "from_dataset_id", "register_dataset"]

_COMPRESSIONS = ["AUTO", None, "SNAPPY"]
_TARGETS = {"AUTO": 0, "ANY": 1, "LOCAL": 2}
_COLOCATED = 1  # of TensorFlow's deployment modes: workers live on the hosts of trainers
_LEAST_SILENCE_MS = 5000  # a busy machine may keep a worker from running for less
_VISITATIONS = {"at_most_once": 0, "at_least_once": 1, "exactly_once": 2}


class ShardingPolicy(enum.IntEnum):
    """How the elements of a dataset are dealt out to workers (``tf.data.experimental.service.ShardingPolicy``).

    OFF: Every worker gives the whole dataset.
    DYNAMIC: Workers ask the dispatcher for the next splits of the sources, so that each element is given once.
    FILE, DATA, FILE_OR_DATA: Worker i of n reads every n-th file, keeps every n-th element, or the first of the two
        that can be done; these need the dispatcher's worker_addresses.
    HINT: ``shard(SHARD_HINT, SHARD_HINT)`` becomes the worker's share.
    """

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


class CrossTrainerCache:
    """Who reads a window of elements that trainers share (``tf.data.experimental.service.CrossTrainerCache``)."""

    def __init__(self, trainer_id):
        if not trainer_id:
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")
        self.trainer_id = trainer_id


# ---- arguments ----

def _policy(processing_mode):
    if isinstance(processing_mode, ShardingPolicy):
        return processing_mode
    if processing_mode == "parallel_epochs":
        return ShardingPolicy.OFF
    if processing_mode == "distributed_epoch":
        return ShardingPolicy.DYNAMIC
    raise ValueError("tf.data service processing mode should be a `tf.data.experimental.service.ShardingPolicy`, "
                     f"`\"parallel_epochs\"`, or `\"distributed_epoch\"`. Got {processing_mode!r}.")


def _check_job_name(job_name):
    if job_name is None:
        return
    if not isinstance(job_name, str):
        raise ValueError(f"`job_name` must be a string, but `job_name` was of type {type(job_name)}. "
                         f"job_name={job_name}")
    if not job_name:
        raise ValueError("`job_name` must not be empty")


def _check_compression(compression):
    if compression not in _COMPRESSIONS:
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of {_COMPRESSIONS}.")


def _target(service):
    """The address as text: "protocol://address" or "address"."""
    if isinstance(service, tuple):
        protocol, address = (_text(part) for part in service)
        return f"{protocol}://{address}"
    if not isinstance(service, str):
        raise ValueError(f"`service` must be a string, but `service` was of type {type(service)}. service={service}")
    if not service:
        raise ValueError("`service` must not be empty")
    if service.count("://") > 1:
        raise ValueError(f"Malformed `service` string has multiple '://': {service}.")
    return service


def _text(value):
    """A dataset id or a job's name as text: a str, bytes, a number or a scalar tensor."""
    if isinstance(value, Tensor):
        value = value.numpy()
    return value.decode() if isinstance(value, bytes) else str(value)


def _coordinated(consumer_index, num_consumers, job_name):
    if (consumer_index is None) != (num_consumers is None):
        raise ValueError("Must either set both `consumer_index` and `num_consumers`, or neither. "
                         f"consumer_index={consumer_index}, num_consumers={num_consumers}")
    if num_consumers is not None and job_name is None:
        raise ValueError("`job_name` must be set when setting `num_consumers`. "
                         f"num_consumers was set to {num_consumers}.")
    return {} if num_consumers is None else {"consumer_index": int(consumer_index), "num_consumers": int(num_consumers)}


def _targets(target_workers):
    found = _TARGETS.get(str(target_workers).upper())
    if found is None:
        raise InvalidArgumentError(
            None, None, f"Unrecognized target workers: {target_workers}; expected \"AUTO\", \"ANY\" or \"LOCAL\".")
    return found


def _outstanding(requests):
    """How many; 0: as many as pay."""
    if requests is None or requests == AUTOTUNE:
        return 0
    if requests < 1:
        raise InvalidArgumentError(None, None, "`max_outstanding_requests` must be positive or -1, for as many as pay; "
                                   f"it is {requests}.")
    return int(requests)


def _visits(visitation):
    if visitation not in _VISITATIONS:
        raise ValueError(f"`visitation` is {visitation!r}; expected one of {list(_VISITATIONS)}.")
    return _VISITATIONS[visitation]


# ---- reading ----

class _DataServiceDatasetV2(Dataset):
    """What a data service gives."""

    __slots__ = ()
    _shown = "_DataServiceDatasetV2"


def _from_dataset_id(processing_mode, service, dataset_id, element_spec, job_name=None, consumer_index=None,
                     num_consumers=None, max_outstanding_requests=None, task_refresh_interval_hint_ms=None,
                     data_transfer_protocol=None, cross_trainer_cache=None, target_workers="AUTO",
                     visitation="at_most_once"):
    """from_dataset_id with a name that is not joined with the id, and how often the dispatcher is asked."""
    policy = _policy(processing_mode)
    service = _target(service)
    if job_name is not None and not isinstance(job_name, (str, Tensor)):
        raise ValueError(f"`job_name` must be a string or Tensor, but `job_name` was of type {type(job_name)}. "
                         f"job_name={job_name}.")
    args = _coordinated(consumer_index, num_consumers, job_name)
    known = _native.service_dataset(service, _text(dataset_id))
    args.update(json.loads(known.to_json())["args"], processing_mode=int(policy), visitation=_visits(visitation),
                target_workers=_targets(target_workers))
    for name, value in (("job_name", job_name), ("data_transfer_protocol", data_transfer_protocol)):
        if value is not None:
            args[name] = _text(value)
    for name, value in (("max_outstanding_requests", _outstanding(max_outstanding_requests)),
                        ("task_refresh_interval_hint_ms", task_refresh_interval_hint_ms)):
        if value is not None and value > 0:
            args[name] = int(value)
    if cross_trainer_cache is not None:
        args["trainer_id"] = str(cross_trainer_cache.trainer_id)
    native = _native.Dataset.build(json.dumps({"op": "data_service", "args": args}), [], [], None)
    dataset = _DataServiceDatasetV2._of(native)
    if element_spec is not None:
        _check_spec(element_spec, dataset.element_spec, dataset_id)
        dataset._element_spec = element_spec
    if job_name is not None:
        options = Options()
        options.experimental_distribute.auto_shard_policy = AutoShardPolicy.OFF
        dataset = dataset.with_options(options)
    return dataset


def _check_spec(given, registered, dataset_id):
    """Raises where elements of the registered dataset are none of the spec that was given."""
    own, its = nest.flatten(given), nest.flatten(registered)
    if len(own) != len(its) or not all(type(a) is type(b) and a.is_compatible_with(b) for a, b in zip(own, its)):
        raise InvalidArgumentError(None, None, f"dataset {_text(dataset_id)!r} was registered with elements "
                                   f"{registered}; `element_spec` says {given}.")


def from_dataset_id(processing_mode, service, dataset_id, element_spec=None, job_name=None, consumer_index=None,
                    num_consumers=None, max_outstanding_requests=None, data_transfer_protocol=None,
                    cross_trainer_cache=None, target_workers="AUTO", visitation="at_most_once"):
    """The elements of a registered dataset (``tf.data.experimental.service.from_dataset_id``).

    processing_mode: A ShardingPolicy, "parallel_epochs" (OFF) or "distributed_epoch" (DYNAMIC).
    service: The dispatcher, "grpc://host:port", "host:port" or (protocol, address).
    dataset_id: What register_dataset returned.
    element_spec: None asks the dispatcher.
    job_name: Datasets of one id and name share the elements of one job; None: a job of this dataset alone.
    consumer_index, num_consumers: In a coordinated read, in which all consumers read the same worker in each step.
    max_outstanding_requests: Elements that may be on their way, over all workers.
    data_transfer_protocol: "shm" (memory, on one host), "tcp" or "grpc"; None takes the best that both sides have.
    cross_trainer_cache: A CrossTrainerCache.
    target_workers: "AUTO", "ANY", or "LOCAL" for workers of this process alone.
    visitation: "at_most_once" as in TensorFlow, "at_least_once" or "exactly_once", where workers are lost.
    """
    _check_job_name(job_name)
    if job_name is not None:
        job_name = f"dataset_id={_text(dataset_id)}/{job_name}"
    return _from_dataset_id(processing_mode, service, dataset_id, element_spec, job_name, consumer_index, num_consumers,
                            max_outstanding_requests, None, data_transfer_protocol, cross_trainer_cache, target_workers,
                            visitation)


def _register_dataset(service, dataset, compression, dataset_id=None):
    _check_compression(compression)
    target = _target(service)
    asked = None if dataset_id is None else _text(dataset_id)
    return convert_to_tensor(_native.service_register(target, dataset._plan("register_dataset()"), compression, asked))


def register_dataset(service, dataset, compression="AUTO", dataset_id=None):
    """Makes a dataset known to a service; a scalar string tensor, its id
    (``tf.data.experimental.service.register_dataset``).

    compression: "AUTO" where it pays, "SNAPPY" always, or None.
    dataset_id: The id to have; a dataset that has it already must be of the same elements. None: one of its own.
    """
    return _register_dataset(service, dataset, compression, uuid.uuid4().hex if dataset_id is None else dataset_id)


def _distribute(processing_mode, service, job_name=None, consumer_index=None, num_consumers=None,
                max_outstanding_requests=None, task_refresh_interval_hint_ms=None, data_transfer_protocol=None,
                compression="AUTO", cross_trainer_cache=None, target_workers="AUTO", visitation="at_most_once"):
    policy = _policy(processing_mode)
    _check_compression(compression)

    def apply(dataset):
        dataset_id = _register_dataset(service, dataset, compression)
        return _from_dataset_id(policy, service, dataset_id, dataset.element_spec, job_name, consumer_index,
                                num_consumers, max_outstanding_requests, task_refresh_interval_hint_ms,
                                data_transfer_protocol, cross_trainer_cache, target_workers, visitation)
    return apply


def distribute(processing_mode, service, job_name=None, consumer_index=None, num_consumers=None,
               max_outstanding_requests=None, data_transfer_protocol=None, compression="AUTO", cross_trainer_cache=None,
               target_workers="AUTO", visitation="at_most_once"):
    """A transformation for ``Dataset.apply`` that has a service run what came before it
    (``tf.data.experimental.service.distribute``). Arguments are those of register_dataset and from_dataset_id."""
    _check_job_name(job_name)
    return _distribute(processing_mode, service, job_name, consumer_index, num_consumers, max_outstanding_requests,
                       None, data_transfer_protocol, compression, cross_trainer_cache, target_workers, visitation)


def distributed_save(dataset, path, data_service_address, compression="AUTO"):
    """Has the workers of a service write a dataset into a folder that all of them and the dispatcher reach, and that is
    not there yet (``tf.data.experimental.distributed_save``). It returns when the dispatcher knows;
    ``Dataset.load(path)`` reads the folder, also while it is written.

    dataset: It has an end, and its sources have splits, as for the sharding policy DYNAMIC.
    path: A folder; one that is there raises AlreadyExistsError.
    data_service_address: "host:port" of a dispatcher with fault_tolerant_mode.
    compression: "AUTO" (which is SNAPPY), "SNAPPY", "GZIP" or None."""
    if not isinstance(data_service_address, str):
        raise ValueError("`data_service_address` must be a string, but it was of type "
                         f"{type(data_service_address)}. data_service_address={data_service_address}")
    if not data_service_address:
        raise ValueError("`data_service_address` must not be empty")
    if compression not in (*_COMPRESSIONS, "GZIP"):
        raise ValueError(f"Invalid `compression` argument: {compression}. "
                         f"Must be one of {[*_COMPRESSIONS, 'GZIP']}.")
    _native.service_save(_target(data_service_address), dataset._plan("distributed_save()"), path, compression)


# ---- servers ----

_servers = weakref.WeakSet()


def _stop_all():
    """Workers before dispatchers, which they would wait for."""
    for kind in (WorkerServer, DispatchServer):
        for server in [one for one in _servers if isinstance(one, kind)]:
            server._stop()


atexit.register(_stop_all)


def _milliseconds(value):
    """TensorFlow's rule: None is the default, and 0 is as short as can be."""
    return 0 if value is None else 1 if value == 0 else value


def _silence_ms(timeout_ms):
    """TensorFlow does not lose workers that are silent, so short times are in use there."""
    return timeout_ms and max(timeout_ms, _LEAST_SILENCE_MS)


def _field(config, name, default):
    """Of a configuration, which may be any object with these attributes, such as TensorFlow's protocol buffers: what
    it lacks or leaves unset is the default."""
    return getattr(config, name, default) or default


class DispatcherConfig(collections.namedtuple("DispatcherConfig", [
        "port", "protocol", "work_dir", "fault_tolerant_mode", "worker_addresses", "job_gc_check_interval_ms",
        "job_gc_timeout_ms", "worker_timeout_ms", "worker_max_concurrent_snapshots"])):
    """How a dispatcher is run (``tf.data.experimental.service.DispatcherConfig``).

    port: 0 takes a free one.
    protocol: "grpc", or "local" for this process alone.
    work_dir, fault_tolerant_mode: Started again with both, a dispatcher goes on where it was.
    worker_addresses: The workers of static sharding, in the order of their shares.
    job_gc_check_interval_ms, job_gc_timeout_ms: When jobs that nobody reads are dropped; -1: never.
    worker_timeout_ms: A worker that is silent for so long, and for five seconds at least, is lost.
    """

    def __new__(cls, port=0, protocol=None, work_dir=None, fault_tolerant_mode=False, worker_addresses=None,
                job_gc_check_interval_ms=None, job_gc_timeout_ms=None, worker_timeout_ms=None,
                worker_max_concurrent_snapshots=0):
        return super().__new__(cls, port, "grpc" if protocol is None else protocol, work_dir, fault_tolerant_mode,
                               worker_addresses, _milliseconds(job_gc_check_interval_ms),
                               _milliseconds(job_gc_timeout_ms), worker_timeout_ms, worker_max_concurrent_snapshots)


def _server_error(error):
    """Why a server does not start, of its class and a RuntimeError, which TensorFlow raises there."""
    raised = type(type(error).__name__, (type(error), RuntimeError), {})(error.node_def, error.op, error.message)
    raised.reason = error.reason
    return raised


class _Server:
    """Starting, waiting and stopping, which dispatchers and workers share. It may be used in a ``with`` statement."""

    def __init__(self, kind, arguments, start):
        try:
            self._server = kind(*arguments)
        except OpError as error:
            raise _server_error(error) from error
        _servers.add(self)
        if start:
            self.start()

    def start(self):
        """Serves; returns when it does. What goes wrong is a RuntimeError, as in TensorFlow, and an OpError."""
        try:
            self._server.start()
        except OpError as error:
            raise _server_error(error) from error

    def join(self):
        """Waits until it is stopped, or Ctrl-C."""
        self._server.join()

    def stop(self):
        """Ends serving; it is not started again."""
        self._stop()

    def _stop(self):
        self._server.stop()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._stop()


class DispatchServer(_Server):
    """A dispatcher in this process (``tf.data.experimental.service.DispatchServer``).

    config: A DispatcherConfig, or any object with its attributes, which may have client_timeout_ms,
        gc_dynamic_sharding_jobs and deployment_mode (1: workers live on the hosts of trainers), too.
    """

    def __init__(self, config=None, start=True):
        config = config or DispatcherConfig()
        if config.fault_tolerant_mode and not config.work_dir:
            raise ValueError("Cannot enable fault tolerant mode without configuring a work dir. Make sure to set "
                             "`work_dir` in the `config` object passed to `DispatcherServer`.")
        self._config = config
        super().__init__(_native.Server.dispatcher, (
            config.port, _field(config, "protocol", "grpc"), _field(config, "work_dir", None),
            config.fault_tolerant_mode,
            [str(address) for address in config.worker_addresses or []], config.job_gc_check_interval_ms,
            config.job_gc_timeout_ms, _silence_ms(_field(config, "worker_timeout_ms", 0)),
            _field(config, "client_timeout_ms", 0),
            _field(config, "worker_max_concurrent_snapshots", 0), _field(config, "gc_dynamic_sharding_jobs", False),
            _field(config, "deployment_mode", 0) == _COLOCATED), start)

    @property
    def target(self):
        """Where clients and workers of this host find it, "grpc://localhost:5000"."""
        return self._server.target

    @property
    def _address(self):
        return self.target.partition("://")[2]

    def _status(self):
        return json.loads(_native.service_status(self.target, 10_000))

    def _num_workers(self):
        return sum(worker["state"] != "lost" for worker in self._status()["workers"])


class WorkerConfig(collections.namedtuple("WorkerConfig", [
        "dispatcher_address", "worker_address", "port", "protocol", "heartbeat_interval_ms", "dispatcher_timeout_ms",
        "data_transfer_protocol", "data_transfer_address", "snapshot_max_chunk_size_bytes", "memory_budget_bytes"])):
    """How a worker is run (``tf.data.experimental.service.WorkerConfig``).

    dispatcher_address: "host:port".
    worker_address: What clients connect to, "host:%port%"; None: the address from which the dispatcher is reached.
    heartbeat_interval_ms: The longest time between two of its questions to the dispatcher.
    dispatcher_timeout_ms: How long a dispatcher is waited for at the start.
    snapshot_max_chunk_size_bytes: The longest file of distributed_save (not in TensorFlow); None: 6 GiB.
    memory_budget_bytes: What its tasks may hold together that is made and not confirmed (not in TensorFlow); None: a
        quarter of the memory that the process may use.
    """

    def __new__(cls, dispatcher_address, worker_address=None, port=0, protocol=None, heartbeat_interval_ms=None,
                dispatcher_timeout_ms=None, data_transfer_protocol=None, data_transfer_address=None,
                snapshot_max_chunk_size_bytes=None, memory_budget_bytes=None):
        return super().__new__(cls, dispatcher_address, worker_address, port, "grpc" if protocol is None else protocol,
                               _milliseconds(heartbeat_interval_ms), _milliseconds(dispatcher_timeout_ms),
                               data_transfer_protocol, data_transfer_address, snapshot_max_chunk_size_bytes or 0,
                               memory_budget_bytes or 0)


class WorkerServer(_Server):
    """A worker in this process (``tf.data.experimental.service.WorkerServer``).

    config: A WorkerConfig, or any object with its attributes, which may have worker_tags,
        cross_trainer_cache_size_bytes and shutdown_quiet_period_ms, too.
    """

    def __init__(self, config, start=True):
        if config.dispatcher_address is None:
            raise ValueError("Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`.")
        self._config = config
        address, protocol = config.dispatcher_address, _field(config, "protocol", "grpc")
        if "://" not in address:
            address = f"{protocol}://{address}"
        super().__init__(_native.Server.worker, (
            address, _field(config, "worker_address", None), config.port, protocol, config.heartbeat_interval_ms,
            config.dispatcher_timeout_ms, _field(config, "data_transfer_protocol", None),
            list(_field(config, "worker_tags", [])), _field(config, "cross_trainer_cache_size_bytes", 0),
            _field(config, "shutdown_quiet_period_ms", 0), _field(config, "snapshot_max_chunk_size_bytes", 0),
            _field(config, "memory_budget_bytes", 0)), start)

    @property
    def _address(self):
        return self._server.target

    def _num_tasks(self):
        return self._server.num_tasks
