"""What ``tf.config.experimental`` says of a runtime, as far as there is one to say it of."""

from leat import _native

_DEVICE = "device must be a tf.config.PhysicalDevice, but got: "
_POLICIES = {None: "silent", "silent": "silent", "warn": "warn", "explicit": "explicit",
             "silent_for_int32": "silent_for_int32"}
_state = {"device_policy": "silent", "is_synchronous": True, "tensor_float_32": True}

__all__ = ["disable_mlir_bridge", "enable_mlir_bridge", "enable_op_determinism", "enable_tensor_float_32_execution",
           "get_device_details", "get_device_policy", "get_memory_growth", "get_memory_info", "get_memory_usage",
           "get_synchronous_execution", "reset_memory_stats", "set_device_policy", "set_synchronous_execution",
           "tensor_float_32_execution_enabled"]


def enable_op_determinism():
    """Operations give the same values each time they run (``tf.config.experimental.enable_op_determinism``): leat's do
    so in any case, with the same seeds. Those without a seed are not refused, as TensorFlow refuses them."""


def _check_cpu(device):
    """ValueError for what is no name of a CPU that is there."""
    kind, _, number = device.rpartition("/")[2].removeprefix("device:").partition(":")
    if not kind or not number.isdecimal():
        raise ValueError(f"Failed parsing device name: {device!r}. A device has at least a type and an index, "
                         'like "GPU:0".')
    if kind != "CPU" or int(number) >= _native.num_logical_devices("CPU"):
        raise ValueError(f"No matching devices found for {device!r}")


def get_memory_info(device):
    """Zeros (``tf.config.experimental.get_memory_info``): a CPU counts no memory, as in TensorFlow. ValueError for any
    other device."""
    _check_cpu(device)
    return {"current": 0, "peak": 0}


def get_memory_usage(device):
    """0: a CPU counts no memory, as in TensorFlow. ValueError for any other device."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device):
    """Nothing, as a CPU counts no memory. ValueError for any other device."""
    _check_cpu(device)


def get_device_details(device):
    """What is known of a PhysicalDevice: nothing of a CPU (``tf.config.experimental.get_device_details``)."""
    if not hasattr(device, "device_type"):
        raise ValueError(f"{_DEVICE}{device}")
    return {}


_growth = {}
placement = {"soft": True}


def note_memory_growth(device, enable):
    """Notes what was asked for of a GPU."""
    _growth[device] = bool(enable)


def get_memory_growth(device):
    """What was set of a GPU, True at first; KeyError for a CPU (``tf.config.experimental.get_memory_growth``)."""
    if getattr(device, "device_type", None) != "GPU":
        raise KeyError(device)
    return _growth.get(device, True)


def get_device_policy():
    """What was set last: what happens to a tensor that lies on another device, which none does here."""
    return _state["device_policy"]


def set_device_policy(device_policy):
    """Notes "silent", "warn", "explicit", "silent_for_int32" or None (``tf.config.experimental.set_device_policy``)."""
    if device_policy not in _POLICIES:
        raise ValueError(f"Invalid argument `device_policy`: {device_policy!r}; expected one of "
                         f"{', '.join(map(repr, _POLICIES))}")
    _state["device_policy"] = _POLICIES[device_policy]


def get_synchronous_execution():
    """What was set last."""
    return _state["is_synchronous"]


def set_synchronous_execution(enable):
    """Notes whether operations are to wait (``tf.config.experimental.set_synchronous_execution``): they always do."""
    _state["is_synchronous"] = bool(enable)


def enable_tensor_float_32_execution(enabled):
    """Notes whether GPUs may shorten numbers (``tf.config.experimental.enable_tensor_float_32_execution``)."""
    _state["tensor_float_32"] = bool(enabled)


def tensor_float_32_execution_enabled():
    """What was set last; True from the beginning."""
    return _state["tensor_float_32"]


def enable_mlir_bridge():
    """Does nothing: functions are compiled without MLIR (``tf.config.experimental.enable_mlir_bridge``)."""


def disable_mlir_bridge():
    """Does nothing (``tf.config.experimental.disable_mlir_bridge``)."""
