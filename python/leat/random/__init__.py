"""``tf.random``: random numbers from seeds, from generators, and from call to call.

The numbers are TensorFlow's, bit for bit on a CPU. Operations of the library's table join what stands here; these
functions add what the table cannot say: bounds that are tensors, and through which gradients flow.
"""

from leat import _native, dtypes, errors
from leat._graph import ops
from leat.random import experimental
from leat.random.draw import floats as _floats, integers as _integers, seed_of as _seed
from leat.random.generator import (Algorithm, Generator, algorithm_name as _algorithm_name, create_rng_state,
                                   get_global_generator, set_global_generator)

__all__ = ["Algorithm", "Generator", "create_rng_state", "experimental", "get_global_generator", "normal",
           "set_global_generator", "set_seed", "stateless_normal", "stateless_truncated_normal", "stateless_uniform",
           "truncated_normal", "uniform"]


def set_seed(seed):
    """Sets the global seed (``tf.random.set_seed``); all streams begin anew. None: there is none."""
    _native.set_seed(seed)
    from leat.random import philox
    philox.set_global(seed)


def uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Random numbers in [minval, maxval) (``tf.random.uniform``); integers need a `maxval`.

    `minval`, `maxval`: numbers, of floats also tensors that broadcast. InvalidArgumentError unless minval < maxval for
    integers.
    """
    dtype = dtypes.as_dtype(dtype)
    accepted = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
    if dtype not in accepted:
        raise ValueError(f"Argument `dtype` got invalid value {dtype!r}. Accepted dtypes are {accepted}.")
    if dtype.is_integer:
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        return _integers("random_uniform", (), shape, minval, maxval, dtype, seed=seed)
    return _floats("random_uniform", (), shape, minval, 1 if maxval is None else maxval, dtype, seed=seed)


def normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Random floats of a normal distribution (``tf.random.normal``); `mean` and `stddev` may be tensors."""
    return _floats("random_normal", (), shape, mean, stddev, dtype, seed=seed)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """The same without what lies two deviations or more from the mean (``tf.random.truncated_normal``)."""
    return _floats("random_truncated_normal", (), shape, mean, stddev, dtype, seed=seed)


def stateless_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None, alg="auto_select"):
    """Random numbers in [minval, maxval) of a seed (``tf.random.stateless_uniform``).

    Integers need both bounds, or neither (None): then all values of the dtype. `alg`: "philox" or "auto_select".
    """
    dtype = dtypes.as_dtype(dtype)
    alg = _algorithm_name(alg)
    if not dtype.is_integer:
        return _floats("stateless_uniform", (_seed(seed),), shape, minval, 1 if maxval is None else maxval, dtype,
                       alg=alg)
    if (minval is None) != (maxval is None):
        raise ValueError(f"For integer `dtype` argument {dtype!r}, argument `minval` and `maxval` must be both None or "
                         f"not None. Got `minval`={minval} and `maxval`={maxval}.")
    if minval is not None and dtype in (dtypes.uint32, dtypes.uint64):
        raise ValueError(f"Argument `dtype` got invalid value {dtype!r} when argument `minval` is not None. Please "
                         "don't use unsigned integers in this case.")
    return _integers("stateless_uniform", (_seed(seed),), shape, minval, maxval, dtype, alg=alg)


def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"):
    """Random floats of a normal distribution of a seed (``tf.random.stateless_normal``)."""
    return _floats("stateless_normal", (_seed(seed),), shape, mean, stddev, dtype, alg=_algorithm_name(alg))


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"):
    """The same without what lies two deviations or more from the mean (``tf.random.stateless_truncated_normal``)."""
    return _floats("stateless_truncated_normal", (_seed(seed),), shape, mean, stddev, dtype, alg=_algorithm_name(alg))


ops.join(__name__, homes={
    "leat.random.candidates": "all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler "
                              "log_uniform_candidate_sampler uniform_candidate_sampler",
    "leat.random.counts": "gamma poisson stateless_binomial stateless_gamma stateless_poisson"})
