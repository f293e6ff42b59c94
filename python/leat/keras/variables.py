"""``keras.Variable``: a variable with a path, made by an initializer."""

import threading

from leat import dtypes, trace
from leat.tensor import convert_to_tensor
from leat import variables as _variables
from leat.variables import VariableAggregation, VariableSynchronization
from leat.keras import tables


class _Scopes(threading.local):
    def __init__(self):
        self.names = []


_scopes = _Scopes()


class name_scope:
    """Variables that are made inside of the block have `name` in their path."""

    def __init__(self, name):
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
        from leat.keras import initializers
        if isinstance(initializer, str):
            initializer = initializers.get(initializer)
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
        with trace.eagerly():
            value = initializer(tuple(shape), dtype=dtype) if callable(initializer) else initializer
            value = convert_to_tensor(value, dtype)
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

    def __len__(self):
        raise TypeError("object of type 'Variable' has no len()")

    def __hash__(self):
        raise TypeError("unhashable type: 'Variable'")

    def __repr__(self):
        text = f"<Variable path={self._path}, shape={tuple(self.shape)}, dtype={self.dtype.name}"
        return f"{text}>" if trace.is_tracing() else f"{text}, value={self.numpy()}>"
