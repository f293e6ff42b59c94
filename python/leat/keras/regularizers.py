"""``keras.regularizers``: penalties of weights and outputs."""

import numpy as np

from leat._core.tensor import convert_to_tensor
from leat.keras._base import registry
from leat.keras._base.named import op as _op


def _number(value, name):
    if not isinstance(value, (int, float)) or value < 0 or value in (float("inf"),) or value != value:
        raise ValueError(f"Invalid value for argument {name}: expected a non-negative float. Received: {name}={value}")
    return float(value)


def _rounded(value):
    """A number as Keras holds it, as a tensor of float32."""
    return float(np.float32(value))


class Regularizer:
    """The base of penalties (``keras.regularizers.Regularizer``): callable with a tensor, it gives a scalar."""

    def __call__(self, x):
        return 0.0

    def get_config(self):
        """The arguments that make another one like it."""
        raise NotImplementedError(f"{self} does not implement get_config()")

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


class L1L2(Regularizer):
    """l1 times the sum of magnitudes plus l2 times the sum of squares (``keras.regularizers.L1L2``)."""

    def __init__(self, l1=0.0, l2=0.0):
        self.l1 = _number(0.0 if l1 is None else l1, "l1")
        self.l2 = _number(0.0 if l2 is None else l2, "l2")

    def __call__(self, x):
        x = convert_to_tensor(x)
        total = _op("zeros", (), x.dtype)
        if self.l1:
            total = total + self.l1 * _op("reduce_sum", _op("math.abs", x))
        if self.l2:
            total = total + self.l2 * _op("reduce_sum", _op("math.square", x))
        return total

    def get_config(self):
        """The two factors."""
        return {"l1": self.l1, "l2": self.l2}


class L1(Regularizer):
    """l1 times the sum of magnitudes (``keras.regularizers.L1``)."""

    def __init__(self, l1=0.01):
        self.l1 = _rounded(_number(0.01 if l1 is None else l1, "l1"))

    def __call__(self, x):
        return self.l1 * _op("reduce_sum", _op("math.abs", convert_to_tensor(x)))

    def get_config(self):
        """The factor."""
        return {"l1": self.l1}


class L2(Regularizer):
    """l2 times the sum of squares (``keras.regularizers.L2``)."""

    def __init__(self, l2=0.01):
        self.l2 = _number(0.01 if l2 is None else l2, "l2")

    def __call__(self, x):
        return self.l2 * _op("reduce_sum", _op("math.square", convert_to_tensor(x)))

    def get_config(self):
        """The factor."""
        return {"l2": self.l2}


class OrthogonalRegularizer(Regularizer):
    """A penalty of rows, or columns, that are not orthogonal (``keras.regularizers.OrthogonalRegularizer``)."""

    def __init__(self, factor=0.01, mode="rows"):
        if mode not in ("rows", "columns"):
            raise ValueError("Invalid value for argument `mode`. Expected one of {\"rows\", \"columns\"}. Received: "
                             f"mode={mode}")
        self.factor, self.mode = _rounded(factor), mode

    def __call__(self, inputs):
        x = convert_to_tensor(inputs)
        if x.shape.rank != 2:
            raise ValueError("Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape="
                             f"{tuple(x.shape)}")
        rows = self.mode == "rows"
        x = x / _op("math.sqrt", _op("math.maximum", _op("reduce_sum", x * x, 1 if rows else 0, True), 1e-12))
        size = int(x.shape[0 if rows else 1])
        product = _op("matmul", x, x, transpose_a=not rows, transpose_b=rows)
        others = product * (1.0 - _op("eye", size))
        return self.factor * 0.5 * _op("reduce_sum", _op("math.abs", others)) / (size * (size - 1) / 2.0)

    def get_config(self):
        """The factor and the mode."""
        return {"factor": self.factor, "mode": self.mode}


_CLASSES = {class_.__name__: class_ for class_ in (L1L2, L1, L2, OrthogonalRegularizer)}
_CLASSES.update(l1=L1, l2=L2, l1_l2=L1L2, l1l2=L1L2, orthogonal_regularizer=OrthogonalRegularizer)
l1, l2, l1_l2, orthogonal_regularizer = L1, L2, L1L2, OrthogonalRegularizer


def get(identifier):
    """A regularizer by name, configuration, class, or itself (``keras.regularizers.get``). ValueError."""
    return registry.by_identifier("regularizer", _CLASSES, {}, identifier)


def serialize(regularizer):
    """The configuration of a regularizer."""
    return registry.configuration(regularizer)


def deserialize(config, custom_objects=None):
    """The regularizer of a configuration."""
    return registry.from_configuration("regularizer", _CLASSES.get, config, custom_objects)
