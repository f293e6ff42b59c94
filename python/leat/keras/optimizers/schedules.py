"""``keras.optimizers.schedules``: the learning rate as a function of the step, made of the library's table."""

from leat._core.tensor import convert_to_tensor
from leat.keras._base import calls, registry, tables


class LearningRateSchedule:
    """The base of schedules: called with a step, it gives the rate."""

    def __call__(self, step):
        raise NotImplementedError(f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, "
                                  "step)`.")

    def get_config(self):
        """The arguments that make another one like it."""
        raise NotImplementedError(f"Learning rate schedule '{type(self).__name__}' must override `get_config()` in "
                                  "order to be serializable.")

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


class TableSchedule(LearningRateSchedule):
    """A schedule of the library's table."""

    def _setup(self, given, _):
        self._given = dict(given)
        for name, value in given.items():
            setattr(self, name, value)
        self._part = tables.part("schedule", self._entry, given)

    def __call__(self, step):
        step = convert_to_tensor(step._as_tensor() if hasattr(step, "_as_tensor") else step)
        return calls.call(self._part, [step], [])[0]

    def get_config(self):
        """The arguments that make another one like it."""
        return dict(self._given)


_CLASSES = {}
for _entry in tables.entries("schedule"):
    _class = tables.make_class("schedule", _entry, TableSchedule, __name__, TableSchedule._setup)
    globals()[_entry["name"]] = _CLASSES[_entry["name"]] = _class


def serialize(learning_rate_schedule):
    """The configuration of a schedule, or of a function."""
    return registry.configuration(learning_rate_schedule)


def deserialize(config, custom_objects=None):
    """The schedule of a configuration. ValueError for an unknown class."""
    return registry.from_configuration("learning rate schedule", _CLASSES.get, config, custom_objects)
