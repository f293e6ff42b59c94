"""``tf.random``: gamma, Poisson and binomial numbers, which have parameters; TensorFlow's for the same seeds."""

import math

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._graph.tape import custom_gradient
from leat.errors import InvalidArgumentError
from leat.random import draw

__all__ = ["begun_binomial", "gamma", "poisson", "stateless_binomial", "stateless_gamma", "stateless_poisson"]


def _shape(shape):
    """A shape as a tensor."""
    if hasattr(shape, "as_list"):
        shape = shape.as_list()
    if isinstance(shape, (int, np.integer)):
        raise InvalidArgumentError(None, None, "shape must be a vector of {int32,int64}, got shape []")
    if isinstance(shape, (list, tuple)) and not shape:
        return convert_to_tensor([], dtypes.int32)
    return F["cast"](convert_to_tensor(shape), dtypes.int32)


def _together(*parameters):
    """Parameters broadcast with each other."""
    from leat._api.arrays import broadcast_dynamic_shape
    first = parameters[0]
    if len(parameters) == 1 or first.shape.is_fully_defined() and first.shape == parameters[1].shape:
        return list(parameters)
    shape = broadcast_dynamic_shape(F["shape"](first), F["shape"](parameters[1]))
    return [F["broadcast_to"](one, shape) for one in parameters]


def _drawn(operation, seeds, parameters, count, shape, **arguments):
    """Numbers in `shape`, `count` for each of the parameters."""
    flat = [F["reshape"](F["cast"](one, dtypes.float64), [-1]) for one in parameters]
    return F["reshape"](draw.call(operation, [*seeds, *flat], num_samples=count, **arguments), shape)


def _each(shape, parameter):
    """How many numbers in `shape` each of the parameters has, which must stand last in it."""
    from leat._graph.control import Assert
    if shape._has_values and parameter.shape.is_fully_defined():
        whole, last = shape.numpy().tolist(), parameter.shape.as_list()
        if whole[max(len(whole) - len(last), 0):] != last:
            raise InvalidArgumentError(None, None, "Shape passed in must end with broadcasted shape.")
        return math.prod(whole[:len(whole) - len(last)])
    own = F["shape"](parameter)
    count = F["size"](own)
    last = shape[F["size"](shape) - count:]
    Assert(F["reduce_all"](F["equal"](last, own)), ["Shape passed in must end with broadcasted shape:", shape, own])
    return F["reduce_prod"](shape[:F["size"](shape) - count])


def _in_front(shape, parameter):
    """(how many numbers each of the parameters has, `shape` and then the parameters' own)."""
    if shape._has_values and parameter.shape.is_fully_defined():
        dims = shape.numpy().tolist()
        return math.prod(dims), [*dims, *parameter.shape.as_list()]
    return F["reduce_prod"](shape), F["concat"]([shape, F["shape"](parameter)], 0)


def _floating(dtype, name):
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise InvalidArgumentError(None, None, f"Value for attr 'T' of {dtype.name} is not in the list of allowed "
                                   f"values: half, float, double ({name})")
    return dtype


# ---- gamma ----

def _as_gamma(alpha, drawn, dtype):
    """The drawn numbers, through which gradients flow to alpha: as if the share below each stayed."""
    @custom_gradient
    def compute(alpha):
        def gradient(upstream):
            a, x = F["cast"](alpha, dtypes.float64), F["reshape"](drawn, F["concat"]([[-1], F["shape"](alpha)], 0))
            density = F["exp"]((a - 1.0) * F["math.log"](x) - x - F["math.lgamma"](a))
            slope = F["negative"](F["divide"](draw.call("igamma_grad_a", [a + F["zeros_like"](x), x]), density))
            whole = F["reshape"](F["cast"](upstream, dtypes.float64), F["shape"](x)) * slope
            return F["cast"](F["reduce_sum"](whole, 0), alpha.dtype)
        return F["cast"](drawn, dtype), gradient
    return compute(alpha)


def _scaled(numbers, beta):
    return F["maximum"](float(np.finfo(numbers.dtype.as_numpy_dtype).tiny), F["divide"](numbers, beta))


def gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of gamma distributions, `shape` for each `alpha` and inverse scale `beta` (``tf.random.gamma``).

    Gradients flow to alpha and beta.
    """
    dtype, shape = _floating(dtype, "gamma"), _shape(shape)
    beta = convert_to_tensor(1 if beta is None else beta, dtype)
    alpha, _ = _together(convert_to_tensor(alpha, dtype), beta)
    count, whole = _in_front(shape, alpha)
    drawn = _drawn("random_gamma", (), [F["stop_gradient"](alpha)], count, whole, seed=seed)
    return _scaled(_as_gamma(alpha, drawn, dtype), beta)


def stateless_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """The same of a seed, where `shape` ends with that of the parameters (``tf.random.stateless_gamma``)."""
    dtype, shape = _floating(dtype, "stateless_gamma"), _shape(shape)
    beta = convert_to_tensor(1 if beta is None else beta, dtype)
    alpha, _ = _together(convert_to_tensor(alpha, dtype), beta)
    drawn = _drawn("stateless_gamma", (draw.seed_of(seed),), [F["stop_gradient"](alpha)], _each(shape, alpha), shape)
    return _scaled(_as_gamma(alpha, drawn, dtype), beta)


# ---- counts ----

_COUNTS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def _counting(dtype):
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _COUNTS:
        raise InvalidArgumentError(None, None, f"Value for attr 'dtype' of {dtype.name} is not in the list of allowed "
                                   "values: half, float, double, int32, int64")
    return dtype


def poisson(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of Poisson distributions, `shape` for each rate `lam` (``tf.random.poisson``)."""
    dtype, shape, rates = _counting(dtype), _shape(shape), convert_to_tensor(lam)
    count, whole = _in_front(shape, rates)
    return F["cast"](_drawn("random_poisson", (), [rates], count, whole, seed=seed), dtype)


def stateless_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """The same of a seed, where `shape` ends with that of the rates (``tf.random.stateless_poisson``)."""
    dtype, shape = _counting(dtype), _shape(shape)
    rates = convert_to_tensor(lam)
    return F["cast"](_drawn("stateless_poisson", (draw.seed_of(seed),), [rates], _each(shape, rates), shape), dtype)


def stateless_binomial(shape, seed, counts, probs, output_dtype=dtypes.int32, name=None):
    """How often something of probability `probs` happens in `counts` tries; `shape` ends with that of the two
    (``tf.random.stateless_binomial``)."""
    return _binomial(lambda each, kinds: draw.seed_of(seed), shape, counts, probs, output_dtype)


def begun_binomial(begin, shape, counts, probs, dtype):
    """The same of a generator, whose ``begin([values])`` gives the state and passes as many values."""
    def seed_of(each, kinds):
        return begin(F["expand_dims"](kinds * 200 * (each + 3) // 4, 0))
    return _binomial(seed_of, shape, counts, probs, dtype)


def _binomial(seed_of, shape, counts, probs, dtype):
    dtype, shape = _counting(dtype), _shape(shape)
    probs = convert_to_tensor(probs, dtype_hint=dtypes.float32)
    counts = F["cast"](convert_to_tensor(counts), dtypes.float64)
    both = _together(counts, F["cast"](probs, dtypes.float64))
    each = _each(shape, both[0])
    seed = seed_of(each, F["size"](both[0]))
    return F["cast"](_drawn("stateless_binomial", (seed,), both, each, shape), dtype)
