"""``keras.optimizers``: the optimizers of the library's table, and the base of a program's own."""

from leat.keras._base import registry, tables
from leat.keras.optimizers import legacy, schedules  # noqa: F401
from leat.keras.optimizers.multiple import LossScaleOptimizer, MultiOptimizer, OptimizerMap
from leat.keras.optimizers.optimizer import Optimizer, TableOptimizer

_CLASSES = {}
for _entry in tables.entries("optimizer"):
    _class = tables.make_class("optimizer", _entry, TableOptimizer, __name__, TableOptimizer._setup, "kwargs")
    globals()[_entry["name"]] = _class
    _CLASSES[_entry["name"].lower()] = _class
_CLASSES.update(multioptimizer=MultiOptimizer, lossscaleoptimizer=LossScaleOptimizer)


def get(identifier):
    """An optimizer by name, configuration, or itself (``keras.optimizers.get``). ValueError."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        identifier = _CLASSES.get(identifier.lower(), identifier)
    if isinstance(identifier, type) and issubclass(identifier, Optimizer):
        return identifier()
    if isinstance(identifier, Optimizer):
        return identifier
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")


def serialize(optimizer):
    """The configuration of an optimizer."""
    return registry.configuration(optimizer)


def deserialize(config, custom_objects=None):
    """The optimizer of a configuration."""
    return registry.from_configuration("optimizer", lambda name: _CLASSES.get(name.lower()), config, custom_objects)
