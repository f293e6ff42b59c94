# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
def abs(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The magnitude of x (tf.math.abs)."""
    ...
def acos(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The inverse cosine, in radians (tf.math.acos)."""
    ...
def add(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x + y of equal dtypes, broadcast; integers wrap (tf.math.add)."""
    ...
def add_n(inputs: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The sum of tensors of one shape (tf.math.add_n)."""
    ...
def argmax(input: TensorLike, axis: IntLike | None = None, output_type: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """The index of the largest value along a dimension, the first of equals (tf.math.argmax).

    axis: The dimension to search; negative counts from the end.
    output_type: int32 or int64.
    """
    ...
def argmin(input: TensorLike, axis: IntLike | None = None, output_type: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """The index of the smallest value along a dimension, the first of equals (tf.math.argmin).

    axis: The dimension to search; negative counts from the end.
    output_type: int32 or int64.
    """
    ...
def asin(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The inverse sine, in radians (tf.math.asin)."""
    ...
def atan(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The inverse tangent, in radians (tf.math.atan)."""
    ...
def atan2(y: TensorLike, x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The angle of the point (x, y), in radians from -pi to pi, broadcast (tf.math.atan2)."""
    ...
def ceil(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The smallest integer not below x (tf.math.ceil)."""
    ...
def cos(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The cosine of x in radians (tf.math.cos)."""
    ...
def cosh(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The hyperbolic cosine (tf.math.cosh)."""
    ...
def count_nonzero(input: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool | None = None, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """How many values are not 0, false or an empty string, over the named dimensions or all (tf.math.count_nonzero).

    axis: The dimensions to count over; none named: all.
    keepdims: Leave counted dimensions as 1.
    dtype: The dtype of the result, a number.
    """
    ...
def cumprod(x: TensorLike, axis: IntLike = 0, exclusive: builtins.bool = False, reverse: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The running product along a dimension (tf.math.cumprod).

    axis: The dimension along which totals run; negative counts from the end.
    exclusive: Leave a value's own place out of its total.
    reverse: Run from the end.
    """
    ...
def cumsum(x: TensorLike, axis: IntLike = 0, exclusive: builtins.bool = False, reverse: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The running total along a dimension (tf.math.cumsum).

    axis: The dimension along which totals run; negative counts from the end.
    exclusive: Leave a value's own place out of its total.
    reverse: Run from the end.
    """
    ...
def cumulative_logsumexp(x: TensorLike, axis: IntLike = 0, exclusive: builtins.bool = False, reverse: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The running logarithm of a sum of exponentials along a dimension (tf.math.cumulative_logsumexp).

    axis: The dimension along which totals run; negative counts from the end.
    exclusive: Leave a value's own place out of its total.
    reverse: Run from the end.
    """
    ...
def divide(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x / y of equal float dtypes, broadcast, by IEEE 754 (tf.math.divide)."""
    ...
def divide_no_nan(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """X / y of floats, 0 where y is 0, broadcast (tf.math.divide_no_nan)."""
    ...
def equal(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x == y of numbers, booleans or strings, broadcast, as bool (tf.math.equal)."""
    ...
def erf(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The error function (tf.math.erf)."""
    ...
def erfc(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """One minus the error function (tf.math.erfc)."""
    ...
def exp(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """e to the power of x (tf.math.exp)."""
    ...
def expm1(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """E to the power of x, minus 1 (tf.math.expm1)."""
    ...
def floor(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The largest integer not above x (tf.math.floor)."""
    ...
def floordiv(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x / y rounded down, broadcast; Python's // (tf.math.floordiv)."""
    ...
def floormod(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The remainder of floordiv, with the sign of y, broadcast; Python's % (tf.math.floormod)."""
    ...
def greater(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x > y of numbers, broadcast, as bool (tf.math.greater)."""
    ...
def greater_equal(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x >= y of numbers, broadcast, as bool (tf.math.greater_equal)."""
    ...
def in_top_k(targets: TensorLike, predictions: TensorLike, k: IntLike, name: builtins.str | None = None) -> Tensor:
    """Is each line's target among its k largest predictions (tf.math.in_top_k)?

    k: How many of the largest predictions.
    """
    ...
def is_finite(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Whether x is neither infinite nor NaN, as bool (tf.math.is_finite)."""
    ...
def is_inf(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Whether x is infinite, as bool (tf.math.is_inf)."""
    ...
def is_nan(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Whether x is not a number, as bool (tf.math.is_nan)."""
    ...
def less(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x < y of numbers, broadcast, as bool (tf.math.less)."""
    ...
def less_equal(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x <= y of numbers, broadcast, as bool (tf.math.less_equal)."""
    ...
def log(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The natural logarithm of x (tf.math.log)."""
    ...
def log1p(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The natural logarithm of 1 + x (tf.math.log1p)."""
    ...
def log_softmax(logits: TensorLike, axis: Any = None, name: builtins.str | None = None) -> Tensor:
    """The logarithm of softmax along the last dimension (tf.nn.log_softmax)."""
    ...
def logical_and(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x && y of booleans, broadcast (tf.math.logical_and)."""
    ...
def logical_not(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """!x of booleans (tf.math.logical_not)."""
    ...
def logical_or(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x || y of booleans, broadcast (tf.math.logical_or)."""
    ...
def logical_xor(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Whether one of two booleans holds, broadcast (tf.math.logical_xor)."""
    ...
def maximum(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The larger of x and y, broadcast; a NaN wins (tf.math.maximum)."""
    ...
def minimum(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The smaller of x and y, broadcast; a NaN wins (tf.math.minimum)."""
    ...
def mod(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The remainder of floordiv, with the sign of y, broadcast; Python's % (tf.math.floormod)."""
    ...
def multiply(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x * y of equal dtypes, broadcast; integers wrap (tf.math.multiply)."""
    ...
def multiply_no_nan(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """X * y of floats, 0 where y is 0 whatever x is, broadcast (tf.math.multiply_no_nan)."""
    ...
def negative(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """-x of signed numbers (tf.math.negative)."""
    ...
def nextafter(x1: TensorLike, x2: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The next number after x1 in the direction of x2 (tf.math.nextafter)."""
    ...
def not_equal(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x != y of numbers, booleans or strings, broadcast, as bool (tf.math.not_equal)."""
    ...
def pow(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x to the power of y, broadcast (tf.math.pow)."""
    ...
def reciprocal(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """1 / x (tf.math.reciprocal)."""
    ...
def reduce_all(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Whether all booleans hold over the named dimensions, or all (tf.math.reduce_all).

    axis: The dimensions to reduce; none named: all.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_any(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Whether any boolean holds over the named dimensions, or all (tf.math.reduce_any).

    axis: The dimensions to reduce; none named: all.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_max(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The maximum over the named dimensions, or all (tf.math.reduce_max).

    axis: The dimensions to reduce; none named: all.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_mean(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The mean over the named dimensions, or all (tf.math.reduce_mean).

    axis: The dimensions to reduce; none named: all.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_min(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The minimum over the named dimensions, or all (tf.math.reduce_min).

    axis: The dimensions to reduce; none named: all.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_prod(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The product over the named dimensions, or all (tf.math.reduce_prod).

    axis: The dimensions to reduce; none named: all.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_sum(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The sum over the named dimensions, or all (tf.math.reduce_sum).

    axis: The dimensions to reduce; none named: all.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def rint(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The nearest integer, the even one of two (tf.math.rint)."""
    ...
def round(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The nearest integer, the even one of two (tf.math.round)."""
    ...
def rsqrt(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """1 / sqrt(x) (tf.math.rsqrt)."""
    ...
def segment_max(data: TensorLike, segment_ids: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The maxima of the slices of each segment of a tensor, whose numbers are sorted (tf.math.segment_max)."""
    ...
def segment_mean(data: TensorLike, segment_ids: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The means of the slices of each segment of a tensor, whose numbers are sorted (tf.math.segment_mean)."""
    ...
def segment_min(data: TensorLike, segment_ids: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The minima of the slices of each segment of a tensor, whose numbers are sorted (tf.math.segment_min)."""
    ...
def segment_prod(data: TensorLike, segment_ids: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The products of the slices of each segment of a tensor, whose numbers are sorted (tf.math.segment_prod)."""
    ...
def segment_sum(data: TensorLike, segment_ids: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The sums of the slices of each segment of a tensor, whose numbers are sorted (tf.math.segment_sum)."""
    ...
def sigmoid(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """1 / (1 + exp(-x)) (tf.math.sigmoid)."""
    ...
def sign(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """-1, 0 or 1 as x is negative, zero or positive (tf.math.sign)."""
    ...
def sin(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The sine of x in radians (tf.math.sin)."""
    ...
def sinh(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The hyperbolic sine (tf.math.sinh)."""
    ...
def softplus(features: TensorLike, name: builtins.str | None = None) -> Tensor:
    """log(1 + exp(x)) (tf.math.softplus)."""
    ...
def sqrt(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The square root of x; NaN below zero (tf.math.sqrt)."""
    ...
def square(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x * x; integers wrap (tf.math.square)."""
    ...
def squared_difference(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """(x - y) squared, broadcast (tf.math.squared_difference)."""
    ...
def subtract(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x - y of equal dtypes, broadcast; integers wrap (tf.math.subtract)."""
    ...
def tan(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The tangent of x in radians (tf.math.tan)."""
    ...
def tanh(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The hyperbolic tangent of x (tf.math.tanh)."""
    ...
def top_k(input: TensorLike, k: IntLike = 1, sorted: builtins.bool = True, index_type: DTypeLike = ..., name: builtins.str | None = None) -> Any:
    """The k largest values along the last dimension and their places (tf.math.top_k).

    k: How many values.
    sorted: Of no effect: the values are always in order.
    index_type: The dtype of the places: int32 or int64.
    """
    ...
def truediv(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x / y of equal float dtypes, broadcast, by IEEE 754 (tf.math.divide)."""
    ...
def unsorted_segment_max(data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, name: builtins.str | None = None) -> Tensor:
    """The maxima of the slices of each of num_segments segments of a tensor (tf.math.unsorted_segment_max).

    num_segments: How many segments there are.
    """
    ...
def unsorted_segment_min(data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, name: builtins.str | None = None) -> Tensor:
    """The minima of the slices of each of num_segments segments of a tensor (tf.math.unsorted_segment_min).

    num_segments: How many segments there are.
    """
    ...
def unsorted_segment_prod(data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, name: builtins.str | None = None) -> Tensor:
    """The products of the slices of each of num_segments segments of a tensor (tf.math.unsorted_segment_prod).

    num_segments: How many segments there are.
    """
    ...
def unsorted_segment_sum(data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, name: builtins.str | None = None) -> Tensor:
    """The sums of the slices of each of num_segments segments of a tensor (tf.math.unsorted_segment_sum).

    num_segments: How many segments there are.
    """
    ...
