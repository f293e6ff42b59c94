"""Linear operators that are made of others: adjoints, inverses, products, blocks, Kronecker products, updates."""

import functools

from leat._api.arrays import broadcast_static_shape
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._linalg.matrices import (LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorLowerTriangular,
                                   LinearOperatorScaledIdentity, LinearOperatorZeros)
from leat._linalg.operator import (LinearOperator, adjoint_of, adjoint_operator, inverse_operator,
                                   product as operator_of_two, tensor_of)

__all__ = ["LinearOperatorAdjoint", "LinearOperatorBlockDiag", "LinearOperatorBlockLowerTriangular",
           "LinearOperatorComposition", "LinearOperatorInversion", "LinearOperatorKronecker",
           "LinearOperatorLowRankUpdate", "product"]


@operator_of_two.provide
def product(left, right):
    """The product of two operators, as simple as their kinds allow."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, LinearOperatorIdentity):
            return other
    for one, other in ((left, right), (right, left)):
        if isinstance(one, LinearOperatorZeros) and one.is_square:
            return one
    if isinstance(left, LinearOperatorScaledIdentity) and isinstance(right, LinearOperatorScaledIdentity):
        return LinearOperatorScaledIdentity(left.domain_dimension, F["multiply"](left.multiplier, right.multiplier),
                                            **_both(left, right, True))
    lines = [one.diag if isinstance(one, LinearOperatorDiag) else F["expand_dims"](one.multiplier, -1)
             if isinstance(one, LinearOperatorScaledIdentity) else None for one in (left, right)]
    if all(line is not None for line in lines):
        return LinearOperatorDiag(F["multiply"](*lines), **_both(left, right, True))
    if isinstance(left, (LinearOperatorLowerTriangular, LinearOperatorDiag)) and (
            isinstance(right, (LinearOperatorLowerTriangular, LinearOperatorDiag))):
        return LinearOperatorLowerTriangular(left.matmul(right.to_dense()), **_both(left, right, None))
    return LinearOperatorComposition([left, right])


def _both(left, right, is_diagonal):
    """What is known of a product; diagonals commute."""
    def all_of(hint):
        known = [getattr(one, hint) for one in (left, right)]
        return True if all(known) else False if False in known and hint == "is_non_singular" else None
    return {"is_non_singular": all_of("is_non_singular"), "is_self_adjoint": is_diagonal,
            "is_positive_definite": all_of("is_positive_definite") if is_diagonal else None, "is_square": True}


def _hints_of(operator, is_non_singular, is_self_adjoint, is_positive_definite, is_square):
    """What was said, or else what is known of another one."""
    given = {"is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
             "is_positive_definite": is_positive_definite, "is_square": is_square}
    return {hint: getattr(operator, hint) if said is None else said for hint, said in given.items()}


@adjoint_operator.provide
class LinearOperatorAdjoint(LinearOperator):
    """The adjoint of an operator (``tf.linalg.LinearOperatorAdjoint``)."""

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name=None):
        self._operator = operator
        hints = _hints_of(operator, is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(operator.dtype, name=name or operator.name + "_adjoint",
                         parameters={"operator": operator, "name": name, **hints}, **hints)

    @property
    def operator(self):
        """The operator."""
        return self._operator

    def _shape(self):
        shape = self._operator.shape
        return shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self):
        shape = self._operator.shape_tensor()
        return F["concat"]([shape[:-2], shape[-1:], shape[-2:-1]], 0)

    def _matmul(self, x, adjoint, adjoint_arg):
        return self._operator.matmul(x, not adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint, adjoint_arg):
        return self._operator.solve(rhs, not adjoint, adjoint_arg)

    def _to_dense(self):
        return adjoint_of(self._operator.to_dense())

    def _diag_part(self):
        return self._operator.diag_part()

    def _determinant(self):
        return self._operator.determinant()

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _adjoint(self):
        return self._operator

    def _cond(self):
        return self._operator.cond()


@inverse_operator.provide
class LinearOperatorInversion(LinearOperator):
    """The inverse of an operator (``tf.linalg.LinearOperatorInversion``)."""

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name=None):
        self._operator = operator
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError("operator and supplied hints must have `is_non_singular` equal to `True` or `None`.")
        hints = _hints_of(operator, True, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(operator.dtype, name=name or operator.name + "_inv",
                         parameters={"operator": operator, "name": name, **hints}, **hints)

    @property
    def operator(self):
        """The operator."""
        return self._operator

    def _shape(self):
        return self._operator.shape

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _matmul(self, x, adjoint, adjoint_arg):
        return self._operator.solve(x, adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint, adjoint_arg):
        return self._operator.matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self):
        return F["divide"](1.0, self._operator.determinant())

    def _log_abs_determinant(self):
        return F["negative"](self._operator.log_abs_determinant())

    def _inverse(self):
        return self._operator

    def _cond(self):
        return self._operator.cond()


def _of_several(operators):
    """The common dtype of operators that are there."""
    operators = list(operators)
    if not operators:
        raise ValueError("Argument `operators` must be a list of >=1 operators.")
    if len({one.dtype.name for one in operators}) > 1:
        raise TypeError("Expected all operators to have the same dtype.")
    return operators, operators[0].dtype


def _all(operators, hint):
    """True where all are so."""
    return True if all(getattr(one, hint) for one in operators) else None


def _batch(operators):
    return functools.reduce(broadcast_static_shape, [one.batch_shape for one in operators])


class LinearOperatorComposition(LinearOperator):
    """The product of operators (``tf.linalg.LinearOperatorComposition``)."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name=None):
        self._operators, dtype = _of_several(operators)
        if is_non_singular is None:
            is_non_singular = _all(self._operators, "is_non_singular")
        super().__init__(dtype, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                         is_positive_definite=is_positive_definite, is_square=is_square,
                         name=name or "_o_".join(one.name for one in self._operators),
                         parameters={"operators": operators, "name": name})

    @property
    def operators(self):
        """The operators, the last of which is applied first."""
        return self._operators

    def _shape(self):
        return _batch(self._operators).concatenate([self._operators[0].range_dimension,
                                                    self._operators[-1].domain_dimension])

    def _matmul(self, x, adjoint, adjoint_arg):
        order = self._operators if adjoint else self._operators[::-1]
        out = order[0].matmul(x, adjoint, adjoint_arg)
        for one in order[1:]:
            out = one.matmul(out, adjoint)
        return out

    def _solve(self, rhs, adjoint, adjoint_arg):
        order = self._operators[::-1] if adjoint else self._operators
        out = order[0].solve(rhs, adjoint, adjoint_arg)
        for one in order[1:]:
            out = one.solve(out, adjoint)
        return out

    def _to_dense(self):
        out = self._operators[-1].to_dense()
        for one in self._operators[-2::-1]:
            out = one.matmul(out)
        return out

    def _determinant(self):
        return functools.reduce(F["multiply"], [one.determinant() for one in self._operators])

    def _log_abs_determinant(self):
        return functools.reduce(F["add"], [one.log_abs_determinant() for one in self._operators])


class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators (``tf.linalg.LinearOperatorKronecker``)."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name=None):
        self._operators, dtype = _of_several(operators)
        hints = {"is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
                 "is_positive_definite": is_positive_definite, "is_square": is_square}
        hints = {hint: _all(self._operators, hint) if said is None else said for hint, said in hints.items()}
        super().__init__(dtype, name=name or "_x_".join(one.name for one in self._operators),
                         parameters={"operators": operators, "name": name}, **hints)

    @property
    def operators(self):
        """The operators, the first of which has the largest blocks."""
        return self._operators

    def _shape(self):
        rows, columns = 1, 1
        for one in self._operators:
            rows = None if None in (rows, one.range_dimension) else rows * one.range_dimension
            columns = None if None in (columns, one.domain_dimension) else columns * one.domain_dimension
        return _batch(self._operators).concatenate([rows, columns])

    def _to_dense(self):
        out = self._operators[0].to_dense()
        for one in self._operators[1:]:
            block = one.to_dense()
            whole = F["multiply"](F["expand_dims"](F["expand_dims"](out, -1), -3),
                                  F["expand_dims"](F["expand_dims"](block, -2), -4))
            sizes = F["shape"](whole)
            rank = whole.shape.rank
            out = F["reshape"](whole, F["concat"]([sizes[:rank - 4], F["stack"]([
                sizes[rank - 4] * sizes[rank - 3], sizes[rank - 2] * sizes[rank - 1]])], 0))
        return F["ensure_shape"](out, self.shape)

    def _powers(self, function):
        """For each operator its number, as often as the others have rows."""
        total = self.domain_dimension_tensor()
        return [function(one, F["cast"](total // one.domain_dimension_tensor(), self.dtype)) for one in self._operators]

    def _determinant(self):
        return functools.reduce(F["multiply"], self._powers(lambda one, often: F["pow"](one.determinant(), often)))

    def _log_abs_determinant(self):
        return functools.reduce(F["add"], self._powers(lambda one, often: one.log_abs_determinant() * often))

    def _trace(self):
        return functools.reduce(F["multiply"], [one.trace() for one in self._operators])

    def _inverse(self):
        return LinearOperatorKronecker([one.inverse() for one in self._operators])

    def _adjoint(self):
        return LinearOperatorKronecker([one.adjoint() for one in self._operators])

    def _cholesky(self):
        return LinearOperatorKronecker([one.cholesky() for one in self._operators])


class _Blocks(LinearOperator):
    """Matrices of blocks: what multiplies may be split into a list, one for each block."""

    def _sizes(self, adjoint):
        raise NotImplementedError

    def _parts(self, function, x, adjoint, adjoint_arg):
        """A function of the joined parts of a list, and its result in parts."""
        values = [adjoint_of(self._argument(one)) if adjoint_arg else self._argument(one) for one in x]
        whole = function(F["concat"](values, -2), adjoint)
        return F["split"](whole, self._sizes(not adjoint), -2)

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """The product with matrices, with a list of their blocks, or with another operator."""
        if isinstance(x, (list, tuple)) and all(_is_block(one) for one in x):
            return self._parts(super().matmul, x, adjoint, adjoint_arg)
        return super().matmul(x, adjoint, adjoint_arg)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """The X of this X = rhs, of matrices or a list of their blocks."""
        if isinstance(rhs, (list, tuple)) and all(_is_block(one) for one in rhs):
            return self._parts(super().solve, rhs, adjoint, adjoint_arg)
        return super().solve(rhs, adjoint, adjoint_arg)


def _is_block(value):
    """Is it a matrix, and no row of one?"""
    return getattr(value, "ndim", None) is not None and value.ndim >= 2 or (
        hasattr(value, "shape") and hasattr(value.shape, "rank") and value.shape.rank not in (None, 0, 1))


class LinearOperatorBlockDiag(_Blocks):
    """Operators one after the other along a diagonal (``tf.linalg.LinearOperatorBlockDiag``)."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=True,
                 name=None):
        self._operators, dtype = _of_several(operators)
        hints = {"is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
                 "is_positive_definite": is_positive_definite}
        hints = {hint: _all(self._operators, hint) if said is None else said for hint, said in hints.items()}
        super().__init__(dtype, is_square=_all(self._operators, "is_square"),
                         name=name or "_ds_".join(one.name for one in self._operators),
                         parameters={"operators": operators, "name": name}, **hints)

    @property
    def operators(self):
        """The blocks."""
        return self._operators

    def _sizes(self, adjoint):
        return [one.domain_dimension if adjoint is False else one.range_dimension for one in self._operators]

    def _shape(self):
        sizes = [[one.range_dimension for one in self._operators], [one.domain_dimension for one in self._operators]]
        return _batch(self._operators).concatenate([None if None in line else sum(line) for line in sizes])

    def _each(self, name, x, adjoint, adjoint_arg):
        x = adjoint_of(x) if adjoint_arg else x
        forth = adjoint if name == "matmul" else not adjoint
        sizes = [one.range_dimension if forth else one.domain_dimension for one in self._operators]
        return F["concat"]([getattr(one, name)(part, adjoint)
                            for one, part in zip(self._operators, F["split"](x, sizes, -2))], -2)

    def _matmul(self, x, adjoint, adjoint_arg):
        return self._each("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint, adjoint_arg):
        return self._each("solve", rhs, adjoint, adjoint_arg)

    def _diag_part(self):
        return F["concat"]([one.diag_part() for one in self._operators], -1)

    def _determinant(self):
        return functools.reduce(F["multiply"], [one.determinant() for one in self._operators])

    def _log_abs_determinant(self):
        return functools.reduce(F["add"], [one.log_abs_determinant() for one in self._operators])

    def _inverse(self):
        return LinearOperatorBlockDiag([one.inverse() for one in self._operators])

    def _adjoint(self):
        return LinearOperatorBlockDiag([one.adjoint() for one in self._operators])

    def _cholesky(self):
        return LinearOperatorBlockDiag([one.cholesky() for one in self._operators])


class LinearOperatorBlockLowerTriangular(_Blocks):
    """Rows of operators, each one longer than the one before (``tf.linalg.LinearOperatorBlockLowerTriangular``)."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorBlockLowerTriangular"):
        rows = [list(row) for row in operators]
        _, dtype = _of_several([one for row in rows for one in row])
        for place, row in enumerate(rows):
            if len(row) != place + 1:
                raise ValueError(f"Argument `operators` must be a list of rows of 1, 2, ... operators; row {place} has "
                                 f"{len(row)}.")
        self._rows = rows
        diagonal = [row[-1] for row in rows]
        if is_non_singular is None:
            is_non_singular = _all(diagonal, "is_non_singular")
        super().__init__(dtype, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                         is_positive_definite=is_positive_definite, is_square=True, name=name,
                         parameters={"operators": operators, "name": name})

    @property
    def operators(self):
        """The rows."""
        return self._rows

    def _sizes(self, adjoint):
        return [row[-1].domain_dimension for row in self._rows]

    def _shape(self):
        sizes = self._sizes(False)
        size = None if None in sizes else sum(sizes)
        return _batch([one for row in self._rows for one in row]).concatenate([size, size])

    def _to_dense(self):
        sizes = self._sizes(False)
        batch = self.batch_shape_tensor()

        def block(one):
            dense = one.to_dense()
            return F["broadcast_to"](dense, F["concat"]([batch, F["shape"](dense)[-2:]], 0))
        lines = []
        for place, row in enumerate(self._rows):
            line = F["concat"]([block(one) for one in row], -1)
            rest = sum(sizes[place + 1:])
            lines.append(F["pad"](line, [[0, 0]] * (line.shape.rank - 1) + [[0, rest]]))
        return F["concat"](lines, -2)

    def _diag_part(self):
        return F["concat"]([row[-1].diag_part() for row in self._rows], -1)

    def _determinant(self):
        return functools.reduce(F["multiply"], [row[-1].determinant() for row in self._rows])

    def _log_abs_determinant(self):
        return functools.reduce(F["add"], [row[-1].log_abs_determinant() for row in self._rows])


class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator plus u d v^H, where u and v have few columns (``tf.linalg.LinearOperatorLowRankUpdate``)."""

    def __init__(self, base_operator, u, diag_update=None, v=None, is_diag_update_positive=None, is_non_singular=None,
                 is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorLowRankUpdate"):
        self._base, self._u = base_operator, tensor_of(u, base_operator.dtype)
        self._v = self._u if v is None else tensor_of(v, base_operator.dtype)
        self._diag = None if diag_update is None else tensor_of(diag_update, base_operator.dtype)
        self._is_diag_positive = True if diag_update is None else is_diag_update_positive
        is_symmetric = v is None and base_operator.is_self_adjoint
        if is_self_adjoint is None and is_symmetric:
            is_self_adjoint = True
        if is_positive_definite is None and is_symmetric and base_operator.is_positive_definite and (
                self._is_diag_positive):
            is_positive_definite = True
        super().__init__(base_operator.dtype, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                         is_positive_definite=is_positive_definite, is_square=is_square, name=name,
                         parameters={"base_operator": base_operator, "u": u, "diag_update": diag_update, "v": v,
                                     "is_diag_update_positive": is_diag_update_positive, "name": name})

    @property
    def u(self):
        """The columns on the left."""
        return self._u

    @property
    def v(self):
        """The columns on the right."""
        return self._v

    @property
    def is_diag_update_positive(self):
        """Are the numbers between them positive?"""
        return self._is_diag_positive

    @property
    def diag_update(self):
        """The numbers between them."""
        return self._diag

    @property
    def diag_operator(self):
        """These as an operator."""
        return LinearOperatorIdentity(self._u.shape[-1], dtype=self.dtype) if self._diag is None else (
            LinearOperatorDiag(self._diag, is_positive_definite=self._is_diag_positive))

    @property
    def base_operator(self):
        """The operator that is added to."""
        return self._base

    def _shape(self):
        batch = broadcast_static_shape(self._base.batch_shape, self._u.shape[:-2])
        return broadcast_static_shape(batch, self._v.shape[:-2]).concatenate(self._base.shape[-2:])

    def _matmul(self, x, adjoint, adjoint_arg):
        u, v = (self._v, self._u) if adjoint else (self._u, self._v)
        x = adjoint_of(x) if adjoint_arg else x
        inner = F["matmul"](convert_to_tensor(v), x, transpose_a=True)
        update = F["matmul"](convert_to_tensor(u), self.diag_operator.matmul(inner))
        return F["add"](self._base.matmul(x, adjoint), update)

    def _to_dense(self):
        right = self.diag_operator.matmul(adjoint_of(self._v))
        return F["add"](self._base.to_dense(), F["matmul"](convert_to_tensor(self._u), right))

    def _capacitance(self):
        """The small matrix of Woodbury's formula."""
        inner = F["matmul"](convert_to_tensor(self._v), self._base.solve(convert_to_tensor(self._u)), transpose_a=True)
        return F["add"](self.diag_operator.inverse().to_dense(), inner)

    def _determinant(self):
        small = F["linalg.det"](self._capacitance())
        return self._base.determinant() * small * self.diag_operator.determinant()

    def _log_abs_determinant(self):
        small = F["linalg.slogdet"](self._capacitance())[1]
        return self._base.log_abs_determinant() + small + self.diag_operator.log_abs_determinant()

    def _solve(self, rhs, adjoint, adjoint_arg):
        u, v = (self._v, self._u) if adjoint else (self._u, self._v)
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        plain = self._base.solve(rhs, adjoint)
        small = F["linalg.solve"](self._capacitance(), F["matmul"](convert_to_tensor(v), plain, transpose_a=True),
                                  adjoint=adjoint)
        return F["subtract"](plain, self._base.solve(F["matmul"](convert_to_tensor(u), small), adjoint))
