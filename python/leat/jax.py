"""Datasets for JAX. jax itself is imported by the first call that needs it.

    for batch in leat.jax.as_jax(dataset, sharding):
        state = step(state, batch)
"""

import collections

import numpy as np

from leat import dtypes, nest
from leat._core.later import public
from leat._core.tensor import Tensor
from leat.data.iterator import Iterator

__dir__ = public(globals())


def _jax():
    try:
        import jax
    except ModuleNotFoundError:
        raise ImportError("leat.jax needs the package jax; install it (pip install jax)") from None
    return jax


def to_jax(value, device=None):
    """A structure of leat's tensors as jax arrays on `device`: a device, a sharding, or None for jax's default.

    A sharding over devices of several processes takes from each the rows of its own devices, as many in each process:
    the arrays are those of all together. TypeError for texts, which jax has no arrays of, and for ragged or sparse
    values.
    """
    jax = _jax()
    if getattr(device, "is_fully_addressable", True):
        return nest.map_structure(lambda leaf: None if leaf is None else jax.device_put(_numpy(leaf), device), value)
    return nest.map_structure(lambda leaf: None if leaf is None else jax.make_array_from_process_local_data(
        device, _numpy(leaf)), value)


def _numpy(leaf):
    if not isinstance(leaf, Tensor):
        raise TypeError(f"a {type(leaf).__name__} is no array of jax's; make it dense (to_tensor, padded_batch)")
    if leaf.dtype in (dtypes.string, dtypes.variant):
        raise TypeError(f"jax has no arrays of dtype {leaf.dtype.name}; leave the component out, or map it to numbers")
    return np.array(leaf.numpy())  # jax may use the memory for as long as the array lives


class JaxIterator:
    """Elements of a dataset as jax arrays, some of them on their way to the device already."""

    def __init__(self, dataset, device, buffer_size):
        if buffer_size < 1:
            raise ValueError(f"buffer_size is {buffer_size}; expected 1 or more")
        self._iterator = Iterator(dataset)
        self._device, self._buffer_size = device, buffer_size
        self._ready = collections.deque()
        self._error = None

    def __iter__(self):
        return self

    def __next__(self):
        while len(self._ready) < self._buffer_size and self._error is None:
            try:
                self._ready.append(to_jax(next(self._iterator), self._device))
            except Exception as error:  # it comes after what is ready
                self._error = error
        if self._ready:
            return self._ready.popleft()
        error = self._error
        if not isinstance(error, StopIteration):
            self._error = None  # the dataset goes on behind an element that failed
        raise error

    def close(self):
        """Ends the run."""
        self._ready.clear()
        self._iterator.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.close()


def as_jax(dataset, device=None, buffer_size=2):
    """An iterator over the elements as jax arrays.

    device: where they go: a device, a sharding over several, or None for jax's default. buffer_size: elements whose
    transfer is begun before they are asked for (2 hides it behind the step before).
    """
    _jax()
    return JaxIterator(dataset, device, buffer_size)
