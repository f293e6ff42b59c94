"""``tf.debugging``: assertions about tensors.

With values at hand they fail at once, with TensorFlow's texts; in a function that is traced its results wait for them.
"""

import numpy as np

from leat import dtypes
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import control, dispatching, ops, trace
from leat.errors import InvalidArgumentError


_filtering = [True]


def enable_traceback_filtering():
    """Errors show the frames of the user's code alone where the package can tell
    (``tf.debugging.enable_traceback_filtering``): leat's frames stand in every traceback, so this is noted only."""
    _filtering[0] = True


def disable_traceback_filtering():
    """Undoes `enable_traceback_filtering`."""
    _filtering[0] = False


def is_traceback_filtering_enabled():
    """Was `enable_traceback_filtering` called last? True from the beginning."""
    return _filtering[0]


def _fail(text):
    raise InvalidArgumentError(None, None, text)


def _check(holds, message):
    """In a traced function: one of its checks."""
    if trace.is_tracing():
        return trace.add_check(holds, message)
    return None


# ---- pairs ----

def _pair(x, y):
    x = x if isinstance(x, Tensor) else convert_to_tensor(x, dtype_hint=getattr(y, "dtype", None))
    return x, y if isinstance(y, Tensor) else convert_to_tensor(y, dtype_hint=x.dtype)


def _compare(sign, path, x, y, message, summarize):
    if hasattr(x, "_is_leaf_value") or hasattr(y, "_is_leaf_value"):
        found = dispatching.of_assertion(lambda *pair: _compare(sign, path, *pair, message, summarize), x, y)
        if found is not NotImplemented:
            return found
    x, y = _pair(x, y)
    holds = ops.FUNCTIONS[path](x, y)
    if not holds._has_values:
        return _check(ops.FUNCTIONS["reduce_all"](holds), message or f"Condition x {sign} y did not hold.")
    values = np.asarray(holds.numpy())
    if values.all():
        return None
    count = 3 if summarize is None else summarize
    lines = [f"Condition x {sign} y did not hold."]
    if message:
        lines.insert(0, message)
    if x.shape.rank or y.shape.rank:
        places = np.argwhere(~values)
        a, b = (np.broadcast_to(t.numpy(), values.shape)[~values] for t in (x, y))
        shown = len(places) if count < 0 else min(count, len(places))
        lines += [f"Indices of first {shown} different values:", str(places[:shown]), "Corresponding x values:",
                  str(a[:shown]), "Corresponding y values:", str(b[:shown])]
    for name, tensor in (("x", x), ("y", y)):
        part = control.first_values(tensor, count)
        lines += [f"First {len(part)} elements of {name}:", str(part)]
    return _fail("\n".join(lines))


def assert_equal(x, y, message=None, summarize=None, name=None):
    """x == y for all values."""
    return _compare("==", "equal", x, y, message, summarize)


def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """x != y for all values."""
    return _compare("!=", "not_equal", x, y, message, summarize)


def assert_less(x, y, message=None, summarize=None, name=None):
    """x < y for all values."""
    return _compare("<", "less", x, y, message, summarize)


def assert_less_equal(x, y, message=None, summarize=None, name=None):
    """x <= y for all values."""
    return _compare("<=", "less_equal", x, y, message, summarize)


def assert_greater(x, y, message=None, summarize=None, name=None):
    """x > y for all values."""
    return _compare(">", "greater", x, y, message, summarize)


def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    """x >= y for all values."""
    return _compare(">=", "greater_equal", x, y, message, summarize)


def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """|x - y| <= atol + rtol * |y| for all values; by default ten times the dtype's epsilon each."""
    x, y = _pair(x, y)
    epsilon = float(10 * np.finfo(x.dtype.as_numpy_dtype).eps) if x.dtype.is_floating else 0.
    rtol, atol = (convert_to_tensor(epsilon if tol is None else tol, dtype_hint=x.dtype) for tol in (rtol, atol))
    holds = ops.FUNCTIONS["math.less"](ops.FUNCTIONS["abs"](x - y), atol + rtol * ops.FUNCTIONS["abs"](y))
    if not holds._has_values:
        return _check(ops.FUNCTIONS["reduce_all"](holds), message or "x and y not equal to tolerance")
    if np.all(holds.numpy()):
        return None
    parts = [f"b'{message or ''}'", f"b'x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}'",
             f"b'x (shape={x.shape} dtype={x.dtype.name}) = '", control.summary(x, summarize),
             f"b'y (shape={y.shape} dtype={y.dtype.name}) = '", control.summary(y, summarize)]
    return _fail("Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: " + "\n".join(parts))


# ---- against zero ----

def _against_zero(sign, path, x, message, summarize):
    x = convert_to_tensor(x)
    holds = ops.FUNCTIONS[path](x, convert_to_tensor(0, dtype_hint=x.dtype))
    if not holds._has_values:
        return _check(ops.FUNCTIONS["reduce_all"](holds), message or f"Condition x {sign} 0 did not hold element-wise:")
    if np.all(holds.numpy()):
        return None
    count = 3 if summarize is None else summarize
    flat = control.first_values(x, -1)
    if x.shape.rank:
        shown = [str(value) for value in (flat if count < 0 else flat[:count])]
        shown = str(shown + ["..."] if 0 <= count < len(flat) else shown)
    else:
        shown = str(flat[0])
    head = f"{message}.  " if message else ""
    end = "" if sign == "<=" and x.shape.rank else "\n"  # TensorFlow's text of this one has no line end there
    return _fail(f"{head}\nCondition x {sign} 0 did not hold element-wise:{end}x (shape={x.shape} "
                 f"dtype={x.dtype.name}) = \n{shown}")


def assert_positive(x, message=None, summarize=None, name=None):
    """x > 0 for all values."""
    return _against_zero(">", "greater", x, message, summarize)


def assert_negative(x, message=None, summarize=None, name=None):
    """x < 0 for all values."""
    return _against_zero("<", "less", x, message, summarize)


def assert_non_negative(x, message=None, summarize=None, name=None):
    """x >= 0 for all values."""
    return _against_zero(">=", "greater_equal", x, message, summarize)


def assert_non_positive(x, message=None, summarize=None, name=None):
    """x <= 0 for all values."""
    return _against_zero("<=", "less_equal", x, message, summarize)


# ---- shapes and dtypes, known while tracing ----

def _tensor(x):
    return x if hasattr(x, "_is_leaf_value") or isinstance(x, Tensor) else convert_to_tensor(x)


def _rank_error(message, x, what):
    head = f"{message}.  " if message else ""
    raise ValueError(f"{head}Tensor  must have rank {what}.  Received rank {x.shape.rank}, shape {x.shape}")


def assert_rank(x, rank, message=None, name=None):
    """The tensor has that rank; ValueError."""
    x = _tensor(x)
    if x.shape.rank not in (None, int(rank)):
        _rank_error(message, x, int(rank))


def assert_rank_at_least(x, rank, message=None, name=None):
    """The tensor has at least that rank; ValueError."""
    x = _tensor(x)
    if x.shape.rank is not None and x.shape.rank < int(rank):
        _rank_error(message, x, f"at least {int(rank)}")


def assert_rank_in(x, ranks, message=None, name=None):
    """The tensor has one of the ranks; ValueError."""
    x = _tensor(x)
    if x.shape.rank is not None and x.shape.rank not in [int(rank) for rank in ranks]:
        _rank_error(message, x, f"in {tuple(int(rank) for rank in ranks)}")


def assert_scalar(tensor, message=None, name=None):
    """None where the tensor is a scalar; ValueError."""
    tensor = _tensor(tensor)
    if tensor.shape.rank not in (None, 0):
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {tensor.shape}.")


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Tensors have the shapes said: sizes, None or ".", or symbols that stand for one size; ValueError."""
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    sizes, head = {}, f"{message}.  " if message else ""
    for x, symbols in pairs:
        x = _tensor(x.deref() if hasattr(x, "deref") else x)
        symbols = list(symbols) if isinstance(symbols, (str, list, tuple, TensorShape)) else [symbols]
        free = [i for i, symbol in enumerate(symbols) if symbol in ("*", "...", Ellipsis)]
        shape = x.shape
        if shape.rank is None:
            continue
        symbols = symbols if not free else symbols[1:] if free == [0] else symbols[:-1]
        if shape.rank != len(symbols) if not free else shape.rank < len(symbols):
            wanted = "in (0, 1)" if len(symbols) == 1 and not free else str(len(symbols))
            raise ValueError(f"{head}Tensor  must have rank {wanted}.  Received rank {shape.rank}, shape {shape}")
        dims = shape.as_list()
        first = len(dims) - len(symbols) if free == [0] else 0
        for i, symbol in enumerate(symbols, first):
            _assert_size(x, i, dims[i], symbol, sizes, head)


def _assert_size(x, axis, size, symbol, sizes, head):
    if symbol in (None, "."):
        return
    text = f"Tensor shape={x.shape} dtype={x.dtype.name}"
    is_known = size is not None
    size = size if is_known else ops.FUNCTIONS["shape"](x)[axis]  # of a dimension that only the run knows
    known = (symbol, "Specified explicitly.") if isinstance(symbol, int) else sizes.setdefault(
        symbol, (size, f"Specified by tensor {text[7:]} dimension {axis}."))
    if not is_known or isinstance(known[0], Tensor):
        if known[0] is not size:
            Assert(ops.FUNCTIONS["equal"](size, known[0]), [f"{head}{known[1]}  {text} dimension {axis} must have size",
                                                            known[0]])
    elif known[0] != size:
        raise ValueError(f"{head}{known[1]}  {text} dimension {axis} must have size {known[0]}.  Received size {size}, "
                         f"shape {x.shape}")


def assert_type(tensor, tf_type, message=None, name=None):
    """The tensor has that dtype; TypeError."""
    tensor, wanted = _tensor(tensor), dtypes.as_dtype(tf_type)
    if tensor.dtype is not wanted:
        raise TypeError(f"{message or ''}tensor must be of type {wanted!r}; got {tensor.dtype!r}")


def assert_integer(x, message=None, name=None):
    """The tensor has an integer dtype; TypeError."""
    x = _tensor(x)
    if not x.dtype.is_integer:
        raise TypeError(f"{message or ''}Expected \"x\" to be integer type.  Found: tensor of dtype {x.dtype}")


def assert_same_float_dtype(tensors=None, dtype=None):
    """The one floating dtype of all tensors; ValueError."""
    first = None
    for tensor in tensors or ():
        if dtype is None:
            first, dtype = tensor, tensor.dtype
        elif tensor.dtype is not dtypes.as_dtype(dtype):
            raise ValueError(f"{tensor!s}, type={tensor.dtype}, must be of the same type ({dtype}) as {first!s}.")
    dtype = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def assert_proper_iterable(values):
    """It is an iterable of tensors and neither one tensor nor a text; TypeError."""
    if isinstance(values, (Tensor, np.ndarray, str, bytes)) or hasattr(values, "_is_leaf_value"):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def is_numeric_tensor(tensor):
    """Is it a tensor of numbers?"""
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric


def assert_all_finite(x, message, name=None):
    """The tensor, none of whose values is infinite or not a number; InvalidArgumentError."""
    return ops.FUNCTIONS["debugging.check_numerics"](x, message)


# ---- where operations run ----

_placement = {"logged": False}


def set_log_device_placement(enabled):
    """Notes whether operations are to say where they run, which is the CPU for all of them
    (``tf.debugging.set_log_device_placement``)."""
    _placement["logged"] = bool(enabled)


def get_log_device_placement():
    """What was set last; False from the beginning."""
    return _placement["logged"]


# ---- the first tensor that is not finite ----

_numerics = {"checked": False}


def enable_check_numerics(stack_height_limit=30, path_length_limit=50):
    """From now on models fail at the first tensor that is infinite or not a number, and say which it is.

    Checked are the inputs and labels of a step, what each layer gives, the loss and each gradient, in this order and
    before a variable changes; `fit` and `evaluate` name the batch, too. Functions that were traced before stay as they
    are, and both arguments are there for TensorFlow's sake alone (``tf.debugging.enable_check_numerics``).
    """
    _numerics["checked"] = True


def disable_check_numerics():
    """Ends what enable_check_numerics began."""
    _numerics["checked"] = False


def checks_numerics():
    """Do models look for the first tensor that is not finite?"""
    return _numerics["checked"]


def watch_numerics(tensor, what):
    """Where numerics are checked: InvalidArgumentError if floats of the tensor, which is called so, are not finite."""
    if _numerics["checked"] and isinstance(tensor, Tensor) and tensor.dtype.is_floating:
        with trace.unrecorded():
            is_finite = ops.FUNCTIONS["reduce_all"](ops.FUNCTIONS["math.is_finite"](tensor))
            if is_finite._has_values and not bool(is_finite):
                raise InvalidArgumentError(None, None, f"{what} has values that are infinite or not a number")
            if not is_finite._has_values:
                trace.add_check(is_finite, f"{what} has values that are infinite or not a number")


Assert = control.Assert


ops.join(__name__)
