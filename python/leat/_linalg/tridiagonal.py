"""``tf.linalg``: matrices with three diagonals."""

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F

__all__ = ["dense", "eigh_tridiagonal", "lines", "product", "tridiagonal_matmul",
           "tridiagonal_solve", "turned"]


def lines(diagonals, form):
    """(above, main, below), all as long as the main one; the last of the first and the first of the last count
    nothing."""
    if form == "compact":
        x = convert_to_tensor(diagonals)
        if x.shape.rank is not None and (x.shape.rank < 2 or x.shape[-2] not in (None, 3)):
            raise ValueError(f"Expected diagonals to have a dimension of 3 before the last. Found shape: {x.shape}")
        return x[..., 0, :], x[..., 1, :], x[..., 2, :]
    if form == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, main, below = (convert_to_tensor(one) for one in diagonals)
        return _long(above, main, [0, 1]), main, _long(below, main, [1, 0])
    if form != "matrix":
        raise ValueError(f"Unrecognized diagonals_format: {form}")
    x = convert_to_tensor(diagonals)
    if None not in x.shape.as_list()[-2:] and x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Expected last two dimensions of diagonals to be equal, got {x.shape[-2]} and {x.shape[-1]}")
    none = F["zeros_like"](x[..., :1, 0])
    return (F["concat"]([F["linalg.diag_part"](x[..., :-1, 1:]), none], -1), F["linalg.diag_part"](x),
            F["concat"]([none, F["linalg.diag_part"](x[..., 1:, :-1])], -1))


def _long(line, main, ends):
    """A neighbour of the main diagonal in its length."""
    if line.shape[-1] == main.shape[-1]:
        return line
    return F["pad"](line, [[0, 0]] * (line.shape.rank - 1) + [ends])


def turned(above, main, below):
    """Of the adjoint."""
    return F["roll"](below, [-1], [-1]), main, F["roll"](above, [1], [-1])


def dense(above, main, below):
    """The matrices."""
    out = F["linalg.diag"](main)
    if main.shape[-1] == 1:
        return out
    for line, ends in ((above[..., :-1], [[0, 1], [1, 0]]), (below[..., 1:], [[1, 0], [0, 1]])):
        out = F["add"](out, F["pad"](F["linalg.diag"](line), [[0, 0]] * (line.shape.rank - 1) + ends))
    return out


def product(above, main, below, x):
    """The products with matrices."""
    none = F["zeros_like"](x[..., :1, :])
    later = F["concat"]([x[..., 1:, :], none], -2)
    before = F["concat"]([none, x[..., :-1, :]], -2)
    return F["add"](F["add"](F["multiply"](F["expand_dims"](main, -1), x),
                             F["multiply"](F["expand_dims"](above, -1), later)),
                    F["multiply"](F["expand_dims"](below, -1), before))


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """Products of matrices with three diagonals and others (``tf.linalg.tridiagonal_matmul``)."""
    return product(*lines(diagonals, diagonals_format), convert_to_tensor(rhs))


def _turn(x):
    rank = x.shape.rank
    return F["transpose"](x, [*range(rank - 2), rank - 1, rank - 2])


def tridiagonal_solve(diagonals, rhs, diagonals_format="compact", transpose_rhs=False, conjugate_rhs=False, name=None,
                      partial_pivoting=True, perturb_singular=False):
    """The X of A X = rhs for matrices with three diagonals; vectors where rhs has a dimension less
    (``tf.linalg.tridiagonal_solve``). Always with the larger of two rows as pivot, whatever `partial_pivoting` says."""
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is True.")
    if perturb_singular:
        raise NotImplementedError("tridiagonal_solve: perturb_singular=True is not supported; leave it at False")
    diagonals = convert_to_tensor(diagonals) if diagonals_format == "compact" else diagonals
    if diagonals_format != "compact" or diagonals.shape.rank in (None, 0, 1) or diagonals.shape[-2] != 3:
        diagonals = F["stack"](lines(diagonals, diagonals_format), -2)
    rhs = convert_to_tensor(rhs, dtype_hint=diagonals.dtype)
    is_vector = None not in (rhs.shape.rank, diagonals.shape.rank) and rhs.shape.rank == diagonals.shape.rank - 1
    right = F["expand_dims"](rhs, -1) if is_vector else _turn(rhs) if transpose_rhs else rhs
    if conjugate_rhs:
        right = ops.conjugated(right)
    out = ops.call("tridiagonal_solve", {}, [diagonals, right])[0]
    return F["squeeze"](out, [-1]) if is_vector else out


def eigh_tridiagonal(alpha, beta, eigvals_only=True, select="a", select_range=None, tol=None, name=None):
    """The eigenvalues in ascending order, and vectors where asked for, of a symmetric matrix with diagonal `alpha` and
    neighbours `beta` (``tf.linalg.eigh_tridiagonal``).

    `select`: "a" for all, "i" for those with numbers in `select_range`, both among them, "v" for those between its two
    values, the second among them. By the decomposition of the whole matrix, so `tol` changes nothing.
    """
    alpha, beta = convert_to_tensor(alpha), convert_to_tensor(beta)
    if select not in ("a", "i", "v"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    if select in ("i", "v") and select_range is None:
        raise ValueError(f"for select='{select}', select_range must be specified.")
    matrix = dense(_long(beta, alpha, [0, 1]), alpha, _long(beta, alpha, [1, 0]))
    values, vectors = F["linalg.eigh"](matrix)
    if select == "i":
        first, last = (int(one) for one in select_range)
        if first > last:
            raise ValueError("Got empty index range in select_range.")
        values, vectors = values[first:last + 1], vectors[:, first:last + 1]
    if select == "v":
        low, high = (convert_to_tensor(one, values.dtype) for one in select_range)
        kept = F["logical_and"](F["greater"](values, low), F["less_equal"](values, high))
        values, places = F["boolean_mask"](values, kept), F["reshape"](F["where"](kept), [-1])
        vectors = F["gather"](vectors, F["cast"](places, dtypes.int32), axis=1)
    return values if eigvals_only else (values, vectors)
