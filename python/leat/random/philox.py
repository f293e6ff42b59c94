"""Philox in Python, for the few operations that draw in Python: the numbers of TensorFlow's kernels for their seeds."""

import random

import numpy as np

__all__ = ["Stream", "seeds", "set_global", "state_of"]

_MOST = 2**31 - 1  # of a seed
_DEFAULT = 87654321  # of programs without a global seed
_FACTORS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_STEPS = (np.uint32(0x9E3779B9), np.uint32(0xBB67AE85))
_BATCH = 64
_global = {"seed": None, "drawn": None, "states": {}}


def set_global(seed):
    """The global seed, or None; streams begin anew."""
    _global.update(seed=seed, drawn=None if seed is None else random.Random(seed))
    _global["states"].clear()


def seeds(seed):
    """The pair of seeds that an operation's seed stands for; without one it is drawn, of the global seed if there is
    one."""
    if seed is None and _global["seed"] is None:
        return tuple(int(one) for one in np.random.SeedSequence().generate_state(2))
    if seed is None:
        seed = _global["drawn"].randint(0, _MOST)
    pair = (_DEFAULT if _global["seed"] is None else _global["seed"] % _MOST), int(seed) % _MOST
    return pair if pair != (0, 0) else (0, _MOST)


def state_of(key, make):
    """What calls alike go on with, as TensorFlow's kernels do where an operation is computed at once."""
    states = _global["states"]
    return states[key] if key in states else states.setdefault(key, make())


def _blocks(first, count, key, upper):
    """`count` blocks of four numbers from number `first` on."""
    places = np.arange(first, first + count, dtype=np.uint64)
    words = [places.astype(np.uint32), (places >> np.uint64(32)).astype(np.uint32),
             np.full(count, upper & 0xFFFFFFFF, np.uint32), np.full(count, upper >> 32 & 0xFFFFFFFF, np.uint32)]
    keys = [np.uint32(key & 0xFFFFFFFF), np.uint32(key >> 32 & 0xFFFFFFFF)]
    with np.errstate(over="ignore"):
        for _ in range(10):
            products = [words[0].astype(np.uint64) * _FACTORS[0], words[2].astype(np.uint64) * _FACTORS[1]]
            high = [(one >> np.uint64(32)).astype(np.uint32) for one in products]
            low = [one.astype(np.uint32) for one in products]
            words = [high[1] ^ words[1] ^ keys[0], low[1], high[0] ^ words[3] ^ keys[1], low[0]]
            keys = [key + step for key, step in zip(keys, _STEPS)]
    return np.stack(words, 1).reshape(-1)


class Stream:
    """Numbers of a pair of seeds, one after the other."""

    def __init__(self, key, upper, place=0):
        self._key, self._upper, self._place = key % 2**64, upper % 2**64, place
        self._kept = []

    def bits(self):
        """The next 32 bits."""
        if not self._kept:
            self._kept = _blocks(self._place, _BATCH, self._key, self._upper).tolist()[::-1]
            self._place += _BATCH
        return self._kept.pop()

    def wide_bits(self):
        """The next 64 bits."""
        low = self.bits()
        return low | self.bits() << 32

    def float(self):
        """A float32 in [0, 1)."""
        return (self.bits() & 0x7FFFFF) / 2**23

    def double(self):
        """A float64 in [0, 1)."""
        first = self.bits()
        return ((first & 0xFFFFF) << 32 | self.bits()) / 2**52

    def below(self, count, wide=False):
        """An integer in [0, count)."""
        draw, size = (self.wide_bits, 2**64) if wide else (self.bits, 2**32)
        if count & (count - 1) == 0:
            return draw() & (count - 1)
        least = (size - 1) % count + 1
        drawn = draw()
        while drawn < least:
            drawn = draw()
        return drawn % count
