"""Circulant matrices: products with them are convolutions, which Fourier transforms compute."""

import math

import numpy as np

from leat import dtypes, signal
from leat._core.shapes import TensorShape
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat._linalg.operator import LinearOperator, turned
from leat.math import imag

__all__ = ["LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D"]


class _Circulant(LinearOperator):
    """What those of one, two and three dimensions share: the eigenvalues of a block are its spectrum, and the Fourier
    transform turns vectors, which are blocks row by row, into the eigenvectors' coordinates."""

    _depth = 1
    _transforms = (signal.fft, signal.ifft)

    def __init__(self, spectrum, input_output_dtype=dtypes.complex64, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=True, name=None):
        name = name or type(self).__name__
        given = {"spectrum": spectrum, "input_output_dtype": input_output_dtype, "is_non_singular": is_non_singular,
                 "is_self_adjoint": is_self_adjoint, "is_positive_definite": is_positive_definite,
                 "is_square": is_square, "name": name}
        self._spectrum = spectrum if hasattr(spectrum, "_as_tensor") else convert_to_tensor(spectrum)
        if self._spectrum.dtype.is_integer or self._spectrum.dtype not in (
                dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128):
            raise TypeError("Argument spectrum must have dtype in [float16, float32, float64, complex64, complex128]. "
                            f"Found: {self._spectrum.dtype.name}")
        rank = self._spectrum.shape.rank
        if rank is None or rank < self._depth:
            raise ValueError(f"Argument spectrum must have at least {self._depth} dimensions. Found: {spectrum}")
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("A [[nested] block] circulant operator is always square.")
        super().__init__(input_output_dtype, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                         is_positive_definite=is_positive_definite, is_square=True, name=name, parameters=given)

    # ---- shapes ----

    @property
    def block_depth(self):
        """How deeply blocks are nested: the dimensions of a block."""
        return self._depth

    @property
    def spectrum(self):
        """The eigenvalues, a block of them for each matrix."""
        return convert_to_tensor(self._spectrum)

    @property
    def block_shape(self):
        """The static shape of a block."""
        return self._spectrum.shape[-self._depth:]

    def block_shape_tensor(self):
        """The same as a tensor."""
        return F["shape"](self.spectrum)[-self._depth:]

    def _shape(self):
        block = self.block_shape.as_list()
        size = None if None in block else math.prod(block)
        return TensorShape([*self._spectrum.shape[:-self._depth], size, size])

    def _shape_tensor(self):
        size = F["reduce_prod"](self.block_shape_tensor())
        return F["concat"]([F["shape"](self.spectrum)[:-self._depth], F["stack"]([size, size])], 0)

    # ---- what it does ----

    @property
    def _wide(self):
        """The complex dtype in which it computes."""
        return dtypes.complex128 if dtypes.complex128 in (self.dtype, self._spectrum.dtype) or (
            dtypes.float64 in (self.dtype, self._spectrum.dtype)) else dtypes.complex64

    def _values(self, adjoint=False):
        values = F["cast"](self.spectrum, self._wide)
        return ops.conjugated(values) if adjoint else values

    def _multiplied(self, x, adjoint_arg, values):
        """The vectors in the columns of x, their coordinates times `values`."""
        # The vectors as rows: those of an adjoint are the conjugates of what it is made of.
        rows = F["cast"](ops.conjugated(x) if adjoint_arg else turned(x), self._wide)
        block = self.block_shape_tensor()
        blocks = F["reshape"](rows, F["concat"]([F["shape"](rows)[:-1], block], 0))
        forward, backward = self._transforms
        out = backward(F["multiply"](F["expand_dims"](values, -1 - self._depth), forward(blocks)))
        shape = F["shape"](out)
        rows = F["reshape"](out, F["concat"]([shape[:-self._depth], F["reduce_prod"](block, keepdims=True)], 0))
        return F["cast"](turned(rows), self.dtype)

    def _matmul(self, x, adjoint, adjoint_arg):
        return self._multiplied(x, adjoint_arg, self._values(adjoint))

    def _solve(self, rhs, adjoint, adjoint_arg):
        return self._multiplied(rhs, adjoint_arg, F["math.reciprocal"](self._values(adjoint)))

    def convolution_kernel(self, name="convolution_kernel"):
        """What a product convolves with: the inverse transform of the spectrum."""
        return F["cast"](self._transforms[1](self._values()), self.dtype)

    def assert_hermitian_spectrum(self, name="assert_hermitian_spectrum"):
        """InvalidArgumentError where the kernel, and so the matrix, is not real."""
        kernel = self._transforms[1](self._values())
        near = 5 * np.finfo(self._wide.real_dtype.as_numpy_dtype).eps * max(1, self._shape()[-1] or 1)
        return self._want(F["less_equal"](F["abs"](imag(kernel)), near), "Spectrum was not Hermitian")

    # ---- numbers of matrices ----

    def _eigvals(self):
        block = F["reduce_prod"](self.block_shape_tensor(), keepdims=True)
        return F["reshape"](self.spectrum, F["concat"]([F["shape"](self.spectrum)[:-self._depth], block], 0))

    def _flat(self):
        return F["cast"](self._eigvals(), self._wide)

    def _determinant(self):
        return F["cast"](F["reduce_prod"](self._flat(), [-1]), self.dtype)

    def _log_abs_determinant(self):
        return F["cast"](F["reduce_sum"](F["math.log"](F["abs"](self._flat())), [-1]), self.dtype)

    def _trace(self):
        return F["cast"](F["reduce_sum"](self._flat(), [-1]), self.dtype)

    def _diag_part(self):
        mean = F["cast"](F["reduce_mean"](self._flat(), [-1], True), self.dtype)
        return F["broadcast_to"](mean, self.shape_tensor()[:-1])

    def _cond(self):
        sizes = F["abs"](self._flat())
        return F["divide"](F["reduce_max"](sizes, [-1]), F["reduce_min"](sizes, [-1]))

    # ---- others of its kind ----

    def _like(self, spectrum, **hints):
        return type(self)(spectrum, self.dtype, is_non_singular=self.is_non_singular, **hints)

    def _adjoint(self):
        return self._like(ops.conjugated(self.spectrum), is_self_adjoint=self.is_self_adjoint)

    def _inverse(self):
        return type(self)(F["math.reciprocal"](self.spectrum), self.dtype, is_non_singular=True,
                          is_self_adjoint=self.is_self_adjoint, is_positive_definite=self.is_positive_definite)


class LinearOperatorCirculant(_Circulant):
    """Matrices each of whose columns is the one before turned by one place (``tf.linalg.LinearOperatorCirculant``).

    spectrum: [..., n], real or complex, the Fourier transform of the first column; input_output_dtype: the dtype of
    what is multiplied and of the result, of which a real one keeps the real part.
    """


class LinearOperatorCirculant2D(_Circulant):
    """The same of blocks [n, m] that are vectors of n m numbers, turned along both
    (``tf.linalg.LinearOperatorCirculant2D``).

    spectrum: [..., n, m].
    """

    _depth = 2
    _transforms = (signal.fft2d, signal.ifft2d)


class LinearOperatorCirculant3D(_Circulant):
    """The same of blocks of three dimensions (``tf.linalg.LinearOperatorCirculant3D``)."""

    _depth = 3
    _transforms = (signal.fft3d, signal.ifft3d)
