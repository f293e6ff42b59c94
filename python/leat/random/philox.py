"""What samplers draw by: pairs of seeds as TensorFlow's kernels have them, and what goes on from call to call."""

import os
import random

__all__ = ["Stream", "seeds", "set_global", "state_of"]

_MOST = 2**31 - 1  # of a seed
_DEFAULT = 87654321  # of programs without a global seed
_global = {"seed": None, "drawn": None, "states": {}}


def set_global(seed):
    """The global seed, or None; streams begin anew."""
    _global.update(seed=seed, drawn=None if seed is None else random.Random(seed))
    _global["states"].clear()


def seeds(seed):
    """The pair of seeds that an operation's seed stands for; without one it is drawn, of the global seed if there is
    one."""
    if seed is None and _global["seed"] is None:
        return tuple(int.from_bytes(os.urandom(4), "little") for _ in range(2))
    if seed is None:
        seed = _global["drawn"].randint(0, _MOST)
    pair = (_DEFAULT if _global["seed"] is None else _global["seed"] % _MOST), int(seed) % _MOST
    return pair if pair != (0, 0) else (0, _MOST)


def state_of(key, make):
    """What calls alike go on with, as TensorFlow's kernels do where an operation is computed at once."""
    states = _global["states"]
    return states[key] if key in states else states.setdefault(key, make())


_BITS = 2**32 - 1


def _block(place, key, upper):
    """The four numbers of a block."""
    a, b, c, d = place & _BITS, place >> 32 & _BITS, upper & _BITS, upper >> 32 & _BITS
    low, high = key & _BITS, key >> 32 & _BITS
    for _ in range(10):
        first, second = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = second >> 32 ^ b ^ low, second & _BITS, first >> 32 ^ d ^ high, first & _BITS
        low, high = low + 0x9E3779B9 & _BITS, high + 0xBB67AE85 & _BITS
    return [a, b, c, d]


class Stream:
    """Philox in Python, for the few numbers of fractional pools: those of TensorFlow's kernels for a pair of seeds."""

    def __init__(self, key, upper, place=0):
        self._key, self._upper, self._place = key % 2**64, upper % 2**64, place
        self._kept = []

    def bits(self):
        """The next 32 bits."""
        if not self._kept:
            self._kept = _block(self._place, self._key, self._upper)[::-1]
            self._place += 1
        return self._kept.pop()

    def double(self):
        """A float64 in [0, 1)."""
        first = self.bits()
        return ((first & 0xFFFFF) << 32 | self.bits()) / 2**52
