"""``keras.ops``: Fourier transforms of (real, imaginary) pairs, and windows of signals."""

import math

import numpy as np

import leat as tf
from leat.keras._base.symbolic import KerasTensor
from leat.keras.ops.promote import OPERATIONS, floats, operation, specified, tensor, together

_before = set(OPERATIONS)


# ---- transforms ----

def _pair(x, name="x"):
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise ValueError(f"Input `{name}` should be a tuple of two tensors - real and imaginary. Received: {name}={x}")
    real, imag = together(*x, floating=True)
    if tuple(real.shape) != tuple(imag.shape):
        raise ValueError(f"Input `{name}` should be a tuple of two tensors - real and imaginary. Both the real and "
                         f"imaginary parts should have the same shape. Received: {name}[0].shape = "
                         f"{tuple(real.shape)}, {name}[1].shape = {tuple(imag.shape)}")
    return real, imag


def _check_known(real, directions):
    if len(real.shape) < directions:
        raise ValueError(f"Input should have rank >= {directions}. Received: input.shape = {tuple(real.shape)}")
    if None in tuple(real.shape)[-directions:]:
        raise ValueError(f"Input should have its {'last dimension' if directions == 1 else '(-2, -1) axes'} "
                         f"fully-defined. Received: input.shape = {tuple(real.shape)}")


def _wide(*parts):
    """Parts in a precision that has complex numbers."""
    return [x if x.dtype in ("float32", "float64") else tf.cast(x, "float32") for x in parts]


def _transformed(function, parts, dtype):
    """(real, imaginary) of what a function makes of the complex numbers of two parts."""
    found = function(tf.complex(*_wide(*parts)))
    return tf.cast(tf.math.real(found), dtype), tf.cast(tf.math.imag(found), dtype)


@operation
def fft(x):
    """(real, imaginary) of the Fourier transform of the last dimension of such a pair (``keras.ops.fft``)."""
    real, imag = _pair(x)
    _check_known(real, 1)
    return _transformed(tf.signal.fft, (real, imag), real.dtype)


@operation
def fft2(x):
    """The same over the last two dimensions (``keras.ops.fft2``)."""
    real, imag = _pair(x)
    _check_known(real, 2)
    return _transformed(tf.signal.fft2d, (real, imag), real.dtype)


@operation
def ifft2(x):
    """The inverse of ``fft2`` (``keras.ops.ifft2``)."""
    real, imag = _pair(x)
    _check_known(real, 2)
    return _transformed(tf.signal.ifft2d, (real, imag), real.dtype)


def _halves(spec, fft_length):
    """What ``rfft`` gives for a KerasTensor."""
    if len(spec.shape) < 1:
        raise ValueError(f"Input should have rank >= 1. Received: input.shape = {spec.shape}")
    length = spec.shape[-1] if fft_length is None else fft_length
    shape = (*spec.shape[:-1], None if length is None else length // 2 + 1)
    return KerasTensor(shape, spec.dtype), KerasTensor(shape, spec.dtype)


@specified(lambda x, fft_length=None: _halves(x, fft_length))
@operation
def rfft(x, fft_length=None):
    """(real, imaginary) of the first half of the transform of real numbers (``keras.ops.rfft``)."""
    if fft_length is not None and (not isinstance(fft_length, int) or fft_length < 1):
        raise ValueError(f"`fft_length` should be a positive integer. Received: fft_length={fft_length}")
    x = floats(x)
    _check_known(x, 1)
    found = tf.signal.rfft(*_wide(x), None if fft_length is None else [fft_length])
    return tf.cast(tf.math.real(found), x.dtype), tf.cast(tf.math.imag(found), x.dtype)


@operation
def irfft(x, fft_length=None):
    """The real numbers whose ``rfft`` a pair is (``keras.ops.irfft``); `fft_length` of them, by default an even
    number."""
    if fft_length is not None and (not isinstance(fft_length, int) or fft_length < 1):
        raise ValueError(f"`fft_length` should be a positive integer. Received: fft_length={fft_length}")
    real, imag = _pair(x)
    if not len(real.shape):
        _check_known(real, 1)
    found = tf.signal.irfft(tf.complex(*_wide(real, imag)), None if fft_length is None else [fft_length])
    return tf.cast(found, real.dtype)


# ---- windows of signals ----

def _cut(x, length, stride):
    count = 1 + (x.shape[-1] - length) // stride
    places = np.arange(count)[:, None] * stride + np.arange(length)[None, :]
    return tf.gather(x, places.astype("int32"), axis=-1)


@operation
def extract_sequences(x, sequence_length, sequence_stride):
    """Windows of the last dimension as [windows, length] (``keras.ops.extract_sequences``)."""
    x = tensor(x)
    if len(x.shape) < 1:
        raise ValueError(f"Input should have rank >= 1. Received: input.shape = {tuple(x.shape)}")
    if x.shape[-1] is None:
        return tf.signal.frame(x, sequence_length, sequence_stride, axis=-1)
    if x.shape[-1] < sequence_length:
        return tf.zeros(tf.concat([tf.shape(x)[:-1], [0, sequence_length]], 0), x.dtype)
    return _cut(x, sequence_length, sequence_stride)


def _window(window, length, fft_length, dtype):
    """The weights of a window as an array of `fft_length`, zeros around them; None: there are none."""
    if window is None:
        return None
    if isinstance(window, str):
        if window not in ("hann", "hamming"):
            raise ValueError("If a string is passed to `window`, it must be one of `\"hann\"`, `\"hamming\"`. "
                             f"Received: window={window}")
        middle = 0.5 if window == "hann" else 0.54
        period = max(length - length % 2, 1)  # TensorFlow's window of an odd length is as its mirror
        weights = tf.constant(middle - (1 - middle) * np.cos(2 * math.pi * np.arange(length) / period), dtype)
    else:
        weights = tensor(window, dtype)
    if tuple(weights.shape) != (length,):
        raise ValueError("The shape of `window` must be equal to [sequence_length]. Received: window shape="
                         f"{tuple(weights.shape)}")
    before = (fft_length - length) // 2
    return tf.pad(weights, [[before, fft_length - length - before]])


def _check_stride(stride):
    if not isinstance(stride, int) or stride <= 0:
        raise ValueError(f"`sequence_stride` must be a positive integer. Received: sequence_stride={stride}")


def _check_lengths(sequence_length, fft_length):
    if fft_length < sequence_length:
        raise ValueError("`fft_length` must equal or larger than `sequence_length`. Received: "
                         f"sequence_length={sequence_length}, fft_length={fft_length}")


@operation
def stft(x, sequence_length, sequence_stride, fft_length, window="hann", center=True):
    """(real, imaginary) of the ``rfft`` of windows of a signal (``keras.ops.stft``): [windows, fft_length // 2 + 1].

    `window`: hann, hamming, weights or None; `center`: the first window's middle is the first number.
    """
    x = tensor(x)
    if x.dtype not in ("float32", "float64"):
        raise TypeError(f"Invalid input type. Expected `float32` or `float64`. Received: input type={x.dtype.name}")
    _check_lengths(sequence_length, fft_length)
    _check_stride(sequence_stride)
    weights = _window(window, sequence_length, fft_length, x.dtype)
    if center:
        x = tf.pad(x, [[0, 0]] * (len(x.shape) - 1) + [[fft_length // 2, fft_length // 2]], "REFLECT")
    frames = extract_sequences(x, fft_length, sequence_stride)
    return rfft(frames if weights is None else frames * weights)


def _added(frames, stride):
    """Windows added up at every `stride` places."""
    count, length = frames.shape[-2:]
    if count is None:
        return tf.signal.overlap_and_add(frames, stride)
    size = (count - 1) * stride + length
    places = (np.arange(count)[:, None] * stride + np.arange(length)[None, :]).reshape(-1)
    flat = tf.reshape(frames, [-1, count * length])
    summed = tf.scatter_nd(places.astype("int32")[:, None], tf.transpose(flat), tf.stack([size, tf.shape(flat)[0]]))
    return tf.reshape(tf.transpose(summed), tf.concat([tf.shape(frames)[:-2], [size]], 0))


@operation
def istft(x, sequence_length, sequence_stride, fft_length, length=None, window="hann", center=True):
    """The signal whose ``stft`` a pair is, `length` numbers of it (``keras.ops.istft``)."""
    real, imag = _pair(x)
    _check_stride(sequence_stride)
    _check_lengths(sequence_length, fft_length)
    if len(real.shape) < 2:
        _check_known(real, 2)
    weights = _window(window, sequence_length, fft_length, real.dtype)
    frames = irfft((real, imag), fft_length)
    if weights is not None:
        # What the windows over one place take away together is given back.
        whole = -(-fft_length // sequence_stride) * sequence_stride
        squares = tf.reshape(tf.pad(weights * weights, [[0, whole - fft_length]]), [-1, sequence_stride])
        shared = tf.tile(tf.reduce_sum(squares, 0), [whole // sequence_stride])[:fft_length]
        frames = frames * tf.math.divide_no_nan(weights, shared)
    signal = _added(frames, sequence_stride)
    start = fft_length // 2 if center else 0
    if signal.shape[-1] is None:
        found = signal[..., start:start + length] if length is not None else signal[..., start:-start or None]
        return found if length is None else tf.ensure_shape(found, [*found.shape[:-1], length])
    end = start + length if length is not None else signal.shape[-1] - (fft_length // 2 if center else 0)
    return signal[..., start:end]


__all__ = [name for name in OPERATIONS if name not in _before]
