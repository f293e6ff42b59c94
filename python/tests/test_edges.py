"""Edges of arguments that random trials against TensorFlow 2.21 showed; the expected values are TensorFlow's."""

import numpy as np
import pytest

import leat as tf

CASES = [
    # texts keep their zero bytes
    (lambda: tf.constant(np.array(b"ab\0", object), shape=()), b"ab\0"),
    (lambda: tf.constant(b"ab\0", shape=[2]), [b"ab\0", b"ab\0"]),
    (lambda: tf.constant([b"\0", b"a\0"], shape=[2, 1]), [[b"\0"], [b"a\0"]]),
    (lambda: tf.constant(9223372036854775809, tf.uint64), 9223372036854775809),
    # an empty list names no dimension
    (lambda: tf.reduce_sum([[1, 2], [3, 4]], axis=[]), [[1, 2], [3, 4]]),
    (lambda: tf.reduce_sum([[1, 2], [3, 4]], axis=tf.zeros([0], tf.int32), keepdims=True), [[1, 2], [3, 4]]),
    (lambda: tf.function(lambda x: tf.reduce_mean(x, axis=[]))(tf.ones([2])), [1.0, 1.0]),
    (lambda: tf.math.reduce_std([1.0, 2.0], axis=[]), [0.0, 0.0]),
    (lambda: tf.strings.reduce_join([["a", "b"]], axis=[]), [[b"a", b"b"]]),
    # values of arguments keep dtype, shape and precision
    (lambda: tf.pad(tf.constant([1.0], tf.float64), [[1, 0]], constant_values=0.1), [0.1, 1.0]),
    (lambda: tf.pad(tf.constant([1], tf.uint64), [[1, 0]], constant_values=tf.constant(2**63 + 1, tf.uint64)),
     [2**63 + 1, 1]),
    (lambda: tf.pad(5, tf.zeros([0, 2], tf.int32)), 5),
    (lambda: tf.one_hot([0, 1], 2, on_value=tf.constant(7, tf.int16), off_value=tf.constant(2, tf.int16)),
     [[7, 2], [2, 7]]),
    (lambda: tf.one_hot(tf.constant([1], tf.int8), 2, on_value=tf.constant(0.1, tf.float64)), [[0.0, 0.1]]),
    (lambda: tf.strided_slice([1, 2, 3], [0], [2], [1]), [1, 2]),
    (lambda: tf.strided_slice(tf.reshape(tf.range(6), [2, 3]), [0], [2], [2]), [[0, 1, 2]]),
    (lambda: tf.fill([], 3), 3),
    # gather_nd and the scatters
    (lambda: tf.gather_nd([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[1], [0]], batch_dims=1), [[3, 4], [5, 6]]),
    (lambda: tf.gather_nd([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[[1]], [[0]]], batch_dims=1), [[[3, 4]], [[5, 6]]]),
    (lambda: tf.gather_nd([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[[1], [0]], [[0], [1]]], batch_dims=2),
     [[2, 3], [5, 8]]),
    (lambda: tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [5, 0], [-1, 0]], bad_indices_policy="IGNORE"), [2, 0, 0]),
    (lambda: tf.gather_nd([["a", "b"], ["c", "d"]], [[0], [5]], bad_indices_policy="IGNORE"),
     [[b"a", b"b"], [b"", b""]]),
    (lambda: tf.scatter_nd([[0], [5], [-1]], [[1, 2], [3, 4], [5, 6]], [2, 2], bad_indices_policy="IGNORE"),
     [[1, 2], [0, 0]]),
    (lambda: tf.tensor_scatter_nd_add([1, 2], [[0], [5]], [10, 20], bad_indices_policy="IGNORE"), [11, 2]),
    (lambda: tf.tensor_scatter_nd_max([1, 2], [[0]], [10], bad_indices_policy="ERROR"), [10, 2]),
    (lambda: tf.gather([1, 2, 3], tf.constant([2, 0], tf.int16)), [3, 1]),
    # numbers
    (lambda: tf.matmul([[1, 2], [3, 4]], [[1, 2], [3, 4]], adjoint_a=True), [[10, 14], [14, 20]]),
    (lambda: tf.constant([[1, 2], [3, 4]]) @ tf.constant([[1, 2], [3, 4]]), [[7, 10], [15, 22]]),
    (lambda: tf.matmul(tf.constant([[1, 2]], tf.int64), tf.constant([[1, 2]], tf.int64), transpose_b=True), [[5]]),
    (lambda: tf.matmul(tf.constant([[1.5, 2]], tf.float16), tf.constant([[2], [3]], tf.float16)), [[9.0]]),
    (lambda: tf.einsum("ij,ij->i", tf.constant([[1.5, 2]], tf.bfloat16), tf.constant([[2, 3]], tf.bfloat16)), [9.0]),
    (lambda: tf.matmul(tf.ones([2, 1, 1, 2]), tf.ones([3, 2, 1])), np.full([2, 3, 1, 1], 2.0).tolist()),
    (lambda: tf.matmul(tf.ones([1, 2]), tf.ones([3, 2, 1])), [[[2.0]], [[2.0]], [[2.0]]]),
    (lambda: tf.matmul(tf.ones([3, 1, 2], tf.float16), tf.ones([1, 1, 2], tf.float16), transpose_b=True),
     [[[2.0]]] * 3),
    (lambda: tf.nn.softmax(tf.constant([0, 0], tf.float16)), [0.5, 0.5]),
    (lambda: tf.range(tf.constant(1, tf.float16), tf.constant(3, tf.float16)), [1.0, 2.0]),
    (lambda: tf.math.divide_no_nan(tf.constant([3, 1], tf.int16), tf.constant([2, 0], tf.int16)), [1.5, 0.0]),
    (lambda: tf.saturate_cast(tf.constant([-4.1, 300, 3], tf.bfloat16), tf.uint8), [0, 255, 3]),
    (lambda: tf.linspace([0.0, 1.0], [2.0, 5.0], 3), [[0, 1], [1, 3], [2, 5]]),
    (lambda: tf.linspace([0.0, 1.0], [2.0, 5.0], 3, axis=1), [[0, 1, 2], [1, 3, 5]]),
    (lambda: tf.linspace([0.0, 1.0], [2.0, 5.0], 1, axis=-1), [[0], [1]]),
    (lambda: tf.linspace([0.0, 1.0], 2.0, 2), [[0, 1], [2, 2]]),
    (lambda: tf.linspace(0.0, 1.0, 0), []),
    (lambda: tf.histogram_fixed_width(tf.constant([1.0, 2.0], tf.float64), [0.0, 3.0], nbins=2), [1, 1]),
    (lambda: tf.nn.bias_add([[[1.0, 2.0]]], [5.0, 6.0], "NHWC"), [[[6.0, 8.0]]]),
    (lambda: tf.nn.bias_add([[[1.0, 2.0], [3.0, 4.0]]], [5.0, 6.0], "NCW"), [[[6.0, 7.0], [9.0, 10.0]]]),
    (lambda: tf.sequence_mask(tf.constant([1, 2], tf.uint16), maxlen=2), [[True, False], [True, True]]),
    (lambda: tf.strings.ngrams(tf.zeros([2, 0], tf.string), 2, pad_values="P"), [[], []]),
    (lambda: tf.repeat(5, 3, axis=0), [5, 5, 5]),
    # what is stacked: numbers together, rows of a tensor, nothing
    (lambda: tf.stack([3, 0.25]), [3.0, 0.25]),
    (lambda: tf.stack(tf.constant([[1, 2, 3], [4, 5, 6]])), [[1, 2, 3], [4, 5, 6]]),
    (lambda: tf.stack(np.array([[1, 2, 3], [4, 5, 6]]), axis=1), [[1, 4], [2, 5], [3, 6]]),
    (lambda: tf.stack([]), []),
    # arguments in lists of their own, masks of numbers, conjugates of what is real
    (lambda: tf.expand_dims([7, 8], [1]), [[7], [8]]),
    (lambda: tf.boolean_mask([5, 6, 7], [2, 0, -1]), [5, 7]),
    (lambda: tf.transpose([[1.5, 2.0]], conjugate=True), [[1.5], [2.0]]),
    # no values: what -1 stands for
    (lambda: tf.shape(tf.reshape(tf.zeros([4, 0, 6]), [0, -1])), [0, 24]),
    (lambda: tf.shape(tf.reshape(tf.zeros([4, 0, 6]), [0, 5, -1])), [0, 5, 4]),
    (lambda: tf.shape(tf.reshape(tf.zeros([0, 6]), [-1, 3])), [0, 3]),
    (lambda: tf.tensor_scatter_nd_update([1.5, 2.5], [[1]], [7]), [1.5, 7.0]),
    (lambda: tf.add(1.5, 7), 8.5),  # the first number says the dtype
    (lambda: tf.concat([[1.5], [7]], 0), [1.5, 7.0]),
    (lambda: tf.image.crop_to_bounding_box(tf.add_n(tf.ones([2, 1, 2, 1])), 0, 0, 1, 1), [[[2.0]]]),  # a tensor's rows
    # numbers in the dtype that is asked for
    (lambda: tf.range(2, 3, 0.3, dtype=tf.float64), [2.0, 2.3, 2.6, 2.9]),
    (lambda: tf.range(3, dtype=tf.float16), [0.0, 1.0, 2.0]),
    (lambda: tf.constant([5, 2**64 - 2, 1], tf.uint64), [5, 2**64 - 2, 1]),
    (lambda: tf.clip_by_norm([3.0, -4.0], -2.0), [0.0, 0.0]),
    (lambda: tf.unravel_index([-2, 5], [2, 3]), [[0, 1], [-2, 2]]),
    (lambda: tf.math.add_n(tf.constant([[1, 2], [30, 40]])), [31, 42]),
    (lambda: tf.strings.join(tf.constant(["a", "b"]), "+"), b"a+b"),
    (lambda: tf.strings.substr("outside", 3, tf.constant(4, tf.int64)), b"side"),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_values(number):
    call, expected = CASES[number]
    assert np.asarray(call().numpy(), object).tolist() == np.asarray(expected, object).tolist()


def test_dtypes():
    assert tf.convert_to_tensor(tf.TensorShape([2, 3])).dtype is tf.int32
    assert tf.range(3, dtype=tf.float16).dtype is tf.float16
    assert tf.one_hot([0], 1, on_value=tf.constant(7, tf.int16)).dtype is tf.int16
    assert tf.nn.softmax(tf.constant([0, 0], tf.bfloat16)).dtype is tf.bfloat16
    assert tf.math.divide_no_nan(tf.constant([3]), tf.constant([2])).dtype is tf.float64
    assert tf.math.divide_no_nan(tf.constant([3], tf.int8), tf.constant([2], tf.int8)).dtype is tf.float32
    assert tf.math.cumulative_logsumexp(tf.constant([1, 2], tf.float16)).dtype is tf.float16


REFUSED = [
    (lambda: tf.gather_nd([[1, 2]], [[0, 1], [5, 0]], bad_indices_policy="ERROR"),
     tf.errors.InvalidArgumentError, "does not index"),
    (lambda: tf.gather_nd([[1, 2]], [[0]], bad_indices_policy="x"),
     tf.errors.InvalidArgumentError, "bad_indices_policy"),
    (lambda: tf.gather_nd([[1, 2]], [[0]], batch_dims=-1), ValueError, "does not allow negative batch_dims"),
    (lambda: tf.gather_nd([[1, 2]], [[0]], batch_dims=2), ValueError, "must be less than rank"),
    (lambda: tf.matmul([[1.0]], [[1.0]], transpose_a=True, adjoint_a=True),
     ValueError, "Only one of `transpose_a` and `adjoint_a`"),
    (lambda: tf.math.bincount([-1, 2]), tf.errors.InvalidArgumentError, "non-negative"),
    (lambda: tf.math.bincount([1], maxlength=-1), tf.errors.InvalidArgumentError, "non-negative"),
    (lambda: tf.norm([[1.0, 2.0]], ord="fro"), ValueError, "'ord' must be a supported vector norm"),
    (lambda: tf.norm([[1.0, 2.0]], axis=(0, 0)), ValueError, "2 unique integers"),
    (lambda: tf.nn.bias_add([[1.0]], [1.0], "HWC"), ValueError, "data_format"),
    (lambda: tf.saturate_cast([1], tf.bool), tf.errors.InvalidArgumentError, "expected numbers"),
    (lambda: tf.strings.unicode_transcode("a", "UTF-8", "UTF-8", replacement_char=-1),
     tf.errors.InvalidArgumentError, "replacement_char"),
    (lambda: tf.reshape([1, 2], [2.0]), tf.errors.InvalidArgumentError, "expected a list of integers"),
    (lambda: tf.reverse([1, 2], [0.5]), tf.errors.InvalidArgumentError, "expected a list of integers"),
    (lambda: tf.reshape([1, 2], [[2]]), tf.errors.InvalidArgumentError, "expected a list of integers"),
    (lambda: tf.boolean_mask([1, 2], True), ValueError, "mask cannot be scalar"),
    (lambda: tf.boolean_mask([1, 2], [True]), ValueError, "does not cover"),
    (lambda: tf.stack([[1], [2]], axis=3), ValueError, "axis 3"),
    (lambda: tf.unstack([[1], [2]], axis=2), ValueError, "axis 2"),
    (lambda: tf.pad([1, 2], [[1, 1]], constant_values=2.5), TypeError, "constant_values"),
    (lambda: tf.pad([1, 2], [[1, 1]], "EDGE"), ValueError, "CONSTANT"),
    (lambda: tf.concat([[1, 2], [3.5]], 0), TypeError, "float32"),
    (lambda: tf.math.invert_permutation([1, 1]), tf.errors.InvalidArgumentError, "duplicated"),
    (lambda: tf.histogram_fixed_width([float("nan")], [0.0, 1.0]), tf.errors.InvalidArgumentError, "NaN"),
    (lambda: tf.image.crop_and_resize(tf.ones([1, 2, 2, 1]), [[0.0, float("nan"), 1, 1]], [0], [2, 2]),
     tf.errors.InvalidArgumentError, "not finite"),
    (lambda: tf.one_hot([0], 2, on_value=5, off_value=0.5), TypeError, "int32"),
    (lambda: tf.range(2.5, 4, dtype=tf.int32), TypeError, "int32"),
    (lambda: tf.image.central_crop(tf.ones([2, 2, 1]), 2.0), ValueError, "central_fraction"),
    (lambda: tf.image.resize(tf.ones([2, 2, 1]), [2]), ValueError, "size"),
    (lambda: tf.sort([1], direction="UP"), ValueError, "ASCENDING"),
    (lambda: tf.random.uniform([-3]), tf.errors.InvalidArgumentError, "-3"),
    (lambda: tf.einsum("ij->ik", tf.constant([[1.0]])), ValueError, "label"),
    (lambda: tf.where([True], 1, 2.5), TypeError, "int32 and float32"),
    (lambda: tf.where([True], 1), ValueError, "found 2"),
    (lambda: tf.repeat([1, 2], 2, axis=3), ValueError, "axis"),
    (lambda: tf.function(lambda x: x[0, 0])(tf.constant([1])), ValueError, "out of range"),
    (lambda: tf.function(lambda x: tf.reshape(x, [2.0]))(tf.constant([1, 2])), TypeError, "a list of integers"),
    (lambda: tf.function(lambda x: tf.strings.length(x))(3), TypeError, "expected string"),
    (lambda: tf.function(lambda: tf.strings.to_number(["5"], tf.int16))(), TypeError, "out_type is int16"),
    (lambda: tf.function(lambda: tf.reshape([1, 2], [3]))(), ValueError, "do not fit"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number):
    call, kind, text = REFUSED[number]
    with pytest.raises(kind, match=text):
        call()


def test_gradients_of_kept_dimensions():
    x = tf.Variable([1.0, 2.0])
    for reduce in (tf.reduce_max, tf.reduce_mean, tf.reduce_prod, tf.reduce_sum):
        with tf.GradientTape() as tape:
            y = reduce(x, axis=[])
        assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0]


def test_in_maps():
    """The functions that Python composes work in traced functions, too."""
    rows = tf.data.Dataset.from_tensor_slices([[[1], [0]], [[0], [1]]])
    found = rows.map(lambda row: tf.gather_nd([[1, 2], [3, 4]], row, batch_dims=1))
    assert [x.tolist() for x in found.as_numpy_iterator()] == [[2, 3], [1, 4]]
    counts = tf.data.Dataset.range(1, 3).map(lambda n: tf.linspace([0.0], [1.0], n, axis=1))
    assert [x.tolist() for x in counts.as_numpy_iterator()] == [[[0.0]], [[0.0, 1.0]]]


def test_known_while_traced():
    """Shapes that follow from what is known of the parts, as TensorFlow's do."""
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([None, 3]), tf.TensorSpec([2, None, 4])])
    def join(x, y, z):
        shapes.append(tf.concat([x, y], 0).shape.as_list())
        shapes.append(tf.concat([y, x], 1).shape.as_list())
        shapes.append(tf.reshape(z, [tf.shape(z)[0], -1]).shape.as_list())
        z = tf.ensure_shape(z, [2, 5, 4])
        shapes.append(tf.reshape(z, [tf.shape(z)[0], -1]).shape.as_list())
        return tf.linalg.matrix_transpose(x)
    assert join(tf.constant([[[1.0, 2.0]]]), tf.ones([1, 3]), tf.ones([2, 5, 4])).numpy().tolist() == [[[1.0], [2.0]]]
    assert shapes == [[None, 3], [None, None], [2, None], [2, 20]]


def test_patterns_that_the_run_computes():
    texts = tf.data.Dataset.from_tensor_slices((["one two", "two"], ["t.o", "o+"], ["2", "(\\0)"]))
    found = texts.map(lambda text, pattern, rewrite: (
        tf.strings.regex_replace(text, pattern, rewrite), tf.strings.regex_full_match(text, pattern)))
    assert list(found.as_numpy_iterator()) == [(b"one 2", False), (b"tw(o)", False)]
    bad = texts.map(lambda text, pattern, rewrite: tf.strings.regex_full_match(text, pattern + "("))
    with pytest.raises(tf.errors.InvalidArgumentError, match="parenthesis"):
        next(iter(bad))


def test_split_of_an_unknown_rank():
    """Strings of which no rank is known are a vector."""
    split = tf.function(tf.strings.split, input_signature=[tf.TensorSpec(None, tf.string)])
    assert split(["a b", "", "c"]).to_list() == [[b"a", b"b"], [], [b"c"]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        split([["a b"]])


def test_lists_of_one():
    """What gives several tensors gives a list, also of one."""
    for found in (tf.split([1, 2], 1), tf.split([1, 2], [2]), tf.unstack([[1, 2]]), tf.unstack([[1], [2]], axis=1),
                  tf.dynamic_partition([1, 2], [0, 0], 1)):
        assert isinstance(found, list)
        assert [part.numpy().tolist() for part in found] == [[1, 2]]
    split = tf.data.Dataset.from_tensors([[3, 4]]).map(lambda x: tf.unstack(x)[0] + tf.split(x, 1, axis=1)[0])
    assert next(iter(split)).numpy().tolist() == [[6, 8]]


def test_padding_to_a_length():
    """Paddings of which some are computed."""
    rows = tf.data.Dataset.from_generator(lambda: iter([[5, 6], [7]]), output_signature=tf.TensorSpec([None], tf.int32))
    found = rows.map(lambda row: tf.pad(row, [[0, 3 - tf.shape(row)[0]]], constant_values=-1))
    assert [row.tolist() for row in found.as_numpy_iterator()] == [[5, 6, -1], [7, -1, -1]]
    assert rows.map(lambda row: tf.pad(row, [[1, 1]])).element_spec.shape.as_list() == [None]
    shapes = []
    pad = tf.function(lambda x: shapes.append(tf.pad(x, [[1, 1], [0, 2]]).shape.as_list()))
    pad.get_concrete_function(tf.TensorSpec(None, tf.float32))
    assert shapes == [[None, None]]


AXES = [  # of [[1, -2, 4], [3, 5, -6]], axis 1 or, what is computed of it, 0
    (lambda x, a: tf.reduce_sum(x, a), [3.0, 2.0], [None, None]),
    (lambda x, a: tf.reduce_max(x, [a], keepdims=True), [[4.0], [5.0]], [2, 2]),
    (lambda x, a: tf.reduce_mean(x, tf.stack([a, a - 1])), 5.0 / 6, [None, None]),
    (lambda x, a: tf.reduce_prod(x, tf.range(a, tf.rank(x))), [-8.0, -90.0], [None, None]),
    (lambda x, a: tf.reduce_all(x > -3, a - 1), [True, True, False], [None, None]),
    (lambda x, a: tf.math.count_nonzero(x, a), [3, 3], [None, None]),
    (lambda x, a: tf.argmax(x, a), [2, 1], [1, 1]),
    (lambda x, a: tf.cumsum(x, a, reverse=True), [[3.0, 2.0, 4.0], [2.0, -1.0, -6.0]], [2, 2]),
    (lambda x, a: tf.concat([x, x], a - 1), [[1.0, -2.0, 4.0], [3.0, 5.0, -6.0]] * 2, [2, 2]),
    (lambda x, a: tf.gather(x, [2, 0], axis=a), [[4.0, 1.0], [-6.0, 3.0]], [2, 2]),
    (lambda x, a: tf.strings.reduce_join(tf.strings.as_string(tf.cast(x, tf.int32)), a), [b"1-24", b"35-6"],
     [None, None]),
]


@pytest.mark.parametrize("number", range(len(AXES)))
def test_axes_that_the_run_computes(number):
    call, expected, ranks = AXES[number]
    found = []

    def traced(x, a):
        result = call(x, a)
        found.append(result.shape.rank)
        return result
    specs = [tf.TensorSpec(shape, tf.float32) for shape in ([2, 3], [None, None])]
    for spec in specs:
        function = tf.function(traced, input_signature=[spec, tf.TensorSpec([], tf.int32)])
        value = function(tf.constant([[1.0, -2, 4], [3, 5, -6]]), tf.constant(1)).numpy()
        assert np.array_equal(value, np.array(expected, value.dtype)) or np.allclose(value, expected)
    if number == 3:  # whose axes are known where the rank is
        return
    assert found == ranks
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant([[1.0, -2, 4], [3, 5, -6]]), tf.constant(4))


def test_gradients_along_axes_that_the_run_computes():
    x = tf.constant([[1.0, -2, 4], [3, 5, -6]])
    for call, expected in ((tf.reduce_sum, [[6.0] * 3, [4.0] * 3]),
                           (lambda x, a: tf.concat([x, 2 * x], a), [[10.0, -20, 40], [30, 50, -60]]),
                           (lambda x, a: tf.gather(x, [2, 2], axis=a), [[0.0, 0, 16], [0, 0, -24]])):
        @tf.function(input_signature=[tf.TensorSpec(None, tf.float32), tf.TensorSpec([], tf.int32)])
        def gradient(x, a):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = call(x, a)
                y = y * y
            return tape.gradient(y, x)
        assert gradient(x, tf.constant(1)).numpy().tolist() == expected


def test_static_shapes_of_shapes():
    """What is computed of a shape that is known is known."""
    shapes = {}

    def traced(x):
        shapes["product"] = tf.reshape(x, [-1, tf.reduce_prod(tf.shape(x)[1:])]).shape.as_list()
        shapes["half"] = tf.reshape(x, [tf.shape(x)[0] * 2, tf.shape(x)[1] // 2, 4]).shape.as_list()
        shapes["size"] = tf.zeros([tf.size(x) // 6]).shape.as_list()
        shapes["grid"] = tf.meshgrid(x[0, 0], [1.0, 2.0])[0].shape.as_list()
        shapes["dot"] = tf.tensordot(x, x[0], [[2], [1]]).shape.as_list()
        shapes["blocks"] = tf.space_to_batch(x, [2], [[0, 0]]).shape.as_list()
        return tf.shape(x)
    value = tf.function(traced)(tf.ones([3, 6, 4]))
    assert value.numpy().tolist() == [3, 6, 4] and value.dtype is tf.int32
    assert shapes == {"product": [3, 24], "half": [6, 3, 4], "size": [12], "grid": [2, 4], "dot": [3, 6, 6],
                      "blocks": [6, 3, 4]}
    tf.data.Dataset.from_generator(lambda: iter([]), output_signature=tf.TensorSpec([None, 6, 4])).map(
        lambda x: shapes.update(half=tf.reshape(x, [-1, tf.shape(x)[1] // 2, 4]).shape.as_list()) or x)
    assert shapes["half"] == [None, 3, 4]


def test_of_unknown_rank():
    """Programs whose inputs have no shape while they are traced."""
    unknown = tf.TensorSpec(None, tf.float32)
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    for call, expected in ((lambda x: tf.map_fn(lambda row: row * 2, x), [[2, 4], [6, 10]]),
                           (lambda x: tf.map_fn(tf.reduce_sum, x), [3, 8]),
                           (lambda x: tf.scan(lambda a, row: a + row, x), [[1, 2], [4, 7]]),
                           (lambda x: tf.foldr(lambda a, row: a - row, x), [2, 3]),
                           (lambda x: tf.vectorized_map(lambda row: row + 1, x), [[2, 3], [4, 6]])):
        assert tf.function(call, input_signature=[unknown])(x).numpy().tolist() == expected
    feature = {"k": tf.io.FixedLenFeature([2], tf.int64, default_value=[4, 5])}
    records = tf.data.Dataset.from_generator(lambda: iter([b""]), output_signature=tf.TensorSpec(None, tf.string))
    parsed = records.map(lambda record: tf.io.parse_single_example(record, feature))
    assert parsed.element_spec == {"k": tf.TensorSpec([2], tf.int64)}
    assert next(iter(parsed))["k"].numpy().tolist() == [4, 5]


def test_splits_of_map_fn():
    found = tf.map_fn(tf.range, tf.constant([2, 0]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
    assert found.to_list() == [[0, 1], []] and found.row_splits.dtype is tf.int64
    spec = tf.RaggedTensorSpec([None], tf.int32, row_splits_dtype=tf.int32)
    assert tf.map_fn(tf.range, tf.constant([2]), fn_output_signature=spec).row_splits.dtype is tf.int32


def test_assert_shapes_of_unknown_dimensions():
    """Dimensions that only the run knows are compared there."""
    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None])])
    def check(x, y):
        tf.debugging.assert_shapes([(x, ("n", 2)), (y, ("n",))])
        return tf.reduce_sum(x)
    assert float(check(tf.ones([3, 2]), tf.ones([3]))) == 6
    for x, y in ((tf.ones([3, 2]), tf.ones([2])), (tf.ones([3, 4]), tf.ones([3]))):
        with pytest.raises(tf.errors.InvalidArgumentError):
            check(x, y)


def test_results():
    box = tf.image.sample_distorted_bounding_box([4, 4, 3], [[[0, 0, 1, 1]]], min_object_covered=0.1)
    assert box._fields == ("begin", "size", "bboxes")  # the boxes' numbers are floats, as the operation takes them
    assert type(tf.unstack(tf.constant([7]))) is list and type(tf.linalg.eigh([[1.0]])) is tuple


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.bfloat16])
def test_moments_of_weights_without_a_sum(dtype):
    x = tf.cast([[1.0, 2.0, 4.0], [0.0, -5.0, 100.0]], dtype)
    mean, variance = tf.nn.weighted_moments(x, [1], tf.constant([1.0, 0.0, -1.0]))
    assert mean.dtype is variance.dtype is dtype
    assert tf.cast([mean, variance], tf.float32).numpy().tolist() == [[0.0, 0.0], [0.0, 0.0]]
    mean, variance = tf.nn.weighted_moments(x, [0], tf.constant([[1.0], [1.0]]), keepdims=True)
    assert tf.cast(mean, tf.float32).numpy().tolist() == [[0.5, -1.5, 52.0]]
    assert tf.cast(variance, tf.float32).numpy().tolist() == [[0.25, 12.25, 2304.0]]


@pytest.mark.parametrize("function", [tf.space_to_batch, tf.batch_to_space])
def test_blocks_of_too_few_dimensions(function):
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank"):
        function(tf.constant([1.0]), [2], [[0, 0]])
