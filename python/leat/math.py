"""``tf.math``: functions that are made of operations, as TensorFlow makes them. The library's operations join them."""

import collections

import numpy as np

from leat import dtypes
from leat._core import later
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat.errors import InvalidArgumentError

__all__ = ["accumulate_n", "angle", "approx_max_k", "approx_min_k", "bincount", "confusion_matrix", "conj", "erfcinv",
           "imag", "invert_permutation", "is_non_decreasing", "is_strictly_increasing", "l2_normalize", "lbeta",
           "log_sigmoid", "log_softmax", "polyval", "real", "reciprocal_no_nan", "reduce_euclidean_norm",
           "reduce_logsumexp", "reduce_std", "reduce_variance", "scalar_mul", "softmax", "softsign",
           "unsorted_segment_mean", "unsorted_segment_sqrt_n", "zero_fraction"]


# ---- reductions ----

def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The mean squared distance of floats or complex numbers from their mean, which is real
    (``tf.math.reduce_variance``)."""
    x = convert_to_tensor(input_tensor)
    if not x.dtype.is_floating and not x.dtype.is_complex:
        raise TypeError(f"Input must be either real or complex. Received integer type {x.dtype}.")
    distance = F["subtract"](x, F["reduce_mean"](x, axis, True))
    squares = real(F["multiply"](distance, ops.conjugated(distance)))
    return F["reduce_mean"](squares if x.dtype.is_complex else F["square"](distance), axis, keepdims)


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The root of the variance (``tf.math.reduce_std``)."""
    return F["sqrt"](reduce_variance(input_tensor, axis, keepdims))


def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """The logarithm of the sum of exponentials, without overflow (``tf.math.reduce_logsumexp``)."""
    x = convert_to_tensor(input_tensor)
    largest = F["reduce_max"](x, axis, True)
    largest = F["stop_gradient"](F["where"](F["math.is_finite"](largest), largest, F["zeros_like"](largest)))
    out = F["math.log"](F["reduce_sum"](F["exp"](F["subtract"](x, largest)), axis, keepdims))
    return F["add"](out, largest if keepdims else F["reduce_max"](largest, axis))


def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The root of the sum of squares (``tf.math.reduce_euclidean_norm``); of integers rounded towards zero."""
    x = convert_to_tensor(input_tensor)
    if x.dtype.is_complex:
        # What flows back is x divided by the norm, as in TensorFlow: conjugates count as constants.
        mirror = F["stop_gradient"](ops.conjugated(x))
        twice = F["multiply"](F["reduce_sum"](F["multiply"](x, mirror), axis, keepdims), 2.0)
        return F["sqrt"](F["subtract"](twice, F["stop_gradient"](F["multiply"](twice, 0.5))))
    wide = x if x.dtype.is_floating else F["cast"](x, dtypes.float64)
    out = F["sqrt"](_sum_squares(wide, axis, keepdims))
    return out if x.dtype.is_floating else F["cast"](out, x.dtype)


def _sum_squares(x, axis, keepdims):
    """The sum of squares of floats, in one pass where the axes are numbers."""
    axes = [axis] if isinstance(axis, (int, np.integer)) else axis
    if axes is not None and not (isinstance(axes, (list, tuple)) and
                                 all(isinstance(one, (int, np.integer)) for one in axes)):
        return F["reduce_sum"](F["square"](x), axis, keepdims)
    attributes = {} if axes is None else {"axis": [int(one) for one in axes]}
    return ops.call("reduce_sum_squares", {**attributes, "keepdims": bool(keepdims)}, [x])[0]


def zero_fraction(value, name=None):
    """Which part of the values is zero, a float32 (``tf.math.zero_fraction``)."""
    x = convert_to_tensor(value)
    size = F["size"](x, dtypes.int64)
    zeros = F["subtract"](size, F["math.count_nonzero"](x))
    return F["divide"](F["cast"](zeros, dtypes.float32), F["cast"](size, dtypes.float32))


# ---- elementwise ----

def log_sigmoid(x, name=None):
    """log(1 / (1 + exp(-x))) (``tf.math.log_sigmoid``)."""
    return F["negative"](F["math.softplus"](F["negative"](convert_to_tensor(x))))


def softsign(features, name=None):
    """x / (1 + |x|) (``tf.nn.softsign``)."""
    x = convert_to_tensor(features)
    return F["divide"](x, F["add"](F["abs"](x), 1.0))


def erfcinv(x, name=None):
    """The inverse of erfc (``tf.math.erfcinv``)."""
    half = F["math.ndtri"](F["multiply"](0.5, convert_to_tensor(x)))
    return F["multiply"](F["negative"](half), float(np.sqrt(0.5)))


def lbeta(x, name=None):
    """The logarithm of |Beta(x)| along the last dimension (``tf.math.lbeta``)."""
    x = convert_to_tensor(x)
    return F["subtract"](F["reduce_sum"](F["math.lgamma"](x), [-1]), F["math.lgamma"](F["reduce_sum"](x, [-1])))


def softmax(logits, axis=None, name=None):
    """Exponentials along an axis, the last by default, divided by their sum (``tf.nn.softmax``)."""
    return _along("nn.softmax", logits, axis)


def log_softmax(logits, axis=None, name=None):
    """The logarithm of softmax (``tf.nn.log_softmax``)."""
    return _along("nn.log_softmax", logits, axis)


def _along(operation, value, axis):
    """An operation on lines of the last dimension, along another one."""
    x = convert_to_tensor(value)
    rank = x.shape.rank
    if axis is None or axis == -1 or rank is not None and axis == rank - 1:
        return F[operation](x)
    if rank is None:
        raise ValueError("softmax along a dimension needs an input of known rank; set it with ensure_shape")
    if not -rank <= axis < rank:
        from leat.errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, f"`axis` ({axis}) must be in the range [{-rank}, {rank})")
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    return F["transpose"](F[operation](F["transpose"](x, order)), order)


def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0 (``tf.math.reciprocal_no_nan``)."""
    x = convert_to_tensor(x)
    return F["math.divide_no_nan"](F["ones_like"](x), x)


def scalar_mul(scalar, x, name=None):
    """x times a scalar of its dtype (``tf.math.scalar_mul``)."""
    x = convert_to_tensor(x)
    factor = convert_to_tensor(scalar, dtype=x.dtype)
    if factor.shape.rank not in (0, None):
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {factor.shape}.")
    return F["multiply"](factor, x)


def polyval(coeffs, x, name=None):
    """A polynomial at x; its coefficients come from the highest power down (``tf.math.polyval``)."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = convert_to_tensor(x)
    if not coeffs:
        return F["zeros_like"](x)
    out = convert_to_tensor(coeffs[0], dtype=x.dtype)
    for coefficient in coeffs[1:]:
        out = F["add"](convert_to_tensor(coefficient, dtype=x.dtype), F["multiply"](out, x))
    return out


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of tensors of one shape (``tf.math.accumulate_n``)."""
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape.")
    return F["add_n"](inputs)


def real(input, name=None):
    """The real part; real numbers as they are (``tf.math.real``)."""
    return _part("real", input, lambda x: x)


def conj(x, name=None):
    """The complex conjugate; real numbers as they are (``tf.math.conj``)."""
    x = convert_to_tensor(x)
    if not x.dtype.is_numeric:
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
    return ops.conjugated(x)


def imag(input, name=None):
    """The imaginary part; zeros of real numbers (``tf.math.imag``)."""
    return _part("imag", input, F["zeros_like"])


def angle(input, name=None):
    """The angle of complex numbers, in radians; of real ones 0, or pi where they are negative (``tf.math.angle``)."""
    def of_real(x):
        zeros = F["zeros_like"](x)
        return F["where"](F["less"](x, zeros), F["add"](zeros, 3.141592653589793), zeros)
    return _part("angle", input, of_real)


def _part(operation, value, of_real):
    x = convert_to_tensor(value)
    return ops.call(operation, {}, [x])[0] if x.dtype.is_complex else of_real(x)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x divided by its Euclidean norm along `axis`; squared norms are at least epsilon (``tf.math.l2_normalize``)."""
    x = convert_to_tensor(x)
    axis = axis if axis is not None else dim
    if x.dtype.is_floating:
        return F["multiply"](x, F["math.rsqrt"](F["maximum"](_sum_squares(x, axis, True), epsilon)))
    squares = F["square"](F["abs"](x)) if x.dtype.is_complex else F["square"](x)
    share = F["math.rsqrt"](F["maximum"](F["reduce_sum"](squares, axis, True), epsilon))
    return F["multiply"](x, F["cast"](share, x.dtype))


# ---- order ----

def is_non_decreasing(x, name=None):
    """Does no value fall below the one before (``tf.math.is_non_decreasing``)?"""
    flat = F["reshape"](convert_to_tensor(x), [-1])
    return F["reduce_all"](F["less_equal"](flat[:-1], flat[1:]))


def is_strictly_increasing(x, name=None):
    """Is each value larger than the one before (``tf.math.is_strictly_increasing``)?"""
    flat = F["reshape"](convert_to_tensor(x), [-1])
    return F["reduce_all"](F["less"](flat[:-1], flat[1:]))


def invert_permutation(x, name=None):
    """Where each number stands in a permutation of 0, 1, ... (``tf.math.invert_permutation``)."""
    x = convert_to_tensor(x)
    if x._has_values and x.dtype in (dtypes.int32, dtypes.int64) and x.shape.rank == 1:
        return _inverted(x)
    places = F["range"](F["size"](x, x.dtype))
    found = F["tensor_scatter_nd_update"](F["negative"](F["ones_like"](x)), F["expand_dims"](x, 1), places)
    from leat._graph.control import Assert
    Assert(F["reduce_all"](F["greater_equal"](found, 0)), ["a number is duplicated in the input:", x])
    return found


ApproxTopK = collections.namedtuple("ApproxTopK", "values indices")


def _inverted(x):
    """The same of numbers that are known."""
    numbers = x.numpy()
    count = len(numbers)
    if count and (numbers.min() < 0 or numbers.max() >= count):
        outside = (numbers < 0) | (numbers >= count)
        raise InvalidArgumentError(None, None, f"{numbers[outside.argmax()]} is not between 0 and {count}")
    found = np.empty_like(numbers)
    found.fill(-1)
    places = np.arange(count, dtype=numbers.dtype)
    found[numbers] = places
    if count and found.min() < 0:
        repeated = found[numbers] != places
        raise InvalidArgumentError(None, None, f"{numbers[repeated.argmax()]} is duplicated in the input.")
    return convert_to_tensor(found)


def approx_max_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1,
                 aggregate_to_topk=True, name=None):
    """(the k largest values along a dimension, their places) (``tf.nn.approx_max_k``); here exactly, as on a CPU."""
    return ApproxTopK(*_best(operand, k, reduction_dimension))


def approx_min_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1,
                 aggregate_to_topk=True, name=None):
    """(the k smallest values along a dimension, their places) (``tf.nn.approx_min_k``); here exactly, as on a CPU."""
    values, places = _best(F["negative"](convert_to_tensor(operand)), k, reduction_dimension)
    return ApproxTopK(F["negative"](values), places)


def _best(operand, k, axis):
    x = convert_to_tensor(operand)
    if x.dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32):
        raise InvalidArgumentError(None, None, f"Value for attr 'T' of {x.dtype.name} is not in the list of allowed "
                                   "values: half, bfloat16, float")
    rank = x.shape.rank
    order = [one for one in range(rank) if one != axis % rank] + [axis % rank]
    back = [order.index(one) for one in range(rank)]
    values, places = F["nn.top_k"](F["transpose"](x, order), k)
    return ApproxTopK(F["transpose"](values, back), F["transpose"](places, back))


# ---- counts ----

def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None, axis=None,
             binary_output=False):
    """How often each number 0, 1, ... occurs, or the sums of their `weights` (``tf.math.bincount``).

    `axis=-1` counts in each line of a matrix. Numbers from `maxlength` on are left out; `binary_output` says whether
    a number occurs at all.
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    numbers = convert_to_tensor(arr)
    if numbers.dtype not in (dtypes.int32, dtypes.int64):
        numbers = F["cast"](numbers, dtypes.int32)
    numbers = _want_counts(numbers, minlength, maxlength)
    size = _bins(numbers, minlength, maxlength)
    rows = None
    if axis == -1 and numbers.shape.rank == 2:
        rows = F["shape"](numbers, numbers.dtype)[0]
        line = F["expand_dims"](F["multiply"](F["range"](rows), size), 1)
        places = F["add"](numbers, line)
    else:
        places = numbers
    if maxlength is not None:
        outside = F["greater_equal"](numbers, size)
        places = F["where"](outside, F["multiply"](F["ones_like"](numbers), -1), places)
    values = F["cast"](F["ones_like"](numbers), dtype) if weights is None else convert_to_tensor(weights)
    count = size if rows is None else F["multiply"](rows, size)
    if binary_output:
        counted = F["math.unsorted_segment_max"](F["reshape"](F["ones_like"](values), [-1]), F["reshape"](places, [-1]),
                                                 count)
        counted = F["maximum"](counted, F["zeros_like"](counted))
    else:
        counted = F["math.unsorted_segment_sum"](F["reshape"](values, [-1]), F["reshape"](places, [-1]), count)
    return counted if rows is None else F["reshape"](counted, [rows, size])


def _want_counts(numbers, minlength, maxlength):
    for name, value in (("minlength", minlength), ("maxlength", maxlength)):
        if isinstance(value, (int, np.integer)) and value < 0 and name == "maxlength":
            raise InvalidArgumentError(None, None, f"{name} is {value}: size ({value}) must be non-negative")
    if getattr(numbers, "_has_values", False) and numbers.shape.num_elements() and np.min(numbers.numpy()) < 0:
        raise InvalidArgumentError(None, None, "Input arr must be non-negative!")
    return numbers


def _bins(numbers, minlength, maxlength):
    """How many bins there are: one more than the largest number, within the bounds."""
    # The largest of no numbers is the lowest that there is.
    size = F["add"](F["maximum"](F["reduce_max"](numbers), -1), 1)
    if minlength is not None:
        size = F["maximum"](size, convert_to_tensor(minlength, dtype=numbers.dtype))
    if maxlength is not None:
        size = F["minimum"](size, convert_to_tensor(maxlength, dtype=numbers.dtype))
    return size


def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None):
    """How often each label (row) was predicted as each class (column) (``tf.math.confusion_matrix``)."""
    labels, predictions = (F["cast"](convert_to_tensor(x), dtypes.int64) for x in (labels, predictions))
    if num_classes is None:
        num_classes = F["add"](F["maximum"](F["reduce_max"](predictions), F["reduce_max"](labels)), 1)
    size = F["cast"](convert_to_tensor(num_classes), dtypes.int64)
    dtype = dtypes.as_dtype(dtype)
    values = F["cast"](F["ones_like"](predictions) if weights is None else convert_to_tensor(weights), dtype)
    return F["scatter_nd"](F["stack"]([labels, predictions], axis=1), values, [size, size])


def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The means of the slices of each segment; 0 for a segment without any (``tf.math.unsorted_segment_mean``)."""
    return _segment_share(data, segment_ids, num_segments, lambda counts: counts)


def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sums of each segment, divided by the root of their number (``tf.math.unsorted_segment_sqrt_n``)."""
    return _segment_share(data, segment_ids, num_segments, F["sqrt"])


def _segment_share(data, segment_ids, num_segments, divisor):
    data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    if data.shape.rank is None or ids.shape.rank is None:
        counts = F["math.unsorted_segment_sum"](F["ones_like"](data), ids, num_segments)
    else:
        # One number counts for a whole slice.
        counts = F["math.unsorted_segment_sum"](F["cast"](F["ones_like"](ids), data.dtype), ids, num_segments)
        counts = F["reshape"](counts, [-1] + [1] * (data.shape.rank - ids.shape.rank))
    sums = F["math.unsorted_segment_sum"](data, segment_ids, num_segments)
    return F["divide"](sums, divisor(F["maximum"](counts, F["ones_like"](counts))))


ops.join(__name__, homes={"leat._graph.sobol": "sobol_sample"})
later.new_module("leat.math.special")
ops.join("leat.math.special")
