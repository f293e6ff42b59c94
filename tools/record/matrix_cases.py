#!/usr/bin/env python3
"""Record cases of linear algebra from TensorFlow.

    matrix_cases.py tests/conform/ops

Writes one file for each operation. Needs TensorFlow 2.21.
"""
import sys

from op_recorder import DTYPE, F32, F64, SHAPE, VALUE, floats, np, record, tf, write

LOOSE = {"tolerance": 2e-5}
small = F32([[4, 1, 0.5], [1, 3, -0.25], [0.5, -0.25, 2]])  # symmetric, positive definite
square, stack = F32([[2, -1, 0.5], [0.25, 3, 1], [-1, 0.5, 2.5]]), floats(2, 2, 3, 3) + 3 * np.eye(3, dtype=F32)
zero, none = F32([[1, 2], [2, 4]]), np.zeros((0, 0), F32)
SMOOTH = dict(LOOSE, gradient=True)

# ---- inverses and determinants ----
for op, call in (("matrix_inverse", tf.linalg.inv), ("matrix_determinant", tf.linalg.det), ("log_matrix_determinant", tf.linalg.slogdet)):
    kw = SMOOTH if op != "log_matrix_determinant" else dict(LOOSE, gradient=True)
    record(op, "one", call, [square], **kw)
    record(op, "stack", call, [stack], **LOOSE)
    record(op, "float64", call, [square.astype(F64)], tolerance=1e-11)
    record(op, "number", call, [F32([[-4]])])
    record(op, "swapped", call, [F32([[0, 2, 1], [1, 0, 0], [3, 0, 1]])], **LOOSE)
    record(op, "no_values", call, [none])
    record(op, "no_matrices", call, [np.zeros((0, 2, 2), F32)])
    record(op, "vector", call, [F32([1, 2])], fails=(SHAPE, "2"))
    record(op, "wide", call, [floats(2, 3)], fails=(SHAPE, "square"))
record("matrix_inverse", "adjoint", tf.linalg.inv, [square], {"adjoint": True}, **SMOOTH)
record("matrix_inverse", "singular", tf.linalg.inv, [zero], fails=(VALUE, "Input"))
record("matrix_inverse", "singular_of_stack", tf.linalg.inv, [np.stack([np.eye(2, dtype=F32), zero])], fails=(VALUE, "1"))
record("matrix_determinant", "singular", tf.linalg.det, [zero])
record("log_matrix_determinant", "singular", tf.linalg.slogdet, [zero])

# ---- equations ----
for op, call in (("matrix_solve", tf.linalg.solve), ("matrix_triangular_solve", tf.linalg.triangular_solve)):
    record(op, "one", call, [square, floats(3, 2)], **LOOSE)
    record(op, "adjoint", call, [square, floats(3, 2)], {"adjoint": True}, **LOOSE)
    record(op, "stack", call, [stack, floats(2, 2, 3, 1)], **LOOSE)
    record(op, "float64", call, [square.astype(F64), floats(3, 4, dtype=F64)], tolerance=1e-11)
    record(op, "no_columns", call, [square, np.zeros((3, 0), F32)])
    record(op, "no_values", call, [none, np.zeros((0, 2), F32)])
    record(op, "vector", call, [square, floats(3)], fails=(SHAPE, "2"))
    record(op, "rows", call, [square, floats(2, 2)], fails=(SHAPE, "rows"))
    record(op, "wide", call, [floats(2, 3), floats(2, 1)], fails=(SHAPE, "square"))
record("matrix_solve", "singular", tf.linalg.solve, [F32([[0, 0], [0, 1]]), floats(2, 1)], fails=(VALUE, "invertible"))
record("matrix_triangular_solve", "singular", tf.linalg.triangular_solve, [F32([[0, 0], [0, 1]]), F32([[-2], [1]])])
record("matrix_solve", "differentiable", tf.linalg.solve, [square, floats(3, 2)], **SMOOTH)
record("matrix_solve", "differentiable_adjoint", tf.linalg.solve, [square, floats(3, 2)], {"adjoint": True}, **SMOOTH)
call = tf.linalg.triangular_solve
record("matrix_triangular_solve", "upper", call, [square, floats(3, 2)], {"lower": False}, **LOOSE)
record("matrix_triangular_solve", "upper_adjoint", call, [square, floats(3, 2)], {"lower": False, "adjoint": True}, **LOOSE)
record("matrix_triangular_solve", "differentiable", call, [square, floats(3, 2)], **SMOOTH)
record("matrix_triangular_solve", "differentiable_upper", call, [square, floats(3, 2)], {"lower": False, "adjoint": True}, **SMOOTH)
record("matrix_triangular_solve", "broadcast", call, [square, floats(2, 2, 3, 1)], **LOOSE)
record("matrix_triangular_solve", "broadcast_both", call, [stack[:, :1], floats(2, 3, 2)], **LOOSE)
record("matrix_triangular_solve", "broadcast_differentiable", call, [square, floats(2, 3, 1)], **SMOOTH)

# ---- factors ----
record("cholesky", "one", tf.linalg.cholesky, [small], **LOOSE)
record("cholesky", "stack", tf.linalg.cholesky, [np.stack([small, 2 * small])], **LOOSE)
record("cholesky", "lower_alone", tf.linalg.cholesky, [np.tril(small)], **LOOSE)
record("cholesky", "float64", tf.linalg.cholesky, [small.astype(F64)], tolerance=1e-11)
record("cholesky", "no_values", tf.linalg.cholesky, [none])
lower = lambda x: tf.linalg.band_part(tf.linalg.cholesky(x), -1, 0)  # noqa: E731: what is above is not set after a failure
record("cholesky", "negative", lower, [F32([[1, 0, 0], [2, 1, 0], [0, 0, 1]])])
record("cholesky", "nan", lower, [np.stack([np.eye(2, dtype=F32) * np.nan, np.eye(2, dtype=F32)])])
record("cholesky", "wide", tf.linalg.cholesky, [floats(2, 3)], fails=(SHAPE, "square"))
record("lu", "one", tf.linalg.lu, [square], gradient_outputs=1, **SMOOTH)
record("lu", "swapped", tf.linalg.lu, [F32([[0, 2, 1], [1, 0, 0], [3, 0, 1]])], gradient_outputs=1, **SMOOTH)
record("lu", "stack", tf.linalg.lu, [stack], gradient_outputs=1, **SMOOTH)
record("lu", "float64", tf.linalg.lu, [square.astype(F64)], {"output_idx_type": "int64"}, tolerance=1e-11)
record("lu", "singular", tf.linalg.lu, [zero], fails=(VALUE, "invertible"))
record("lu", "wide", tf.linalg.lu, [floats(2, 3)], fails=(SHAPE, "square"))
for name, x in (("one", square), ("tall", floats(4, 2)), ("wide", floats(2, 4)), ("stack", floats(2, 3, 2)), ("zeros", np.zeros((3, 2), F32)),
                ("triangle", np.triu(square))):
    record("qr", name, tf.linalg.qr, [x], **LOOSE)
    record("qr", name + "_full", tf.linalg.qr, [x], {"full_matrices": True}, **LOOSE)
record("qr", "float64", tf.linalg.qr, [floats(3, 2, dtype=F64)], tolerance=1e-11)
record("qr", "differentiable", tf.linalg.qr, [floats(3, 2)], **SMOOTH)
record("qr", "differentiable_square", tf.linalg.qr, [square], **SMOOTH)
record("qr", "vector", tf.linalg.qr, [F32([1, 2])], fails=(SHAPE, "2"))

# ---- values; the signs of vectors are free, so those with one sign alone stand here ----
record("self_adjoint_eig", "diagonal", tf.linalg.eigh, [np.diag(F32([1, 2, 5]))], **LOOSE)
record("self_adjoint_eig", "number", tf.linalg.eigh, [F32([[-3]])])
record("self_adjoint_eig", "no_values", tf.linalg.eigh, [none])
record("self_adjoint_eig", "wide", tf.linalg.eigh, [floats(2, 3)], fails=(SHAPE, "square"))
values = {"compute_uv": False}
for name, x in (("one", square), ("tall", floats(5, 2)), ("wide", floats(2, 4)), ("stack", floats(2, 3, 2)), ("zeros", np.zeros((3, 2), F32)),
                ("rank_one", np.ones((3, 4), F32)), ("graded", F32([[1e6, 1], [1, 1e-3]])), ("no_values", np.zeros((0, 2), F32))):
    record("svd", name, tf.linalg.svd, [x], values, **LOOSE)
record("svd", "float64", tf.linalg.svd, [floats(3, 2, dtype=F64)], values, tolerance=1e-11)
record("svd", "differentiable", tf.linalg.svd, [floats(3, 2)], values, **SMOOTH)
record("svd", "vector", tf.linalg.svd, [F32([1, 2])], fails=(SHAPE, "2"))
record("svd", "number", tf.linalg.svd, [F32([[3]])])

# ---- any eigenvalues, roots, logarithms: of triangles, whose values have one order, and of matrices that have one answer ----
C64, C128 = np.complex64, np.complex128
turned = (square + 1j * square.T).astype(C64)
for op, call in (("eig", tf.linalg.eig), ("eigvals", tf.linalg.eigvals), ("self_adjoint_eigvals", tf.linalg.eigvalsh)):
    record(op, "number", call, [F32([[-3]])])
    record(op, "no_values", call, [none])
    record(op, "no_matrices", call, [np.zeros((0, 2, 2), F32)])
    record(op, "vector", call, [F32([1, 2])], fails=(SHAPE, "2"))
    record(op, "wide", call, [floats(2, 3)], fails=(SHAPE, "square"))
    record(op, "nan", call, [np.eye(2, dtype=F32) * np.nan], fails=(VALUE, "successful"))
    if op != "self_adjoint_eigvals":  # which gives NaN in TensorFlow
        record(op, "infinite", call, [F32([[1, 0], [0, np.inf]])], fails=(VALUE, "successful"))
    record(op, "complex128", call, [np.diag(C128([1, 2, 5]))], tolerance=1e-12)
record("eigvals", "triangle", tf.linalg.eigvals, [np.triu(square)], **LOOSE)
record("self_adjoint_eigvals", "one", tf.linalg.eigvalsh, [small], **LOOSE)
record("self_adjoint_eigvals", "stack", tf.linalg.eigvalsh, [np.stack([small, 2 * small])], **LOOSE)
record("self_adjoint_eigvals", "lower_alone", tf.linalg.eigvalsh, [np.tril(turned)], **LOOSE)
for op, call, kinds in (("matrix_square_root", tf.linalg.sqrtm, (F32, F64, C64, C128)), ("matrix_logarithm", tf.linalg.logm, (C64, C128))):
    for kind in kinds:
        close = {"tolerance": 2e-5 if kind in (F32, C64) else 1e-11}
        record(op, "one_" + kind.__name__, call, [small.astype(kind)], **close)
        record(op, "pairs_" + kind.__name__, call, [np.array([[1, 2, 0], [-3, 1, 1], [0, 0.5, 2]], kind)], **close)
    record(op, "stack", call, [np.stack([small, 2 * small]).astype(C64)], **LOOSE)
    record(op, "no_values", call, [none.astype(C64)])
    record(op, "nan", call, [np.eye(2, dtype=C64) * np.nan])
    record(op, "wide", call, [floats(2, 3).astype(C64)], fails=(SHAPE, "square"))
record("matrix_square_root", "negative", tf.linalg.sqrtm, [F32([[-1]])])
record("matrix_logarithm", "real", tf.linalg.logm, [small], fails=(DTYPE, "complex64"))

# ---- few diagonals ----
three, four = floats(2, 3, 4) + F32([[0], [4], [0]]), floats(2, 4, 2)
compact = lambda x, y: tf.linalg.tridiagonal_solve(x, y)  # noqa: E731
record("tridiagonal_solve", "one", compact, [three, four], **LOOSE)
record("tridiagonal_solve", "pivots", compact, [floats(3, 5), floats(5, 1)], **LOOSE)
record("tridiagonal_solve", "number", compact, [F32([[7], [4], [9]]), F32([[2]])], **LOOSE)
record("tridiagonal_solve", "float64", compact, [floats(3, 5, dtype=F64), floats(5, 3, dtype=F64)], tolerance=1e-11)
record("tridiagonal_solve", "complex64", compact, [turned + C64(4), floats(3, 2).astype(C64)], **LOOSE)
record("tridiagonal_solve", "singular", compact, [np.zeros((3, 2), F32), floats(2, 1)])
record("tridiagonal_solve", "differentiable", compact, [three, four], **SMOOTH)
for name, attributes in (("lower", {}), ("upper", {"lower": False}), ("lower_adjoint", {"adjoint": True}),
                         ("upper_adjoint", {"lower": False, "adjoint": True})):
    bands = floats(2, 3, 4) + (F32([[4], [0], [0]]) if attributes.get("lower", True) else F32([[0], [0], [4]]))
    call = tf.linalg.banded_triangular_solve
    record("banded_triangular_solve", name, call, [bands, four], attributes, **SMOOTH)
    record("banded_triangular_solve", name + "_complex", call, [(bands * C64(1 + 1j)), four.astype(C64)], attributes, **LOOSE)
    record("banded_triangular_solve", name + "_broadcast", call, [bands[:1], floats(3, 4, 1)], attributes, **SMOOTH)
record("banded_triangular_solve", "more_than_rows", call, [np.ones((5, 3), F32), np.ones((3, 1), F32)])
record("banded_triangular_solve", "one_band", call, [F32([[2, 4, 5]]), F32([[1], [2], [3]])], **SMOOTH)
record("banded_triangular_solve", "no_bands", call, [np.zeros((0, 3), F32), floats(3, 1)], fails=(SHAPE, "bands"))
record("banded_triangular_solve", "rows", call, [np.ones((3, 3), F32), floats(4, 1)], fails=(SHAPE, "rows"))
record("banded_triangular_solve", "singular", call, [np.zeros((2, 3), F32), floats(3, 1)], fails=(VALUE, "invertible"))

write(sys.argv[1])
