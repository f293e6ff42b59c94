"""``tf.distribute.cluster_resolver``: where the processes of a job are, by whoever launched them.

A resolver is asked anew each time, so what it reads may change until a strategy is made of it. leat's strategies use
`cluster_spec`, `task_type` and `task_id`; the rest is there for programs that ask.
"""

import abc
import enum
import itertools
import json
import os
import re

from leat._core import devices
from leat._core.cluster import ClusterSpec
from leat.errors import OpError, UnimplementedError

__all__ = ["ClusterResolver", "GCEClusterResolver", "KubernetesClusterResolver", "KubernetesExecutableLocation",
           "SimpleClusterResolver", "SlurmClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver",
           "UnionResolver"]


def _url(address, rpc_layer):
    return f"{rpc_layer}://{address}" if rpc_layer else address


class ClusterResolver(metaclass=abc.ABCMeta):
    """What knows a cluster; the base of all resolvers (``tf.distribute.cluster_resolver.ClusterResolver``).

    A class of one's own has `cluster_spec` and `master`, and sets `task_type` and `task_id`.
    """

    _task_type = None
    _task_id = None

    @abc.abstractmethod
    def cluster_spec(self):
        """The ClusterSpec as of now."""
        raise NotImplementedError()

    @abc.abstractmethod
    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The address of the process that leads, or of the task that is named."""
        raise NotImplementedError()

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """{kind of device: how many} of a process, without CPUs."""
        self.master(task_type, task_id)
        return {}

    @property
    def environment(self):
        """Where the program runs: empty text."""
        return ""

    @property
    def task_type(self):
        """The job of this process, such as "worker"; None where that is not known."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type):
        self._task_type = task_type

    @property
    def task_id(self):
        """The number of this process in its job; None where that is not known."""
        return self._task_id

    @task_id.setter
    def task_id(self, task_id):
        self._task_id = task_id


class SimpleClusterResolver(ClusterResolver):
    """A resolver of what it is given (``tf.distribute.cluster_resolver.SimpleClusterResolver``).

    TypeError where `cluster_spec` is no ClusterSpec or `master` no text.
    """

    def __init__(self, cluster_spec, master="", task_type=None, task_id=None, environment="", num_accelerators=None,
                 rpc_layer=None):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec, self._master = cluster_spec, master
        self._task_type, self._task_id = task_type, task_id
        self._environment, self._num_accelerators = environment, num_accelerators
        self.rpc_layer = rpc_layer

    environment = property(lambda self: self._environment)

    def cluster_spec(self):
        """The ClusterSpec that it was given."""
        return self._cluster_spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The address of the task that is named, else the one that it was given."""
        named = task_type is not None and task_id is not None
        address = self._cluster_spec.task_address(task_type, task_id) if named else self._master
        return _url(address, rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """What it was given; {} without."""
        return {} if self._num_accelerators is None else self._num_accelerators


def _tf_config(key=None, default=None):
    text = os.environ.get("TF_CONFIG", "{}")
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(f"TF_CONFIG is no JSON: {error.msg}", error.doc, error.pos) from None
    if not isinstance(config, dict):
        raise ValueError('TF_CONFIG is no JSON object; write {"cluster": {"worker": ["host:port"]}, "task": {"type": '
                         '"worker", "index": 0}}, or unset it')
    if key is None:
        return config
    return config[key] if key in config else default


class TFConfigClusterResolver(ClusterResolver):
    """The cluster of the variable TF_CONFIG (``tf.distribute.cluster_resolver.TFConfigClusterResolver``).

    The arguments stand in for what the variable says. It is read when something is asked: json.JSONDecodeError, a
    ValueError, where it is no JSON, and ValueError where it is no object (TensorFlow takes a list for no cluster).
    """

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        self._task_type, self._task_id = task_type, task_id
        self._rpc_layer, self._environment = rpc_layer, environment

    environment = property(lambda self: self._environment)

    @property
    def task_type(self):
        """The job of this process; None where TF_CONFIG does not say."""
        if self._task_type is not None:
            return str(self._task_type)
        task = _tf_config("task", {})
        return str(task["type"]) if "type" in task else None

    @task_type.setter
    def task_type(self, task_type):
        self._task_type = task_type

    @property
    def task_id(self):
        """The number of this process in its job; None where TF_CONFIG does not say."""
        if self._task_id is not None:
            return int(self._task_id)
        task = _tf_config("task", {})
        return int(task["index"]) if "index" in task else None

    @task_id.setter
    def task_id(self, task_id):
        self._task_id = task_id

    @property
    def rpc_layer(self):
        """The protocol before addresses, such as "grpc"; None: none."""
        return _tf_config("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer):
        self._rpc_layer = rpc_layer

    def cluster_spec(self):
        """The cluster as a ClusterSpec, empty without one; TypeError where it is none."""
        return ClusterSpec(_tf_config("cluster", {}))

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """TF_CONFIG's "session_master", else the address of the task; empty in a cluster of at most one task."""
        given = _tf_config("session_master")
        if given is not None:
            return given
        spec = self.cluster_spec()
        if not spec.jobs or len(spec.jobs) == 1 and len(spec.job_tasks(spec.jobs[0])) == 1:
            return ""
        address = spec.task_address(self.task_type if task_type is None else task_type,
                                    self.task_id if task_id is None else task_id)
        return _url(address, self.rpc_layer if rpc_layer is None else rpc_layer)


class UnionResolver(ClusterResolver):
    """Several resolvers as one (``tf.distribute.cluster_resolver.UnionResolver``).

    What is no list of processes is the first one's. Keywords: `rpc_layer`, `task_type`, `task_id`; ValueError for
    others and without resolvers, TypeError for what is no resolver.
    """

    def __init__(self, *args, **kwargs):
        self._rpc_layer = kwargs.pop("rpc_layer", None)
        self._task_type = kwargs.pop("task_type", None)
        self._task_id = kwargs.pop("task_id", None)
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(one, ClusterResolver) for one in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._cluster_resolvers = args

    _first = property(lambda self: self._cluster_resolvers[0])
    environment = property(lambda self: self._first.environment)

    @property
    def task_type(self):
        """Its own, else the first resolver's."""
        return self._task_type or self._first.task_type

    @task_type.setter
    def task_type(self, task_type):
        self._task_type = task_type

    @property
    def task_id(self):
        """Its own, else the first resolver's."""
        return self._task_id or self._first.task_id

    @task_id.setter
    def task_id(self, task_id):
        self._task_id = task_id

    @property
    def rpc_layer(self):
        """Its own, else the first resolver's."""
        return self._rpc_layer or self._first.rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer):
        self._rpc_layer = rpc_layer

    def cluster_spec(self):
        """The jobs of all; a job's lists one after the other.

        Where one of them numbers its tasks, all are taken by number: KeyError where two have the same.
        """
        parts = [resolver.cluster_spec().as_dict() for resolver in self._cluster_resolvers]
        merged = {}
        for name in dict.fromkeys(name for part in parts for name in part):
            found = [part[name] for part in parts if name in part]
            if all(isinstance(tasks, list) for tasks in found):
                merged[name] = [address for tasks in found for address in tasks]
                continue
            merged[name] = {}
            for tasks in found:
                tasks = dict(enumerate(tasks)) if isinstance(tasks, list) else tasks
                twice = set(tasks).intersection(merged[name])
                if twice:
                    raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {twice!r}")
                merged[name].update(tasks)
        return ClusterSpec(merged)

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The address of the task that is named, else the first resolver's."""
        if task_type is not None and task_id is not None:
            return _url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self._rpc_layer)
        return self._first.master(rpc_layer=rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """The first resolver's."""
        return self._first.num_accelerators(task_type, task_id, config_proto)


class _Placed(ClusterResolver):
    """Resolvers whose `master` is the task's, or empty where no task is known."""

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The address of the task that is named, else of this process; empty where it has no place."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return _url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)


# ---- Slurm ----

def _slurm(name):
    found = os.environ.get(f"SLURM_{name}")
    if found is None:
        raise RuntimeError(f"SLURM_{name} not found in environment. Not running inside a SLURM step?")
    return found


def _counts(text):
    """[2, 2, 1] of Slurm's "2(x2),1"."""
    out = []
    for part in text.split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if found is None:
            raise ValueError(f'Invalid tasks-per-node list format "{text}": {part!r}; expected counts such as 2(x3),1')
        out += [int(found[1])] * int(found[2] or 1)
    return out


def _hosts():
    """The names of the step's hosts, in Slurm's order."""
    listed = _slurm("STEP_NODELIST")
    parts = re.findall(r"(?:[^,\[]|\[[^\]]*\])+", listed)
    if ",".join(parts) != listed:
        raise ValueError(f'Invalid hostlist format "{listed}": expected hosts such as node[01-04,7],head')
    return [host for part in parts for host in _expanded(part, listed)]


def _expanded(part, listed):
    """The hosts of one part of a list: "n[1-2,07]" is n1, n2 and n07."""
    choices = []
    for piece in re.findall(r"\[[^\]]*\]|[^\[]+", part):
        choices.append(_numbers(piece[1:-1], listed) if piece.startswith("[") else [piece])
    return map("".join, itertools.product(*choices))


def _numbers(ranges, listed):
    out = []
    for one in ranges.split(","):
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", one)
        if found is None:
            raise ValueError(f'Invalid hostlist format "{listed}": {one!r}; expected hosts such as node[01-04,7],head')
        out += [str(n).zfill(len(found[1])) for n in range(int(found[1]), int(found[2] or found[1]) + 1)]
    return out


class SlurmClusterResolver(_Placed):
    """The tasks of a Slurm job step (``tf.distribute.cluster_resolver.SlurmClusterResolver``).

    `jobs`: {job: number of tasks}, all workers without. Tasks are counted host by host in the order in which Slurm
    lists these, which is how srun numbers them; a host's first listens at `port_base`, the next at the port after it.
    `tasks_per_node`: a number, or {host: number}, in place of Slurm's. RuntimeError outside of a step, and where the
    jobs have another number of tasks than the step. Processes compute on CPUs: without `gpus_per_node` there are none.
    """

    def __init__(self, jobs=None, port_base=8888, gpus_per_node=None, gpus_per_task=None, tasks_per_node=None,
                 auto_set_gpu=True, rpc_layer="grpc"):
        self._rank = int(_slurm("PROCID"))
        self._jobs = {"worker": int(_slurm("STEP_NUM_TASKS"))} if jobs is None else jobs
        self._port_base = port_base
        if isinstance(tasks_per_node, dict):
            self._tasks = dict(tasks_per_node)
        elif tasks_per_node is not None:
            self._tasks = dict.fromkeys(_hosts(), int(tasks_per_node))
        else:
            self._tasks = dict(zip(_hosts(), _counts(_slurm("STEP_TASKS_PER_NODE"))))
        most = max(self._tasks.values())
        self._gpus_per_node = gpus_per_node or 0
        self._gpus_per_task = self._gpus_per_node // most if gpus_per_task is None else gpus_per_task
        self._auto_set_gpu = auto_set_gpu
        self.rpc_layer = rpc_layer
        if most * self._gpus_per_task > self._gpus_per_node:
            raise RuntimeError("Requested more GPUs per node than available.")
        wanted, given = sum(self._jobs.values()), sum(self._tasks.values())
        if wanted != given:
            raise RuntimeError(f"Requested {wanted} tasks but only {given} were assigned.")

    def cluster_spec(self):
        """The cluster as a ClusterSpec; sets `task_type` and `task_id`, and CUDA_VISIBLE_DEVICES where GPUs are shared.
        """
        places = [(host, number) for host, count in self._tasks.items() for number in range(count)]
        jobs, first = {}, 0
        for name, count in sorted(self._jobs.items()):
            jobs[name] = [f"{host}:{self._port_base + number}" for host, number in places[first:first + count]]
            if first <= self._rank < first + count:
                self.task_type, self.task_id = name, self._rank - first
            first += count
        if self._auto_set_gpu and self._gpus_per_task:
            gpus = range(places[self._rank][1] * self._gpus_per_task, (places[self._rank][1] + 1) * self._gpus_per_task)
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
        return ClusterSpec(jobs)

    def get_task_info(self):
        """(job, number) of this process, once `cluster_spec` was called."""
        return self.task_type, self.task_id

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """{"GPU": GPUs of each task}."""
        return {"GPU": self._gpus_per_task}


# ---- Kubernetes and clouds ----

class KubernetesExecutableLocation(enum.Enum):
    """Where a program runs (``tf.distribute.cluster_resolver.KubernetesExecutableLocation``)."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


class KubernetesClusterResolver(_Placed):
    """The pods of a Kubernetes cluster (``tf.distribute.cluster_resolver.KubernetesClusterResolver``).

    `job_to_label_mapping`: {job: label selectors}, {"worker": ["job-name=tensorflow"]} without. It asks
    `override_client`, an object with ``list_pod_for_all_namespaces(label_selector=...)``, else the package
    ``kubernetes``: ImportError where that is not installed. RuntimeError where a pod does not run. It does not know
    which pod this process is: set `task_type` and `task_id`. Kubeflow sets TF_CONFIG, for which
    TFConfigClusterResolver is enough.
    """

    def __init__(self, job_to_label_mapping=None, tf_server_port=8470, rpc_layer="grpc", override_client=None,
                 executable_location=KubernetesExecutableLocation.WITHIN_CLUSTER):
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self.rpc_layer = rpc_layer
        self._client = override_client or _kubernetes_client(executable_location)

    def cluster_spec(self):
        """The addresses of the pods as a ClusterSpec, those of a selector by name."""
        return ClusterSpec({job: [address for selector in selectors for address in self._pods(selector)]
                            for job, selectors in self._labels.items()})

    def _pods(self, selector):
        found = self._client.list_pod_for_all_namespaces(label_selector=selector).items
        for pod in sorted(found, key=lambda pod: pod.metadata.name):
            if pod.status.phase != "Running":
                raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
            yield f"{pod.status.host_ip}:{self._port}"


def _kubernetes_client(location):
    try:
        from kubernetes import client, config
    except ModuleNotFoundError:
        raise ImportError("KubernetesClusterResolver asks the package kubernetes, which is not installed: pip install "
                          "kubernetes, hand in override_client, or let Kubeflow set TF_CONFIG and use "
                          "TFConfigClusterResolver") from None
    if location not in tuple(KubernetesExecutableLocation):
        raise ValueError("The executable location provided is invalid.")
    inside = location is KubernetesExecutableLocation.WITHIN_CLUSTER
    (config.load_incluster_config if inside else config.load_kube_config)()
    return client.CoreV1Api()


class GCEClusterResolver(ClusterResolver):
    """``tf.distribute.cluster_resolver.GCEClusterResolver``: UnimplementedError; leat asks no cloud's interface."""

    def __init__(self, *args, **kwargs):
        raise UnimplementedError(None, None, "GCEClusterResolver: leat does not ask Compute Engine for its instances; "
                                 "name them in TF_CONFIG or by a SimpleClusterResolver")

    cluster_spec = master = None


def tpu_devices(who):
    """The names of this machine's TPUs, or of what LEAT_TPU_PLATFORM has stand in for them: cpu or xla_cpu.

    UnimplementedError where there are none.
    """
    platform = os.environ.get("LEAT_TPU_PLATFORM") or "tpu"
    if platform not in ("tpu", "cpu", "xla_cpu"):
        raise UnimplementedError(None, None, f"{who}: LEAT_TPU_PLATFORM is {platform!r}; leat knows cpu and xla_cpu")
    names = devices.names(platform.upper())
    if names:
        return names
    try:
        devices.find(platform.upper())
        reason = f"there are no {platform.upper()} devices"
    except OpError as error:
        reason = error.message
    raise UnimplementedError(None, None, f"{who}: {reason}. MirroredStrategy and MultiWorkerMirroredStrategy train on "
                             "CPUs and GPUs, and with LEAT_TPU_PLATFORM=cpu in the environment CPUs stand in for a TPU")


class TPUClusterResolver(ClusterResolver):
    """The TPU of this machine, for which CPUs stand in where LEAT_TPU_PLATFORM is cpu or xla_cpu
    (``tf.distribute.cluster_resolver.TPUClusterResolver``).

    UnimplementedError where there is neither, and for TPUs of other machines: `tpu` is None, "" or "local".
    """

    def __init__(self, tpu=None, zone=None, project=None, job_name="worker", coordinator_name=None,
                 coordinator_address=None, credentials="default", service=None, discovery_url=None):
        self._devices = tpu_devices("TPUClusterResolver")
        if tpu not in (None, "", "local"):
            raise UnimplementedError(None, None, f"TPUClusterResolver: expected the TPU of this machine, \"local\", "
                                     f"found {tpu!r}")
        self._task_type, self._task_id = job_name, 0

    @staticmethod
    def connect(tpu=None, zone=None, project=None):
        """The resolver, after what a program does with it before its strategy."""
        return TPUClusterResolver(tpu, zone, project)

    def cluster_spec(self):
        """A ClusterSpec without processes: all devices are this one's."""
        return ClusterSpec({})

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """Empty text: this process."""
        return ""

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """{"TPU": how many devices there are}."""
        return {"TPU": len(self._devices)}
