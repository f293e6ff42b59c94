#!/usr/bin/env python3
"""Record cases of the parts of complex numbers and of Fourier transforms from TensorFlow.

    complex_cases.py tests/conform/ops

Writes one file for each operation. Needs TensorFlow 2.21.
"""
import sys

from op_recorder import DTYPE, F32, F64, SHAPE, VALUE, floats, np, record, tf, write


def numbers(*shape, dtype=np.complex64):
    return (floats(*shape, dtype=F64) + 1j * floats(*shape, dtype=F64)).astype(dtype)


C64, C128 = np.complex64, np.complex128
EDGES = np.array([0, -1, 1j, complex(0, -np.inf), complex(np.inf, 2), 1e30 - 1e30j], C64)

# ---- parts ----
for op in ("angle", "conj", "imag", "real"):
    call = getattr(tf.math, op)
    close = {"tolerance": 1e-6} if op == "angle" else {}
    record(op, "values", call, [numbers(2, 3)], **close)
    record(op, "complex128", call, [numbers(4, dtype=C128)], **({"tolerance": 1e-14} if close else {}))
    record(op, "edges", call, [EDGES], **close)
    record(op, "scalar", call, [C64(-2 + 1j)], **close)
    record(op, "empty", call, [np.zeros((0, 2), C64)])
record("complex", "float32", tf.complex, [floats(2, 3), floats(2, 3)])
record("complex", "float64", tf.complex, [floats(3, dtype=F64), floats(2, 1, dtype=F64)])
record("complex", "edges", tf.complex, [F32([np.inf, 0.0]), F32([np.nan, -np.inf])])
record("complex", "empty", tf.complex, [np.zeros((0, 2), F32), F32(1)])
record("complex", "shapes_differ", tf.complex, [floats(2), floats(3)], fails=(SHAPE, "broadcast"))
record("complex", "dtypes_differ", tf.complex, [F32(1), F64(1)], fails=(DTYPE, "dtype"))
record("complex", "integers", tf.complex, [np.int32(1), np.int32(1)], fails=(DTYPE, "int32"))

# ---- transforms ----
LOOSE, CLOSE = {"tolerance": 2e-6}, {"tolerance": 1e-13}


def fft(x, axes, inverse=False):
    """One dimension after the other: TensorFlow has no kernel of fftnd."""
    for axis in axes:
        turned = (tf.signal.ifft if inverse else tf.signal.fft)(tf.experimental.numpy.swapaxes(x, axis, -1))
        x = tf.experimental.numpy.swapaxes(turned, axis, -1)
    return x


def of_last(x, axes, inverse=False):
    return {1: (tf.signal.fft, tf.signal.ifft), 2: (tf.signal.fft2d, tf.signal.ifft2d),
            3: (tf.signal.fft3d, tf.signal.ifft3d)}[len(axes)][inverse](x)


for n in (1, 2, 3, 5, 8, 12, 49, 101):  # 101 is a prime that goes another way
    record("fft", "size_%d" % n, of_last, [numbers(2 if n < 9 else 1, n)], {"axes": [-1]}, **LOOSE)
    record("fft", "back_%d" % n, of_last, [numbers(n, dtype=C128)], {"axes": [-1], "inverse": True}, **CLOSE)
for rank in (2, 3):
    for back in (False, True):
        axes = list(range(-rank, 0))
        record("fft", "rank_%d%s" % (rank, "_back" * back), of_last, [numbers(2, 2, 3, 4, dtype=C128)],
               {"axes": axes, "inverse": back}, **CLOSE)
record("fft", "first", fft, [numbers(6, 4)], {"axes": [0]}, **LOOSE)
record("fft", "first_and_last", fft, [numbers(3, 2, 4)], {"axes": [2, 0], "inverse": True}, **LOOSE)
record("fft", "no_lines", of_last, [np.zeros((0, 4), C64)], {"axes": [-1]})
record("fft", "no_numbers", of_last, [np.zeros((3, 0), C64)], {"axes": [-1]})
record("fft", "reals", of_last, [floats(4)], {"axes": [-1]}, fails=(DTYPE, "float32"))
record("fft", "scalar", of_last, [C64(1)], {"axes": [-1]}, fails=(SHAPE, "axis"))


def rfft(x, length=-1):
    return tf.signal.rfft(x, None if length < 0 else [length])


def irfft(x, length=-1):
    return tf.signal.irfft(x, None if length < 0 else [length])


for n in (1, 2, 3, 4, 5, 12, 101):
    record("rfft", "size_%d" % n, rfft, [floats(2 if n < 9 else 1, n)], **LOOSE)
    record("irfft", "size_%d" % n, irfft, [numbers(2 if n < 9 else 1, n // 2 + 1)], {"length": n}, **LOOSE)
for n in (8, 9):
    record("rfft", "wide_%d" % n, rfft, [floats(n, dtype=F64)], **CLOSE)
    record("irfft", "wide_%d" % n, irfft, [numbers(n // 2 + 1, dtype=C128)], {"length": n}, **CLOSE)
for n in (3, 6, 9):
    record("rfft", "of_6_as_%d" % n, rfft, [floats(2, 6)], {"length": n}, **LOOSE)
    record("irfft", "of_4_as_%d" % n, irfft, [numbers(2, 4)], {"length": n}, **LOOSE)
record("irfft", "whole", irfft, [numbers(3, 5)], **LOOSE)
record("rfft", "no_lines", rfft, [np.zeros((0, 4), F32)])
record("irfft", "no_lines", irfft, [np.zeros((0, 4), C64)])
record("rfft", "complex", rfft, [numbers(4)], fails=(DTYPE, "complex64"))
record("irfft", "reals", irfft, [floats(4)], fails=(DTYPE, "float32"))
record("rfft", "scalar", rfft, [F32(1)], {"length": 4}, fails=(SHAPE, "scalar"))
record("irfft", "scalar", irfft, [C64(1)], {"length": 4}, fails=(SHAPE, "scalar"))
record("rfft", "no_length", lambda x, length: tf.signal.rfft(x, [-3]), [floats(4)], {"length": -3}, fails=(VALUE, "length"))
write(sys.argv[1])
