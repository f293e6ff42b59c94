"""``tf.types.experimental``: what tensors and functions are, for isinstance."""

import abc

import numpy as np

from leat._core.tensor import Tensor
from leat._graph.arguments import TraceType
from leat._graph.introspection import FunctionType
from leat._graph.traced import ConcreteFunction, Function
from leat._structures.variables import Variable

__all__ = ["AtomicFunction", "Callable", "ConcreteFunction", "FunctionType", "GenericFunction", "PolymorphicFunction",
           "TensorLike", "TraceType"]


class TensorLike(abc.ABC):
    """What an operation takes for a tensor: tensors, variables, arrays, numbers, texts and lists."""


class Callable(abc.ABC):
    """What tf.function makes, and its traced forms."""


for _class in (Tensor, Variable, np.ndarray, np.generic, float, int, str, bytes, list):
    TensorLike.register(_class)
for _class in (ConcreteFunction, Function):
    Callable.register(_class)
AtomicFunction = ConcreteFunction
GenericFunction = PolymorphicFunction = Function
