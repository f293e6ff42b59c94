"""Functions of TensorFlow's top level that are made of the table's operations, or of numpy where all is known."""

import functools
import time

import numpy as np

from leat import _native, dtypes
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, _of_array, convert_to_tensor
from leat._graph import ops, trace
from leat._graph.graphs import DtypeError


def _dims(shape):
    """A shape argument as a list of integers; None where only the run knows it."""
    shape = shape._as_tensor() if hasattr(shape, "_as_tensor") else shape
    if isinstance(shape, Tensor):
        if not shape._has_values:
            return None
        return [int(d) for d in np.atleast_1d(shape.numpy())]
    if isinstance(shape, TensorShape):
        return shape.as_list()
    if not np.iterable(shape):
        return [int(shape)]
    shape = list(shape)
    if any(isinstance(d, Tensor) and not d._has_values for d in shape):
        return None
    return [int(d) for d in shape]


def _filled(shape, value, dtype):
    dtype = dtypes.as_dtype(dtype)
    value = bool(value) if dtype is dtypes.bool else value
    if hasattr(shape, "_is_leaf_value"):  # a DynamicRaggedShape
        return ops.FUNCTIONS["fill"](shape, convert_to_tensor(value, dtype))
    dims = _dims(shape)
    if dims is None:
        dims = convert_to_tensor(shape)
        return ops.FUNCTIONS["fill"](dims, convert_to_tensor(value, dtype))
    if any(d < 0 for d in dims):
        raise ValueError(f"a shape has no negative dimensions; found {dims}")
    if dtype is dtypes.string:
        return _of_array(np.full(dims, value, object), dtype)
    return _of_array(np.full(dims, value, dtype.as_numpy_dtype), dtype)


def zeros(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of zeros, of empty strings, or of False (``tf.zeros``)."""
    return _filled(shape, b"" if dtypes.as_dtype(dtype) is dtypes.string else 0, dtype)


def ones(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of ones (``tf.ones``)."""
    return _filled(shape, 1, dtype)


def rank(input, name=None):
    """The number of dimensions as an int32 scalar (``tf.rank``)."""
    tensor = input if hasattr(input, "_is_leaf_value") else convert_to_tensor(input)
    if tensor.shape.rank is None:
        return ops.FUNCTIONS["size"](ops.FUNCTIONS["shape"](tensor))
    return convert_to_tensor(tensor.shape.rank)


def shape_n(input, out_type=dtypes.int32, name=None):
    """The shapes of several tensors (``tf.shape_n``)."""
    return [ops.FUNCTIONS["shape"](tensor, out_type) for tensor in input]


def linspace(start, stop, num, name=None, axis=0):
    """`num` values from start to stop, both among them (``tf.linspace``)."""
    start = convert_to_tensor(start)
    bounds = [start, convert_to_tensor(stop, start.dtype)]
    F = ops.FUNCTIONS
    if start.dtype is dtypes.bool:
        raise DtypeError(None, None, "linspace: start is bool; expected a number")
    wide = dtypes.float32 if start.dtype.size < 4 else dtypes.float64
    bounds = [bound if bound.dtype._is_trainable else F["cast"](bound, wide) for bound in bounds]
    if bounds[0].dtype.is_floating and bounds[0].shape.rank == 0 and bounds[1].shape.rank == 0 and axis in (0, -1):
        return F["linspace"](*bounds, num)
    axis = int(axis)
    first, last = (F["expand_dims"](bound, axis) for bound in _broadcast(bounds))
    axis += first.shape.rank if axis < 0 else 0
    steps = F["cast"](F["maximum"](F["subtract"](num, 1), 1), first.dtype)
    delta = F["divide"](F["subtract"](last, first), steps)
    place = F["reshape"](F["cast"](F["range"](num), first.dtype), [-1] + [1] * (first.shape.rank - 1 - axis))
    made = F["add"](first, F["multiply"](delta, place))
    ends = F["equal"](place, F["where"](F["greater"](num, 1), steps, F["negative"](steps)))
    return F["where"](ends, last, made)  # the last one is `stop` itself


def _broadcast(bounds):
    """Both bounds in one shape."""
    if any(bound.shape.rank is None for bound in bounds):
        raise ValueError("linspace needs bounds of known rank; set it with ensure_shape")
    zero = ops.FUNCTIONS["zeros_like"](ops.FUNCTIONS["add"](*bounds))
    return [ops.FUNCTIONS["add"](bound, zero) for bound in bounds]


def get_static_value(tensor, partial=False):
    """The value as a numpy array where it is known now; None while a function is traced (``tf.get_static_value``). What
    is no tensor is its own."""
    if isinstance(tensor, Tensor):
        return tensor.numpy() if tensor._has_values else None
    return tensor if not hasattr(tensor, "_as_tensor") else None


def is_symbolic_tensor(tensor):
    """Is it a tensor of a function that is being traced, without a value yet (``tf.is_symbolic_tensor``)?"""
    return isinstance(tensor, Tensor) and not tensor._has_values


def type_spec_from_value(value):
    """The TypeSpec of a value, or the structure of them (``tf.type_spec_from_value``); TypeError where it has none."""
    from leat import nest
    return nest.spec_of(nest.normalize(value))


def get_logger():
    """The logger "leat", which the package writes to (``tf.get_logger``)."""
    import logging
    return logging.getLogger("leat")


def timestamp(name=None):
    """Seconds since 1970 as a float64 scalar (``tf.timestamp``)."""
    if trace.is_tracing():
        raise trace.NotTraceable("timestamp() asks for the time of each call")
    return convert_to_tensor(np.float64(time.time()))


def no_op(name=None):
    """Does nothing (``tf.no_op``)."""


def group(*inputs, **kwargs):
    """Nothing: what was called has run by now (``tf.group``)."""


def py_function(func=None, inp=None, Tout=None, name=None):
    """Calls a Python function on tensors (``tf.py_function``); in a traced function, for each run.

    `Tout`: the dtype of its result, or a list of them, or TensorSpecs; in a traced function numbers of numpy's are
    converted to it. Its exceptions arrive unchanged. Without `func` and `inp` it is a decorator.
    """
    return _python_function("py_function", func, inp, Tout, lambda tensors: tensors, False, True)


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """Calls a Python function on numpy arrays (``tf.numpy_function``); in a traced function, for each run.

    `stateful=False` says that equal arguments give equal results. Its exceptions arrive unchanged.
    """
    return _python_function("numpy_function", func, inp, Tout, lambda tensors: [tensor.numpy() for tensor in tensors],
                            not stateful)


def _python_function(name, func, inp, declared, convert, pure, casts=False):
    """The call, or without `func` a decorator of functions that are called so whenever they are called."""
    if declared is None:
        raise TypeError(f"Missing required argument: 'Tout', the dtypes of what the function gives to tf.{name}; [] of "
                        "one that gives nothing.")
    if func is not None:
        if inp is None:
            raise TypeError(f"Missing argument `inp`: the arguments of the function, unless tf.{name} is a decorator "
                            "(`func=None`).")
        return _python_call(func, inp, declared, convert, pure, casts)
    if inp is not None:
        raise TypeError(f"Don't set the `inp` argument when using tf.{name} as a decorator (`func=None`).")

    def decorate(function):
        @functools.wraps(function)
        def call(*args):
            return _python_call(function, args, declared, convert, pure, casts)
        return call
    return decorate


def _python_call(func, inp, declared, convert, pure, casts):
    from leat import nest
    from leat._core import specs
    inputs = [value if hasattr(value, "_is_leaf_value") else convert_to_tensor(value) for value in inp]
    if all(getattr(tensor, "_has_values", True) for tensor in inputs) and not trace.is_tracing():
        return _python_eager(func(*convert(inputs)), declared, casts)
    is_list = isinstance(declared, (list, tuple))
    wanted = [one if isinstance(one, specs.TypeSpec) else specs.TensorSpec(None, one)
              for one in (declared if is_list else [declared])]

    def run(tensors):
        with trace.eagerly():
            result = func(*convert(tensors))
        return [take(value) for value, take in zip(_results(result, len(wanted), casts), takers)]
    takers = [_taker(one.dtype, casts) for one in wanted]
    graph = trace.current_graph()
    here = [trace.reach(graph, tensor) for tensor in inputs]
    file, line = trace._place(func)
    native = _native.Function.python(run, nest.to_text(tuple(nest.spec_of_leaf(tensor) for tensor in inputs)),
                                     nest.to_text(tuple(wanted)), pure).at(file, line)
    graph.has_effects = True
    outputs = graph.cond(convert_to_tensor(True), native, native, here)
    return outputs if is_list else outputs[0] if wanted else None


def _results(result, count, has_more):
    """The values that a function gave, of which there are `count`, or may be more. InvalidArgumentError."""
    values = list(result) if isinstance(result, (list, tuple)) else [] if result is None else [result]
    if len(values) < count or len(values) > count > 0 and not has_more:
        from leat.errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, f"pyfunc returns {len(values)} values, but expects to see {count} "
                                   "values.")
    return values[:count]


def _python_eager(result, declared, casts):
    if not casts:  # numpy_function: what it gave, whatever was declared
        from leat import nest
        values = [_tensor(value) for value in nest.flatten(result)] if isinstance(result, (list, tuple)) else [
            None if result is None else _tensor(result)]
        return values[0] if len(values) == 1 else values
    is_list = isinstance(declared, (list, tuple))
    wanted = list(declared) if is_list else [declared]
    found = [_as_wanted(value, one) for value, one in zip(_results(result, len(wanted), True), wanted)]
    return found if is_list else found[0] if found else None


def _as_wanted(value, wanted):
    """A result of py_function as a tensor of the dtype that was declared."""
    return value if hasattr(value, "_is_leaf_value") else _taker(dtypes.as_dtype(getattr(wanted, "dtype", wanted)),
                                                                True)(value)


def _tensor(value):
    return value if hasattr(value, "_is_leaf_value") else convert_to_tensor(value)


def _taker(dtype, casts):
    """A function from what a function returned to a tensor of a declared dtype, quick for arrays and numbers. `casts`:
    numpy's numbers may have any other one."""
    plain = None if dtype in (dtypes.string, dtypes.bfloat16) else np.dtype(dtype.as_numpy_dtype)
    casts = casts and dtype != dtypes.string

    def take(value):
        if type(value) is np.ndarray and value.dtype is plain and value.flags.c_contiguous:
            return _native.TensorBase.copied(value, dtype.number)
        if casts and isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
            return ops.FUNCTIONS["cast"](convert_to_tensor(value), dtype)
        return _as_declared(value, dtype)
    return take


def _as_declared(value, dtype):
    """A result as a tensor; InvalidArgumentError where its dtype is not what was declared."""
    from leat.errors import InvalidArgumentError
    dtype = dtypes.as_dtype(dtype)
    typed = hasattr(value, "dtype") or hasattr(value, "_as_tensor")
    tensor = convert_to_tensor(value) if typed else convert_to_tensor(value, dtype_hint=dtype)
    if tensor.dtype is not dtype:
        raise InvalidArgumentError(None, None, f"0-th value returned by pyfunc is {tensor.dtype.name}, but expects "
                                   f"{dtype.name}")
    return tensor
