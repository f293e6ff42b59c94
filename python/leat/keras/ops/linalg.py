"""``keras.ops``: products and linear algebra."""

import leat as tf
from leat.keras._base.symbolic import KerasTensor
from leat.keras.ops import arrays, elementwise
from leat.keras.ops.promote import (OPERATIONS, define, dtype_name, floats, operation, places_of, specified, tensor,
                                    together)

_before = set(OPERATIONS)


# ---- products ----

def _small(product):
    """A product that takes any dtype: of truth values and small integers in float32, as Keras computes it."""
    def multiply(*operands):
        operands = together(*operands)
        dtype = operands[0].dtype
        if dtype in ("int32", "int64") or dtype.is_floating or dtype.is_complex:
            return product(*operands)
        return tf.cast(product(*[tf.cast(x, "float32") for x in operands]), dtype)
    return multiply


@operation
def matmul(x1, x2):
    """The product of matrices, vectors too (``keras.ops.matmul``)."""
    x1, x2 = tensor(x1), tensor(x2)
    if x1.dtype == x2.dtype == "int8" and 1 not in (len(x1.shape), len(x2.shape)):
        x1, x2 = tf.cast(x1, "int32"), tf.cast(x2, "int32")
    return _small(_matmul)(x1, x2)


def _matmul(x1, x2):
    left, right = len(x1.shape) == 1, len(x2.shape) == 1
    if left and right:
        return tf.reduce_sum(x1 * x2)
    product = tf.matmul(tf.expand_dims(x1, 0) if left else x1, tf.expand_dims(x2, -1) if right else x2)
    return tf.squeeze(product, [-2] if left else [-1]) if left or right else product


@operation
def dot(x1, x2):
    """numpy's dot product (``keras.ops.dot``)."""
    return _small(_dot)(x1, x2)


def _dot(x1, x2):
    if not len(x1.shape) or not len(x2.shape):
        return x1 * x2
    return tf.tensordot(x1, x2, [[-1], [0 if len(x2.shape) == 1 else -2]])


@operation
def vdot(x1, x2):
    """The sum of products of all elements (``keras.ops.vdot``)."""
    return _small(lambda a, b: tf.reduce_sum(tf.reshape(a, [-1]) * tf.reshape(b, [-1])))(x1, x2)


@operation
def inner(x1, x2):
    """Products summed over the last dimensions (``keras.ops.inner``)."""
    x1, x2 = tensor(x1), tensor(x2)
    if len(x1.shape) and len(x2.shape) and None not in (x1.shape[-1], x2.shape[-1]) and x1.shape[-1] != x2.shape[-1]:
        raise ValueError("`inner` requires the last dimension of `x1` and `x2` to match. Received: x1.shape="
                         f"{tuple(x1.shape)}, x2.shape={tuple(x2.shape)}.")
    return _small(lambda a, b: tf.tensordot(a, b, [[-1], [-1]]) if len(a.shape) and len(b.shape) else a * b)(x1, x2)


@operation
def outer(x1, x2):
    """Every element of one times every element of the other (``keras.ops.outer``)."""
    x1, x2 = together(x1, x2)
    return tf.reshape(x1, [-1, 1]) * tf.reshape(x2, [1, -1])


@operation
def tensordot(x1, x2, axes=2):
    """Products summed over dimensions (``keras.ops.tensordot``)."""
    axes = [[one] if isinstance(one, int) else list(one) for one in axes] if isinstance(axes, tuple) else axes
    return _small(lambda a, b: tf.tensordot(a, b, axes))(x1, x2)


@operation
def einsum(subscripts, *operands, **kwargs):
    """Einstein's sums (``keras.ops.einsum``)."""
    if operands and all(x.dtype == "int8" for x in map(tensor, operands)):
        operands = [tf.cast(tensor(x), "int32") for x in operands]
    return _small(lambda *values: tf.einsum(subscripts, *values))(*operands)


@operation
def cross(x1, x2, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of 3, or of 2 (``keras.ops.cross``)."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = together(x1, x2)
    x1, x2 = arrays.moveaxis(x1, axisa, -1), arrays.moveaxis(x2, axisb, -1)
    sizes = x1.shape[-1], x2.shape[-1]
    if not {*sizes} <= {2, 3}:
        raise ValueError(f"`x1`'s dim on `axis={axisa}` must be either 2 or 3, but received: {sizes[0]}; `x2`: "
                         f"{sizes[1]}")
    if sizes == (2, 2):
        return x1[..., 0] * x2[..., 1] - x1[..., 1] * x2[..., 0]
    x1, x2 = [x if size == 3 else tf.concat([x, tf.zeros_like(x[..., :1])], -1) for x, size in zip((x1, x2), sizes)]
    out = tf.stack([x1[..., one] * x2[..., two] - x1[..., two] * x2[..., one]
                    for one, two in ((1, 2), (2, 0), (0, 1))], -1)
    return arrays.moveaxis(out, -1, axisc)


@operation
def kron(x1, x2):
    """The Kronecker product of matrices (``keras.ops.kron``)."""
    x1, x2 = together(x1, x2)
    rank = max(len(x1.shape), len(x2.shape))
    for _ in range(rank):
        x1, x2 = [tf.expand_dims(x, 0) if len(x.shape) < rank else x for x in (x1, x2)]
    for axis in range(rank):
        x1, x2 = tf.expand_dims(x1, 2 * axis + 1), tf.expand_dims(x2, 2 * axis)
    product = x1 * x2
    known, shape = list(product.shape), tf.shape(product)
    sizes = [None if None in known[2 * axis:2 * axis + 2] else known[2 * axis] * known[2 * axis + 1]
             for axis in range(rank)]
    if None not in sizes:
        return tf.reshape(product, sizes)
    out = tf.reshape(product, tf.stack([shape[2 * axis] * shape[2 * axis + 1] for axis in range(rank)]))
    return tf.ensure_shape(out, sizes)


@operation
def correlate(x1, x2, mode="valid"):
    """The correlation of two vectors (``keras.ops.correlate``). `mode`: valid, same, full."""
    x1, x2 = together(x1, x2, floating=True)
    if len(x1.shape) != 1 or len(x2.shape) != 1:
        raise ValueError(f"`x1` and `x2` must be 1-dimensional. Received: x1.shape={tuple(x1.shape)}, x2.shape="
                         f"{tuple(x2.shape)}")
    n, m = x1.shape[0], x2.shape[0]
    padded = tf.pad(x1, [[m - 1, m - 1]])
    full = tf.linalg.matvec(tf.gather(padded, tf.range(n + m - 1)[:, None] + tf.range(m)[None, :]), x2)
    if mode == "full":
        return full
    count = max(n, m) if mode == "same" else max(n, m) - min(n, m) + 1
    start = (n + m - 1 - count) // 2 if mode == "same" else min(n, m) - 1
    return full[start:start + count]


@operation
def corrcoef(x):
    """The correlations of the rows (``keras.ops.corrcoef``)."""
    x = floats(x)
    if x.shape.rank == 0:
        return tf.constant(float("nan"), x.dtype)
    centred = x - tf.reduce_mean(x, -1, True)
    covariance = tf.matmul(centred, centred, adjoint_b=True) / tf.cast(tf.shape(x)[-1] - 1, x.dtype)
    deviations = tf.sqrt(tf.linalg.diag_part(covariance))
    return covariance / (deviations[:, None] * deviations[None, :])


@operation
def cdist(x, y):
    """The distances between the rows of two matrices (``keras.ops.cdist``)."""
    x, y = together(x, y, floating=True)
    if len(x.shape) < 2 or len(y.shape) < 2:
        raise ValueError("Inputs to `cdist` must have rank >= 2. Received shapes: "
                         f"x.shape={tuple(x.shape)}, y.shape={tuple(y.shape)}")
    if None not in (x.shape[-1], y.shape[-1]) and x.shape[-1] != y.shape[-1]:
        raise ValueError("The last dimension of inputs to `cdist` must match. Received shapes: "
                         f"x.shape={tuple(x.shape)}, y.shape={tuple(y.shape)}")
    return tf.sqrt(tf.reduce_sum(tf.square(x[..., :, None, :] - y[..., None, :, :]), -1))


# ---- norms ----

def _squares(x):
    return x * tf.math.conj(x) if x.dtype.is_complex else tf.square(x)


@operation
def norm(x, ord=None, axis=None, keepdims=False):
    """The length of vectors or the norm of matrices (``keras.ops.norm``). `ord` as numpy's."""
    x = floats(x)
    if axis is None and ord is None:
        out = tf.sqrt(tf.reduce_sum(_squares(x)))
        return tf.reshape(out, [1] * len(x.shape)) if keepdims else out
    if axis is None:
        axis = tuple(range(len(x.shape)))
    axis = places_of(axis, len(x.shape))
    if len(axis) == 1:
        return _vector_norm(x, ord, axis[0], keepdims)
    if len(axis) == 2:
        return _matrix_norm(x, ord, axis, keepdims)
    raise ValueError(f"Invalid axis: expected one or two dimensions with an order. Received: axis={axis}")


def _vector_norm(x, ord, axis, keepdims):
    if ord in (None, 2):
        return tf.sqrt(tf.reduce_sum(_squares(x), axis, keepdims))
    if ord == float("inf"):
        return tf.reduce_max(tf.abs(x), axis, keepdims)
    if ord == float("-inf"):
        return tf.reduce_min(tf.abs(x), axis, keepdims)
    if ord == 0:
        return tf.reduce_sum(tf.cast(tf.not_equal(x, 0), x.dtype), axis, keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid `ord` argument for vector norm. Received: ord={ord}")
    return tf.pow(tf.reduce_sum(tf.pow(tf.abs(x), tf.cast(ord, x.dtype)), axis, keepdims), tf.cast(1 / ord, x.dtype))


def _matrix_norm(x, ord, axis, keepdims):
    rows, columns = axis
    if ord in (None, "fro"):
        return tf.sqrt(tf.reduce_sum(_squares(x), [rows, columns], keepdims))
    folds = {1: (rows, columns, tf.reduce_max), -1: (rows, columns, tf.reduce_min),
             float("inf"): (columns, rows, tf.reduce_max), float("-inf"): (columns, rows, tf.reduce_min)}
    if ord in folds:
        first, second, fold = folds[ord]
        return_shape = tf.reduce_sum(tf.abs(x), first, True)
        out = fold(return_shape, second, True)
        return out if keepdims else tf.squeeze(out, [rows, columns])
    if ord in (2, -2, "nuc"):
        values = tf.linalg.svd(arrays.moveaxis(x, (rows, columns), (-2, -1)), compute_uv=False)
        out = {2: tf.reduce_max, -2: tf.reduce_min, "nuc": tf.reduce_sum}[ord](values, -1)
        return arrays.expand_dims(out, tuple(sorted((rows, columns)))) if keepdims else out
    raise ValueError(f"Invalid `ord` argument for matrix norm. Received: ord={ord}")


@operation
def normalize(x, axis=-1, order=2, epsilon=None):
    """Vectors divided by their length (``keras.ops.normalize``)."""
    x = floats(x)
    if not isinstance(order, int) or order < 1:
        raise ValueError(f"Argument `order` must be an int >= 1. Received: order={order}")
    x = x if len(x.shape) else tf.expand_dims(x, 0)
    if axis is not None:
        axis = places_of(axis, len(x.shape))
    epsilon = 1e-7 if epsilon is None else epsilon
    if order == 2:
        squares = tf.reduce_sum(_squares(x), axis, True)
        return x * tf.math.rsqrt(tf.maximum(squares, tf.cast(epsilon ** 2, x.dtype)))
    return x / tf.maximum(norm(x, order, axis, True), tf.cast(epsilon, x.dtype))


# ---- matrices ----

def _matrices(x, square=False):
    """Floats of two dimensions or more. ValueError for others, and for matrices that are not square."""
    x = floats(x)
    if len(x.shape) < 2:
        raise ValueError(f"Expected input to have rank >= 2. Received input with shape {tuple(x.shape)}.")
    if square and x.shape[-2] != x.shape[-1]:
        raise ValueError(f"Expected a square matrix. Received non-square input with shape {tuple(x.shape)}")
    return x


def _check_sides(a, b):
    """ValueError where a x = b has no solution for its shape."""
    rows = -2 if len(a.shape) == len(b.shape) else -1
    if len(b.shape) not in (len(a.shape) - 1, len(a.shape)) or not len(b.shape):
        raise ValueError("Incompatible shapes between `a` and `b`. They must have the same rank, or `b` one less. "
                         f"Received: a.shape={tuple(a.shape)}, b.shape={tuple(b.shape)}")
    if a.shape[rows] != b.shape[rows]:
        raise ValueError(f"Incompatible shapes between `a` and `b`. Expected `a.shape[{rows}] == b.shape[{rows}]`. "
                         f"Received: a.shape={tuple(a.shape)}, b.shape={tuple(b.shape)}")


def _of_matrices(name, function, text, square=True):
    def compute(x):
        return function(_matrices(x, square))
    define(globals(), name, compute, f"{text} (``keras.ops.{name}``).")


_of_matrices("det", tf.linalg.det, "The determinants")
_of_matrices("inv", tf.linalg.inv, "The inverses")
_of_matrices("eig", lambda x: tuple(tf.linalg.eig(x)), "(eigenvalues, eigenvectors) of square matrices")
_of_matrices("eigh", lambda x: tuple(tf.linalg.eigh(x)), "(eigenvalues, eigenvectors) of symmetric matrices")
_of_matrices("logdet", lambda x: tf.linalg.slogdet(x)[1], "The logarithms of determinants")
_of_matrices("slogdet", lambda x: tuple(tf.linalg.slogdet(x)), "(signs, logarithms) of determinants")


@operation
def cholesky_inverse(x, upper=False):
    """The inverses of the matrices of Cholesky factors (``keras.ops.cholesky_inverse``); `upper`: of upper ones."""
    x = _matrices(x, square=True)
    factor = arrays.swapaxes(x, -1, -2) if upper else x
    identity = tf.eye(x.shape[-1], dtype=x.dtype)
    inverse = tf.linalg.triangular_solve(factor, tf.zeros_like(x) + identity, lower=True)
    return tf.matmul(inverse, inverse, transpose_a=True)


def _spec_of_lu(x):
    shape = tuple(x.shape)
    if len(shape) < 2:
        raise ValueError(f"Expected input to have rank >= 2. Received input with shape {shape}.")
    least = None if None in shape[-2:] else min(shape[-2:])
    return KerasTensor(shape, dtype_name(x.dtype)), KerasTensor((*shape[:-2], least), "int32")


@specified(_spec_of_lu)
@operation
def lu_factor(x):
    """(lower and upper triangle in one matrix, the order of the rows) (``keras.ops.lu_factor``)."""
    factors, order = tf.linalg.lu(_matrices(x))
    return factors, tf.argsort(order)


def jvp(fun, primals, tangents, has_aux=False):
    """(what a function gives, how it changes along `tangents`) (``keras.ops.jvp``); `has_aux`: and its second."""
    primals = [tensor(one) for one in primals]
    tangents = [tensor(one, primal.dtype) for one, primal in zip(tangents, primals)]
    with tf.autodiff.ForwardAccumulator(primals, tangents) as forward:
        out = fun(*primals)
        out, more = out if has_aux else (out, ())
    moved = forward.jvp(out, unconnected_gradients="zero")
    return (out, moved, more) if has_aux else (out, moved)


@operation
def cholesky(x, upper=False):
    """The factors of positive definite matrices (``keras.ops.cholesky``)."""
    try:
        factor = tf.debugging.check_numerics(tf.linalg.cholesky(_matrices(x, square=True)), "cholesky")
    except tf.errors.InvalidArgumentError as error:
        raise ValueError("Cholesky failed: expected positive definite matrices, found one that is not "
                         f"({error.message})") from None
    return arrays.swapaxes(factor, -1, -2) if upper else factor


@operation
def qr(x, mode="reduced"):
    """(orthogonal, triangular) factors (``keras.ops.qr``). `mode`: reduced, complete."""
    if mode not in ("reduced", "complete"):
        raise ValueError("`mode` argument value not supported. Expected one of {'reduced', 'complete'}. Received: "
                         f"mode={mode}")
    return tf.linalg.qr(_matrices(x), full_matrices=mode == "complete")


@operation
def svd(x, full_matrices=True, compute_uv=True):
    """(u, singular values, v transposed) (``keras.ops.svd``)."""
    found = tf.linalg.svd(_matrices(x), full_matrices=full_matrices, compute_uv=compute_uv)
    if not compute_uv:
        return found
    values, u, v = found
    return u, values, arrays.swapaxes(v, -1, -2)


@operation
def solve(a, b):
    """x of a x = b (``keras.ops.solve``)."""
    a, b = together(a, b, floating=True)
    _matrices(a, square=True)
    _check_sides(a, b)
    if len(b.shape) == len(a.shape) - 1:
        return tf.squeeze(tf.linalg.solve(a, tf.expand_dims(b, -1)), [-1])
    return tf.linalg.solve(a, b)


@operation
def solve_triangular(a, b, lower=False):
    """x of a x = b for triangular matrices (``keras.ops.solve_triangular``)."""
    a, b = together(a, b, floating=True)
    _matrices(a, square=True)
    _check_sides(a, b)
    if len(b.shape) == len(a.shape) - 1:
        return tf.squeeze(tf.linalg.triangular_solve(a, tf.expand_dims(b, -1), lower=lower), [-1])
    return tf.linalg.triangular_solve(a, b, lower=lower)


@operation
def pinv(x, rcond=None):
    """The pseudo-inverses (``keras.ops.pinv``)."""
    return tf.linalg.pinv(_matrices(x), rcond)


@operation
def matrix_rank(x, tol=None):
    """The ranks of matrices (``keras.ops.matrix_rank``)."""
    return tf.linalg.matrix_rank(_matrices(x), tol)


@operation
def lstsq(a, b, rcond=None):
    """The least squares solutions (``keras.ops.lstsq``)."""
    a, b = together(a, b, floating=True)
    vector = len(b.shape) == len(a.shape) - 1
    out = tf.matmul(tf.linalg.pinv(a, rcond), tf.expand_dims(b, -1) if vector else b)
    return tf.squeeze(out, [-1]) if vector else out


__all__ = [name for name in elementwise.OPERATIONS if name not in _before] + ["jvp"]
