"""``tf.random.Generator``: a stream of random numbers whose state is a variable."""

import enum
import os

import numpy as np

from leat import dtypes, errors
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops, trace
from leat.random import draw

__all__ = ["Algorithm", "Generator", "create_rng_state", "get_global_generator", "set_global_generator"]


class Algorithm(enum.Enum):
    """Algorithms of random numbers (``tf.random.Algorithm``); Philox is the one that draws here."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_NAMES = {"philox": 1, "threefry": 2, "auto_select": 3}
_SIZES = {1: 3, 2: 2, 3: 3}  # of a state


def _algorithm(alg):
    """The number of an algorithm that is given as a name, a number or an Algorithm."""
    if isinstance(alg, Algorithm):
        return alg.value
    number = _NAMES.get(alg) if isinstance(alg, str) else int(alg)
    if number not in _SIZES:
        raise ValueError(f"Argument `alg` got unsupported value {alg}. Supported values are philox for the Philox "
                         "algorithm, threefry for the ThreeFry algorithm, and auto_select for auto-selection.")
    return number


def algorithm_name(alg):
    """Its name."""
    number = _algorithm(alg)
    return next(name for name, value in _NAMES.items() if value == number)


def _signed(number):
    return number - 2**64 if number > 2**63 - 1 else number


def create_rng_state(seed, alg):
    """The state that a seed stands for (``tf.random.create_rng_state``): an int64 vector, zeros and then the seed.

    `seed`: an integer, which is cut into 64-bit pieces, or a vector.
    """
    size = _SIZES[_algorithm(alg)]
    if isinstance(seed, (int, np.integer)):
        seed = [_signed(int(seed) >> 64 * i & 2**64 - 1) for i in range(size)]
    elif isinstance(seed, (list, tuple)):
        seed = [_signed(number) if isinstance(number, int) else number for number in seed]
    vector = ops.FUNCTIONS["reshape"](ops.FUNCTIONS["cast"](convert_to_tensor(seed), dtypes.int64), [-1])[:size]
    count = vector.shape[0]
    if count is None:
        raise ValueError("a seed needs a length that is known while a function is traced")
    return vector if count == size else ops.FUNCTIONS["concat"](
        [convert_to_tensor([0] * (size - count), dtypes.int64), vector], 0)


class Generator:
    """A stream of random numbers (``tf.random.Generator``); every call goes on where the last one ended.

    `copy_from`: another generator, or give `state` and `alg`. Numbers are TensorFlow's.
    """

    def __init__(self, copy_from=None, state=None, alg=None):
        from leat._structures.variables import Variable
        if copy_from is not None:
            if state is not None or alg is not None:
                raise AssertionError("copy_from goes without state and alg")
            state, alg = copy_from.state.read_value(), copy_from.algorithm
        if state is None or alg is None:
            raise AssertionError("a generator needs a state and an alg; see Generator.from_seed")
        self._alg = _algorithm(alg)
        state = ops.FUNCTIONS["cast"](convert_to_tensor(state), dtypes.int64)
        if not state.shape.is_compatible_with([_SIZES[self._alg]]):
            raise ValueError(f"Shapes {state.shape} and [{_SIZES[self._alg]}] are incompatible")
        self._strategy = trace.strategy()
        self._state_var = Variable(state, trainable=False, name="StateVar", dtype=dtypes.int64)

    @classmethod
    def from_state(cls, state, alg):
        """A generator with this state: counter, low half first, and key."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator whose key is the seed."""
        alg = "philox" if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator that draws other numbers in each process."""
        alg = "philox" if alg is None else alg
        state = np.frombuffer(os.urandom(8 * _SIZES[_algorithm(alg)]), np.int64)
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator of a key and a counter of two numbers, the lower half first."""
        return cls(state=_joined(key, counter), alg=alg)

    def _checkpoint_children(self):
        return [("_state_var", self._state_var)]

    def reset(self, state):
        """Sets the state."""
        self._state_var.assign(ops.FUNCTIONS["cast"](convert_to_tensor(state), dtypes.int64))

    def reset_from_seed(self, seed):
        """Sets the state that `from_seed` begins with."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key, counter):
        """Sets key and counter."""
        self._state_var.assign(_joined(key, counter))

    @property
    def state(self):
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self):
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self):
        """The key: the last number of the state of Philox."""
        return self._state_var.read_value()[2 if self._alg != 2 else 1]

    def skip(self, delta):
        """Passes `delta` values; the state before."""
        if self._alg == Algorithm.THREEFRY.value:
            raise errors.UnimplementedError(None, None, "Non-XLA devices don't support the ThreeFry algorithm.")
        before = self._state_var.read_value()
        delta = ops.FUNCTIONS["cast"](convert_to_tensor(delta), dtypes.int64)
        after = ops.call("rng_skip", None, [before, delta])[0]
        replica = trace.running_replica()
        if replica is not None and self._state_var._native.num_copies() != replica.strategy._local:
            self._state_var._native.assign(after)  # of all replicas, which run in turn: each goes on behind the others
        else:
            self._state_var.assign(after)
        return before

    def _begin(self, shape):
        """The state at which values of `shape` begin; each replica of the generator's strategy has a key of its own."""
        state = self._begin_of_all(shape)
        context = trace.replica_context()
        if self._strategy is None or context is None or context.strategy is not self._strategy:
            return state
        zero, key = convert_to_tensor([0], dtypes.int64), state[-1:]
        replica = ops.FUNCTIONS["cast"](context.replica_id_in_sync_group, dtypes.int64)
        own = ops.FUNCTIONS["concat"]([ops.FUNCTIONS["expand_dims"](replica, 0), zero, key], 0)
        key = draw.integers("stateless_uniform", (own,), [1], None, None, dtypes.int64)
        return ops.FUNCTIONS["concat"]([state[:-1], key], 0)

    def _begin_of_all(self, shape):
        from leat._core.shapes import TensorShape
        if isinstance(shape, TensorShape):
            shape = shape.as_list()
        if isinstance(shape, (list, tuple)) and not any(isinstance(d, Tensor) for d in shape):
            return self.skip(int(np.prod(np.asarray(shape, np.int64))))
        tensor = ops.FUNCTIONS["cast"](convert_to_tensor(shape), dtypes.int64)
        if tensor.shape.rank == 0:
            raise errors.InvalidArgumentError(None, None, "shape must be a vector of {int32,int64}, got shape []")
        return self.skip(ops.FUNCTIONS["reduce_prod"](tensor))

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Numbers in [minval, maxval); integers with both bounds None are of all bits."""
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_integer:
            return draw.floats("stateless_uniform", (self._begin(shape),), shape, minval,
                               1 if maxval is None else maxval, dtype)
        if (minval is None) != (maxval is None):
            raise ValueError(f"For integer dtype {dtype!r}, minval and maxval must be both `None` or both non-`None`; "
                             f"got minval={minval} and maxval={maxval}")
        return draw.integers("stateless_uniform", (self._begin(shape),), shape, minval, maxval, dtype)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Integers of all bits."""
        return draw.integers("stateless_uniform", (self._begin(shape),), shape, None, None, dtypes.as_dtype(dtype))

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Floats of a normal distribution."""
        return draw.floats("stateless_normal", (self._begin(shape),), shape, mean, stddev, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """The same without what lies two deviations or more from the mean."""
        return draw.floats("stateless_truncated_normal", (self._begin(shape),), shape, mean, stddev, dtype)

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """How often something of probability `probs` happens in `counts` tries; `shape` ends with that of the two."""
        from leat.random.counts import begun_binomial
        return begun_binomial(self._begin, shape, counts, probs, dtype)

    def make_seeds(self, count=1):
        """Seeds of stateless functions: int64 [2, count]."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return ops.FUNCTIONS["stack"]([keys, ops.FUNCTIONS["zeros_like"](keys)])

    def split(self, count=1):
        """A list of new generators, whose streams are independent of this one's and of each other."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return [Generator(state=ops.FUNCTIONS["stack"]([*[convert_to_tensor(0, dtypes.int64)] * 2, keys[i]]),
                          alg=self._alg) for i in range(count)]


def _joined(key, counter):
    """A state of its parts."""
    parts = [ops.FUNCTIONS["reshape"](ops.FUNCTIONS["cast"](convert_to_tensor(part), dtypes.int64), [-1])
             for part in (counter, key)]
    return ops.FUNCTIONS["concat"](parts, 0)


_global = []


def get_global_generator():
    """The generator that the process shares (``tf.random.get_global_generator``)."""
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator):
    """Replaces it (``tf.random.set_global_generator``)."""
    _global[:] = [generator]
