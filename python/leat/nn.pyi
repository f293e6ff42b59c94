# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
def bias_add(value: TensorLike, bias: TensorLike, data_format: Any = None, name: builtins.str | None = None) -> Tensor:
    """A vector added along the last dimension (tf.nn.bias_add)."""
    ...
from leat.averages import compute_average_loss as compute_average_loss
def conv2d(input: TensorLike, filters: TensorLike, strides: IntsLike | None = None, padding: StringLike = 'VALID', data_format: Any = 'NHWC', dilations: IntsLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Convolution of pictures NHWC with a filter HWIO (tf.nn.conv2d).

    strides: Steps of the window along height and width; empty: 1.
    padding: VALID or SAME.
    dilations: Steps inside the window along height and width; empty: 1.
    """
    ...
def elu(features: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x where it is positive, else exp(x) - 1 (tf.nn.elu)."""
    ...
def in_top_k(targets: TensorLike, predictions: TensorLike, k: IntLike, name: builtins.str | None = None) -> Tensor:
    """Is each line's target among its k largest predictions (tf.math.in_top_k)?

    k: How many of the largest predictions.
    """
    ...
def log_softmax(logits: TensorLike, axis: Any = None, name: builtins.str | None = None) -> Tensor:
    """The logarithm of softmax along the last dimension (tf.nn.log_softmax)."""
    ...
def max_pool2d(input: TensorLike, ksize: IntsLike, strides: IntsLike | None = None, padding: StringLike = 'VALID', data_format: Any = 'NHWC', name: builtins.str | None = None) -> Tensor:
    """The maximum of each window of pictures NHWC (tf.nn.max_pool2d).

    ksize: Height and width of the window.
    strides: Steps of the window along height and width; empty: its size.
    padding: VALID or SAME.
    """
    ...
def relu(features: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x where it is positive, else 0; a NaN stays (tf.nn.relu)."""
    ...
def relu6(features: TensorLike, name: builtins.str | None = None) -> Tensor:
    """x clipped to [0, 6] (tf.nn.relu6)."""
    ...
from leat.averages import scale_regularization_loss as scale_regularization_loss
def sigmoid(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """1 / (1 + exp(-x)) (tf.math.sigmoid)."""
    ...
def softmax(logits: TensorLike, axis: Any = None, name: builtins.str | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along the last dimension (tf.nn.softmax)."""
    ...
def softplus(features: TensorLike, name: builtins.str | None = None) -> Tensor:
    """log(1 + exp(x)) (tf.math.softplus)."""
    ...
def sparse_softmax_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The loss of each line of logits against its label, and the loss's gradient (tf.nn.sparse_softmax_cross_entropy_with_logits)."""
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
