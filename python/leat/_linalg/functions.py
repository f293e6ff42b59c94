"""``tf.linalg.experimental``: equations by iterations."""

import collections

from leat._api.arrays import broadcast_dynamic_shape
from leat._core.tensor import convert_to_tensor
from leat._graph.control import while_loop
from leat._graph.ops import FUNCTIONS as F

__all__ = ["conjugate_gradient"]

State = collections.namedtuple("CGState", "i x r p gamma")


def _norm(x):
    return F["sqrt"](F["reduce_sum"](F["square"](x), -1))


def _dot(x, y):
    return F["reduce_sum"](F["multiply"](x, y), -1)


def conjugate_gradient(operator, rhs, preconditioner=None, x=None, tol=1e-5, max_iter=20, name="conjugate_gradient"):
    """The x of operator x = rhs, for a self-adjoint and positive definite LinearOperator, by at most `max_iter` steps,
    until the rest is `tol` of rhs (``tf.linalg.experimental.conjugate_gradient``): (steps, x, rest, direction, square
    of the rest)."""
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    rhs = convert_to_tensor(rhs, operator.dtype)
    shape = F["concat"]([broadcast_dynamic_shape(F["shape"](rhs)[:-1], operator.batch_shape_tensor()),
                         F["shape"](rhs)[-1:]], 0)
    rest = F["broadcast_to"](rhs, shape)
    limit = F["multiply"](float(tol), _norm(rest))
    if x is None:
        x = F["zeros"](shape, rhs.dtype)
    else:
        x = convert_to_tensor(x, rhs.dtype)
        rest = rhs - operator.matvec(x)
    conditioned = preconditioner.matvec if preconditioner is not None else lambda rest: rest
    direction = conditioned(rest)

    def is_open(i, x, r, p, gamma):
        return F["logical_and"](i < max_iter, F["reduce_any"](_norm(r) > limit))

    def further(i, x, r, p, gamma):
        product = operator.matvec(p)
        alpha = F["expand_dims"](gamma / _dot(p, product), -1)
        x, r = x + alpha * p, r - alpha * product
        next = conditioned(r)
        square = _dot(r, next)
        return i + 1, x, r, next + F["expand_dims"](square / gamma, -1) * p, square
    return State(*while_loop(is_open, further, (convert_to_tensor(0), x, rest, direction, _dot(rest, direction))))
