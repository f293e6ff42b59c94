"""Linear operators that are made of tensors: full, diagonal, triangular, banded, and of other patterns."""

import numpy as np

from leat import dtypes
from leat._core.shapes import TensorShape
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._linalg import tridiagonal
from leat._linalg.operator import LinearOperator, adjoint_of, tensor_of, triangle

__all__ = ["LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorHouseholder", "LinearOperatorIdentity",
           "LinearOperatorLowerTriangular", "LinearOperatorPermutation", "LinearOperatorScaledIdentity",
           "LinearOperatorToeplitz", "LinearOperatorTridiag", "LinearOperatorZeros"]


def _hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square):
    return {"is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite, "is_square": is_square}


def _square_of(vector):
    """The shape of square matrices of vectors."""
    return vector.shape.concatenate(vector.shape[-1:]) if vector.shape.rank is not None else TensorShape(None)


def _square_tensor(vector):
    shape = F["shape"](vector)
    return F["concat"]([shape, shape[-1:]], 0)


class LinearOperatorFullMatrix(LinearOperator):
    """Matrices as they are (``tf.linalg.LinearOperatorFullMatrix``)."""

    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorFullMatrix"):
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._matrix = tensor_of(matrix)
        if self._matrix.shape.rank is not None and self._matrix.shape.rank < 2:
            raise ValueError(f"Argument `matrix` must have at least 2 dimensions. Found: {self._matrix.shape}")
        super().__init__(self._matrix.dtype, name=name, parameters={"matrix": matrix, **hints, "name": name}, **hints)

    @property
    def matrix(self):
        """The matrices."""
        return self._matrix

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return F["shape"](self._matrix)

    def _to_dense(self):
        return convert_to_tensor(self._matrix)


class LinearOperatorDiag(LinearOperator):
    """Diagonal matrices (``tf.linalg.LinearOperatorDiag``)."""

    def __init__(self, diag, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorDiag"):
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._diag = tensor_of(diag)
        if self._diag.shape.rank == 0:
            raise ValueError("Argument `diag` must have at least 1 dimension. Found: 0")
        if is_self_adjoint is False:
            raise ValueError("A real diagonal operator is always self adjoint.")
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(self._diag.dtype, name=name, parameters={"diag": diag, **hints, "name": name},
                         **{**hints, "is_self_adjoint": True, "is_square": True})

    @property
    def diag(self):
        """The diagonals."""
        return self._diag

    def _shape(self):
        return _square_of(self._diag)

    def _shape_tensor(self):
        return _square_tensor(self._diag)

    def _matmul(self, x, adjoint, adjoint_arg):
        return F["multiply"](F["expand_dims"](self._diag, -1), adjoint_of(x) if adjoint_arg else x)

    def _solve(self, rhs, adjoint, adjoint_arg):
        return F["divide"](adjoint_of(rhs) if adjoint_arg else rhs, F["expand_dims"](self._diag, -1))

    def _to_dense(self):
        return F["linalg.diag"](self._diag)

    def _diag_part(self):
        return convert_to_tensor(self._diag)

    def _determinant(self):
        return F["reduce_prod"](self._diag, -1)

    def _log_abs_determinant(self):
        return F["reduce_sum"](F["math.log"](F["abs"](self._diag)), -1)

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The sum with a tensor."""
        x = self._argument(x)
        return F["linalg.set_diag"](x, F["add"](F["linalg.diag_part"](x), self._diag))

    def _eigvals(self):
        return convert_to_tensor(self._diag)

    def _cond(self):
        size = F["abs"](self._diag)
        return F["divide"](F["reduce_max"](size, -1), F["reduce_min"](size, -1))

    def _inverse(self):
        return LinearOperatorDiag(F["divide"](1.0, self._diag), is_non_singular=self.is_non_singular,
                                  is_self_adjoint=self.is_self_adjoint, is_positive_definite=self.is_positive_definite,
                                  is_square=True)

    def _cholesky(self):
        return LinearOperatorDiag(F["sqrt"](self._diag), is_non_singular=True, is_self_adjoint=True,
                                  is_positive_definite=True, is_square=True)

    def _assert_non_singular(self):
        return self._want(F["abs"](self._diag) > 0, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        return self._want(F["greater"](self._diag, 0), "Operator is not positive definite.")

    def _assert_self_adjoint(self):
        return self._want(True, "")


@triangle.provide
class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangles of matrices (``tf.linalg.LinearOperatorLowerTriangular``)."""

    def __init__(self, tril, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorLowerTriangular"):
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._tril = tensor_of(tril)
        super().__init__(self._tril.dtype, name=name, parameters={"tril": tril, **hints, "name": name},
                         **{**hints, "is_square": True})

    @property
    def tril(self):
        """The matrices."""
        return self._tril

    def _shape(self):
        return self._tril.shape

    def _shape_tensor(self):
        return F["shape"](self._tril)

    def _to_dense(self):
        return F["linalg.band_part"](self._tril, -1, 0)

    def _diag_part(self):
        return F["linalg.diag_part"](self._tril)

    def _solve(self, rhs, adjoint, adjoint_arg):
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        return F["linalg.triangular_solve"](self._to_dense(), rhs, lower=True, adjoint=adjoint)

    def _determinant(self):
        return F["reduce_prod"](self._diag_part(), -1)

    def _log_abs_determinant(self):
        return F["reduce_sum"](F["math.log"](F["abs"](self._diag_part())), -1)

    def _eigvals(self):
        return self._diag_part()

    def _assert_non_singular(self):
        return self._want(F["abs"](self._diag_part()) > 0, "Singular operator:  Diagonal contained zero values.")


class LinearOperatorScaledIdentity(LinearOperator):
    """Identity matrices times numbers (``tf.linalg.LinearOperatorScaledIdentity``)."""

    def __init__(self, num_rows, multiplier, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, assert_proper_shapes=False, name="LinearOperatorScaledIdentity"):
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._num_rows, self._multiplier = _size(num_rows), tensor_of(multiplier)
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        super().__init__(self._multiplier.dtype, name=name,
                         parameters={"num_rows": num_rows, "multiplier": multiplier, **hints,
                                     "assert_proper_shapes": assert_proper_shapes, "name": name},
                         **{**hints, "is_self_adjoint": True})

    @property
    def multiplier(self):
        """The numbers."""
        return self._multiplier

    def _shape(self):
        return self._multiplier.shape.concatenate([self._num_rows, self._num_rows])

    def _shape_tensor(self):
        return F["concat"]([F["shape"](self._multiplier), [self._num_rows, self._num_rows]], 0)

    def _factor(self):
        return F["expand_dims"](F["expand_dims"](self._multiplier, -1), -1)

    def _matmul(self, x, adjoint, adjoint_arg):
        return F["multiply"](adjoint_of(x) if adjoint_arg else x, self._factor())

    def _solve(self, rhs, adjoint, adjoint_arg):
        return F["divide"](adjoint_of(rhs) if adjoint_arg else rhs, self._factor())

    def _diag_part(self):
        ones = F["ones"](F["stack"]([self._num_rows]), self.dtype)
        return F["multiply"](F["expand_dims"](self._multiplier, -1), ones)

    def _trace(self):
        return F["multiply"](self._multiplier, float(self._num_rows))

    def _to_dense(self):
        return F["linalg.diag"](self._diag_part())

    def _determinant(self):
        return F["pow"](self._multiplier, convert_to_tensor(self._num_rows, self.dtype))

    def _log_abs_determinant(self):
        return F["multiply"](F["math.log"](F["abs"](self._multiplier)), float(self._num_rows))

    def _eigvals(self):
        return self._diag_part()

    def _cond(self):
        return F["ones_like"](self._multiplier)

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The sum with a tensor."""
        x = self._argument(x)
        return F["linalg.set_diag"](x, F["add"](F["linalg.diag_part"](x), F["expand_dims"](self._multiplier, -1)))

    def _same(self, multiplier, **more):
        return LinearOperatorScaledIdentity(self._num_rows, multiplier, is_non_singular=self.is_non_singular,
                                            is_self_adjoint=True, is_positive_definite=self.is_positive_definite)

    def _inverse(self):
        return self._same(F["divide"](1.0, self._multiplier))

    def _cholesky(self):
        return self._same(F["sqrt"](self._multiplier))

    def _assert_non_singular(self):
        return self._want(F["abs"](self._multiplier) > 0, "LinearOperator was singular")

    def _assert_positive_definite(self):
        return self._want(F["greater"](self._multiplier, 0), "LinearOperator was not positive definite.")

    def _assert_self_adjoint(self):
        return self._want(True, "")


def _size(rows):
    return int(rows.numpy() if hasattr(rows, "numpy") else rows)


class LinearOperatorIdentity(LinearOperatorScaledIdentity):
    """Identity matrices (``tf.linalg.LinearOperatorIdentity``)."""

    def __init__(self, num_rows, batch_shape=None, dtype=None, is_non_singular=True, is_self_adjoint=True,
                 is_positive_definite=True, is_square=True, assert_proper_shapes=False, name="LinearOperatorIdentity"):
        dtype = dtypes.as_dtype(dtype or dtypes.float32)
        if not (is_self_adjoint and is_non_singular and is_positive_definite and is_square):
            raise ValueError("An identity operator is always self-adjoint, non-singular, positive definite and square.")
        ones = F["ones"](convert_to_tensor(np.array([] if batch_shape is None else batch_shape, np.int32)), dtype)
        super().__init__(num_rows, ones, is_non_singular=True, is_self_adjoint=True, is_positive_definite=True,
                         name=name)
        self._parameters = {"num_rows": num_rows, "batch_shape": batch_shape, "dtype": dtype, "name": name,
                            **_hints(True, True, True, True), "assert_proper_shapes": assert_proper_shapes}

    def _adjoint(self):
        return self

    def _inverse(self):
        return self

    def _cholesky(self):
        return self


class LinearOperatorZeros(LinearOperator):
    """Zeros (``tf.linalg.LinearOperatorZeros``)."""

    def __init__(self, num_rows, num_columns=None, batch_shape=None, dtype=None, is_non_singular=False,
                 is_self_adjoint=True, is_positive_definite=False, is_square=True, assert_proper_shapes=False,
                 name="LinearOperatorZeros"):
        rows, columns = _size(num_rows), _size(num_rows if num_columns is None else num_columns)
        self._sizes = [*np.array([] if batch_shape is None else batch_shape, int).tolist(), rows, columns]
        if is_non_singular:
            raise ValueError("A zeros operator is always singular")
        if is_self_adjoint and rows != columns:
            raise ValueError("A zeros operator is only self-adjoint when it is square")
        super().__init__(dtype or dtypes.float32, is_non_singular=False, is_self_adjoint=is_self_adjoint,
                         is_positive_definite=False, is_square=is_square, name=name,
                         parameters={"num_rows": num_rows, "num_columns": num_columns, "batch_shape": batch_shape,
                                     "dtype": dtype, "name": name})

    def _shape(self):
        return TensorShape(self._sizes)

    def _to_dense(self):
        return F["zeros"](self._sizes, self.dtype)

    def _adjoint(self):
        return LinearOperatorZeros(self._sizes[-1], self._sizes[-2], self._sizes[:-2], self.dtype,
                                   is_self_adjoint=self.is_self_adjoint, is_square=self.is_square)

    def _determinant(self):
        return F["zeros"](self.batch_shape_tensor(), self.dtype)

    def _assert_non_singular(self):
        raise _invalid("Zeros operators are always non-invertible.")

    def _assert_positive_definite(self):
        raise _invalid("Zeros operators are always non-positive definite.")

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The tensor."""
        return self._argument(x)


def _invalid(message):
    from leat.errors import InvalidArgumentError
    return InvalidArgumentError(None, None, message)


class LinearOperatorHouseholder(LinearOperator):
    """Reflections at the planes that vectors stand on (``tf.linalg.LinearOperatorHouseholder``)."""

    def __init__(self, reflection_axis, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name="LinearOperatorHouseholder"):
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._axis = tensor_of(reflection_axis)
        for hint, wrong in (("is_self_adjoint", False), ("is_positive_definite", True), ("is_non_singular", False),
                            ("is_square", False)):
            if hints[hint] is wrong:
                raise ValueError(f"A Householder operator cannot have {hint}={wrong}")
        super().__init__(self._axis.dtype, name=name, is_non_singular=True, is_self_adjoint=True, is_square=True,
                         is_positive_definite=is_positive_definite,
                         parameters={"reflection_axis": reflection_axis, **hints, "name": name})

    @property
    def reflection_axis(self):
        """The vectors."""
        return self._axis

    def _shape(self):
        return _square_of(self._axis)

    def _shape_tensor(self):
        return _square_tensor(self._axis)

    def _matmul(self, x, adjoint, adjoint_arg):
        from leat.math import l2_normalize
        x, axis = adjoint_of(x) if adjoint_arg else x, F["expand_dims"](l2_normalize(self._axis, axis=-1), -1)
        return F["subtract"](x, F["multiply"](F["multiply"](2.0, axis), F["matmul"](axis, x, transpose_a=True)))

    def _solve(self, rhs, adjoint, adjoint_arg):
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self):
        return F["negative"](F["ones"](self.batch_shape_tensor(), self.dtype))

    def _log_abs_determinant(self):
        return F["zeros"](self.batch_shape_tensor(), self.dtype)

    def _inverse(self):
        return self

    def _cond(self):
        return F["ones"](self.batch_shape_tensor(), self.dtype)


class LinearOperatorPermutation(LinearOperator):
    """Rows in another order (``tf.linalg.LinearOperatorPermutation``)."""

    def __init__(self, perm, dtype=dtypes.float32, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name="LinearOperatorPermutation"):
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._perm = convert_to_tensor(perm)
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must have integer dtype. Found: {self._perm.dtype}")
        if is_non_singular is False or is_square is False:
            raise ValueError("A Permutation operator is always non-singular and square.")
        super().__init__(dtype, name=name, parameters={"perm": perm, "dtype": dtype, **hints, "name": name},
                         **{**hints, "is_non_singular": True, "is_square": True})

    @property
    def perm(self):
        """The places that rows are taken from."""
        return self._perm

    def _shape(self):
        return _square_of(self._perm)

    def _shape_tensor(self):
        return _square_tensor(self._perm)

    def _to_dense(self):
        return F["one_hot"](self._perm, self.domain_dimension_tensor(), dtype=self.dtype)

    def _solve(self, rhs, adjoint, adjoint_arg):
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _inverse(self):
        return LinearOperatorPermutation(F["argsort"](self._perm), self.dtype)

    def _adjoint(self):
        return self._inverse()

    def _log_abs_determinant(self):
        return F["zeros"](self.batch_shape_tensor(), self.dtype)

    def _cond(self):
        return F["ones"](self.batch_shape_tensor(), self.dtype)


class LinearOperatorToeplitz(LinearOperator):
    """Matrices whose diagonals are constant, of a column and a row (``tf.linalg.LinearOperatorToeplitz``)."""

    def __init__(self, col, row, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorToeplitz"):
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._col, self._row = tensor_of(col), tensor_of(row)
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        super().__init__(self._row.dtype, name=name, parameters={"col": col, "row": row, **hints, "name": name},
                         **{**hints, "is_square": True})

    @property
    def col(self):
        """The first columns."""
        return self._col

    @property
    def row(self):
        """The first rows."""
        return self._row

    def _shape(self):
        return _square_of(F["add"](self._col, self._row))

    def _shape_tensor(self):
        return _square_tensor(F["add"](self._col, self._row))

    def _to_dense(self):
        zero = F["zeros_like"](F["add"](self._col, self._row))
        col, row = F["add"](self._col, zero), F["add"](self._row, zero)
        size = F["shape"](col)[-1]
        line = F["concat"]([F["reverse"](row, [-1]), col[..., 1:]], -1)
        places = F["range"](size)
        return F["gather"](line, size - 1 + F["expand_dims"](places, 1) - F["expand_dims"](places, 0), axis=-1)

    def _adjoint(self):
        return LinearOperatorToeplitz(self._row, self._col)

    def _diag_part(self):
        first = F["add"](self._col, F["zeros_like"](self._row))[..., :1]
        return F["multiply"](first, F["ones"](F["shape"](self._row)[-1:], self.dtype))


class LinearOperatorTridiag(LinearOperator):
    """Matrices with a diagonal and its two neighbours (``tf.linalg.LinearOperatorTridiag``).

    `diagonals_format`: "compact", "sequence" or "matrix".
    """

    def __init__(self, diagonals, diagonals_format="compact", is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name="LinearOperatorTridiag"):
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        if diagonals_format not in ("compact", "sequence", "matrix"):
            raise ValueError(f"Argument `diagonals_format` must be one of {{compact, matrix, sequence}}. Found : "
                             f"{diagonals_format}.")
        self._given = [tensor_of(one) for one in diagonals] if diagonals_format == "sequence" else tensor_of(diagonals)
        self._format = diagonals_format
        dtype = (self._given[0] if diagonals_format == "sequence" else self._given).dtype
        super().__init__(dtype, name=name, parameters={"diagonals": diagonals, "diagonals_format": diagonals_format,
                                                       **hints, "name": name}, **{**hints, "is_square": True})

    @property
    def diagonals(self):
        """The diagonals as they were given."""
        return self._given

    @property
    def diagonals_format(self):
        """How they were given."""
        return self._format

    def _lines(self):
        return tridiagonal.lines(self._given, self._format)

    def _shape(self):
        return _square_of(self._lines()[1])

    def _shape_tensor(self):
        return _square_tensor(self._lines()[1])

    def _to_dense(self):
        return convert_to_tensor(self._given) if self._format == "matrix" else tridiagonal.dense(*self._lines())

    def _matmul(self, x, adjoint, adjoint_arg):
        lines = self._lines()
        lines = tridiagonal.turned(*lines) if adjoint else lines
        return tridiagonal.product(*lines, adjoint_of(x) if adjoint_arg else x)

    def _solve(self, rhs, adjoint, adjoint_arg):
        lines = self._lines()
        lines = tridiagonal.turned(*lines) if adjoint else lines
        return tridiagonal.tridiagonal_solve(list(lines), adjoint_of(rhs) if adjoint_arg else rhs, "sequence")

    def _diag_part(self):
        return self._lines()[1]
