"""``keras.Variable``: a variable with a path, made by an initializer."""

import contextlib
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
from leat.keras._base import loading, policies, tables
from leat.keras._base.symbolic import OPERATIONS


initializer_of = Hook()  # (name): the initializer; leat.keras.initializers


class _Scopes(threading.local):
    def __init__(self):
        self.names = []
        self.stateless = None
        self.autocast = None  # the dtype that variables of floats are read in; None: their own


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


def _of_dtype(value, dtype):
    """A value as a tensor of a dtype; other dtypes are cast, as in Keras."""
    if hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    if not hasattr(value, "dtype") and dtype.is_floating:
        return convert_to_tensor(value, dtype)
    value = convert_to_tensor(value)
    return value if value.dtype == dtype else FUNCTIONS["cast"](value, dtype)


class AutocastScope:
    """Inside of the block variables that are floats are read as this dtype; None: as they are."""

    def __init__(self, dtype):
        if dtype is not None and not dtypes.as_dtype(dtype).is_floating:
            raise ValueError("`AutocastScope` can only be used with a floating-point target dtype, such as 'float16'. "
                             f"Received: dtype={dtype}")
        self._wanted = None if dtype is None else dtypes.as_dtype(dtype)

    def __enter__(self):
        self._around, _scopes.autocast = _scopes.autocast, self._wanted
        return self

    def __exit__(self, *error):
        _scopes.autocast = self._around


_NO_SCOPE = contextlib.nullcontext()


def autocast_of(layer):
    """The scope of a layer's call: its variables are read in the dtype that it computes in, as Keras has it."""
    compute = layer.compute_dtype
    casts = layer.autocast and dtypes.as_dtype(compute).is_floating
    if _scopes.autocast is None:
        return AutocastScope(compute) if compute != layer.variable_dtype and casts else _NO_SCOPE
    if not casts:
        return AutocastScope(None)
    return _NO_SCOPE if _scopes.autocast.name == compute else AutocastScope(compute)


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
            value = _of_dtype(value, variable._dtype)
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


def _operator(name, reflected=False):
    """The operator that an operation of ``keras.ops`` is, with the dtype at which Keras lets operands meet."""
    def operator(self, *others):
        return OPERATIONS[name](*others, self) if reflected else OPERATIONS[name](self, *others)
    return operator


def _arithmetic(method, name):
    """The same and that of exchanged operands; those of floats of one dtype, or numbers beside, are of tensors."""
    def faster(method, slower):
        def operator(self, other):
            dtype = other._dtype_now() if isinstance(other, Variable) else getattr(other, "dtype", 0)
            if self._dtype.is_floating and (type(other) in (int, float) or dtype is self._dtype):
                return getattr(self._as_tensor(), method)(other)
            return slower(self, other)
        return operator
    return (faster(f"__{method}__", _operator(name)), faster(f"__r{method}__", _operator(name, True)))


def _callable_attribute(name, what):
    """A property that is None or can be called. ValueError for anything else."""
    def put(self, value):
        if value is not None and not callable(value):
            raise ValueError(f"Invalid value for attribute `{name}`. Expected a callable (such as a {what} "
                             f"instance) or `None`. Received: {name}={value}")
        self.__dict__[f"_{name}"] = value
    return property(lambda self: self.__dict__.get(f"_{name}"), put)


def _one_of(name, value, known):
    if value not in known:
        listed = ", ".join(f"`{one!r}`" for one in known)
        raise ValueError(f"Invalid value for argument `{name}`. Expected one of {listed}. Received: {name}={value}")
    return known[value]


class VariableDType(str):
    """The dtype of a variable, by its name as in Keras; what a DType has it has, too."""

    __slots__ = ()

    def __getattr__(self, name):
        return getattr(dtypes.as_dtype(str(self)), name)

    def __reduce__(self):
        return VariableDType, (str(self),)


_OF_DTYPES = {}  # name of a dtype -> its VariableDType


class Variable(_variables.Variable):
    """A variable of a layer, metric or optimizer (``keras.Variable``).

    `initializer`: a value, or what makes one of `shape` and `dtype`; the dtype is the value's where none is given.
    `path` is its name behind those of the scopes around it. `aggregation` and `synchronization` are names: "mean",
    "on_read". Operators are those of ``keras.ops``: dtypes meet as there.
    """

    _is_in_scope = False
    _has_copies = True  # metrics assign the sum of what was and what they count: each replica for itself

    def __init__(self, initializer, shape=None, dtype=None, trainable=True, autocast=True, aggregation="none",
                 synchronization="auto", name=None):
        if isinstance(initializer, str):
            initializer = initializer_of(initializer)
        if name is not None and (not isinstance(name, str) or "/" in name):
            raise ValueError("Argument `name` must be a string and cannot contain character `/`. Received: "
                             f"name={name}")
        aggregation = _one_of("aggregation", aggregation, _AGGREGATIONS)
        synchronization = _one_of("synchronization", synchronization, _SYNCHRONIZATIONS)
        if dtype is None and not callable(initializer):
            with trace.eagerly():
                dtype = convert_to_tensor(initializer).dtype
        dtype = dtypes.as_dtype(dtype or policies.floatx())
        if callable(initializer) and shape is None:
            raise ValueError("When creating a Variable from an initializer, the `shape` argument should be specified. "
                             f"Received: initializer={initializer} and shape={shape}")
        self._keras_name = name or tables.auto_name("variable")
        scope = current_path()
        self._path = f"{scope}/{self._keras_name}" if scope else self._keras_name
        self.autocast = autocast
        if callable(initializer):
            loading.take(math.prod(dim or 0 for dim in tuple(shape)) * dtype.size)
        with trace.eagerly():
            value = initializer(tuple(shape), dtype=dtype) if callable(initializer) else initializer
            value = _of_dtype(value, dtype)
        self._written = initializer
        super().__init__(value, trainable=trainable, name=self._path, dtype=dtype, aggregation=aggregation,
                         synchronization=synchronization)

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

    regularizer = _callable_attribute("regularizer", "`keras.regularizers.Regularizer`")
    constraint = _callable_attribute("constraint", "`keras.constraints.Constraint`")
    _overwrites = False

    @property
    def overwrite_with_gradient(self):
        """Do optimizers set the variable to its gradient in place of a step along it?"""
        return self._overwrites

    @overwrite_with_gradient.setter
    def overwrite_with_gradient(self, value):
        if not isinstance(value, bool):
            raise TypeError(f"`overwrite_with_gradient` must be a boolean. Received: {value}")
        self._overwrites = value

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets the values, which are cast to the variable's dtype; the tensor of them. ValueError on another shape."""
        value = _of_dtype(value, self._dtype)
        if not self.shape.is_compatible_with(value.shape):
            raise ValueError("The shape of the target variable and the shape of the target value in "
                             f"`variable.assign(value)` must match. variable.shape={self.shape}, Received: "
                             f"value.shape={value.shape}. Target variable: {self!r}")
        self._write(value, False)
        return value if read_value else None

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        """Adds to the values, with Keras' dtypes and broadcasting; the tensor of the sums."""
        return self._moved("add", value, read_value)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        """Subtracts from the values, with Keras' dtypes and broadcasting; the tensor of the differences."""
        return self._moved("subtract", value, read_value)

    def _moved(self, operation, value, read_value):
        value = convert_to_tensor(value._as_tensor() if hasattr(value, "_as_tensor") else value)
        if not self._dtype.is_floating and value.dtype is not self._dtype or value.shape != self.shape:
            return self.assign(OPERATIONS[operation](self, value), read_value=read_value)
        value = _of_dtype(value, self._dtype)  # what each replica adds to its copy
        self._write(value if operation == "add" else -value, True)
        return self._as_tensor() if read_value else None

    @property
    def dtype(self):
        """The dtype that operations see: in a call of a layer of half precision that of its computations."""
        name = self._dtype_now().name
        found = _OF_DTYPES.get(name)
        if found is None:
            found = _OF_DTYPES[name] = VariableDType(name)
        return found

    def _dtype_now(self):
        wanted = _scopes.autocast
        return wanted if wanted is not None and self.autocast and self._dtype.is_floating else self._dtype

    def _as_tensor(self):
        given = None if _scopes.stateless is None else _scopes.stateless.get_current_value(self)
        value = super()._as_tensor() if given is None else given
        wanted = _scopes.autocast
        if wanted is None or not self.autocast or value.dtype is wanted or not value.dtype.is_floating:
            return value
        return FUNCTIONS["cast"](value, wanted)

    def _write(self, value, add):
        if _scopes.stateless is None:
            super()._write(value, add)
        else:
            _scopes.stateless.add_update((self, self._as_tensor() + value if add else value))

    def numpy(self):
        """A copy of the values as a numpy array."""
        return super().numpy() if _scopes.stateless is None else self._as_tensor().numpy()

    # ---- operators ----

    __add__, __radd__ = _arithmetic("add", "add")
    __sub__, __rsub__ = _arithmetic("sub", "subtract")
    __mul__, __rmul__ = _arithmetic("mul", "multiply")
    __truediv__, __rtruediv__ = _arithmetic("truediv", "divide")
    __floordiv__, __rfloordiv__ = _arithmetic("floordiv", "floor_divide")
    __mod__, __rmod__ = _arithmetic("mod", "mod")
    __pow__, __rpow__ = _arithmetic("pow", "power")
    __matmul__, __rmatmul__ = _operator("matmul"), _operator("matmul", True)
    __and__, __rand__ = _operator("logical_and"), _operator("logical_and", True)
    __or__, __ror__ = _operator("logical_or"), _operator("logical_or", True)
    __xor__, __rxor__ = _operator("logical_xor"), _operator("logical_xor", True)
    __lt__, __le__ = _operator("less"), _operator("less_equal")
    __gt__, __ge__ = _operator("greater"), _operator("greater_equal")
    __eq__, __ne__ = _operator("equal"), _operator("not_equal")

    def __round__(self, ndigits=None):
        return OPERATIONS["round"](self, ndigits or 0)

    def __bool__(self):
        raise TypeError("A Keras Variable cannot be used as a boolean.")

    def __int__(self):
        self._require_scalar()
        return super().__int__()

    def __float__(self):
        self._require_scalar()
        return super().__float__()

    def _require_scalar(self):
        if self.ndim:
            raise TypeError(f"Only scalar arrays can be converted to Python scalars. Got: shape={self.shape}")

    def __len__(self):
        raise TypeError("object of type 'Variable' has no len()")

    def __hash__(self):
        raise TypeError("unhashable type: 'Variable'")

    def __repr__(self):
        text = f"<Variable path={self._path}, shape={tuple(self.shape)}, dtype={self.dtype.name}"
        return f"{text}>" if trace.is_tracing() or in_stateless_scope() else f"{text}, value={self.numpy()}>"
