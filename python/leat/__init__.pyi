# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.control import Assert as Assert
from leat.dtypes import DType as DType
from leat.tape import GradientTape as GradientTape
from leat.indexed_slices import IndexedSlices as IndexedSlices
from leat.indexed_slices import IndexedSlicesSpec as IndexedSlicesSpec
from leat.modules import Module as Module
from leat.specs import NoneTensorSpec as NoneTensorSpec
from leat.specs import OptionalSpec as OptionalSpec
from leat.ragged import RaggedTensor as RaggedTensor
from leat.specs import RaggedTensorSpec as RaggedTensorSpec
from leat.sparse import SparseTensor as SparseTensor
from leat.specs import SparseTensorSpec as SparseTensorSpec
from leat.tensor import Tensor as Tensor
from leat.tensor_array import TensorArray as TensorArray
from leat.tensor_array import TensorArraySpec as TensorArraySpec
from leat.shapes import TensorShape as TensorShape
from leat.specs import TensorSpec as TensorSpec
from leat.specs import TypeSpec as TypeSpec
from leat.tape import UnconnectedGradients as UnconnectedGradients
from leat.variables import Variable as Variable
from leat.variables import VariableAggregation as VariableAggregation
from leat.variables import VariableSynchronization as VariableSynchronization
__version__: builtins.str
def abs(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The magnitude of x (tf.math.abs)."""
    ...
def acos(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The inverse cosine, in radians (tf.math.acos)."""
    ...
def acosh(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The inverse hyperbolic cosine (tf.math.acosh)."""
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
    output_type: int32 or int64; of argmax also int16 or uint16.
    """
    ...
def argmin(input: TensorLike, axis: IntLike | None = None, output_type: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """The index of the smallest value along a dimension, the first of equals (tf.math.argmin).

    axis: The dimension to search; negative counts from the end.
    output_type: int32 or int64; of argmax also int16 or uint16.
    """
    ...
def argsort(values: TensorLike, axis: IntLike = -1, direction: StringLike = 'ASCENDING', stable: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The places of the values, as int32, in their order along a dimension (tf.argsort).

    axis: The dimension to sort along; negative counts from the end.
    direction: ASCENDING or DESCENDING.
    stable: Of no effect: equal values always stay in order.
    """
    ...
from leat import arrays as arrays
from leat.dtypes import as_dtype as as_dtype
def as_string(input: TensorLike, precision: IntLike = -1, scientific: builtins.bool = False, shortest: builtins.bool = False, width: IntLike = -1, fill: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """Numbers as text, true or false of booleans (tf.strings.as_string).

    precision: Digits after the point of floats, or of shortest in all; negative: six.
    scientific: Floats with an exponent.
    shortest: Floats with an exponent where that is shorter, without zeros at the end.
    width: The least number of bytes; negative: none.
    fill: What fills up to the width: nothing for blanks, or one of 0, -, +, # and a blank, which mean what they mean to printf.
    """
    ...
def asin(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The inverse sine, in radians (tf.math.asin)."""
    ...
def asinh(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The inverse hyperbolic sine (tf.math.asinh)."""
    ...
from leat.debugging import assert_equal as assert_equal
from leat.debugging import assert_greater as assert_greater
from leat.debugging import assert_less as assert_less
from leat.debugging import assert_rank as assert_rank
def atan(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The inverse tangent, in radians (tf.math.atan)."""
    ...
def atan2(y: TensorLike, x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The angle of the point (x, y), in radians from -pi to pi, broadcast (tf.math.atan2)."""
    ...
def atanh(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The inverse hyperbolic tangent (tf.math.atanh)."""
    ...
from leat import audio as audio
from leat import autograph as autograph
from leat import averages as averages
from leat.arrays import batch_to_space as batch_to_space
bfloat16: DType
def bitcast(input: TensorLike, type: DTypeLike, name: builtins.str | None = None) -> Tensor:
    """The bytes of a tensor read as values of another dtype (tf.bitcast).

    type: The dtype of the result, a number.
    """
    ...
from leat import bitwise as bitwise
bool: DType
def boolean_mask(tensor: TensorLike, mask: TensorLike, axis: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """The slices of a tensor where a mask holds (tf.boolean_mask).

    axis: The first dimension that the mask covers.
    """
    ...
from leat.arrays import broadcast_dynamic_shape as broadcast_dynamic_shape
from leat.arrays import broadcast_static_shape as broadcast_static_shape
def broadcast_to(input: TensorLike, shape: IntsLike, name: builtins.str | None = None) -> Tensor:
    """A tensor repeated to a shape by numpy's broadcasting (tf.broadcast_to).

    shape: The shape of the result.
    """
    ...
from leat.control import case as case
def cast(x: TensorLike, dtype: DTypeLike, name: builtins.str | None = None) -> Tensor:
    """x as another dtype: floats truncate, integers keep their low bits (tf.cast).

    dtype: The dtype of the result.
    """
    ...
from leat.arrays import clip_by_global_norm as clip_by_global_norm
from leat.arrays import clip_by_norm as clip_by_norm
def clip_by_value(t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: builtins.str | None = None) -> Tensor:
    """t, but not below one bound nor above another, broadcast (tf.clip_by_value)."""
    ...
from leat import cluster as cluster
from leat import compat as compat
def concat(values: TensorLike, axis: IntLike = 0, name: builtins.str | None = None) -> Tensor:
    """Tensors joined along an existing dimension (tf.concat).

    axis: The dimension along which the inputs follow each other; negative counts from the end.
    """
    ...
from leat.control import cond as cond
from leat import config as config
from leat.tensor import constant as constant
from leat.initial import constant_initializer as constant_initializer
from leat import control as control
from leat.control import control_dependencies as control_dependencies
from leat.tensor import convert_to_tensor as convert_to_tensor
def cos(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The cosine of x in radians (tf.math.cos)."""
    ...
def cosh(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The hyperbolic cosine (tf.math.cosh)."""
    ...
from leat import creation as creation
def cumsum(x: TensorLike, axis: IntLike = 0, exclusive: builtins.bool = False, reverse: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The running total along a dimension (tf.math.cumsum).

    axis: The dimension along which totals run; negative counts from the end.
    exclusive: Leave a value's own place out of its total.
    reverse: Run from the end.
    """
    ...
from leat.tape import custom_gradient as custom_gradient
from leat import data as data
from leat import debugging as debugging
from leat.modules import device as device
from leat import distribute as distribute
def divide(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x / y of equal float dtypes, broadcast, by IEEE 754 (tf.math.divide)."""
    ...
double: DType
from leat import dtypes as dtypes
def dynamic_partition(data: TensorLike, partitions: TensorLike, num_partitions: IntLike, name: builtins.str | None = None) -> Any:
    """The slices of a tensor, dealt out by numbers (tf.dynamic_partition).

    num_partitions: How many outputs there are.
    """
    ...
from leat.arrays import dynamic_stitch as dynamic_stitch
from leat.arrays import einsum as einsum
def ensure_shape(x: TensorLike, shape: ShapeLike, name: builtins.str | None = None) -> Tensor:
    """The value unchanged, checked against a shape (tf.ensure_shape).

    shape: The shape; -1 stands for any size.
    """
    ...
def equal(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x == y of numbers, booleans or strings, broadcast, as bool (tf.math.equal)."""
    ...
from leat import errors as errors
from leat import example as example
def executing_eagerly() -> builtins.bool: ...
def exp(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """e to the power of x (tf.math.exp)."""
    ...
def expand_dims(input: TensorLike, axis: IntLike, name: builtins.str | None = None) -> Tensor:
    """A dimension of 1 put in front of place axis (tf.expand_dims).

    axis: The place of the new dimension; negative counts from the end.
    """
    ...
from leat import experimental as experimental
def eye(num_rows: IntLike, num_columns: IntLike | None = None, batch_shape: IntsLike | None = None, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """Ones on the diagonal of a matrix, zeros elsewhere (tf.eye).

    num_rows: How many rows.
    num_columns: How many columns; none: as many as rows.
    batch_shape: The shape of a tensor of such matrices; none: one matrix.
    dtype: The dtype of the result, a number or bool.
    """
    ...
def fill(dims: TensorLike, value: TensorLike, name: builtins.str | None = None, layout: Any = None) -> Tensor:
    """A tensor of shape dims filled with a scalar (tf.fill)."""
    ...
float16: DType
float32: DType
float64: DType
def floor(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The largest integer not above x (tf.math.floor)."""
    ...
from leat.folds import foldl as foldl
from leat.folds import foldr as foldr
from leat import folds as folds
from leat.traced import function as function
def gather(params: TensorLike, indices: TensorLike, validate_indices: Any = None, axis: IntLike | None = None, batch_dims: IntLike = 0, name: builtins.str | None = None) -> Tensor:
    """The slices of a tensor along an axis that the indices number (tf.gather).

    axis: The dimension of the first input that the indices number; none: batch_dims.
    batch_dims: How many leading dimensions both have in common; negative counts from the end of the indices.
    """
    ...
from leat.indices import gather_nd as gather_nd
from leat.modules import get_current_name_scope as get_current_name_scope
from leat.creation import get_logger as get_logger
from leat.creation import get_static_value as get_static_value
from leat import gfile as gfile
from leat.tape import grad_pass_through as grad_pass_through
from leat import graphs as graphs
def greater(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x > y of numbers, broadcast, as bool (tf.math.greater)."""
    ...
def greater_equal(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x >= y of numbers, broadcast, as bool (tf.math.greater_equal)."""
    ...
from leat.creation import group as group
half: DType
def histogram_fixed_width(values: TensorLike, value_range: TensorLike, nbins: IntLike = 100, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """How many values lie in each of nbins equal parts of a range (tf.histogram_fixed_width).

    nbins: How many parts the range has.
    dtype: The dtype of the counts: int32 or int64.
    """
    ...
from leat.arrays import histogram_fixed_width_bins as histogram_fixed_width_bins
def identity(input: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The input unchanged (tf.identity)."""
    ...
from leat.arrays import identity_n as identity_n
from leat import image as image
from leat import indexed_slices as indexed_slices
from leat import indexing as indexing
from leat import indices as indices
class init_scope:
    ...
from leat import initial as initial
def inside_function() -> Any: ...
int16: DType
int32: DType
int64: DType
int8: DType
from leat import io as io
from leat.creation import is_symbolic_tensor as is_symbolic_tensor
from leat.tensor import is_tensor as is_tensor
from leat import keras as keras
def less(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x < y of numbers, broadcast, as bool (tf.math.less)."""
    ...
def less_equal(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x <= y of numbers, broadcast, as bool (tf.math.less_equal)."""
    ...
from leat import linalg as linalg
from leat.creation import linspace as linspace
def logical_and(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x && y of booleans, broadcast (tf.math.logical_and)."""
    ...
def logical_not(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """!x of booleans (tf.math.logical_not)."""
    ...
def logical_or(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x || y of booleans, broadcast (tf.math.logical_or)."""
    ...
from leat import lookup as lookup
from leat.folds import map_fn as map_fn
from leat import math as math
from leat.linalg import matmul as matmul
def maximum(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The larger of x and y, broadcast; a NaN wins (tf.math.maximum)."""
    ...
from leat.arrays import meshgrid as meshgrid
from leat import messages as messages
def minimum(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The smaller of x and y, broadcast; a NaN wins (tf.math.minimum)."""
    ...
from leat import modules as modules
def multiply(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x * y of equal dtypes, broadcast; integers wrap (tf.math.multiply)."""
    ...
from leat.modules import name_scope as name_scope
def negative(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """-x of signed numbers (tf.math.negative)."""
    ...
from leat import nest as nest
newaxis: None
from leat import nn as nn
from leat.creation import no_op as no_op
from leat.linalg import norm as norm
def not_equal(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x != y of numbers, booleans or strings, broadcast, as bool (tf.math.not_equal)."""
    ...
from leat.creation import numpy_function as numpy_function
def one_hot(indices: TensorLike, depth: IntLike, on_value: Any = None, off_value: Any = None, axis: IntLike | None = None, dtype: DTypeLike | None = None, name: builtins.str | None = None) -> Tensor:
    """1 at the index along a new dimension, 0 elsewhere, or other values (tf.one_hot).

    depth: The size of the new dimension.
    on_value: The value at the index, a scalar; none: 1.
    off_value: The value elsewhere, a scalar; none: 0.
    axis: The place of the new dimension; negative counts from the end.
    dtype: The dtype of the result, a number or bool; none: that of the values, or float32.
    """
    ...
from leat.creation import ones as ones
from leat.initial import ones_initializer as ones_initializer
from leat.arrays import ones_like as ones_like
def pad(tensor: TensorLike, paddings: Any, mode: StringLike = 'CONSTANT', constant_values: Any = 0, name: builtins.str | None = None) -> Tensor:
    """Values around a tensor: a constant, or the tensor itself mirrored (tf.pad).

    paddings: How many values stand before and behind each dimension: a matrix of pairs.
    mode: CONSTANT, REFLECT (without the border) or SYMMETRIC (with it), in any case.
    constant_values: The value of a constant padding, a scalar; none: 0, or an empty string.
    """
    ...
from leat import parsing as parsing
def pow(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x to the power of y, broadcast (tf.math.pow)."""
    ...
from leat.printing import print as print
from leat import printing as printing
from leat.creation import py_function as py_function
from leat import ragged as ragged
from leat import ragged_rows as ragged_rows
from leat import random as random
from leat.initial import random_normal_initializer as random_normal_initializer
from leat.initial import random_uniform_initializer as random_uniform_initializer
def range(start: TensorLike, limit: TensorLike = None, delta: TensorLike = 1, dtype: DTypeLike | None = None, name: builtins.str | None = None) -> Tensor:
    """The numbers start, start + delta, ... before the limit (tf.range).

    dtype: The dtype of the numbers; none: that of the bounds.
    """
    ...
from leat.creation import rank as rank
from leat.tape import recompute_grad as recompute_grad
from leat import records as records
def reduce_all(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Whether all booleans hold over the named dimensions, or all (tf.math.reduce_all).

    axis: The dimensions to reduce; none: all; an empty list: no dimension.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_any(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Whether any boolean holds over the named dimensions, or all (tf.math.reduce_any).

    axis: The dimensions to reduce; none: all; an empty list: no dimension.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
from leat.math import reduce_logsumexp as reduce_logsumexp
def reduce_max(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The maximum over the named dimensions, or all (tf.math.reduce_max).

    axis: The dimensions to reduce; none: all; an empty list: no dimension.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_mean(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The mean over the named dimensions, or all (tf.math.reduce_mean).

    axis: The dimensions to reduce; none: all; an empty list: no dimension.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_min(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The minimum over the named dimensions, or all (tf.math.reduce_min).

    axis: The dimensions to reduce; none: all; an empty list: no dimension.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_prod(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The product over the named dimensions, or all (tf.math.reduce_prod).

    axis: The dimensions to reduce; none: all; an empty list: no dimension.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def reduce_sum(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The sum over the named dimensions, or all (tf.math.reduce_sum).

    axis: The dimensions to reduce; none: all; an empty list: no dimension.
    keepdims: Leave reduced dimensions as 1.
    """
    ...
def repeat(input: TensorLike, repeats: TensorLike, axis: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """The slices of a tensor along a dimension, each as often as it says (tf.repeat).

    axis: The dimension to repeat along; none: all values as one vector.
    """
    ...
from leat import replacing as replacing
def reshape(tensor: TensorLike, shape: IntsLike, name: builtins.str | None = None) -> Tensor:
    """The same values under another shape (tf.reshape).

    shape: The dimensions; one may be -1, which takes what the others leave.
    """
    ...
def reverse(tensor: TensorLike, axis: IntsLike, name: builtins.str | None = None) -> Tensor:
    """The values along the named dimensions from the last to the first (tf.reverse).

    axis: The dimensions to turn round; negative counts from the end.
    """
    ...
def reverse_sequence(input: TensorLike, seq_lengths: TensorLike, seq_axis: IntLike | None = None, batch_axis: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """The first values of each sequence of a batch in reverse order (tf.reverse_sequence).

    seq_axis: The dimension to reverse; none: the first.
    batch_axis: The dimension of the sequences; none: the first.
    """
    ...
def roll(input: TensorLike, shift: IntsLike, axis: IntsLike, name: builtins.str | None = None) -> Tensor:
    """Values moved along dimensions; what leaves at one end enters at the other (tf.roll).

    shift: By how many places; negative towards the front.
    axis: The dimension of each shift; negative counts from the end.
    """
    ...
def round(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The nearest integer, the even one of two (tf.math.round)."""
    ...
def saturate_cast(value: TensorLike, dtype: DTypeLike, name: builtins.str | None = None) -> Tensor:
    """x as another dtype, clipped to what that holds (tf.saturate_cast).

    dtype: The dtype of the result, a number.
    """
    ...
from leat.math import scalar_mul as scalar_mul
from leat.folds import scan as scan
from leat.indices import scatter_nd as scatter_nd
def searchsorted(sorted_sequence: TensorLike, values: TensorLike, side: StringLike = 'left', out_type: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """The places where values would stand in sorted lines (tf.searchsorted).

    side: left: before values that are equal; right: behind them.
    out_type: The dtype of the places: int32 or int64.
    """
    ...
def sequence_mask(lengths: TensorLike, maxlen: IntLike | None = None, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """For each length a vector that is true at as many places from the front (tf.sequence_mask).

    maxlen: How long each vector is; none: as long as the largest length.
    dtype: The dtype of the result, a number or bool.
    """
    ...
def shape(input: TensorLike, out_type: DTypeLike | None = None, name: builtins.str | None = None) -> Tensor:
    """The dimensions as a vector (tf.shape).

    out_type: int32 or int64.
    """
    ...
from leat.creation import shape_n as shape_n
from leat import shapes as shapes
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
def size(input: TensorLike, out_type: DTypeLike | None = None, name: builtins.str | None = None) -> Tensor:
    """The number of values (tf.size).

    out_type: int32 or int64.
    """
    ...
def slice(input_: TensorLike, begin: IntsLike, size: IntsLike, name: builtins.str | None = None) -> Tensor:
    """The part of a tensor from begin on, size values along each dimension (tf.slice).

    begin: The first index along each dimension.
    size: The number of values along each dimension; -1: all that follow.
    """
    ...
def sort(values: TensorLike, axis: IntLike = -1, direction: StringLike = 'ASCENDING', name: builtins.str | None = None) -> Tensor:
    """The values in order along a dimension (tf.sort).

    axis: The dimension to sort along; negative counts from the end.
    direction: ASCENDING or DESCENDING.
    """
    ...
from leat.arrays import space_to_batch as space_to_batch
from leat.arrays import space_to_batch_nd as space_to_batch_nd
from leat import sparse as sparse
from leat import sparse_rows as sparse_rows
from leat import specs as specs
def split(value: TensorLike, num_or_size_splits: Any, axis: IntLike = 0, num: IntLike | None = None, name: builtins.str | None = None) -> Any:
    """A tensor cut along a dimension into equal or given sizes, each an output (tf.split).

    num_or_size_splits: A number of equal parts, or a list of their sizes, of which one may be -1.
    axis: The dimension to cut; negative counts from the end.
    num: How many sizes there are; none: as many as the list says.
    """
    ...
def sqrt(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The square root of x; NaN below zero (tf.math.sqrt)."""
    ...
def square(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x * x; integers wrap (tf.math.square)."""
    ...
def squeeze(input: TensorLike, axis: IntsLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Dimensions of 1 taken away (tf.squeeze).

    axis: The dimensions to take away; none named: every dimension of 1.
    """
    ...
from leat.arrays import stack as stack
from leat import steps as steps
def stop_gradient(input: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The input unchanged; no gradient flows through it (tf.stop_gradient)."""
    ...
def strided_slice(input_: TensorLike, begin: IntsLike, end: IntsLike, strides: IntsLike | None = None, begin_mask: IntLike = 0, end_mask: IntLike = 0, ellipsis_mask: IntLike = 0, new_axis_mask: IntLike = 0, shrink_axis_mask: IntLike = 0, var: Any = None, name: builtins.str | None = None) -> Tensor:
    """The part of a tensor that numpy's x[begin:end:stride, index, None, ...] names (tf.strided_slice).

    begin: The first index of each entry; negative counts from the end.
    end: The index of each entry that is not reached any more.
    strides: The step of each entry; none: 1.
    begin_mask: Entries without a begin, by bits.
    end_mask: Entries without an end, by bits.
    ellipsis_mask: The entry that stands for all dimensions that no other names, by its bit.
    new_axis_mask: Entries that are a new dimension of 1, by bits.
    shrink_axis_mask: Entries that are one index, whose dimension goes, by bits.
    """
    ...
string: DType
from leat import strings as strings
def subtract(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x - y of equal dtypes, broadcast; integers wrap (tf.math.subtract)."""
    ...
from leat import summary as summary
from leat.control import switch_case as switch_case
def tan(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The tangent of x in radians (tf.math.tan)."""
    ...
def tanh(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The hyperbolic tangent of x (tf.math.tanh)."""
    ...
from leat import tape as tape
from leat import tensor as tensor
from leat import tensor_array as tensor_array
from leat.indices import tensor_scatter_nd_add as tensor_scatter_nd_add
from leat.indices import tensor_scatter_nd_max as tensor_scatter_nd_max
from leat.indices import tensor_scatter_nd_min as tensor_scatter_nd_min
from leat.indices import tensor_scatter_nd_sub as tensor_scatter_nd_sub
def tensor_scatter_nd_update(tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: builtins.str | None = None) -> Tensor:
    """A tensor with updates in place of the slices that rows of indices name (tf.tensor_scatter_nd_update)."""
    ...
from leat.linalg import tensordot as tensordot
def tile(input: TensorLike, multiples: IntsLike, name: builtins.str | None = None) -> Tensor:
    """A tensor repeated along each dimension (tf.tile).

    multiples: How often each dimension stands behind itself.
    """
    ...
from leat.creation import timestamp as timestamp
from leat import traced as traced
from leat import train as train
def transpose(a: TensorLike, perm: IntsLike | None = None, conjugate: Any = False, name: builtins.str | None = None) -> Tensor:
    """Dimension i of the result is dimension perm[i] of the input (tf.transpose).

    perm: The dimension of the input that each dimension of the result is; empty: reversed.
    """
    ...
def truediv(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x / y of equal float dtypes, broadcast, by IEEE 754 (tf.math.divide)."""
    ...
def truncatediv(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The quotient rounded towards zero, broadcast (tf.truncatediv)."""
    ...
def truncatemod(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The remainder that has the sign of x, broadcast (tf.truncatemod)."""
    ...
from leat.creation import type_spec_from_value as type_spec_from_value
uint16: DType
uint32: DType
uint64: DType
uint8: DType
def unique(x: TensorLike, out_idx: DTypeLike = ..., name: builtins.str | None = None) -> Any:
    """The values of a vector without repetitions, and for each value its number among them (tf.unique).

    out_idx: The dtype of the numbers: int32 or int64.
    """
    ...
def unique_with_counts(x: TensorLike, out_idx: DTypeLike = ..., name: builtins.str | None = None) -> Any:
    """The values of a vector without repetitions, for each value its number among them, and how often each occurs (tf.unique_with_counts).

    out_idx: The dtype of the numbers: int32 or int64.
    """
    ...
from leat.arrays import unravel_index as unravel_index
def unstack(value: TensorLike, num: IntLike | None = None, axis: IntLike = 0, name: builtins.str | None = None) -> Any:
    """The slices of a tensor along a dimension, each an output (tf.unstack).

    num: The size of the dimension; none: as inferred.
    axis: The dimension that goes; negative counts from the end.
    """
    ...
from leat import utils as utils
from leat import variables as variables
variant: DType
from leat.folds import vectorized_map as vectorized_map
from leat import version as version
@overload
def where(condition: TensorLike, x: Any = None, y: Any = None, name: builtins.str | None = None) -> Tensor:
    """The places of values that are not 0 or false, as rows of indices (tf.where with a condition alone)."""
    ...
@overload
def where(condition: TensorLike, x: TensorLike = None, y: TensorLike = None, name: builtins.str | None = None) -> Tensor:
    """x where the condition holds, else y, broadcast (tf.where)."""
    ...
from leat.control import while_loop as while_loop
from leat.creation import zeros as zeros
from leat.initial import zeros_initializer as zeros_initializer
from leat.arrays import zeros_like as zeros_like
