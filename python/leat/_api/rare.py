"""Operations of TensorFlow's top level that few programs name, as what others are made of here."""

import collections
import contextlib

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat._graph.ops import FUNCTIONS as F
from leat.errors import InvalidArgumentError, UnimplementedError

__all__ = ["approx_top_k", "async_clear_error", "async_scope", "conv", "fftnd", "ifftnd", "irfftnd", "parallel_stack",
           "rfftnd"]

_ApproxTopK = collections.namedtuple("ApproxTopK", "values indices")


def approx_top_k(input, k, reduction_dimension=-1, recall_target=0.95, is_max_k=True,  # noqa: A002
                 reduction_input_size_override=-1, aggregate_to_topk=True, name=None):
    """(the k largest or smallest values along a dimension, their places) (``tf.approx_top_k``), exactly."""
    from leat import math
    return _ApproxTopK(*(math.approx_max_k if is_max_k else math.approx_min_k)(input, k, reduction_dimension))


def conv(input, filter, strides, padding, explicit_paddings=(), data_format="CHANNELS_LAST",  # noqa: A002
         dilations=(), batch_dims=1, groups=1, name=None):
    """Pictures or volumes convolved with filters (``tf.conv``). `strides`, `dilations`: of every dimension."""
    from leat import nn
    x, taps = convert_to_tensor(input), convert_to_tensor(filter)
    if data_format != "CHANNELS_LAST" or batch_dims != 1 or padding == "EXPLICIT" or len(explicit_paddings):
        raise UnimplementedError(None, None, "conv takes channels last, one dimension of batches and SAME or VALID; "
                                 "transpose, reshape or pad before")
    if x.shape.rank not in (4, 5) or taps.shape.rank != x.shape.rank:
        raise InvalidArgumentError(None, None, f"expected pictures or volumes and filters of the same rank, found "
                                   f"{x.shape} and {taps.shape}")
    if taps.shape[-2] is not None and x.shape[-1] is not None and taps.shape[-2] * groups != x.shape[-1]:
        raise InvalidArgumentError(None, None, f"filters of {taps.shape[-2]} channels and {groups} groups do not fit "
                                   f"pictures of {x.shape[-1]}")
    return nn.convolution(x, taps, list(strides)[1:-1], padding, dilations=list(dilations)[1:-1] or None)


def _lists(fft_length, axes):
    return convert_to_tensor(fft_length, dtypes.int32), convert_to_tensor(axes, dtypes.int32)


def fftnd(input, fft_length, axes, name=None):  # noqa: A002
    """The Fourier transform along `axes` (``tf.fftnd``, ``tf.signal.fftnd``)."""
    from leat import signal
    return signal.fftnd(input, *_lists(fft_length, axes))


def ifftnd(input, fft_length, axes, name=None):  # noqa: A002
    """What ``fftnd`` makes the numbers of (``tf.ifftnd``, ``tf.signal.ifftnd``)."""
    from leat import signal
    return signal.ifftnd(input, *_lists(fft_length, axes))


def rfftnd(input, fft_length, axes, Tcomplex=dtypes.complex64, name=None):  # noqa: A002
    """The same of real numbers: of the last axis the first half (``tf.rfftnd``, ``tf.signal.rfftnd``)."""
    from leat import signal
    return F["cast"](signal.rfftnd(input, *_lists(fft_length, axes)), Tcomplex)


def irfftnd(input, fft_length, axes, Treal=dtypes.float32, name=None):  # noqa: A002
    """The real numbers whose ``rfftnd`` the input is (``tf.irfftnd``, ``tf.signal.irfftnd``)."""
    from leat import signal
    return F["cast"](signal.irfftnd(input, *_lists(fft_length, axes)), Treal)


def parallel_stack(values, name="parallel_stack"):
    """Tensors of one known shape as rows of a new one (``tf.parallel_stack``), in functions alone."""
    if trace.executing_eagerly():
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution; tf.stack is")
    rows = [convert_to_tensor(value) for value in values]
    if not rows[0].shape.is_fully_defined():
        raise ValueError(f"parallel_stack takes tensors whose shape is known, found {rows[0].shape}; tf.stack takes "
                         "others")
    return F["stack"](rows)


@contextlib.contextmanager
def async_scope():
    """Where functions may run ahead of the program (``tf.experimental.async_scope``); none does here."""
    yield


def async_clear_error():
    """Forgets an error of functions that ran ahead (``tf.experimental.async_clear_error``), of which there is none."""
