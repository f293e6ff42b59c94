"""``keras.Variable``: a variable with a path, made by an initializer."""

import math
import threading

from leat import dtypes
from leat._core import threads
from leat._core.later import Hook
from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat._graph.ops import FUNCTIONS
from leat._structures import variables as _variables
from leat._structures.variables import VariableAggregation, VariableSynchronization
from leat.keras._base import loading, tables


initializer_of = Hook()  # (name): the initializer; leat.keras.initializers


class _Scopes(threading.local):
    def __init__(self):
        self.names = []
        self.stateless = None


_scopes = threads.inherit(_Scopes())


class name_scope:
    """Variables that are made inside of the block have `name` in their path."""

    def __init__(self, name):
        if not isinstance(name, str) or "/" in name:
            raise ValueError("Argument `name` must be a string and cannot contain character `/`. Received: "
                             f"name={name}")
        self.name = name

    def __enter__(self):
        _scopes.names.append(self.name)
        return self

    def __exit__(self, *error):
        _scopes.names.pop()


def current_path():
    """The names of the open scopes, joined by slashes."""
    return "/".join(_scopes.names)


def found_in(value, kind, known=()):
    """The things of a kind in a structure of dictionaries, lists and tuples, without those that are known."""
    found, seen = [], {id(one) for one in known}

    def walk(value):
        if isinstance(value, kind):
            if id(value) not in seen:
                seen.add(id(value))
                found.append(value)
        elif isinstance(value, dict):
            for item in value.values():
                walk(item)
        elif isinstance(value, (list, tuple)):
            for item in value:
                walk(item)
    walk(value)
    return found


class StatelessScope:
    """Inside of the block variables have other values, and what is assigned to them stays there.

    `state_mapping`: pairs of a variable and its value (``keras.StatelessScope``). ValueError for other shapes.
    """

    def __init__(self, state_mapping=None):
        self._values = {}
        for variable, value in state_mapping or ():
            if not isinstance(variable, Variable):
                raise ValueError("Invalid reference variable in StatelessScope: all keys in argument `mapping` must be "
                                 f"Variable instances. Received instead: {variable}")
            value = convert_to_tensor(value)
            if value.dtype is not variable.dtype:
                value = FUNCTIONS["cast"](value, variable.dtype)
            if not variable.shape.is_compatible_with(value.shape):
                raise ValueError("Invalid variable value in StatelessScope: all values in argument `mapping` must be "
                                 "tensors with a shape that matches the corresponding variable shape. For variable "
                                 f"{variable.path} of shape {variable.shape}, received a value of shape {value.shape}.")
            self._values[id(variable)] = value

    def __enter__(self):
        self._around, _scopes.stateless = _scopes.stateless, self
        return self

    def __exit__(self, *error):
        _scopes.stateless = self._around

    def add_update(self, update):
        """Notes the value of a pair (variable, value)."""
        self._values[id(update[0])] = update[1]

    def get_current_value(self, variable):
        """The value that a variable has in the block; None: it has its own."""
        return self._values.get(id(variable))


def in_stateless_scope():
    """Do variables have other values here?"""
    return _scopes.stateless is not None


_AGGREGATIONS = {None: VariableAggregation.NONE, "none": VariableAggregation.NONE, "sum": VariableAggregation.SUM,
                 "mean": VariableAggregation.MEAN, "only_first_replica": VariableAggregation.ONLY_FIRST_REPLICA}
_SYNCHRONIZATIONS = {None: VariableSynchronization.AUTO, "auto": VariableSynchronization.AUTO,
                     "none": VariableSynchronization.NONE, "on_write": VariableSynchronization.ON_WRITE,
                     "on_read": VariableSynchronization.ON_READ}


class Variable(_variables.Variable):
    """A variable of a layer, metric or optimizer (``keras.Variable``).

    `initializer`: a value, or what makes one of `shape` and `dtype`. `path` is its name behind those of the scopes
    around it. `aggregation` and `synchronization` are names: "mean", "on_read".
    """

    _is_in_scope = False
    _has_copies = True  # metrics assign the sum of what was and what they count: each replica for itself

    def __init__(self, initializer, shape=None, dtype=None, trainable=True, autocast=True, aggregation="none",
                 synchronization="auto", name=None):
        if isinstance(initializer, str):
            initializer = initializer_of(initializer)
        dtype = dtypes.as_dtype(dtype or ("float32" if callable(initializer) or not hasattr(initializer, "dtype")
                                          else initializer.dtype))
        if callable(initializer) and shape is None:
            raise ValueError("When creating a Variable from an initializer, the `shape` argument should be specified. "
                             f"Received: initializer={initializer} and shape={shape}")
        self._keras_name = name or tables.auto_name("variable")
        scope = current_path()
        self._path = f"{scope}/{self._keras_name}" if scope else self._keras_name
        self.regularizer = None
        self.autocast = autocast
        if callable(initializer):
            loading.take(math.prod(dim or 0 for dim in tuple(shape)) * dtype.size)
        with trace.eagerly():
            value = initializer(tuple(shape), dtype=dtype) if callable(initializer) else initializer
            value = convert_to_tensor(value, dtype)
        self._written = initializer
        super().__init__(value, trainable=trainable, name=self._path, dtype=dtype,
                         aggregation=_AGGREGATIONS[aggregation], synchronization=_SYNCHRONIZATIONS[synchronization])

    name = property(lambda self: self._keras_name)
    path = property(lambda self: self._path)
    value = property(lambda self: self)

    @property
    def trainable(self):
        """Do gradient tapes watch it, and optimizers change it?"""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = bool(value)

    @property
    def constraint(self):
        """A function that an optimizer puts new values through; None: none."""
        return self._constraint

    @constraint.setter
    def constraint(self, value):
        self._constraint = value

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets the values; ValueError on another shape."""
        shape = getattr(value, "shape", None)
        if shape is not None and not self.shape.is_compatible_with(shape):
            raise ValueError("The shape of the target variable and the shape of the target value in "
                             f"`variable.assign(value)` must match. variable.shape={self.shape}, Received: "
                             f"value.shape={shape}. Target variable: {self!r}")
        return super().assign(value, use_locking, name, read_value)

    def _as_tensor(self):
        given = None if _scopes.stateless is None else _scopes.stateless.get_current_value(self)
        return super()._as_tensor() if given is None else given

    def _write(self, value, add):
        if _scopes.stateless is None:
            super()._write(value, add)
        else:
            _scopes.stateless.add_update((self, self._as_tensor() + value if add else value))

    def numpy(self):
        """A copy of the values as a numpy array."""
        return super().numpy() if _scopes.stateless is None else self._as_tensor().numpy()

    def __len__(self):
        raise TypeError("object of type 'Variable' has no len()")

    def __hash__(self):
        raise TypeError("unhashable type: 'Variable'")

    def __repr__(self):
        text = f"<Variable path={self._path}, shape={tuple(self.shape)}, dtype={self.dtype.name}"
        return f"{text}>" if trace.is_tracing() else f"{text}, value={self.numpy()}>"
