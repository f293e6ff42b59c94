"""``tf.signal``: Fourier and cosine transforms, windows of signals and what is made of them.

Transforms are operations of the library (complex numbers, computed in double); all else is made of operations here.
"""

import math

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.creation import get_static_value
from leat._graph.ops import FUNCTIONS as F
from leat.math import real

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftnd", "fftshift", "frame", "hamming_window", "hann_window", "idct", "ifft",
    "ifft2d", "ifft3d", "ifftnd", "ifftshift", "inverse_mdct", "inverse_stft", "inverse_stft_window_fn", "irfft",
    "irfft2d", "irfft3d", "irfftnd", "kaiser_bessel_derived_window", "kaiser_window", "linear_to_mel_weight_matrix",
    "mdct", "mfccs_from_log_mel_spectrograms", "overlap_and_add", "rfft", "rfft2d", "rfft3d", "rfftnd", "stft",
    "vorbis_window"]


# ---- transforms ----

def _transformed(x, axes, inverse):
    return ops.call("fft", {"axes": list(axes), "inverse": inverse}, [x])[0]


def _last(x, rank, inverse):
    x = convert_to_tensor(x)
    if x.shape.rank is not None and x.shape.rank < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {x.shape.rank}")
    return _transformed(x, range(-rank, 0), inverse)


def fft(input, name=None):
    """The Fourier transform of complex numbers along the last dimension (``tf.signal.fft``)."""
    return _last(input, 1, False)


def fft2d(input, name=None):
    """The same over the last two dimensions (``tf.signal.fft2d``)."""
    return _last(input, 2, False)


def fft3d(input, name=None):
    """The same over the last three dimensions (``tf.signal.fft3d``)."""
    return _last(input, 3, False)


def ifft(input, name=None):
    """What ``fft`` makes the numbers of (``tf.signal.ifft``)."""
    return _last(input, 1, True)


def ifft2d(input, name=None):
    """What ``fft2d`` makes the numbers of (``tf.signal.ifft2d``)."""
    return _last(input, 2, True)


def ifft3d(input, name=None):
    """What ``fft3d`` makes the numbers of (``tf.signal.ifft3d``)."""
    return _last(input, 3, True)


def _static(value, what):
    """The integers of an argument, a list; None: there is none."""
    if value is None:
        return None
    found = value if isinstance(value, (int, list, tuple)) else get_static_value(convert_to_tensor(value))
    if found is None:
        raise NotImplementedError(f"{what} is not known while the function is traced; give it as a number of Python")
    return [int(one) for one in np.asarray(found).reshape(-1)]


def _lengths(fft_length, rank):
    lengths = _static(fft_length, "fft_length")
    if lengths is not None and (len(lengths) != rank or min(lengths) < 1):
        raise ValueError(f"fft_length must have {rank} positive numbers, found {lengths}")
    return lengths


def _resized(x, axis, size):
    """Cut off, or with zeros behind, to `size` numbers along an axis, which is negative."""
    known = x.shape[axis]
    if known == size:
        return x
    behind = (slice(None),) * (-axis - 1)
    x = x[(..., slice(0, size), *behind)] if known is None or known > size else x
    if known is not None and known > size:
        return x
    missing = size - known if known is not None else F["subtract"](size, F["shape"](x)[axis])
    paddings = [[0, 0]] * (x.shape.rank + axis) + [[0, missing]] + [[0, 0]] * (-axis - 1)
    out = F["pad"](x, paddings)
    return out if known is not None else F["ensure_shape"](out, [
        size if d == x.shape.rank + axis else dim for d, dim in enumerate(x.shape)])


def _real_argument(value, kind, rank, name):
    x = convert_to_tensor(value, dtype_hint=kind[0])
    if x.dtype not in kind:
        raise ValueError(f"{name} requires {' or '.join(str(one.name) for one in kind)} inputs, got: {x.dtype.name}")
    if x.shape.rank is not None and x.shape.rank < rank:
        raise ValueError(f"Shape {x.shape} must have rank at least {rank}")
    if x.shape.rank is None and rank > 1:
        raise NotImplementedError(f"{name} over {rank} dimensions needs the rank of its input; set it with "
                                  "ensure_shape")
    return x


_REAL, _COMPLEX = (dtypes.float32, dtypes.float64), (dtypes.complex64, dtypes.complex128)


def _rfft(value, fft_length, rank, name):
    x, lengths = _real_argument(value, _REAL, rank, name), _lengths(fft_length, rank)
    for axis in range(-rank, -1) if lengths else ():
        x = _resized(x, axis, lengths[axis])
    out = ops.call("rfft", {"length": lengths[-1]} if lengths else {}, [x])[0]
    return _transformed(out, range(-rank, -1), False) if rank > 1 else out


def _irfft(value, fft_length, rank, name):
    x, lengths = _real_argument(value, _COMPLEX, rank, name), _lengths(fft_length, rank)
    for axis in range(-rank, -1) if lengths else ():
        x = _resized(x, axis, lengths[axis])
    x = _transformed(x, range(-rank, -1), True) if rank > 1 else x
    return ops.call("irfft", {"length": lengths[-1]} if lengths else {}, [x])[0]


def rfft(input_tensor, fft_length=None, name=None):
    """The first half of the Fourier transform of real numbers along the last dimension (``tf.signal.rfft``).

    input_tensor: float32 or float64; fft_length: a list of one number, up to which lines are cut or filled up with 0.
    ValueError on other dtypes.
    """
    return _rfft(input_tensor, fft_length, 1, "RFFT")


def rfft2d(input_tensor, fft_length=None, name=None):
    """The same over the last two dimensions (``tf.signal.rfft2d``)."""
    return _rfft(input_tensor, fft_length, 2, "RFFT2D")


def rfft3d(input_tensor, fft_length=None, name=None):
    """The same over the last three dimensions (``tf.signal.rfft3d``)."""
    return _rfft(input_tensor, fft_length, 3, "RFFT3D")


def irfft(input_tensor, fft_length=None, name=None):
    """The real numbers whose ``rfft`` the input is; an even number, where `fft_length` says nothing
    (``tf.signal.irfft``)."""
    return _irfft(input_tensor, fft_length, 1, "IRFFT")


def irfft2d(input_tensor, fft_length=None, name=None):
    """The same over the last two dimensions (``tf.signal.irfft2d``)."""
    return _irfft(input_tensor, fft_length, 2, "IRFFT2D")


def irfft3d(input_tensor, fft_length=None, name=None):
    """The same over the last three dimensions (``tf.signal.irfft3d``)."""
    return _irfft(input_tensor, fft_length, 3, "IRFFT3D")


# ---- along any dimensions ----

def _axes_of(x, fft_length, axes, name):
    """The axes as negative numbers, the sizes of the transforms (None: as they are)."""
    if x.shape.rank is None:
        raise NotImplementedError(f"{name} needs the rank of its input; set it with ensure_shape")
    found, lengths = _static(axes, "axes"), _static(fft_length, "fft_length")
    if found is None:
        found = list(range(-(len(lengths) if lengths is not None else x.shape.rank), 0))
    if lengths is not None and len(lengths) != len(found):
        raise ValueError(f"fft_length has {len(lengths)} numbers for {len(found)} axes; give one for each")
    if not all(-x.shape.rank <= axis < x.shape.rank for axis in found):
        raise ValueError(f"axes {found} are not all dimensions of a tensor of rank {x.shape.rank}")
    return [axis % x.shape.rank - x.shape.rank for axis in found], lengths


def _weight(out, sizes, norm, inverse):
    """`out` divided as `norm` says: by nothing, by the root of the sizes' product, or by that; back the other way."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"Invalid norm: {norm}; expected None, \"backward\", \"ortho\" or \"forward\"")
    if norm in (None, "backward"):
        return out
    whole = F["cast"](F["reduce_prod"](F["stack"](sizes)), out.dtype.real_dtype)
    whole = F["sqrt"](whole) if norm == "ortho" else whole
    whole = F["cast"](whole, out.dtype)
    return F["multiply"](out, whole) if inverse else F["divide"](out, whole)


def _size(x, axis):
    return x.shape[axis] if x.shape[axis] is not None else F["shape"](x)[axis]


def _complex_nd(value, fft_length, axes, norm, inverse, name):
    x = convert_to_tensor(value, dtype_hint=dtypes.complex64)
    axes, lengths = _axes_of(x, fft_length, axes, name)
    for axis, length in zip(axes, lengths or ()):
        x = _resized(x, axis, length)
    return _weight(_transformed(x, axes, inverse), [_size(x, axis) for axis in axes], norm, inverse)


def fftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform along `axes`, all by default, cut or filled up to `fft_length` (``tf.signal.fftnd``).

    norm: "backward" (nothing is divided), "ortho" (by the root of the number of values) or "forward" (by it).
    """
    return _complex_nd(input_tensor, fft_length, axes, norm, False, "fftnd")


def ifftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """What ``fftnd`` makes the numbers of (``tf.signal.ifftnd``)."""
    return _complex_nd(input_tensor, fft_length, axes, norm, True, "ifftnd")


def _with_last(x, axis, function):
    """A function of the last dimension along another one."""
    if axis == -1:
        return function(x)
    order = list(range(x.shape.rank))
    order[axis], order[-1] = order[-1], order[axis]
    return F["transpose"](function(F["transpose"](x, order)), order)


def rfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The same of real numbers: of the last axis the first half (``tf.signal.rfftnd``)."""
    x = _real_argument(input_tensor, _REAL, 1, "RFFTND")
    axes, lengths = _axes_of(x, fft_length, axes, "rfftnd")
    for axis, length in zip(axes, lengths or ()):
        x = _resized(x, axis, length)
    sizes = [_size(x, axis) for axis in axes]
    out = _with_last(x, axes[-1], lambda x: ops.call("rfft", {}, [x])[0])
    return _weight(_transformed(out, axes[:-1], False) if axes[:-1] else out, sizes, norm, False)


def irfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The real numbers whose ``rfftnd`` the input is (``tf.signal.irfftnd``)."""
    x = _real_argument(input_tensor, _COMPLEX, 1, "IRFFTND")
    axes, lengths = _axes_of(x, fft_length, axes, "irfftnd")
    for axis, length in zip(axes[:-1], lengths or ()):
        x = _resized(x, axis, length)
    x = _transformed(x, axes[:-1], True) if axes[:-1] else x
    out = _with_last(x, axes[-1], lambda x: ops.call("irfft", {"length": lengths[-1]} if lengths else {}, [x])[0])
    return _weight(out, [_size(out, axis) for axis in axes], norm, True)


def _shifted(x, axes, share):
    x = convert_to_tensor(x)
    if axes is None and x.shape.rank is None:
        raise NotImplementedError("a shift of all axes needs the rank of its input; set it with ensure_shape")
    axes = list(range(x.shape.rank)) if axes is None else _static(axes, "axes")
    shape = F["shape"](x)
    return F["roll"](x, F["stack"]([share(shape[axis]) for axis in axes]), axes) if axes else x


def fftshift(x, axes=None, name=None):
    """Frequency 0 in the middle of each axis (``tf.signal.fftshift``)."""
    return _shifted(x, axes, lambda size: F["math.floordiv"](size, 2))


def ifftshift(x, axes=None, name=None):
    """What ``fftshift`` shifts, back (``tf.signal.ifftshift``)."""
    return _shifted(x, axes, lambda size: F["negative"](F["math.floordiv"](size, 2)))


# ---- cosine transforms ----

def _check_dct(kind, n, axis, norm, name):
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if kind not in (1, 2, 3, 4):
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported; found type {kind} for {name}")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if kind == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")


def _turns(count, angle, dtype):
    """2 e^(angle i k) for k below `count`."""
    angles = angle * np.arange(count)
    wide = dtypes.complex64 if dtype is dtypes.float32 else dtypes.complex128
    return F["cast"](convert_to_tensor(2 * np.exp(1j * angles)), wide)


def _ends(first, others, count, dtype):
    return convert_to_tensor(np.array([first] + [others] * (count - 1)).astype(dtype.as_numpy_dtype))


def _dct(x, kind, norm):
    size = x.shape[-1]
    if kind == 1:
        if size < 2:
            raise ValueError("DCT-I requires the dimension to be greater than one.")
        return real(rfft(F["concat"]([x, F["reverse"](x, [-1])[..., 1:-1]], -1)))
    root = math.sqrt(size)
    if kind == 2:
        turned = F["multiply"](rfft(x, [2 * size])[..., :size], _turns(size, -math.pi / 2 / size, x.dtype))
        out = real(turned)
        return out if norm is None else F["multiply"](out, _ends(0.5 / root, math.sqrt(0.5) / root, size, x.dtype))
    if kind == 3:
        x = F["multiply"](x, _ends(root, root * math.sqrt(0.5), size, x.dtype)) if norm else F["multiply"](x, size)
        turned = F["multiply"](_turns(size, math.pi / 2 / size, x.dtype), F["complex"](x, F["zeros_like"](x)))
        return irfft(turned, [2 * size])[..., :size]
    out = _dct(_resized(x, -1, 2 * size), 2, None)[..., 1::2]
    return out if norm is None else F["multiply"](out, math.sqrt(0.5) / root)


def _dct_of(value, kind, n, axis, norm, name):
    _check_dct(kind, n, axis, norm, name)
    x = convert_to_tensor(value, dtype_hint=dtypes.float32)
    if x.dtype not in _REAL:
        raise ValueError(f"{name} takes float32 or float64, got: {x.dtype.name}")
    x = x if n is None else _resized(x, -1, n)
    if not x.shape.rank or x.shape[-1] is None:
        raise ValueError(f"{name} needs to know the last dimension of its input, found shape {x.shape}; set it with "
                         "ensure_shape")
    return _dct(x, kind, norm)


def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The cosine transform of type 1, 2, 3 or 4 of the last dimension, cut or filled up to `n` numbers
    (``tf.signal.dct``). norm: None or "ortho"."""
    return _dct_of(input, type, n, axis, norm, "dct")


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of ``dct`` of that type; where `norm` is None 2 n times as large, of type 1 2 (n - 1) times
    (``tf.signal.idct``)."""
    return _dct_of(input, {2: 3, 3: 2}.get(type, type), n, axis, norm, "idct")


# ---- windows ----

def _window_length(length):
    return _static(length, "window_length")[0]


def _of_dtype(values, dtype):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"A window has a floating-point dtype; found {dtype.name}")
    return F["cast"](convert_to_tensor(np.asarray(values, np.float64)), dtype)


def _raised_cosine(length, periodic, dtype, middle):
    length = _window_length(length)
    if length == 1:
        return _of_dtype([1.0], dtype)
    periodic = bool(get_static_value(periodic) if hasattr(periodic, "dtype") else periodic)
    whole = length + (periodic and length % 2 == 0) - 1  # of an odd length, periodic or not, the same
    return _of_dtype(middle - (1 - middle) * np.cos(2 * math.pi * np.arange(length) / whole), dtype)


def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """Hann's window, a raised cosine (``tf.signal.hann_window``)."""
    return _raised_cosine(window_length, periodic, dtype, 0.5)


def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """Hamming's window (``tf.signal.hamming_window``)."""
    return _raised_cosine(window_length, periodic, dtype, 0.54)


def kaiser_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """Kaiser's window (``tf.signal.kaiser_window``); the larger `beta`, the narrower."""
    length = _window_length(window_length)
    if length == 1:
        return _of_dtype([1.0], dtype)
    return _of_dtype(np.kaiser(length, float(beta)), dtype)


def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """The window whose squares, half a window apart, add up to 1, made of Kaiser's
    (``tf.signal.kaiser_bessel_derived_window``)."""
    half = _window_length(window_length) // 2
    sums = np.cumsum(np.kaiser(half + 1, float(beta)))
    side = np.sqrt(sums[:-1] / sums[-1])
    return _of_dtype(np.concatenate([side, side[::-1]]), dtype)


def vorbis_window(window_length, dtype=dtypes.float32, name=None):
    """The power complementary window of Vorbis (``tf.signal.vorbis_window``)."""
    length = _window_length(window_length)
    return _of_dtype(np.sin(math.pi / 2 * np.sin(math.pi / length * (np.arange(length) + 0.5)) ** 2), dtype)


# ---- frames ----

def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Windows of `frame_length` values along `axis`, which start `frame_step` apart, in its place as [windows, length]
    (``tf.signal.frame``). pad_end: values that only fill a part of a window get one, too, with `pad_value` behind."""
    x = convert_to_tensor(signal)
    length, step = _static(frame_length, "frame_length")[0], _static(frame_step, "frame_step")[0]
    rank = x.shape.rank
    if rank is None:
        raise NotImplementedError("frame needs the rank of its input; set it with ensure_shape")
    if length < 1 or step < 1:
        raise ValueError(f"frame_length and frame_step must be at least 1; found {length} and {step}")
    axis = _static(axis, "axis")[0]
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is no dimension of a signal of rank {rank}")
    axis %= rank
    size = _size(x, axis)
    if pad_end:
        count = F["maximum"](0, F["math.floordiv"](F["add"](size, step - 1), step))
        missing = F["maximum"](0, F["subtract"](F["add"](F["multiply"](F["subtract"](count, 1), step), length), size))
        paddings = F["stack"]([F["stack"]([0, missing if d == axis else 0]) for d in range(rank)])
        x = F["pad"](x, paddings, constant_values=pad_value)
    else:
        count = F["maximum"](0, F["add"](F["math.floordiv"](F["subtract"](size, length), step), 1))
    starts = F["multiply"](F["range"](count), step)
    places = F["add"](F["expand_dims"](starts, 1), F["range"](length))
    out = F["gather"](x, places, axis=axis)
    if isinstance(size, int):
        dims = list(x.shape)
        known = -(-size // step) if pad_end else max(0, (size - length) // step + 1)
        return F["ensure_shape"](out, [*dims[:axis], known, length, *dims[axis + 1:]])
    return out


def overlap_and_add(signal, frame_step, name=None):
    """Windows [..., windows, length] added up where each starts `frame_step` behind the one before
    (``tf.signal.overlap_and_add``)."""
    x = convert_to_tensor(signal)
    if x.shape.rank is not None and x.shape.rank < 2:
        raise ValueError(f"Signal must have rank at least 2, found shape {x.shape}")
    step = _static(frame_step, "frame_step")[0]
    shape = F["shape"](x)
    count, length = (x.shape[d] if x.shape.rank is not None and x.shape[d] is not None else shape[d] for d in (-2, -1))
    size = F["add"](F["multiply"](F["subtract"](count, 1), step), length)
    places = F["add"](F["expand_dims"](F["multiply"](F["range"](count), step), 1), F["range"](length))
    flat = F["transpose"](F["reshape"](x, F["stack"]([-1, F["multiply"](count, length)])))
    sums = F["math.unsorted_segment_sum"](flat, F["reshape"](places, [-1]), F["maximum"](size, 0))
    out = F["reshape"](F["transpose"](sums), F["concat"]([shape[:-2], F["stack"]([size])], 0))
    if x.shape.rank is None or None in (x.shape[-1], x.shape[-2]):
        return out
    return F["ensure_shape"](out, [*x.shape[:-2], (count - 1) * step + length])


def _whole_power(length):
    return 1 << max(length - 1, 0).bit_length()


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None):
    """The ``rfft`` of windows of signals, [..., windows, fft_length // 2 + 1] (``tf.signal.stft``).

    fft_length: by default the power of 2 that is not below frame_length; window_fn: (length, dtype=) gives the weights;
    None: there are none.
    """
    x = convert_to_tensor(signals, dtype_hint=dtypes.float32)
    length = _static(frame_length, "frame_length")[0]
    size = _whole_power(length) if fft_length is None else _static(fft_length, "fft_length")[0]
    frames = frame(x, length, frame_step, pad_end=pad_end)
    if window_fn is not None:
        frames = F["multiply"](frames, window_fn(length, dtype=frames.dtype))
    return rfft(frames, [size])


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None):
    """The signals whose windows ``stft`` transformed: their inverses, weighted and added up
    (``tf.signal.inverse_stft``). ``inverse_stft_window_fn`` gives the weights that make the signals what they were."""
    x = convert_to_tensor(stfts, dtype_hint=dtypes.complex64)
    length = _static(frame_length, "frame_length")[0]
    size = _whole_power(length) if fft_length is None else _static(fft_length, "fft_length")[0]
    frames = _resized(irfft(x, [size]), -1, length)
    if window_fn is not None:
        frames = F["multiply"](frames, window_fn(length, dtype=frames.dtype))
    return overlap_and_add(frames, frame_step)


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """A function (frame_length, dtype) of the window that undoes what windows of `forward_window_fn` do
    (``tf.signal.inverse_stft_window_fn``)."""
    def inverse(frame_length, dtype):
        length, step = _static(frame_length, "frame_length")[0], _static(frame_step, "frame_step")[0]
        weights = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = F["reshape"](F["pad"](F["square"](weights), [[0, overlaps * step - length]]), [overlaps, step])
        shared = F["tile"](F["reduce_sum"](squares, 0), [overlaps])
        return F["divide"](weights, shared[:length])
    return inverse


_HALF = math.sqrt(0.5)


def mdct(signals, frame_length, window_fn=vorbis_window, pad_end=False, norm=None, name=None):
    """The modified cosine transform of windows that overlap by half, [..., windows, frame_length / 2]
    (``tf.signal.mdct``). frame_length: a multiple of 4; norm: None or "ortho"."""
    length = _static(frame_length, "frame_length")[0]
    if length % 4:
        raise ValueError(f"The frame length must be a multiple of 4, found {length}")
    x = convert_to_tensor(signals, dtype_hint=dtypes.float32)
    frames = frame(x, length, length // 2, pad_end=pad_end)
    frames = F["multiply"](frames, window_fn(length, dtype=frames.dtype) if window_fn is not None else _HALF)
    first, second, third, fourth = F["split"](frames, 4, axis=-1)
    folded = F["concat"]([F["subtract"](F["negative"](F["reverse"](third, [-1])), fourth),
                          F["subtract"](first, F["reverse"](second, [-1]))], -1)
    return dct(folded, type=4, norm=norm)


def inverse_mdct(mdcts, window_fn=vorbis_window, norm=None, name=None):
    """The signals whose ``mdct`` the input is (``tf.signal.inverse_mdct``)."""
    x = convert_to_tensor(mdcts, dtype_hint=dtypes.float32)
    half = x.shape[-1]
    if half is None:
        raise NotImplementedError("inverse_mdct needs the last dimension of its input; set it with ensure_shape")
    turned = dct(x, type=4, norm=norm)
    turned = turned if norm == "ortho" else F["multiply"](turned, 0.5 / half)
    first, second = F["split"](turned, 2, axis=-1)
    frames = F["concat"]([second, F["negative"](F["reverse"](second, [-1])), F["negative"](F["reverse"](first, [-1])),
                          F["negative"](first)], -1)
    frames = F["multiply"](frames, window_fn(2 * half, dtype=frames.dtype) if window_fn is not None else _HALF)
    return overlap_and_add(frames, half)


# ---- mel scale ----

def _check_mel(num_mel_bins, sample_rate, lower, upper, dtype):
    if num_mel_bins <= 0:
        raise ValueError("num_mel_bins must be positive. Got: %s" % num_mel_bins)
    if lower < 0:
        raise ValueError("lower_edge_hertz must be non-negative. Got: %s" % lower)
    if lower >= upper:
        raise ValueError("lower_edge_hertz %.1f >= upper_edge_hertz %.1f" % (lower, upper))
    if sample_rate <= 0:
        raise ValueError("sample_rate must be positive. Got: %s" % sample_rate)
    if upper > sample_rate / 2:
        raise ValueError("upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got %s for "
                         "sample_rate: %s" % (upper, sample_rate))
    if not dtype.is_floating:
        raise ValueError("dtype must be a floating point type. Got: %s" % dtype)


def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000, lower_edge_hertz=125.0,
                                upper_edge_hertz=3800.0, dtype=dtypes.float32, name=None):
    """What of each frequency belongs to each band, [num_spectrogram_bins, num_mel_bins]: triangles on the mel scale
    (``tf.signal.linear_to_mel_weight_matrix``). ValueError on ranges that are none."""
    dtype = dtypes.as_dtype(dtype)
    rate, lower, upper = (float(value) for value in (sample_rate, lower_edge_hertz, upper_edge_hertz))
    _check_mel(num_mel_bins, rate, lower, upper, dtype)
    to_mel = lambda hertz: 1127.0 * np.log1p(np.asarray(hertz) / 700.0)  # noqa: E731
    places = to_mel(np.linspace(0, rate / 2, num_spectrogram_bins)[1:])[:, None]
    edges = np.linspace(to_mel(lower), to_mel(upper), num_mel_bins + 2)[None]
    low, center, high = edges[:, :-2], edges[:, 1:-1], edges[:, 2:]
    weights = np.maximum(0, np.minimum((places - low) / (center - low), (high - places) / (high - center)))
    return F["cast"](convert_to_tensor(np.pad(weights, [[1, 0], [0, 0]])), dtype)  # the first frequency is 0


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """The cosine transform of logarithms of mel bands, normalised as HTK does it
    (``tf.signal.mfccs_from_log_mel_spectrograms``)."""
    x = convert_to_tensor(log_mel_spectrograms)
    bands = x.shape[-1]
    if not bands:
        raise ValueError("num_mel_bins must be positive. Got: %s" % bands)
    return F["multiply"](dct(x, type=2), 1 / math.sqrt(2 * bands))


ops.join(__name__)
