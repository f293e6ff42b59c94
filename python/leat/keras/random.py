"""``keras.random``: generators of seeds, and random tensors of them."""

import random as _random

import numpy

from leat._core.tensor import constant, convert_to_tensor
from leat._graph import trace
from leat.keras import backend
from leat.keras._base import tables
from leat.keras._base.named import op as _op
from leat.keras._base.variables import Variable, name_scope
from leat.random import counts as _counts

_MOST = 2 ** 31 - 2  # seeds are taken modulo this


def make_default_seed():
    """The seed of what was given none, drawn from Python's generator as Keras does."""
    return _random.randint(1, int(1e9))


class SeedGenerator:
    """Gives a new seed at each call (``keras.random.SeedGenerator``): `state` is [seed, number of calls so far].

    `seed`: an integer; None: one is drawn, after ``keras.utils.set_random_seed`` the same as in Keras.
    """

    def __init__(self, seed=None, name=None, **kwargs):
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {kwargs}")
        self.name = name or tables.auto_name("seed_generator")
        self._initial_seed = seed
        if seed is None:
            seed = make_default_seed()
        if not isinstance(seed, int):
            raise ValueError(f"Argument `seed` must be an integer. Received: seed={seed}")
        with name_scope(self.name):
            # An array and no list, because one that was drawn may differ from worker to worker.
            self.state = Variable(numpy.array([seed, 0]), dtype="int64", trainable=False, name="seed_generator_state")

    def next(self, ordered=True):
        """The seed of this call, an int64 tensor [2]; the state becomes that of the next."""
        value = self.state.read_value()
        self.state.assign(value + [0, 1] if ordered else (value + 1) * 5387 % 933199)
        return value

    _checkpoint_is_optional = True  # TensorFlow saves none

    def _checkpoint_save(self):
        return self.state.numpy().astype("<i8").tobytes()

    def _checkpoint_restore(self, state):
        if len(state) != 16:
            raise ValueError(f"the state of {self.name} has 16 bytes; found {len(state)}")
        self.state.assign([int.from_bytes(state[at:at + 8], "little", signed=True) for at in (0, 8)])

    def get_config(self):
        """The arguments that make another one like it."""
        return {"seed": self._initial_seed, "name": self.name}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


_global = []


def draw_seed(seed):
    """A seed as TensorFlow's stateless operations take it, int32 [2]: of a generator, a number, or None."""
    if isinstance(seed, SeedGenerator):
        value = seed.next()
    elif seed is None:
        if not _global:
            with trace.eagerly():
                _global.append(SeedGenerator())
        value = _global[0].next(ordered=False)
    elif isinstance(seed, int):
        value = constant([seed, 0], "int64")
    else:
        raise ValueError("Argument `seed` must be either an integer or an instance of `SeedGenerator`. Received: "
                         f"seed={seed} (of type {type(seed)})")
    return _op("cast", _op("math.floormod", value, constant(_MOST, "int64")), "int32")


def forget_seed():
    """The generator that is used without a seed starts anew."""
    _global.clear()


backend.FORGOTTEN.append(forget_seed)


def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Uniform numbers of [minval, maxval) (``keras.random.uniform``). ValueError for a dtype that is no float."""
    if dtype and not backend.is_float_dtype(dtype):
        raise ValueError("`keras.random.uniform` requires a floating point `dtype`. Received: dtype="
                         f"{dtype}; `keras.random.randint` gives integers")
    low, high = (numpy.float32(one).item() if isinstance(one, float) else one for one in (minval, maxval))  # as Keras'
    return _op("random.stateless_uniform", shape, draw_seed(seed), low, high, dtype or backend.floatx())


def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers (``keras.random.normal``)."""
    return _op("random.stateless_normal", shape, draw_seed(seed), mean, stddev, dtype or backend.floatx())


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers within two deviations (``keras.random.truncated_normal``)."""
    return _op("random.stateless_truncated_normal", shape, draw_seed(seed), mean, stddev, dtype or backend.floatx())


def categorical(logits, num_samples, dtype="int32", seed=None):
    """Class numbers drawn from rows of log-probabilities (``keras.random.categorical``). ValueError for other ranks."""
    logits = convert_to_tensor(logits)
    if len(logits.shape) != 2:
        raise ValueError("`logits` should be a 2-D tensor with shape [batch_size, num_classes]. Received: logits.shape="
                         f"{tuple(logits.shape)}")
    drawn = _op("random.stateless_categorical", logits, num_samples, draw_seed(seed), "int64")
    return _op("cast", drawn, backend.standardize_dtype(dtype))


def shuffle(x, axis=0, seed=None):
    """The parts of a dimension in another order (``keras.random.shuffle``)."""
    x = convert_to_tensor(x)
    drawn = _op("random.stateless_uniform", _op("reshape", _op("shape", x)[axis], [1]), draw_seed(seed))
    return _op("gather", x, _op("argsort", drawn), axis=axis)


def gamma(shape, alpha, dtype=None, seed=None):
    """Numbers of the gamma distribution (``keras.random.gamma``), `alpha` its parameter or an array of them."""
    drawn = _in_float32(dtype)
    return _op("cast", _counts.stateless_gamma(shape, draw_seed(seed), alpha, dtype=drawn), dtype or backend.floatx())


def beta(shape, alpha, beta, dtype=None, seed=None):
    """Numbers of the beta distribution (``keras.random.beta``); `alpha` and `beta` broadcast to `shape`."""
    drawn, first = _in_float32(dtype), draw_seed(seed)
    alpha, beta = (_op("broadcast_to", convert_to_tensor(one, drawn), shape) for one in (alpha, beta))
    one = _op("cast", _counts.stateless_gamma(shape, first, alpha, dtype=drawn), dtype or backend.floatx())
    other = _op("cast", _counts.stateless_gamma(shape, first + 12, beta, dtype=drawn), dtype or backend.floatx())
    return one / (one + other)


def binomial(shape, counts, probabilities, dtype=None, seed=None):
    """How many of `counts` draws succeed that do with `probabilities` (``keras.random.binomial``), as floats."""
    drawn = _counts.stateless_binomial(shape, draw_seed(seed), counts, probabilities, _in_float32(dtype))
    return _op("cast", drawn, dtype or backend.floatx())


def _in_float32(dtype):
    """The dtype to draw in: these are not drawn in bfloat16."""
    dtype = backend.standardize_dtype(dtype or backend.floatx())
    return "float32" if dtype == "bfloat16" else dtype


def randint(shape, minval, maxval, dtype="int32", seed=None):
    """Integers of [minval, maxval) (``keras.random.randint``). ValueError for a dtype that is no integer."""
    dtype = backend.standardize_dtype(dtype or "int32")
    if not backend.is_int_dtype(dtype):
        raise ValueError("`keras.random.randint` requires an integer `dtype`. Received: dtype="
                         f"{dtype}; `keras.random.uniform` gives floats")
    drawn = dtype if dtype in ("int32", "int64") else "int64"
    return _op("cast", _op("random.stateless_uniform", shape, draw_seed(seed), minval, maxval, drawn), dtype)


def dropout(inputs, rate, noise_shape=None, seed=None):
    """The inputs with values set to 0 by chance, the others divided by what stays (``keras.random.dropout``)."""
    inputs = convert_to_tensor(inputs)
    if rate == 0:
        return inputs
    if rate == 1:
        return _op("zeros_like", inputs)
    shape = _op("shape", inputs)
    if noise_shape is not None:
        shape = _op("stack", [shape[d] if size is None else size for d, size in enumerate(noise_shape)])
    drawn = _op("random.stateless_uniform", shape, draw_seed(seed), 0, 1, inputs.dtype)
    return _op("where", drawn >= rate, inputs * (1 / (1 - rate)), _op("zeros_like", inputs))
