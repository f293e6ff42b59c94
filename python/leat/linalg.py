"""``tf.linalg``: functions made of operations, as TensorFlow makes them. The library's operations join them."""

import numpy as np

from leat import dtypes
from leat._core import later
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat.math import l2_normalize, real

__all__ = ["adjoint", "cholesky_solve", "cross", "einsum", "expm", "l2_normalize", "logdet",
           "lstsq", "lu_matrix_inverse", "lu_reconstruct", "lu_solve", "matmul", "matrix_rank", "matrix_transpose",
           "matvec", "norm", "normalize", "pinv", "tensor_diag", "tensor_diag_part", "tensordot", "trace"]


# ---- matrices ----

def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """The last two dimensions exchanged (``tf.linalg.matrix_transpose``)."""
    a = ops.conjugated(convert_to_tensor(a)) if conjugate else convert_to_tensor(a)
    rank = a.shape.rank
    if rank is None:
        return ops.call("einsum", {"equation": "...ij->...ji"}, [a])[0]
    if rank < 2:
        raise ValueError(f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {a} with shape: "
                         f"{a.shape}")
    return F["transpose"](a, [*range(rank - 2), rank - 1, rank - 2])


def adjoint(matrix, name=None):
    """The conjugates of the matrices, transposed (``tf.linalg.adjoint``)."""
    return matrix_transpose(matrix, conjugate=True)


def trace(x, name=None):
    """The sum of the main diagonals (``tf.linalg.trace``)."""
    return F["reduce_sum"](F["linalg.diag_part"](x), [-1])


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
           b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None):
    """Products of matrices (``tf.linalg.matmul``)."""
    for side, transposed, adjoined in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
        if transposed and adjoined:
            raise ValueError(f"Only one of `transpose_{side}` and `adjoint_{side}` can be True. Received "
                             f"`transpose_{side}`={transposed}, `adjoint_{side}`={adjoined}.")
    if output_type is not None:  # products and sums are of that type
        a, b = (F["cast"](convert_to_tensor(x), output_type) for x in (a, b))
    transpose_a, transpose_b = bool(transpose_a or adjoint_a), bool(transpose_b or adjoint_b)
    if not hasattr(a, "_is_leaf_value") and not hasattr(b, "_is_leaf_value"):
        a = convert_to_tensor(a, dtype_hint=getattr(b, "dtype", None))
        b = convert_to_tensor(b, a.dtype)
        a, b = (ops.conjugated(x) if adjoined else x for x, adjoined in ((a, adjoint_a), (b, adjoint_b)))
        if a.dtype in (dtypes.int32, dtypes.int64) or _spreads(a.shape, b.shape):
            sides = f"...{'ji' if transpose_a else 'ij'},...{'kj' if transpose_b else 'jk'}->...ik"
            return ops.call("einsum", {"equation": sides}, [a, b])[0]
    return F["matmul"](a, b, transpose_a, transpose_b)


def einsum(equation, *inputs, **kwargs):
    """Sums of products, by a text that names dimensions (``tf.einsum``); '...' stands for further ones."""
    return ops.dispatch("einsum", (list(inputs),), (equation.replace(" ", ""),))


def _spreads(a, b):
    """Do the dimensions before the matrices broadcast, other than over one matrix on the right?"""
    if a.rank is None or b.rank is None or min(a.rank, b.rank) < 2 or b.rank == 2:
        return False
    return a.rank != b.rank or any(x is not None and y is not None and x != y for x, y in zip(a[:-2], b[:-2]))


def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """Matrices times vectors (``tf.linalg.matvec``)."""
    a = ops.conjugated(convert_to_tensor(a, dtype_hint=getattr(b, "dtype", None))) if adjoint_a else a
    product = matmul(a, F["expand_dims"](b, -1), transpose_a or adjoint_a)
    return F["squeeze"](product, [-1])


def tensor_diag(diagonal, name=None):
    """Zeros of twice the rank with `diagonal` where both halves of the place agree (``tf.linalg.tensor_diag``)."""
    diagonal = convert_to_tensor(diagonal)
    if diagonal.shape.rank == 1:
        return F["linalg.diag"](diagonal)
    shape = F["shape"](diagonal)
    flat = F["linalg.diag"](F["reshape"](diagonal, [-1]))
    return F["reshape"](flat, F["concat"]([shape, shape], 0))


def tensor_diag_part(input, name=None):
    """The values where both halves of the place agree (``tf.linalg.tensor_diag_part``)."""
    x = convert_to_tensor(input)
    rank = x.shape.rank
    if rank is None or rank % 2:
        raise ValueError(f"tensor_diag_part needs an even known rank; found {x.shape}")
    if rank == 2 and x.shape.is_fully_defined() and x.shape[0] == x.shape[1]:
        return F["linalg.diag_part"](x)
    shape = F["shape"](x)[:rank // 2]
    count = F["reduce_prod"](shape)
    return F["reshape"](F["linalg.diag_part"](F["reshape"](x, [count, count])), shape)


def cross(a, b, name=None):
    """The cross product of vectors of three along the last dimension (``tf.linalg.cross``)."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    after = lambda x: F["roll"](x, [-1], [-1])  # noqa: E731
    return after(F["subtract"](F["multiply"](a, after(b)), F["multiply"](after(a), b)))


def tensordot(a, b, axes, name=None):
    """Products summed over `axes`: a number of last and first dimensions, or lists of a's and b's
    (``tf.tensordot``)."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    if a.shape.rank is None or b.shape.rank is None:
        raise ValueError("tensordot needs inputs of known rank; set them with ensure_shape")
    axes_a, axes_b = _dot_axes(a.shape.rank, b.shape.rank, axes)
    flat_a, free_a = _as_matrix(a, axes_a, False)
    flat_b, free_b = _as_matrix(b, axes_b, True)
    product = F["matmul"](flat_a, flat_b) if a.dtype._is_trainable else ops.call(
        "einsum", {"equation": "ij,jk->ik"}, [flat_a, flat_b])[0]
    out = F["reshape"](product, F["concat"]([free_a, free_b], 0))
    if out.shape.is_fully_defined():
        return out
    return F["ensure_shape"](out, [x.shape[axis] for x, axes in ((a, axes_a), (b, axes_b))
                                   for axis in range(x.shape.rank) if axis not in axes])


def _dot_axes(rank_a, rank_b, axes):
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if axes > rank_a:
            raise ValueError(f"`axes` must not be larger than the number of dimensions of tensor. Received {axes}, vs "
                             f"tensor dimensions {rank_a}.")
        return list(range(rank_a - axes, rank_a)), list(range(axes))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    first, second = ([one] if isinstance(one, (int, np.integer)) else list(one) for one in axes)
    if len(first) != len(second):
        raise ValueError(f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}.")
    return [axis % rank_a for axis in first], [axis % rank_b for axis in second]


def _as_matrix(x, axes, is_second):
    """x with the dimensions of `axes` as columns (rows of the second operand), and the shape of the others."""
    free = [axis for axis in range(x.shape.rank) if axis not in axes]
    turned = F["transpose"](x, axes + free if is_second else free + axes)
    shape = F["shape"](x)
    kept = F["gather"](shape, convert_to_tensor(np.array(free, np.int32)))
    summed = F["reduce_prod"](F["gather"](shape, convert_to_tensor(np.array(axes, np.int32))))
    rows = F["reduce_prod"](kept)
    return F["reshape"](turned, [summed, rows] if is_second else [rows, summed]), kept


# ---- equations and factors ----

def logdet(matrix, name=None):
    """The logarithms of the determinants of self-adjoint positive definite matrices (``tf.linalg.logdet``)."""
    roots = real(F["linalg.diag_part"](F["linalg.cholesky"](matrix)))
    return F["multiply"](2.0, F["reduce_sum"](F["math.log"](roots), [-1]))


def cholesky_solve(chol, rhs, name=None):
    """The X of A X = rhs by the triangles that ``cholesky`` gives of A (``tf.linalg.cholesky_solve``)."""
    half = F["linalg.triangular_solve"](chol, rhs)
    return F["linalg.triangular_solve"](chol, half, adjoint=True)


def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """The X for which matrix X is nearest to rhs, the shortest where there are several (``tf.linalg.lstsq``).

    By the normal equations, to whose diagonal `l2_regularizer` is added; with fast=False by singular values, which
    matrices without full rank need.
    """
    a, b = convert_to_tensor(matrix), convert_to_tensor(rhs)
    if not fast:
        return matmul(_pinv(a, float(np.finfo(a.dtype.as_numpy_dtype).eps) * max(_size(a, -2), _size(a, -1))), b)
    tall = _size(a, -2) >= _size(a, -1)
    products = matmul(a, a, adjoint_a=tall, adjoint_b=not tall)
    diagonal = F["add"](F["linalg.diag_part"](products), F["cast"](convert_to_tensor(l2_regularizer), a.dtype))
    chol = F["linalg.cholesky"](F["linalg.set_diag"](products, diagonal))
    return cholesky_solve(chol, matmul(a, b, adjoint_a=True)) if tall else (
        matmul(a, cholesky_solve(chol, b), adjoint_a=True))


def _size(x, axis):
    """A dimension of matrices that has to be known."""
    size = None if x.shape.rank is None else x.shape[axis]
    if size is None:
        raise ValueError("expected matrices of known sizes; set them with ensure_shape")
    return size


def pinv(a, rcond=None, validate_args=False, name=None):
    """The inverses of Moore and Penrose (``tf.linalg.pinv``).

    Singular values up to `rcond` times the largest one count as 0; None: 10 * the larger dimension * epsilon.
    """
    a = convert_to_tensor(a)
    if not a.dtype.is_floating:
        raise TypeError("Input `a` must have `float`-like `dtype` (saw {}).".format(a.dtype.name))
    if rcond is None:
        rcond = 10.0 * max(_size(a, -2), _size(a, -1)) * np.finfo(a.dtype.as_numpy_dtype).eps
    return _pinv(a, rcond)


def _pinv(a, rcond):
    s, u, v = F["linalg.svd"](a)
    least = F["multiply"](F["expand_dims"](convert_to_tensor(rcond, dtype=s.dtype), -1), F["reduce_max"](s, -1, True))
    s = F["where"](F["greater"](s, least), s, convert_to_tensor(np.inf, s.dtype))
    return matmul(F["divide"](v, F["cast"](F["expand_dims"](s, -2), v.dtype)), u, adjoint_b=True)


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """How many singular values are larger than `tol`, an int32 (``tf.linalg.matrix_rank``).

    None: the largest one * the larger dimension * epsilon.
    """
    a = convert_to_tensor(a)
    s = F["linalg.svd"](a, compute_uv=False)
    if tol is None:
        factor = float(np.finfo(a.dtype.as_numpy_dtype).eps) * max(_size(a, -2), _size(a, -1))
        tol = F["multiply"](convert_to_tensor(factor, s.dtype), F["reduce_max"](s, -1, True))
    return F["reduce_sum"](F["cast"](F["greater"](s, tol), dtypes.int32), -1)


def _triangles(lower_upper):
    lower = F["linalg.band_part"](lower_upper, -1, 0)
    ones = F["ones_like"](F["linalg.diag_part"](lower_upper))
    return F["linalg.set_diag"](lower, ones), F["linalg.band_part"](lower_upper, 0, -1)


def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """The matrices whose factors ``lu`` gave (``tf.linalg.lu_reconstruct``)."""
    lower, upper = _triangles(convert_to_tensor(lower_upper))
    rows = F["argsort"](convert_to_tensor(perm))
    return F["gather"](matmul(lower, upper), rows, batch_dims=rows.shape.rank - 1, axis=rows.shape.rank - 1)


def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """The X of A X = rhs by the factors that ``lu`` gave of A (``tf.linalg.lu_solve``)."""
    lower_upper, perm, rhs = map(convert_to_tensor, (lower_upper, perm, rhs))
    lower, _ = _triangles(lower_upper)
    at = perm.shape.rank - 1
    half = F["linalg.triangular_solve"](lower, F["gather"](rhs, perm, batch_dims=at, axis=at))
    return F["linalg.triangular_solve"](lower_upper, half, lower=False)


def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverses of the matrices whose factors ``lu`` gave (``tf.linalg.lu_matrix_inverse``)."""
    x = convert_to_tensor(lower_upper)
    ones = F["linalg.diag"](F["ones_like"](F["linalg.diag_part"](x)))
    return lu_solve(x, perm, ones)


# The coefficients of Pade's quotients for exp by degree; a dtype's degree, and the norm up to which it is exact.
_PADE = {7: (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1),
         13: (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
              10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1)}
_EXACT = {dtypes.float32: (7, 3.925724783138660), dtypes.float64: (13, 5.371920351148152)}


def expm(input, name=None):
    """The exponential of square matrices (``tf.linalg.expm``).

    Matrices are halved until Pade's quotient is exact, and its result squared as often.
    """
    from leat._graph.control import while_loop
    x = convert_to_tensor(input)
    if x.shape.rank is not None and x.shape.num_elements() == 0:
        return x
    if x.dtype.real_dtype not in _EXACT:
        raise TypeError(f"expm takes floats and complex numbers, found {x.dtype.name}; cast it")
    degree, limit = _EXACT[x.dtype.real_dtype]
    size = F["reduce_max"](F["reduce_sum"](F["abs"](x), -2, True), -1, True)
    halvings = F["maximum"](F["math.ceil"](F["divide"](F["math.log"](F["divide"](size, limit)), float(np.log(2)))), 0.0)
    halvings = F["where"](F["math.is_finite"](halvings), halvings, F["zeros_like"](halvings))
    x = F["divide"](x, F["cast"](F["pow"](convert_to_tensor(2, halvings.dtype), halvings), x.dtype))
    one = F["linalg.diag"](F["ones_like"](F["linalg.diag_part"](x)))
    square, power, odd, even = matmul(x, x), one, None, None
    for low, high in zip(_PADE[degree][::2], _PADE[degree][1::2]):
        terms = F["multiply"](power, float(low)), F["multiply"](power, float(high))
        even, odd = terms if odd is None else (F["add"](even, terms[0]), F["add"](odd, terms[1]))
        power = matmul(power, square)
    odd = matmul(x, odd)
    out = F["linalg.solve"](F["subtract"](even, odd), F["add"](even, odd))
    most = F["reduce_max"](halvings)
    return while_loop(lambda i, _: F["less"](i, most), lambda i, y: (
        F["add"](i, 1.0), F["where"](F["less"](i, halvings), matmul(y, y), y)), (F["zeros_like"](most), out))[1]


# ---- norms ----

def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """The norm of vectors, or of matrices where `axis` names two dimensions (``tf.norm``).

    `ord`: 'euclidean' (Frobenius' for matrices), 1, 2, numpy.inf, or for vectors any positive number.
    """
    x = convert_to_tensor(tensor)
    keepdims = bool(keepdims)
    is_matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    if isinstance(axis, (list, tuple)) and len(axis) not in (1, 2):
        raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers, got %s" % (axis,))
    if is_matrix and axis[0] == axis[1]:
        raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers, got %s" % (axis,))
    if ord not in ("fro", "euclidean", 1, 2, np.inf) and (is_matrix or isinstance(ord, str) or ord <= 0):
        raise ValueError(f"'ord' must be a supported {'matrix' if is_matrix else 'vector'} norm, got {ord}")
    if ord == "fro" and not is_matrix:
        raise ValueError("'ord' must be a supported vector norm, got fro")
    if is_matrix and ord in (1, np.inf):
        first, second = axis if ord == 1 else axis[::-1]
        sums = F["reduce_sum"](F["abs"](x), first, True)
        out = F["reduce_max"](sums, second, True)
        return out if keepdims else F["squeeze"](out, list(axis))
    if is_matrix and ord == 2:
        return _spectral_norm(x, axis, keepdims)
    if ord in ("fro", "euclidean", 2):
        return F["sqrt"](F["reduce_sum"](F["multiply"](x, ops.conjugated(x)), axis, keepdims))
    if ord == 1:
        return F["reduce_sum"](F["abs"](x), axis, keepdims)
    if ord == np.inf:
        return F["reduce_max"](F["abs"](x), axis, keepdims)
    power = convert_to_tensor(ord, dtype=x.dtype.real_dtype)
    return F["pow"](F["reduce_sum"](F["pow"](F["abs"](x), power), axis, keepdims), F["divide"](1.0, power))


def _spectral_norm(x, axis, keepdims):
    """The largest singular values of the matrices of two dimensions."""
    rank = x.shape.rank
    if rank is None:
        raise ValueError("norm needs an input of known rank; set it with ensure_shape")
    places = [one % rank for one in axis]
    order = [one for one in range(rank) if one not in places] + places
    out = F["reduce_max"](F["linalg.svd"](F["transpose"](x, order), compute_uv=False), -1)
    for place in sorted(places) if keepdims else ():
        out = F["expand_dims"](out, place)
    return out


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """(tensor divided by its norm, the norm) (``tf.linalg.normalize``)."""
    tensor = convert_to_tensor(tensor)
    size = norm(tensor, ord, axis, True)
    return F["divide"](tensor, F["cast"](size, tensor.dtype)), size


_HOMES = {
    "leat._api.arrays": "global_norm",
    "leat._linalg.operators": "LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag "
                              "LinearOperatorBlockLowerTriangular LinearOperatorCirculant LinearOperatorCirculant2D "
                              "LinearOperatorCirculant3D LinearOperatorComposition LinearOperatorDiag "
                              "LinearOperatorFullMatrix LinearOperatorHouseholder LinearOperatorIdentity "
                              "LinearOperatorInversion LinearOperatorKronecker LinearOperatorLowRankUpdate "
                              "LinearOperatorLowerTriangular LinearOperatorPermutation LinearOperatorScaledIdentity "
                              "LinearOperatorToeplitz LinearOperatorTridiag LinearOperatorZeros",
    "leat._linalg.tridiagonal": "eigh_tridiagonal tridiagonal_matmul tridiagonal_solve",
}
ops.join(__name__, homes=_HOMES)
later.new_module("leat.linalg.experimental")
later.module("leat.linalg.experimental", {}, homes={"leat._linalg.functions": "conjugate_gradient"})
