"""Configurations as HDF5 files of models have them: layers of a model by class and arguments, without their modules.

Keras 2 wrote them so, with other names for a few arguments; those are turned into today's. Failures: ValueError.
"""

import contextlib
import re
import threading

from leat.keras._base import registry

_state = threading.local()
_OF_LAMBDA = ("module", "function_type", "output_shape_type", "output_shape_module")
# Keras 2 notes `groups` of all convolutions, and the arguments of a kernel that these do not have.
_NO_GROUPS = re.compile(r"(Depthwise|Separable)Conv[12]D|Conv[123]DTranspose")
_OF_SEPARABLE = ("kernel_initializer", "kernel_regularizer", "kernel_constraint")
_MODULES = {"initializer": "keras.initializers", "regularizer": "keras.regularizers", "constraint": "keras.constraints"}


@contextlib.contextmanager
def written():
    """Within it `of_layer` gives configurations without modules."""
    _state.is_old = True
    try:
        yield
    finally:
        _state.is_old = False


def of_layer(layer):
    """The configuration of a layer of a model."""
    made = registry.serialize_keras_object(layer)
    if not getattr(_state, "is_old", False):
        return made
    return {"class_name": made["registered_name"] or made["class_name"], "config": made["config"]}


def to_layer(config, custom_objects=None):
    """The layer of a model's configuration, old or new."""
    if not isinstance(config, dict) or not isinstance(config.get("config"), dict) or "class_name" not in config:
        raise ValueError("The provided configuration is not a valid Keras configuration. Expected a dictionary "
                         f"containing 'class_name' and 'config' keys. Received: config={config}")
    if "module" not in config:
        is_bare = not {"trainable", "dtype"} & set(config["config"])
        config = _operation(config, custom_objects) if is_bare else _today(config)
    return registry.deserialize_keras_object(config, custom_objects)


def _operation(config, custom_objects):
    """The configuration of what has no more than a name: an operation of keras.ops, if there is one of the class."""
    module, name = "keras.src.ops.numpy", config["class_name"]
    if registry.get_registered_object(name, custom_objects) or registry.class_of_operation(module, name) is None:
        return _today(config)
    return {**config, "module": module, "registered_name": None}


def _today(config):
    inner = {name: _with_module(name, value) for name, value in config["config"].items()}
    if config["class_name"] == "InputLayer" and "batch_input_shape" in inner:
        inner["batch_shape"] = inner.pop("batch_input_shape")
    axis = inner.get("axis")
    if isinstance(axis, list) and len(axis) == 1:
        inner["axis"] = axis[0]
    if inner.get("time_major") is False:
        del inner["time_major"]
    if _NO_GROUPS.fullmatch(str(config["class_name"])) and inner.get("groups") == 1:
        del inner["groups"]
        for name in _OF_SEPARABLE if "Separable" in config["class_name"] else ():
            inner.pop(name, None)
    if config["class_name"] == "Lambda":
        for name in _OF_LAMBDA:
            inner.pop(name, None)
        if isinstance(inner.get("function"), list):
            inner["function"] = {"class_name": "__lambda__", "config": {"code": inner["function"][0]}}
    return {**config, "config": inner}


def _with_module(name, value):
    """A value with the module that the name of its argument says: layers and initializers share names of classes."""
    module = _MODULES.get(name.rsplit("_", 1)[-1])
    if module is None or not isinstance(value, dict) or "class_name" not in value or "module" in value:
        return value
    return {"module": module, "config": {}, **value}
