"""``tf.Variable``: a tensor that can be assigned, shared by eager code, tapes and traced functions.

The values live in the library. A read is an ordinary tensor; while a function is traced it is a node of the function,
in the order in which the function reads and assigns.
"""

import contextlib
import enum
import functools
import inspect
import threading

from leat import _native, dtypes
from leat._core import threads
from leat._core.shapes import TensorShape
from leat._core.tensor import Reference, Tensor, constant, convert_to_tensor, text_of
from leat._graph import trace
from leat._graph.indices import gather_nd
from leat._graph.ops import FUNCTIONS as F
from leat._structures.indexed_slices import IndexedSlices
from leat.errors import InvalidArgumentError, UnimplementedError


class VariableSynchronization(enum.Enum):
    """When the copies of a variable are made equal (``tf.VariableSynchronization``)."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How assignments of several replicas combine (``tf.VariableAggregation``)."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


class _Places(threading.local):
    def __init__(self):
        self.like = None
        self.scopes = []
        self.creators = ()


_places = threads.inherit(_Places())


def open_scopes():
    """The scopes of names that this thread is in, each with those around it: "a/", "a/b/"."""
    return _places.scopes


def is_beside():
    """Is this thread in a block of `beside`?"""
    return _places.like is not None


class beside:
    """Variables that are made inside of the block lie where `variable` lies, whatever scope is open."""

    def __init__(self, variable):
        self._variable = variable

    def __enter__(self):
        self._around, _places.like = _places.like, self._variable

    def __exit__(self, *error):
        _places.like = self._around


def _delegate(name):
    """An operator of a variable's value."""
    def operator(self, *others):
        return getattr(self._as_tensor(), name)(*others)
    operator.__name__ = name
    return operator


@contextlib.contextmanager
def variable_creator_scope(variable_creator):
    """Variables inside of the block are what ``variable_creator(next_creator, **kwargs)`` gives, which may change the
    arguments of ``tf.Variable`` and call ``next_creator(**kwargs)`` (``tf.variable_creator_scope``). Scopes within
    come first. Keras' variables are made without it."""
    around = _places.creators
    _places.creators = (*around, variable_creator)
    try:
        yield
    finally:
        _places.creators = around


class _Made(type):
    """Variables are made by the creators of the scopes around."""

    def __call__(cls, *args, **kwargs):
        creators, own = _places.creators, getattr(trace.strategy(), "_make_variable", None)
        if not creators and own is None or cls is not Variable:
            return super().__call__(*args, **kwargs)
        bound = _signature().bind(*args, **kwargs)
        bound.apply_defaults()
        made = super().__call__
        if own is not None:
            inner = made

            def made(**arguments):
                return own(inner, arguments)
        for creator in creators:
            made = functools.partial(creator, made)
        return made(**bound.arguments)


@functools.cache
def _signature():
    whole = inspect.signature(Variable.__init__)
    return whole.replace(parameters=list(whole.parameters.values())[1:])


class Variable(metaclass=_Made):
    """A variable of a fixed dtype and shape (``tf.Variable``).

    `initial_value`: what a tensor can be made of, or a callable without arguments. `trainable`: gradient tapes watch
    it by themselves. `shape`: what the values have to fit where dimensions are to change, ``[None, 3]``, or
    ``tf.TensorShape(None)`` for any; without it they have the initial value's.
    """

    __array_priority__ = 100
    _is_tensor = True
    _has_copies = False  # has it copies that are combined on reading also where variables have no others?
    _is_remote = False  # does it live in another process?
    _is_in_scope = True  # does a name_scope belong to the name?

    def __init__(self, initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None,
                 variable_def=None, dtype=None, import_scope=None, constraint=None,
                 synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE, shape=None,
                 experimental_enable_variable_lifting=True):
        if initial_value is None:
            raise ValueError("initial_value must be specified for tf.Variable.")
        with trace.eagerly():
            value = initial_value() if callable(initial_value) else initial_value
            if isinstance(value, Tensor) and not value._has_values:
                value = value._graph.value_now(value)
            if value is None:
                raise ValueError("Tensor-typed variable initializers must either be wrapped in an init_scope or "
                                 "callable (e.g., `tf.Variable(lambda : tf.truncated_normal([10, 40]))`) when building "
                                 "functions.")
            value = convert_to_tensor(value) if dtype is None else _converted(value, dtypes.as_dtype(dtype))
        if shape is not None and not TensorShape(shape).is_compatible_with(value.shape):
            raise ValueError(f"Variable shape {shape} is incompatible with the initial value's, {value.shape}")
        shape = value.shape if shape is None else TensorShape(shape)
        synchronization = synchronization or VariableSynchronization.AUTO
        aggregation = aggregation or VariableAggregation.NONE
        if not isinstance(synchronization, VariableSynchronization):
            raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}")
        if not isinstance(aggregation, VariableAggregation):
            raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}")
        place = trace.strategy() if _places.like is None else _places.like
        make = getattr(place, "_make_native", None)
        is_open = not shape.is_fully_defined()
        if is_open and make is not None:
            raise UnimplementedError(None, None, f"variable '{name or 'Variable'}' of shape {shape} cannot live on a "
                                     "parameter server; say its whole shape, or make it outside of the scope")
        is_one = is_open or make is None and value.dtype is dtypes.string  # copy alone, whatever scope is open
        place = None if is_one else place
        if getattr(place, "_check_variable", None) is not None:
            place._check_variable(name, value.dtype, synchronization, aggregation)
        for graph in trace._state.graphs:
            graph.note_creation(self)
        self._trainable = synchronization is not VariableSynchronization.ON_READ if trainable is None else trainable
        self._name = (_places.scopes[-1] if _places.scopes and self._is_in_scope else "") + (name or "Variable")
        self._constraint = constraint
        self._synchronization, self._aggregation = synchronization, aggregation
        self._dtype, self._shape, self._is_open = value.dtype, shape, is_open
        if value.dtype is dtypes.variant:
            raise TypeError("a variable of variant is not supported; keep a Python list of tensors")
        written = self.__dict__.pop("_written", initial_value)
        if getattr(place, "_compare_initial", None) is not None:
            place._compare_initial(self._name, written, value)
        self._native = make(self, value) if make is not None else _native.Variable(
            value, name=self._name, trainable=bool(self._trainable), aggregation=aggregation.value,
            sync_on_read=synchronization is VariableSynchronization.ON_READ
            and (self._has_copies or not getattr(place, "_shares_variables", False)),
            like=None if _places.like is None or is_one else _places.like._native,
            **({"shape": None if shape.rank is None else shape.as_list()} if is_open else {}))
        distributed = getattr(place, "_distributed", None)
        self._strategy = getattr(place, "_strategy", None) if place is _places.like else place
        if distributed is not None:
            self.__class__ = distributed(type(self), synchronization)
        if trace._state.devices and place is None:
            self._device = trace._state.devices[-1][0]
        replica = trace.replica_context()
        if replica is not None:
            replica.note_variable(self)

    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)
    name = property(lambda self: f"{self._name}:0")
    trainable = property(lambda self: self._trainable)
    constraint = property(lambda self: self._constraint)
    synchronization = property(lambda self: self._synchronization)
    aggregation = property(lambda self: self._aggregation)
    ndim = property(lambda self: self._shape.rank)
    device = property(lambda self: self.__dict__.get("_device", "/job:localhost/replica:0/task:0/device:CPU:0"))
    _shared_name = property(lambda self: self._name)
    handle = property(lambda self: self)

    initializer = property(lambda self: None, doc="None: a variable has its value from the beginning.")

    def get_shape(self):
        """The shape."""
        return self._shape

    # ---- reading ----

    def _as_tensor(self):
        """The value as of now: a tensor, or in a function that is traced a value of it."""
        if trace._state.graphs:
            return trace._state.graphs[-1].value_of(self)
        if trace._state.tapes and not trace._state.stopped:
            for tape in reversed(trace._state.tapes):
                if tape._watches(self):
                    return tape._recording.read_variable(self)
        return self._read_now()

    def _read_traced(self):
        graphs = trace._state.graphs
        for graph in graphs:
            if id(self) in graph.given:
                return graph.read_variable(self)
        for tape in () if trace._state.stopped else reversed(trace._state.tapes):
            if tape._recording in graphs and tape._watches(self):
                return tape._recording.read_variable(self)
        return graphs[-1].read_variable(self)

    def _read_now(self):
        """The value as of now, a tensor that nobody else has."""
        return self._native.read()

    def read_value(self):
        """The value as of now, as a tensor."""
        return self._as_tensor()

    value = read_value

    def is_initialized(self, name=None):
        """True: a variable has its initial value from the beginning (``tf.Variable.is_initialized``)."""
        return constant(True)

    def numpy(self):
        """A copy of the values as a numpy array."""
        if trace._state.graphs:
            raise trace.NotTraceable("numpy() of a variable needs its value, which a function that is traced does not "
                                     "have yet")
        value = self._read_now()
        return value.numpy().copy() if self._is_open else _native.give(value).numpy()

    def _checkpoint_tensor(self):
        """The value as a tensor, without a copy."""
        return self._native.read()

    def __array__(self, dtype=None, copy=None):
        return self._as_tensor().__array__(dtype, copy)

    # ---- assigning ----

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets the values; the variable itself (``tf.Variable.assign``). ValueError on another shape."""
        self._write(_converted(value, self._dtype), False)
        return self._unread() if read_value else None

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds to the values; the variable itself."""
        self._write(_converted(delta, self._dtype), True)
        return self._unread() if read_value else None

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts from the values; the variable itself."""
        self._write(-_converted(delta, self._dtype), True)
        return self._unread() if read_value else None

    def _unread(self):
        """What assignments give: the variable, by the name that TensorFlow gives such a result."""
        if type(self) is not Variable:
            return self
        made = object.__new__(_UnreadVariable)
        made.__dict__ = self.__dict__ | {"_variable": self}
        return made

    def scatter_nd_update(self, indices, updates, name=None):
        """Sets the slices that `indices` number; the variable itself (``tf.Variable.scatter_nd_update``)."""
        return self._scattered("tensor_scatter_nd_update", indices, updates)

    def scatter_nd_add(self, indices, updates, name=None):
        """Adds to the slices that `indices` number; the variable itself."""
        return self._scattered("tensor_scatter_nd_add", indices, updates)

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtracts from the slices that `indices` number; the variable itself."""
        return self._scattered("tensor_scatter_nd_sub", indices, updates)

    def scatter_nd_max(self, indices, updates, name=None):
        """The larger ones of the slices that `indices` number and `updates`; the variable itself."""
        return self._scattered("tensor_scatter_nd_max", indices, updates)

    def scatter_nd_min(self, indices, updates, name=None):
        """The smaller ones of the slices that `indices` number and `updates`; the variable itself."""
        return self._scattered("tensor_scatter_nd_min", indices, updates)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Sets the slices of a tf.IndexedSlices; the variable itself (``tf.Variable.scatter_update``)."""
        return self._scattered_slices("update", sparse_delta)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """Adds the slices of a tf.IndexedSlices; the variable itself."""
        return self._scattered_slices("add", sparse_delta)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """Subtracts the slices of a tf.IndexedSlices; the variable itself."""
        return self._scattered_slices("sub", sparse_delta)

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        """The larger ones of its slices and those of a tf.IndexedSlices; the variable itself."""
        return self._scattered_slices("max", sparse_delta)

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        """The smaller ones of its slices and those of a tf.IndexedSlices; the variable itself."""
        return self._scattered_slices("min", sparse_delta)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        """Multiplies by the slices of a tf.IndexedSlices; the variable itself."""
        return self._scattered_slices("mul", sparse_delta)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        """Divides by the slices of a tf.IndexedSlices, integers towards zero; the variable itself."""
        return self._scattered_slices("div", sparse_delta)

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Sets slices within each row of all but the last dimension of the indices; the variable itself."""
        if type(self) is not Variable:
            raise NotImplementedError(f"batch_scatter_update of a {type(self).__name__}: use scatter_nd_update")
        indices = sparse_delta.indices
        dims = indices.shape.as_list()
        places = []
        for axis, count in enumerate(dims[:-1]):
            shape = [count if place == axis else 1 for place in range(len(dims))]
            numbers = F["reshape"](constant(list(range(count)), indices.dtype), shape)
            places.append(F["broadcast_to"](numbers, dims))
        return self._scattered("tensor_scatter_nd_update", F["stack"]([*places, indices], -1), sparse_delta.values)

    def _scattered_slices(self, kind, slices):
        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {slices}")
        if kind in ("mul", "div"):
            factors = F["math.unsorted_segment_prod"](_converted(slices.values, self._dtype), slices.indices,
                                                      self._rows())
            divide = "divide" if self._dtype.is_floating else "truncatediv"
            return self._change(kind, F["multiply" if kind == "mul" else divide], factors)
        return self._scattered("tensor_scatter_nd_" + kind, F["expand_dims"](slices.indices, -1), slices.values)

    def gather_nd(self, indices, name=None):
        """The slices or values that `indices` number (``tf.Variable.gather_nd``)."""
        return gather_nd(self._as_tensor(), indices)

    def sparse_read(self, indices, name=None):
        """The slices that `indices` number along the first dimension (``tf.Variable.sparse_read``)."""
        return F["gather"](self._as_tensor(), indices)

    def _rows(self):
        known = self._shape[0] if self._shape.rank else None
        return F["shape"](self._as_tensor())[0] if known is None else known

    def set_shape(self, shape):
        """Says what is known of the shape, which has to agree with it."""
        self._shape = self._shape.merge_with(TensorShape(shape))

    def _scattered(self, operation, indices, updates):
        with trace.unrecorded():
            return self._change(operation, F[operation], indices, _converted(updates, self._dtype))

    def _change(self, key, body, *inputs):
        """Sets the value to ``body(value, *inputs)``; the variable itself. `key` tells bodies apart."""
        with trace.unrecorded():
            return self.assign(body(self._as_tensor(), *inputs))

    def _changes_together(self, variables, body, inputs, key):
        """Sets variables, of which this is the first, to what ``body(values, inputs)`` gives; None: one stays."""
        for variable, value in zip(variables, body([variable._as_tensor() for variable in variables], inputs)):
            if value is not None:
                variable.assign(value)

    def _shadow(self):
        """The native variable that operations of the library which assign it are told of."""
        return self._native

    _applies = None  # how an optimizer's step over such variables is added to a graph; None: as the library does

    def _read_node(self, graph):
        """A read as a node of a graph."""
        return graph.read(self._native)

    def _assign_node(self, graph, value, add, combines):
        """An assignment as a node of a graph; `combines`: of what replicas give."""
        graph.assign(self._native, value, add, combines)

    def _check_value(self, value, add):
        if not self._shape.is_compatible_with(value.shape):
            if not add:
                text = (f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape "
                        f"{self._shape}, and the assigned value shape {value.shape} are incompatible.")
                raise ValueError(text)
            raise ValueError(f"Shapes {self._shape} and {value.shape} are incompatible")

    def _check_addition(self, add):
        if add and self._dtype is dtypes.string:
            raise InvalidArgumentError(None, None, f"variable '{self.name}' is of strings, to which nothing is added; "
                                       "assign what tf.strings.join gives")

    def _write(self, value, add):
        self._check_value(value, add)
        self._check_addition(add)
        if trace._state.graphs:
            trace.check_write(self)
            trace._state.graphs[-1].write_variable(self, value, add)
            return
        if add:
            before = self._native.read()
            if before.shape != value.shape:
                raise InvalidArgumentError(None, None, f"Cannot update variable with shape {before.shape} using a "
                                           f"Tensor with shape {value.shape}, shapes must be equal.")
            with trace.unrecorded():
                value = before + value
        self._native.assign(value)
        for tape in trace._state.tapes:
            tape._recording.forget_reads(self)

    # ---- as a tensor ----

    def ref(self):
        """A hashable stand-in (``tf.Variable.ref``)."""
        return Reference(self)

    experimental_ref = ref

    def __hash__(self):
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key. "
                        "(Variable: " + repr(self) + ")")

    def __getitem__(self, key):
        value = self._as_tensor()
        part = value[key]
        if part is not value and not any(_is_mask(one) for one in (key if isinstance(key, tuple) else (key,))):
            part._origin = functools.partial(self._assign_part, key)
        return part

    def _assign_part(self, key, value, name=None):
        """Sets the part at `key`, to whose shape the value is broadcast; the variable itself."""
        with trace.unrecorded():
            whole = self._as_tensor()
            shape = F["shape"](whole) if self._is_open else self._shape
            places = F["reshape"](F["range"](F["size"](whole)), shape)[key]
            value = F["broadcast_to"](_converted(value, self._dtype), F["shape"](places))

            def put(whole, places, values):
                flat = F["tensor_scatter_nd_update"](F["reshape"](whole, [-1]), places, values)
                return F["reshape"](flat, F["shape"](whole))
            return self._change("part", put, F["reshape"](places, [-1, 1]), F["reshape"](value, [-1]))

    def __iter__(self):
        return iter(self._as_tensor())

    def __len__(self):
        return len(self._as_tensor())

    def __bool__(self):
        return bool(self._as_tensor())

    def __int__(self):
        return int(self._as_tensor())

    def __float__(self):
        return float(self._as_tensor())

    def __index__(self):
        return self._as_tensor().__index__()

    def __format__(self, spec):
        return format(self._as_tensor(), spec)

    # ---- operators: those of its value ----

    __add__, __radd__ = _delegate("__add__"), _delegate("__radd__")
    __sub__, __rsub__ = _delegate("__sub__"), _delegate("__rsub__")
    __mul__, __rmul__ = _delegate("__mul__"), _delegate("__rmul__")
    __truediv__, __rtruediv__ = _delegate("__truediv__"), _delegate("__rtruediv__")
    __floordiv__, __rfloordiv__ = _delegate("__floordiv__"), _delegate("__rfloordiv__")
    __mod__, __rmod__ = _delegate("__mod__"), _delegate("__rmod__")
    __pow__, __rpow__ = _delegate("__pow__"), _delegate("__rpow__")
    __matmul__, __rmatmul__ = _delegate("__matmul__"), _delegate("__rmatmul__")
    __and__, __rand__ = _delegate("__and__"), _delegate("__rand__")
    __or__, __ror__ = _delegate("__or__"), _delegate("__ror__")
    __xor__, __rxor__ = _delegate("__xor__"), _delegate("__rxor__")
    __lt__ = _delegate("__lt__")
    __le__ = _delegate("__le__")
    __gt__ = _delegate("__gt__")
    __ge__ = _delegate("__ge__")
    __eq__ = _delegate("__eq__")
    __ne__ = _delegate("__ne__")
    __neg__ = _delegate("__neg__")
    __pos__ = _delegate("__pos__")
    __abs__ = _delegate("__abs__")
    __invert__ = _delegate("__invert__")

    def __reduce__(self):
        return _restored, (self._native.read(), self._trainable, self._name, self._constraint, self._synchronization,
                           self._aggregation, self._shape)

    def __deepcopy__(self, memo):
        made = Variable(self._native.read(), trainable=self._trainable, name=self._name, constraint=self._constraint,
                        synchronization=self._synchronization, aggregation=self._aggregation, shape=self._shape)
        memo[id(self)] = made
        return made

    def __repr__(self):
        if trace._state.graphs:
            return f"<tf.Variable '{self.name}' shape={self._shape} dtype={self._dtype.name}>"
        text = text_of(self._native.read(), True)
        return f"<tf.Variable '{self.name}' shape={self._shape} dtype={self._dtype.name}, numpy={text}>"


class _UnreadVariable(Variable):
    """A variable that was assigned, as the result of that: all that it does is done by the variable."""

    name = property(lambda self: "UnreadVariable")

    def _as_tensor(self):
        return self._variable._as_tensor()

    def _write(self, value, add):
        self._variable._write(value, add)

    def _unread(self):
        return self._variable._unread()


def _restored(value, trainable, name, constraint, synchronization, aggregation, shape=None):
    """The variable of a pickle, of its own and with the value of then."""
    return Variable(value, trainable=trainable, name=name, constraint=constraint, synchronization=synchronization,
                    aggregation=aggregation, shape=shape)


def _is_mask(key):
    return getattr(key, "dtype", None) == dtypes.bool


def _converted(value, dtype):
    if hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    if isinstance(value, Tensor) or hasattr(value, "dtype") and not hasattr(value, "__array_interface__"):
        return convert_to_tensor(value, dtype)
    return constant(value, dtype) if not isinstance(value, (list, tuple)) else convert_to_tensor(value, dtype)


def _in_place(sign, method):
    """``variable += value`` would leave the variable as it is and bind its name to a tensor."""
    def operator(self, *others):
        if type(self) is not Variable:
            return NotImplemented
        raise RuntimeError(f"`variable {sign} value` does not change a tf.Variable; {method}, or write "
                           f"`result = variable {sign[:-1]} value` for a tensor")
    return operator


for _name, _sign, _method in (("iadd", "+=", "call `variable.assign_add(value)`"),
                              ("isub", "-=", "call `variable.assign_sub(value)`"),
                              ("imul", "*=", "call `variable.assign(variable * value)`"),
                              ("itruediv", "/=", "call `variable.assign(variable / value)`"),
                              ("ipow", "**=", "call `variable.assign(variable ** value)`")):
    setattr(Variable, f"__{_name}__", _in_place(_sign, _method))
