"""``tf.linalg.LinearOperator``: what matrices do, whatever they are made of.

A kind of matrix says its dtype, its shape, and at least how it multiplies or what it is as a dense one; the rest
follows from that, or is said better by the kind. Batches of matrices broadcast as tensors do.
"""

import numpy as np

from leat import dtypes
from leat._api.arrays import broadcast_dynamic_shape, broadcast_static_shape
from leat._api.modules import Module
from leat._core.later import Hook
from leat._core.shapes import TensorShape
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F

__all__ = ["LinearOperator", "adjoint_of", "eye_like", "tensor_of", "turned"]


# Kinds of operators that others become.
product, adjoint_operator, inverse_operator, triangle = Hook(), Hook(), Hook(), Hook()


def tensor_of(value, dtype=None):
    """A tensor of floats; a variable as it is, so that it is read in each call."""
    found = value if hasattr(value, "_as_tensor") else convert_to_tensor(value, dtype)
    if not found.dtype.is_floating:
        raise TypeError(f"Argument must have dtype in [float16, float32, float64]. Found: {found.dtype.name}")
    return found


def turned(x):
    """Matrices with rows and columns exchanged."""
    rank = x.shape.rank
    return F["transpose"](x, [*range(rank - 2), rank - 1, rank - 2])


def adjoint_of(x):
    """The same of the conjugates."""
    return turned(ops.conjugated(convert_to_tensor(x)))


def eye_like(rows, columns, batch_shape, dtype):
    """Identity matrices."""
    return F["broadcast_to"](F["eye"](rows, columns, dtype=dtype), F["concat"](
        [batch_shape, F["stack"]([rows, columns])], 0))


class LinearOperator(Module):
    """A batch of matrices (``tf.linalg.LinearOperator``).

    Hints: what is known of them, None where nothing is. Subclasses write `_shape`, and `_matmul` or `_to_dense`.
    """

    def __init__(self, dtype, graph_parents=None, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None, parameters=None):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular or is_self_adjoint:
            if is_square is False:
                raise ValueError("A non-singular or self-adjoint matrix is always square.")
            is_square = True
        self._dtype = dtypes.as_dtype(dtype)
        self._hints = {"is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
                       "is_positive_definite": is_positive_definite}
        self._is_square_set = is_square
        self._parameters = parameters
        super().__init__(name=name or type(self).__name__)
        self._own_name = name or type(self).__name__

    # ---- what is known ----

    @property
    def name(self):
        """The name."""
        return self._own_name

    @property
    def parameters(self):
        """The arguments it was made of."""
        return dict(self._parameters or {})

    @property
    def dtype(self):
        """The dtype of the matrices."""
        return self._dtype

    @property
    def is_non_singular(self):
        """Have they inverses? None: nothing is known."""
        return self._hints["is_non_singular"]

    @property
    def is_self_adjoint(self):
        """Are they their own adjoints? None: nothing is known."""
        return self._hints["is_self_adjoint"]

    @property
    def is_positive_definite(self):
        """Are they positive definite? None: nothing is known."""
        return self._hints["is_positive_definite"]

    @property
    def is_square(self):
        """Are they square? None: nothing is known."""
        shape = self.shape
        if shape.rank is not None and None not in shape.as_list()[-2:]:
            return shape[-1] == shape[-2]
        return self._is_square_set

    # ---- shapes ----

    def _shape(self):
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self):
        return convert_to_tensor(self._shape().as_list(), dtypes.int32)

    @property
    def shape(self):
        """The TensorShape of the matrices."""
        return TensorShape(self._shape())

    def shape_tensor(self, name="shape_tensor"):
        """The shape as a tensor."""
        if self.shape.is_fully_defined():
            return convert_to_tensor(self.shape.as_list(), dtypes.int32)
        return self._shape_tensor()

    @property
    def batch_shape(self):
        """The dimensions before the last two."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """These as a tensor."""
        return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self):
        """The number of dimensions."""
        return self.shape.rank

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        """The same as a tensor."""
        return F["size"](self.shape_tensor())

    @property
    def domain_dimension(self):
        """The number of columns."""
        return self.shape[-1]

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        """The same as a tensor."""
        return self.shape_tensor()[-1]

    @property
    def range_dimension(self):
        """The number of rows."""
        return self.shape[-2]

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        """The same as a tensor."""
        return self.shape_tensor()[-2]

    # ---- products ----

    def _matmul(self, x, adjoint, adjoint_arg):
        return F["matmul"](self.to_dense(), x, transpose_a=adjoint, transpose_b=adjoint_arg)

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """The product with matrices, or with another operator."""
        if isinstance(x, LinearOperator):
            left, right = self.adjoint() if adjoint else self, x.adjoint() if adjoint_arg else x
            if None not in (left.domain_dimension, right.range_dimension) and (
                    left.domain_dimension != right.range_dimension):
                raise ValueError(f"Operators are incompatible. Expected `x` to have dimension {left.domain_dimension} "
                                 f"but got {right.range_dimension}.")
            return product(left, right)
        x = self._argument(x)
        self._want_rows(x.shape[-1 if adjoint_arg else -2], self.range_dimension if adjoint else self.domain_dimension)
        return self._matmul(x, adjoint, adjoint_arg)

    def __matmul__(self, other):
        return self.matmul(other)

    def matvec(self, x, adjoint=False, name="matvec"):
        """The product with vectors."""
        return F["squeeze"](self.matmul(F["expand_dims"](self._argument(x), -1), adjoint), [-1])

    def _argument(self, x):
        x = convert_to_tensor(x, dtype_hint=self.dtype)
        if x.dtype is not self.dtype:
            raise TypeError(f"Input argument has dtype {x.dtype} but {self.dtype} was expected.")
        return x

    def _want_rows(self, found, wanted):
        if None not in (found, wanted) and found != wanted:
            raise ValueError(f"Dimensions are not compatible: {found} and {wanted}")

    # ---- solutions ----

    def _want_square(self, what):
        if self.is_square is False:
            raise NotImplementedError(f"{what} is not implemented for a non-square operator: expected a square matrix")

    def _solve(self, rhs, adjoint, adjoint_arg):
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        matrix, rhs = _broadcast(self.to_dense(), rhs)
        return F["linalg.solve"](matrix, rhs, adjoint=adjoint)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """The X of this X = rhs; of another operator, this one's inverse times it."""
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            left, right = self.adjoint() if adjoint else self, rhs.adjoint() if adjoint_arg else rhs
            return left.inverse().matmul(right)
        rhs = self._argument(rhs)
        rows = self.domain_dimension if adjoint else self.range_dimension
        self._want_rows(rhs.shape[-1 if adjoint_arg else -2], rows)
        return self._solve(rhs, adjoint, adjoint_arg)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """The x of this x = rhs, of vectors."""
        return F["squeeze"](self.solve(F["expand_dims"](self._argument(rhs), -1), adjoint), [-1])

    # ---- numbers of matrices ----

    def _determinant(self):
        return F["linalg.det"](self.to_dense())

    def determinant(self, name="det"):
        """The determinants."""
        self._want_square("Determinant")
        return self._determinant()

    def _log_abs_determinant(self):
        return F["linalg.slogdet"](self.to_dense())[1]

    def log_abs_determinant(self, name="log_abs_det"):
        """The logarithms of the determinants' magnitudes."""
        self._want_square("Determinant")
        return self._log_abs_determinant()

    def _diag_part(self):
        return F["linalg.diag_part"](self.to_dense())

    def diag_part(self, name="diag_part"):
        """The diagonals."""
        return self._diag_part()

    def _trace(self):
        return F["reduce_sum"](self.diag_part(), -1)

    def trace(self, name="trace"):
        """The sums of the diagonals."""
        return self._trace()

    def _eigvals(self):
        return F["linalg.eigh"](self.to_dense())[0]

    def eigvals(self, name="eigvals"):
        """The eigenvalues of self-adjoint matrices."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _cond(self):
        values = F["linalg.svd"](self.to_dense(), compute_uv=False)
        return F["divide"](F["reduce_max"](values, -1), F["reduce_min"](values, -1))

    def cond(self, name="cond"):
        """The largest singular values over the smallest ones."""
        self._want_square("Condition number")
        return self._cond()

    # ---- other forms ----

    def _to_dense(self):
        rows = self.domain_dimension_tensor()
        return self._matmul(eye_like(rows, rows, self.batch_shape_tensor(), self.dtype), False, False)

    def to_dense(self, name="to_dense"):
        """The matrices as tensors."""
        return self._to_dense()

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The sum with a tensor."""
        return F["add"](self.to_dense(), self._argument(x))

    def _adjoint(self):
        return adjoint_operator(self)

    def adjoint(self, name="adjoint"):
        """The operator with rows and columns exchanged; itself where it is known to be the same."""
        return self if self.is_self_adjoint else self._adjoint()

    @property
    def H(self):
        """The adjoint."""
        return self.adjoint()

    def _inverse(self):
        return inverse_operator(self)

    def inverse(self, name="inverse"):
        """The operator that undoes this one."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._inverse()

    def _cholesky(self):
        return triangle(F["linalg.cholesky"](self.to_dense()), is_non_singular=True,
                        is_self_adjoint=False, is_square=True)

    def cholesky(self, name="cholesky"):
        """The lower triangle L of which this is L times its adjoint; the hints must say that there is one."""
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._cholesky()

    # ---- assertions ----

    def _want(self, holds, message):
        from leat._graph.control import Assert
        return Assert(F["reduce_all"](holds), [message])

    def _assert_non_singular(self):
        limit = convert_to_tensor(float(np.finfo(self.dtype.as_numpy_dtype).eps) ** -1, self.dtype)
        return self._want(self._cond() < limit, "Singular matrix up to precision epsilon.")

    def assert_non_singular(self, name="assert_non_singular"):
        """InvalidArgumentError unless the matrices have inverses."""
        return self._assert_non_singular()

    def _assert_self_adjoint(self):
        dense = self.to_dense()
        return self._want(F["equal"](dense, adjoint_of(dense)), "Matrix was not equal to its adjoint.")

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """InvalidArgumentError unless the matrices are their own adjoints."""
        return self._assert_self_adjoint()

    def _assert_positive_definite(self):
        if self.is_self_adjoint:
            return F["linalg.cholesky"](self.to_dense())
        raise NotImplementedError("assert_positive_definite is not implemented.")

    def assert_positive_definite(self, name="assert_positive_definite"):
        """InvalidArgumentError unless the matrices are positive definite."""
        return self._assert_positive_definite()


def _broadcast(matrix, rhs):
    """Both with the batch dimensions of the other."""
    if matrix.shape.rank == rhs.shape.rank == 2:
        return matrix, rhs
    shapes = F["shape"](matrix), F["shape"](rhs)
    batch = broadcast_dynamic_shape(*[shape[:-2] for shape in shapes])
    out = [F["broadcast_to"](one, F["concat"]([batch, shape[-2:]], 0)) for one, shape in zip((matrix, rhs), shapes)]
    static = broadcast_static_shape(matrix.shape[:-2], rhs.shape[:-2])
    return [F["ensure_shape"](one, static.concatenate(whole.shape[-2:])) for one, whole in zip(out, (matrix, rhs))]
