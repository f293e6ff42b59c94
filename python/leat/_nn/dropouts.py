"""``tf.nn.dropout`` and its kin of ``tf.nn.experimental``."""

import functools
import numbers
import types

from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph.ops import FUNCTIONS as F


def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """x with values dropped at `rate`, the others scaled by 1 / (1 - rate) (``tf.nn.dropout``)."""
    return _dropped(x, rate, functools.partial(F["random.uniform"], seed=seed), noise_shape)


def _stateless_dropout(x, rate, seed, rng_alg=None, noise_shape=None, name=None):
    """``dropout`` whose numbers are those of `seed`, two integers (``tf.nn.experimental.stateless_dropout``)."""
    from leat.random import stateless_uniform
    draw = functools.partial(stateless_uniform, seed=seed, alg=rng_alg or "auto_select")
    return _dropped(x, rate, draw, noise_shape)


def _general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """``dropout`` by the numbers in [0, 1) that ``uniform_sampler(shape=, dtype=)`` gives
    (``tf.nn.experimental.general_dropout``)."""
    return _dropped(x, rate, uniform_sampler, noise_shape)


experimental = types.SimpleNamespace(stateless_dropout=_stateless_dropout, general_dropout=_general_dropout)


def _dropped(x, rate, draw, noise_shape):
    is_number = isinstance(rate, numbers.Real)
    if is_number and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError("`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
                         f"x_dtype={x.dtype}")
    if is_number and rate == 0:
        return x
    if is_number:
        scaled = F["multiply"](x, convert_to_tensor(1 / (1 - float(rate)), x.dtype))
        rate = convert_to_tensor(float(rate), x.dtype)
    else:
        rate = _checked(rate, x.dtype)
        scaled = F["divide"](x, F["subtract"](convert_to_tensor(1, x.dtype), rate))
    kept = F["greater_equal"](draw(shape=_noise_shape(x, noise_shape), dtype=x.dtype), rate)
    return F["where"](kept, scaled, F["zeros_like"](x))


def _checked(rate, dtype):
    """A rate that is a tensor or a variable."""
    if not isinstance(rate, Tensor) and not hasattr(rate, "_as_tensor"):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    rate = convert_to_tensor(rate)
    if rate.dtype != dtype:
        raise ValueError(f"`x.dtype` must be compatible with `rate.dtype`. Received: x.dtype={dtype} and "
                         f"rate.dtype={rate.dtype}")
    if rate.shape.rank not in (0, None):
        raise ValueError(f"Shape {rate.shape} must have rank 0, as `rate` is a scalar")
    return rate


def _noise_shape(x, noise_shape):
    if noise_shape is None:
        return F["shape"](x)
    if isinstance(noise_shape, Tensor):
        return noise_shape
    shape = F["shape"](x)
    dims = [shape[i] if d is None else d for i, d in enumerate(noise_shape)]
    return F["stack"](dims) if any(hasattr(d, "dtype") for d in dims) else dims
