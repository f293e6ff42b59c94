"""Shapes that are computed from shapes: while a function is traced as much of them is known as in TensorFlow 2.21,
which gave the expectations."""

import numpy as np

import leat as tf

EXPECTED = {
    "zeros": (None, 16), "ones": (None, 16), "fill": (None, 16), "reshape": (None, 4, 2), "product": (None, 4),
    "open": (None, None, 4), "stack": (None, 8), "broadcast": (None, 3), "normal": (None, 16), "tile": (None, None),
    "tile_known": (None, 16), "like": (None, 8), "concat": (None, 5), "front": (None, None, 7), "slice": (None, 4),
    "wide": (None, 8), "joined": (None, 3), "rest": (None, None), "scatter": (None, 2), "vector": (3,), "sums": (3, 4),
    "behind": (None, 6), "segments": (16, 2),
}


def made(x, y):
    rows, shape = tf.shape(x)[0], tf.shape(y)
    return {
        "zeros": tf.zeros([rows, 16]), "ones": tf.ones((rows, 16)), "fill": tf.fill([rows, 16], 1.0),
        "reshape": tf.reshape(x, [rows, 4, 2]), "product": tf.reshape(x, [rows * 2, 4]),
        "open": tf.reshape(x, [-1, rows, 4]), "stack": tf.reshape(x, tf.stack([rows, 8])),
        "broadcast": tf.broadcast_to(1.0, [rows, 3]), "normal": tf.random.stateless_normal([rows, 16], [1, 2]),
        "tile": tf.tile(x, [1, rows]), "tile_known": tf.tile(x, [rows, 2]), "like": tf.zeros(tf.shape(x)),
        "concat": tf.zeros(tf.concat([tf.shape(x)[:1], [5]], 0)), "front": tf.zeros(tf.concat([shape[:-1], [7]], 0)),
        "slice": tf.slice(x, [0, 0], [rows, 4]), "wide": tf.zeros(tf.cast(tf.shape(x), tf.int64)),
        "joined": tf.reshape(y, [shape[0] * shape[1], shape[2]]), "rest": tf.reshape(y, [shape[0], -1]),
        "scatter": tf.scatter_nd([[0]], [[1.0, 2.0]], [rows, 2]), "vector": tf.zeros(tf.expand_dims(shape[2], 0)),
        "sums": tf.zeros([shape[-1], shape[2] + 1]), "behind": tf.slice(x, tf.stack([rows - 1, 2]), [-1, -1]),
        "segments": tf.math.unsorted_segment_sum(tf.ones([4, 2]), [0, 1, 0, 1], tf.shape(x)[1] * 2),
    }


def test_what_is_known():
    found = {}

    @tf.function(input_signature=[tf.TensorSpec((None, 8)), tf.TensorSpec((None, None, 3))])
    def trace(x, y):
        values = made(x, y)
        found.update({name: tuple(value.shape) for name, value in values.items()})
        return values
    x, y = np.arange(32.0).reshape(4, 8).astype("f"), np.arange(24.0).reshape(4, 2, 3).astype("f")
    traced = trace(x, y)
    assert found == EXPECTED
    for name, value in made(tf.constant(x), tf.constant(y)).items():
        np.testing.assert_array_equal(traced[name], value, name)


def test_in_a_dataset():
    rows = tf.data.Dataset.from_tensor_slices(np.arange(12.0).reshape(3, 4)).batch(2).map(
        lambda x: (tf.reshape(x, [tf.shape(x)[0], 2, 2]), tf.fill([tf.shape(x)[0] + 1, 3], 7)))
    assert [tuple(spec.shape) for spec in rows.element_spec] == [(None, 2, 2), (None, 3)]
    assert [(a.shape, b.shape) for a, b in rows.as_numpy_iterator()] == [((2, 2, 2), (3, 3)), ((1, 2, 2), (2, 3))]
    counts = tf.data.Dataset.range(3).map(lambda i: tf.fill([i, 2], i))
    assert tuple(counts.element_spec.shape) == (None, 2)
    assert [row.tolist() for row in counts.as_numpy_iterator()] == [[], [[1, 1]], [[2, 2], [2, 2]]]
