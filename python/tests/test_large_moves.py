"""Operations that move values, on arrays of many pieces and all sizes of values, beside numpy: eager, where threads
share the pieces, and in functions."""
import zlib

import numpy as np
import pytest

import leat as tf

RNG = np.random.default_rng(3)
DTYPES = ["bool", "int16", "float32", "float64"]


def draw(dtype, *shape):
    if dtype == "bool":
        return RNG.random(shape) < .5
    return (RNG.standard_normal(shape) * 1000).astype(dtype)


def check(found, call, *inputs):
    """The same bits as `found`, eagerly and in a function."""
    tensors = [tf.constant(x) for x in inputs]
    for result in (call(*tensors), tf.function(call)(*tensors)):
        np.testing.assert_array_equal(result.numpy(), found)
        assert result.numpy().dtype == found.dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype):
    x, pictures = draw(dtype, 1003, 1021), draw(dtype, 5, 97, 301, 3)
    check(x.T, tf.transpose, x)
    for perm in ([0, 3, 1, 2], [2, 1, 0, 3], [3, 2, 1, 0], [1, 0, 2, 3], [0, 2, 1, 3]):
        check(np.transpose(pictures, perm), lambda t, perm=perm: tf.transpose(t, perm), pictures)
    for axis in ([0], [1], [0, 1]):
        check(np.flip(x, axis), lambda t, axis=axis: tf.reverse(t, axis), x)
    check(np.flip(pictures, 3), lambda t: tf.reverse(t, [3]), pictures)
    check(np.roll(x, [5, -700], [0, 1]), lambda t: tf.roll(t, [5, -700], [0, 1]), x)
    check(x[3:900:2, 5:-3], lambda t: t[3:900:2, 5:-3], x)
    check(x[::-3, ::4], lambda t: t[::-3, ::4], x)
    check(np.tile(x[:100], (7, 3)), lambda t: tf.tile(t, [7, 3]), x[:100])
    red = pictures[:1, :, :, :1]
    check(np.tile(red, (1, 1, 3, 5)), lambda t: tf.tile(t, [1, 1, 3, 5]), red)
    check(np.broadcast_to(x[:, :1], (1003, 700)), lambda t: tf.broadcast_to(t, [1003, 700]), x[:, :1])
    check(np.broadcast_to(x[:1], (900, 1021)), lambda t: tf.broadcast_to(t, [900, 1021]), x[:1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_joins(dtype):
    x, y = draw(dtype, 700, 801), draw(dtype, 700, 500)
    check(np.concatenate([x, y], 1), lambda a, b: tf.concat([a, b], 1), x, y)
    check(np.concatenate([x, x]), lambda a, b: tf.concat([a, b], 0), x, x)
    for axis in (0, 1, 2):
        check(np.stack([x, x[::-1]], axis), lambda a, b, axis=axis: tf.stack([a, b], axis), x, x[::-1])
    for axis in (0, 1):
        sizes = [100, 250, -1]
        for part, found in zip(np.split(x, [100, 350], axis), tf.split(tf.constant(x), sizes, axis)):
            np.testing.assert_array_equal(found.numpy(), part)
    for k in range(5):
        check(x[:, 10 + k], lambda t, k=k: tf.unstack(t[:, 10:15], axis=1)[k], x)
        check(x[10 + k], lambda t, k=k: tf.unstack(t[10:15])[k], x)


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_paddings(dtype):
    x, pictures = draw(dtype, 900, 701), draw(dtype, 7, 150, 200, 3)
    for mode, name in (("CONSTANT", "constant"), ("REFLECT", "reflect"), ("SYMMETRIC", "symmetric")):
        for value, pads in ((x, [[3, 4], [5, 0]]), (x, [[0, 0], [0, 9]]), (x, [[7, 0], [0, 0]]),
                            (pictures, [[0, 0], [2, 1], [1, 3], [0, 0]]), (x.ravel(), [[11, 12]])):
            check(np.pad(value, pads, name), lambda t, pads=pads, mode=mode: tf.pad(t, pads, mode), value)
    check(np.pad(x, [[1, 2], [3, 4]], constant_values=7), lambda t: tf.pad(t, [[1, 2], [3, 4]], constant_values=7), x)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gathers(dtype, index):
    x, at = draw(dtype, 500, 33, 3), RNG.integers(0, 33, 1001).astype(index)
    flat, many = x.reshape(-1), RNG.integers(0, x.size, 300001).astype(index)
    check(flat[many], tf.gather, flat, many)
    check(x[:, at], lambda t, i: tf.gather(t, i, axis=1), x, at)
    check(x[:, :, [2, 0, 2]], lambda t, i: tf.gather(t, i, axis=2), x, np.array([2, 0, 2], index))
    rows = RNG.integers(0, 33, (500, 17)).astype(index)
    check(np.take_along_axis(x, rows[:, :, None], 1), lambda t, i: tf.gather(t, i, batch_dims=1), x, rows)
    pairs = np.stack([RNG.integers(0, 500, 70001), RNG.integers(0, 33, 70001)], 1).astype(index)
    check(x[pairs[:, 0], pairs[:, 1]], tf.gather_nd, x, pairs)
    bad = many.copy()
    for wrong in (x.size, -1):
        bad[250000] = wrong
        bad[260000] = wrong
        with pytest.raises(tf.errors.InvalidArgumentError, match="250000"):
            tf.gather(flat, bad)
        with pytest.raises(tf.errors.InvalidArgumentError, match="250000"):
            tf.gather_nd(flat, bad[:, None])


@pytest.mark.parametrize("dtype", DTYPES)
def test_choices(dtype):
    x, y, mask = draw(dtype, 700, 901), draw(dtype, 700, 901), RNG.random((700, 901)) < .3
    check(np.where(mask, x, y), tf.where, mask, x, y)
    check(np.where(mask[:, :1], x, y), tf.where, mask[:, :1], x, y)
    check(np.where(mask, x, y[0, 0]), tf.where, mask, x, y[0, 0])
    check(np.where(mask, x[0, 0], y), tf.where, mask, x[0, 0], y)
    check(np.where(mask, x[0, 0], y[0, 0]), tf.where, mask, x[0, 0], y[0, 0])
    check(x[mask], tf.boolean_mask, x, mask)
    check(x[mask[:, 0]], tf.boolean_mask, x, mask[:, 0])
    check(x[:, mask[0]], lambda t, m: tf.boolean_mask(t, m, axis=1), x, mask[0])
    check(np.argwhere(mask), tf.where, mask)
    check(np.argwhere(mask.ravel()), tf.where, mask.ravel())
    check(np.argwhere(mask.reshape(7, 100, 901)), tf.where, mask.reshape(7, 100, 901))
    times = RNG.integers(0, 4, 700)
    check(np.repeat(x, times, 0), lambda t, n: tf.repeat(t, n, 0), x, times)
    check(np.repeat(x, times[:1] + 1, 1), lambda t: tf.repeat(t, times[0] + 1, 1), x)
    check(np.repeat(x[:, :700], times, 1), lambda t, n: tf.repeat(t, n, 1), x[:, :700], times)
    numbers = RNG.integers(0, 3, 700).astype("int32")
    parts = tf.dynamic_partition(x, numbers, 3)
    for k in range(3):
        np.testing.assert_array_equal(parts[k].numpy(), x[numbers == k])
    places = [np.flatnonzero(numbers == k).astype("int32") for k in range(3)]
    np.testing.assert_array_equal(tf.dynamic_stitch(places, parts).numpy(), x)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64"])
def test_made(dtype):
    at = RNG.integers(-1, 50, (90, 101))
    hot = (at[..., None] == np.arange(50)).astype(dtype)
    check(hot, lambda i: tf.one_hot(i, 50, dtype=dtype), at)
    check(np.moveaxis(hot, 2, 0), lambda i: tf.one_hot(i, 50, axis=0, dtype=dtype), at)
    check(np.moveaxis(hot, 2, 1), lambda i: tf.one_hot(i, 50, axis=1, dtype=dtype), at)
    check((np.arange(40) < at[..., None]).astype(dtype), lambda n: tf.sequence_mask(n, 40, dtype), at)
    check(np.ones((501, 1001), dtype), lambda: tf.ones([501, 1001], dtype))
    check(np.zeros((501, 1001), dtype), lambda: tf.zeros([501, 1001], dtype))
    check(np.eye(501, 1001, dtype=dtype), lambda: tf.eye(501, 1001, dtype=dtype))
    line = draw(dtype, 801)
    check(np.diag(line), tf.linalg.diag, line)
    check(np.diag(line, 3), lambda t: tf.linalg.diag(t, k=3), line)
    square = draw(dtype, 700, 600)
    for low, high in ((-1, 0), (0, -1), (3, 40), (700, 600), (0, 0)):
        band = np.triu(np.tril(square, high if high >= 0 else 600), -low if low >= 0 else -700)
        check(band, lambda t, low=low, high=high: tf.linalg.band_part(t, low, high), square)
    check(np.diagonal(square).copy(), tf.linalg.diag_part, square)


def test_strings():
    x = RNG.integers(0, 1000, (301, 150)).astype("S4").astype(object)
    mask, at = RNG.random((301, 150)) < .3, RNG.integers(0, 301, 400)
    check(x.T, tf.transpose, x)
    check(x[::-1], lambda t: tf.reverse(t, [0]), x)
    check(np.roll(x, 9, 1), lambda t: tf.roll(t, 9, 1), x)
    check(np.tile(x, (1, 3)), lambda t: tf.tile(t, [1, 3]), x)
    check(x[1::2, 3:], lambda t: t[1::2, 3:], x)
    check(np.stack([x, x], 2), lambda t: tf.stack([t, t], 2), x)
    check(x[:, 7], lambda t: tf.unstack(t, axis=1)[7], x)
    check(x[7], lambda t: tf.unstack(t)[7], x)
    check(x[at], lambda t: tf.gather(t, at), x)
    check(x[mask], lambda t: tf.boolean_mask(t, mask), x)
    check(np.where(mask, x, x[::-1]), lambda t: tf.where(mask, t, t[::-1]), x)
    check(np.repeat(x, 3, 0), lambda t: tf.repeat(t, 3, 0), x)
    check(np.pad(x, 2, "reflect"), lambda t: tf.pad(t, [[2, 2], [2, 2]], "REFLECT"), x)


def test_clipped():
    x = RNG.standard_normal(300001).astype("float32")
    x[::7], x[1::1001] = np.nan, np.inf
    check(np.clip(x, np.float32(-.5), np.float32(.25)), lambda t: tf.clip_by_value(t, -.5, .25), x)
    numbers = RNG.integers(-1000, 1000, 300001).astype("int32")
    check(np.clip(numbers, -5, 700), lambda t: tf.clip_by_value(t, -5, 700), numbers)


def test_views_are_apart():
    variable = tf.Variable(np.arange(8, dtype="float32"))
    before = [tf.bitcast(variable, "int32"), *tf.split(variable, 2), *tf.unstack(variable)]
    copies = [t.numpy().copy() for t in before]
    variable.assign_add(np.ones(8, "float32"))
    variable[2:4].assign([0., 0.])
    for tensor, copy in zip(before, copies):
        np.testing.assert_array_equal(tensor.numpy(), copy)


# Checksums of TensorFlow 2.21's numbers for 70001 values of seed [3, 4].
STREAMS = {("stateless_uniform", "float32"): 625629115, ("stateless_uniform", "float64"): 1124767908,
           ("stateless_uniform", "float16"): 2353691808, ("stateless_normal", "float32"): 4075268386,
           ("stateless_normal", "float64"): 3387435271, ("stateless_normal", "float16"): 552636245,
           ("stateless_truncated_normal", "float32"): 1749365597, ("stateless_truncated_normal", "float64"): 664590391,
           ("stateless_truncated_normal", "float16"): 7505021}
INTEGERS = {("int32", True): 2409021031, ("int32", False): 1943263645, ("int64", True): 1395149379,
            ("int64", False): 2308931735}


def test_parts_of_streams():
    for (name, dtype), checksum in STREAMS.items():
        def call(name=name, dtype=dtype):
            return getattr(tf.random, name)([70001], [3, 4], dtype=dtype)
        assert [zlib.crc32(f().numpy().tobytes()) for f in (call, tf.function(call))] == [checksum] * 2
    for (dtype, bounded), checksum in INTEGERS.items():
        found = tf.random.stateless_uniform([70001], [3, 4], *((-5, 1000003) if bounded else (None, None)), dtype=dtype)
        assert zlib.crc32(found.numpy().tobytes()) == checksum


@pytest.mark.parametrize("dtype", DTYPES + ["float16", "uint8"])
def test_keys(dtype):
    x = draw(dtype, 301, 200, 7)
    t = tf.constant(x)
    for key in (np.s_[:300], np.s_[3:], np.s_[::-1], np.s_[250::-2], np.s_[:, ::-3, None], np.s_[..., 1],
                np.s_[5:, 7, 1:5], np.s_[-9:-400:-1], np.s_[:, 3:3], np.s_[None, 1:, ..., ::2],
                np.s_[250:2:-1, 150:, -1], np.s_[1:900:5, -150:]):
        np.testing.assert_array_equal(t[key].numpy(), x[key])
        assert t[key].shape == x[key].shape and t[key].numpy().dtype == x.dtype


def test_largest():
    x = RNG.integers(0, 500, (3, 301, 211)).astype("float32")
    for k in (1, 10, 200):
        order = np.argsort(-x, axis=-1, kind="stable")[..., :k].astype("int32")
        check(order, lambda t, k=k: tf.math.top_k(t, k).indices, x)
        check(np.take_along_axis(x, order, -1), lambda t, k=k: tf.math.top_k(t, k).values, x)
    lines, targets = x.reshape(-1, 211), RNG.integers(-1, 212, 903).astype("int32")
    lines[5, 7], lines[6, 8] = np.nan, np.inf
    found = [0 <= t < 211 and np.isfinite(line).all() and (line > line[t]).sum() < 40
             for line, t in zip(lines, targets)]
    check(np.array(found), lambda t, v: tf.math.in_top_k(t, v, 40), targets, lines)
