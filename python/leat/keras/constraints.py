"""``keras.constraints``: what an optimizer puts new values of weights through."""

from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat.keras._base import registry


def _norms(w, axis):
    return ops.FUNCTIONS["math.sqrt"](ops.FUNCTIONS["reduce_sum"](w * w, axis, True))


def _clip(value, low, high):
    return ops.FUNCTIONS["clip_by_value"](value, float(low), float(high))


class Constraint:
    """The base of constraints (``keras.constraints.Constraint``): callable with a weight, it gives the new one.

    A subclass overrides ``__call__``; the base's gives the weight itself.
    """

    def __call__(self, w):
        return w

    def get_config(self):
        """The arguments that make another one like it."""
        return {}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


class MaxNorm(Constraint):
    """Norms along `axis` of at most `max_value` (``keras.constraints.MaxNorm``)."""

    def __init__(self, max_value=2, axis=0):
        self.max_value, self.axis = max_value, axis

    def __call__(self, w):
        w = convert_to_tensor(w)
        norms = _norms(w, self.axis)
        return w * (_clip(norms, 0, self.max_value) / (1e-7 + norms))

    def get_config(self):
        """The largest norm and the axis."""
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """No values below 0 (``keras.constraints.NonNeg``)."""

    def __call__(self, w):
        return ops.FUNCTIONS["math.maximum"](convert_to_tensor(w), 0.0)


class UnitNorm(Constraint):
    """Norms along `axis` of 1 (``keras.constraints.UnitNorm``)."""

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        w = convert_to_tensor(w)
        return w / (1e-7 + _norms(w, self.axis))

    def get_config(self):
        """The axis."""
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Norms along `axis` moved at `rate` into a range (``keras.constraints.MinMaxNorm``)."""

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w):
        w = convert_to_tensor(w)
        norms = _norms(w, self.axis)
        wanted = self.rate * _clip(norms, self.min_value, self.max_value) + (1 - self.rate) * norms
        return w * (wanted / (1e-7 + norms))

    def get_config(self):
        """Range, rate and axis."""
        return {"min_value": self.min_value, "max_value": self.max_value, "rate": self.rate, "axis": self.axis}


_CLASSES = {class_.__name__: class_ for class_ in (MaxNorm, NonNeg, UnitNorm, MinMaxNorm)}
max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm
_CLASSES.update(max_norm=MaxNorm, non_neg=NonNeg, unit_norm=UnitNorm, min_max_norm=MinMaxNorm)


def get(identifier):
    """A constraint by name, configuration, class, or itself (``keras.constraints.get``). ValueError."""
    return registry.by_identifier("constraint", _CLASSES, {}, identifier)


def serialize(constraint):
    """The configuration of a constraint."""
    return registry.configuration(constraint)


def deserialize(config, custom_objects=None):
    """The constraint of a configuration."""
    return registry.from_configuration("constraint", _CLASSES.get, config, custom_objects)
