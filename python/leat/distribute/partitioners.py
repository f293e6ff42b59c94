"""``tf.distribute.experimental.partitioners``: into how many shards variables are cut on parameter servers."""

import math

from leat import dtypes


class Partitioner:
    """The base of partitioners: called with a shape and a dtype, it gives the number of parts along each axis."""

    def __call__(self, shape, dtype, axis=0):
        raise NotImplementedError


class FixedShardsPartitioner(Partitioner):
    """`num_shards` shards, or one for each row where there are fewer rows."""

    def __init__(self, num_shards):
        self._num_shards = num_shards

    def __call__(self, shape, dtype, axis=0):
        return _along(shape, axis, min(self._num_shards, shape[axis]))


def _along(shape, axis, count):
    parts = [1] * len(shape)
    parts[axis] = count
    return parts


def _check(**limits):
    for name, value in limits.items():
        if value < 1:
            raise ValueError(f"Argument `{name}` must be positive. Received: {value}")


def _size_of(dtype, bytes_per_string):
    dtype = dtypes.as_dtype(dtype)
    return bytes_per_string if dtype is dtypes.string else dtype.size


def _check_axis(shape, axis):
    if axis >= len(shape):
        raise ValueError(f"Cannot partition variable along axis {axis} when shape is only {shape}")


class MinSizePartitioner(Partitioner):
    """As many shards of at least `min_shard_bytes` as there can be, `max_shards` at most."""

    def __init__(self, min_shard_bytes=256 << 10, max_shards=1, bytes_per_string=16):
        _check(min_shard_bytes=min_shard_bytes, max_shards=max_shards, bytes_per_string=bytes_per_string)
        self._min_shard_bytes, self._max_shards = min_shard_bytes, max_shards
        self._bytes_per_string = bytes_per_string

    def __call__(self, shape, dtype, axis=0):
        _check_axis(shape, axis)
        whole = math.prod(shape) * _size_of(dtype, self._bytes_per_string)
        count = min(-(-whole // self._min_shard_bytes), self._max_shards, shape[axis])
        return _along(shape, axis, max(1, count))


class MaxSizePartitioner(Partitioner):
    """As few shards of at most `max_shard_bytes` as there can be; larger ones where `max_shards` are not enough."""

    def __init__(self, max_shard_bytes, max_shards=None, bytes_per_string=16):
        _check(max_shard_bytes=max_shard_bytes, max_shards=max_shards or 1, bytes_per_string=bytes_per_string)
        self._max_shard_bytes, self._max_shards = max_shard_bytes, max_shards
        self._bytes_per_string = bytes_per_string

    def __call__(self, shape, dtype, axis=0):
        _check_axis(shape, axis)
        row = math.prod(shape) // shape[axis] * _size_of(dtype, self._bytes_per_string)
        count = -(-shape[axis] // max(1, self._max_shard_bytes // row))
        return _along(shape, axis, min(count, self._max_shards) if self._max_shards else count)


__all__ = ["FixedShardsPartitioner", "MaxSizePartitioner", "MinSizePartitioner", "Partitioner"]
