"""``tf.config``: the devices of this process, and how many threads it uses."""

import collections
import types

from leat import _native
from leat._api import runtime
from leat._core import devices as kinds
from leat._files.limits import LoadLimits, get_load_limits, set_load_limits  # noqa: F401
from leat.errors import UnimplementedError

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])
PhysicalDevice.__doc__ = "A device of the machine (``tf.config.PhysicalDevice``)."
LogicalDevice = collections.namedtuple("LogicalDevice", ["name", "device_type"])
LogicalDevice.__doc__ = "A device as strategies see it (``tf.config.LogicalDevice``)."
LogicalDeviceConfiguration = collections.namedtuple(
    "LogicalDeviceConfiguration", ["memory_limit", "experimental_priority", "experimental_device_ordinal"],
    defaults=[None, None, None])
LogicalDeviceConfiguration.__doc__ = "One of the devices that a physical one is split into."

_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
_configured = {}


def run_functions_eagerly(run_eagerly):
    """Makes all functions run as they are, or undoes that (``tf.config.run_functions_eagerly``)."""
    from leat._graph.traced import run_functions_eagerly as run
    run(run_eagerly)


def functions_run_eagerly():
    """Do all functions run as they are? (``tf.config.functions_run_eagerly``)"""
    from leat._graph.traced import functions_run_eagerly as runs
    return runs()


def list_physical_devices(device_type=None):
    """The devices of the machine, all or those of a kind such as "CPU" (``tf.config.list_physical_devices``)."""
    found = [_CPU]
    for kind in ("GPU", "TPU", "XLA_CPU"):
        # The host's cores by XLA are no other device, and libtpu may wait long for TPUs: each where it is asked for.
        if kind == device_type or device_type is None and kind == "GPU":
            found += [PhysicalDevice(f"/physical_device:{name}", kind) for name in kinds.names(kind)]
    return [device for device in found if device_type in (None, device.device_type)]


def list_logical_devices(device_type=None):
    """The devices that strategies see, all or those of a kind (``tf.config.list_logical_devices``)."""
    wanted = ("CPU", "GPU") if device_type is None else (device_type,)
    return [LogicalDevice(f"/device:{name}", kind) for kind in wanted if kind in kinds.KINDS
            for name in kinds.visible(kind)]


def experimental_connect_to_cluster(cluster_spec_or_resolver, job_name="localhost", task_index=0, protocol=None,
                                    make_master_device_default=True, cluster_device_filters=None):
    """Does nothing for a cluster of this process alone, such as a local TPU's
    (``tf.config.experimental_connect_to_cluster``). UnimplementedError for others: leat's processes meet when their
    strategy is made."""
    spec = getattr(cluster_spec_or_resolver, "cluster_spec", lambda: cluster_spec_or_resolver)()
    if spec.jobs:
        raise UnimplementedError(None, None, f"experimental_connect_to_cluster: a cluster of {', '.join(spec.jobs)}; "
                                 "processes meet when MultiWorkerMirroredStrategy is made")


def _known(device):
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")


def set_logical_device_configuration(device, logical_devices):
    """Splits a device into one logical device for each LogicalDeviceConfiguration of a list.

    ValueError for a device that is not there or a memory limit, which the CPU has none of; RuntimeError once a strategy
    uses the devices (``tf.config.set_logical_device_configuration``).
    """
    _known(device)
    logical_devices = list(logical_devices or [LogicalDeviceConfiguration()])
    if device.device_type != "CPU":
        raise UnimplementedError(None, None, f"set_logical_device_configuration: {device.name} is not split; give its "
                                 "replicas a device each, or train on CPUs")
    if any(one.memory_limit is not None for one in logical_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if any(one.experimental_priority is not None for one in logical_devices):
        raise ValueError("Setting experimental_priority on CPU virtual devices is currently not supported")
    from leat.errors import FailedPreconditionError
    try:
        _native.set_logical_cpus(len(logical_devices))
    except FailedPreconditionError as error:
        raise RuntimeError(f"Virtual devices cannot be modified after being initialized: {error}") from None
    _configured[device] = logical_devices


def get_logical_device_configuration(device):
    """What `set_logical_device_configuration` was called with; None where it was not."""
    _known(device)
    found = _configured.get(device)
    return None if found is None else list(found)


def get_visible_devices(device_type=None):
    """The devices that are used: all but those that `set_visible_devices` left out."""
    return [device for device in list_physical_devices(device_type)
            if device == _CPU or device.name.rpartition("device:")[2] in kinds.visible(device.device_type)]


def set_visible_devices(devices, device_type=None):
    """Which devices of a kind, or of all, are used by strategies that name none, and listed as logical ones;
    RuntimeError where that leaves no CPU, which leat needs (``tf.config.set_visible_devices``)."""
    chosen = list(devices if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice)
                  else [devices])
    for device in chosen:
        if device not in list_physical_devices(device_type or getattr(device, "device_type", None)):
            raise ValueError(f"Unrecognized device: {device!r}")
    if device_type in (None, "CPU") and _CPU not in chosen:
        raise RuntimeError("leat runs on the CPU; it cannot be made invisible")
    # Without a kind, those that are listed without one, and those that are named.
    for kind in {"GPU", *(device.device_type for device in chosen)} if device_type is None else {device_type}:
        if kind != "CPU":
            kinds.show(kind, [device.name.rpartition("device:")[2] for device in chosen if device.device_type == kind])


def _set_memory_growth(device, enable):
    """Whether the memory of a GPU grows: here it always does. ValueError for other devices, as in TensorFlow."""
    _known(device)
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    runtime.note_memory_growth(device, enable)


def _count(name, value):
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name} is {value!r}; expected a whole number from 0 on")
    return value


def _set_inter(num_threads):
    """Threads of the pool of each iterator made from now on; 0: one for each core."""
    from leat.data import iterator
    iterator._num_threads = _count("num_threads", num_threads)


def _get_inter():
    """Threads of the pool of each iterator; 0: one for each core."""
    from leat.data import iterator
    return iterator._num_threads


_intra = 0


def _set_intra(num_threads):
    """Threads within one operation: leat's operations on elements use the thread they are called on, so the number is
    kept for `get_intra_op_parallelism_threads` and changes nothing else."""
    global _intra
    _intra = _count("num_threads", num_threads)


def set_decode_limits(pixels=None, bytes=None):
    """How far data from outside may unfold, against pictures and packed texts that are made to fill the memory.

    pixels: of one picture, all frames of an animation together; None: 2**28. bytes: that one packed text
    (``io.decode_compressed``) or one serialised tensor (``io.parse_tensor``) may become; None: 2**30. What says that it
    is larger is refused before memory is taken. For the whole process, from now on; ValueError where a limit is not
    above 0. TensorFlow has no such setting.
    """
    limits = [0 if limit is None else int(limit) for limit in (pixels, bytes)]
    if any(limit is not None and int(limit) < 1 for limit in (pixels, bytes)):
        raise ValueError(f"set_decode_limits: expected limits above 0, found pixels={pixels} and bytes={bytes}")
    _native.set_decode_limits(*limits)


def set_read_limits(line=None, record=None):
    """How long what is read from files may become, against small files that unfold without end.

    line: bytes of one line of text or record of CSV, compressed or not; None: 2**30, or what the environment's
    ``LEAT_MAX_LINE_BYTES`` says. record: bytes of one record or member of a compressed file or a pipe, and of a pipe
    that is read whole; None: 2**32, or ``LEAT_MAX_RECORD_BYTES``. (A record of a plain file is bounded by the file.)
    Memory is taken as bytes arrive, at most twice what has come; what gets longer is an InvalidArgumentError, and the
    rest of that file is left out. For the whole process, from now on; ValueError where a limit is not above 0.
    TensorFlow has no such setting.
    """
    limits = [0 if limit is None else int(limit) for limit in (line, record)]
    if any(limit is not None and int(limit) < 1 for limit in (line, record)):
        raise ValueError(f"set_read_limits: expected limits above 0, found line={line} and record={record}")
    _native.set_read_limits(*limits)


_optimizer = {}
_ALWAYS_SHOWN = ("disable_model_pruning", "disable_meta_optimizer")
_OPTIMIZER_OPTIONS = frozenset([
    "layout_optimizer", "constant_folding", "shape_optimization", "remapping", "arithmetic_optimization",
    "dependency_optimization", "loop_optimization", "function_optimization", "debug_stripper", "disable_model_pruning",
    "scoped_allocator_optimization", "pin_to_host_optimization", "implementation_selector", "auto_mixed_precision",
    "disable_meta_optimizer", "min_graph_nodes", "auto_parallel"])


def _set_optimizer_options(options):
    """Notes options of TensorFlow's graph optimizer (``tf.config.optimizer.set_experimental_options``). leat's
    rewrites give the same values with and without, so they change nothing here; others than TensorFlow's are passed
    over, as there."""
    _optimizer.update({name: value for name, value in options.items() if name in _OPTIMIZER_OPTIONS})


def _get_optimizer_options():
    """The options that were noted."""
    return {**_optimizer, **{name: _optimizer.get(name, False) for name in _ALWAYS_SHOWN}}


_jit = [""]


def _set_jit(enabled):
    """Notes whether XLA is wanted (``tf.config.optimizer.set_jit``), which leat does without: True or
    "autoclustering"."""
    _jit[0] = "autoclustering" if enabled is True or enabled == "autoclustering" else ""


def _get_jit():
    """What `set_jit` noted: "autoclustering", or ""."""
    return _jit[0]


optimizer = types.SimpleNamespace(
    set_experimental_options=_set_optimizer_options, get_experimental_options=_get_optimizer_options,
    set_jit=_set_jit, get_jit=_get_jit)
threading = types.SimpleNamespace(
    set_inter_op_parallelism_threads=_set_inter, get_inter_op_parallelism_threads=_get_inter,
    set_intra_op_parallelism_threads=_set_intra, get_intra_op_parallelism_threads=lambda: _intra)
experimental = types.SimpleNamespace(
    set_memory_growth=_set_memory_growth, list_physical_devices=list_physical_devices,
    list_logical_devices=list_logical_devices, set_visible_devices=set_visible_devices,
    get_visible_devices=get_visible_devices, VirtualDeviceConfiguration=LogicalDeviceConfiguration,
    set_virtual_device_configuration=set_logical_device_configuration,
    get_virtual_device_configuration=get_logical_device_configuration,
    **{name: getattr(runtime, name) for name in runtime.__all__})
def set_soft_device_placement(enabled):
    """Says whether what is computed for a device that is not there is computed by the CPU; if not, a block of
    ``tf.device`` for such a device is an InvalidArgumentError (``tf.config.set_soft_device_placement``)."""
    runtime.placement["soft"] = bool(enabled)


def get_soft_device_placement():
    """What was set last; True from the beginning."""
    return runtime.placement["soft"]


experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly
