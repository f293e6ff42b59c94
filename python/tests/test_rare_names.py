"""Names that few programs use: results with names, dtypes of quantized values, creators of variables, and what says
that it is not there. Values of what is computed are in op_calls.py; fields and orders here are TensorFlow's."""

import pickle

import numpy as np
import pytest

import leat as tf
from leat.errors import InvalidArgumentError, UnimplementedError

ONES = np.ones([2], np.float32)


@pytest.mark.parametrize("make, name, fields", [
    (lambda: tf.nn.max_pool_with_argmax(tf.ones([1, 2, 2, 1]), 2, 2, "VALID"), "MaxPoolWithArgmax", "output argmax"),
    (lambda: tf.nn.isotonic_regression([1.0, 3.0, 2.0]), "IsotonicRegression", "output segments"),
    (lambda: tf.nn.isotonic_regression([[1.0], [3.0]], axis=0), "IsotonicRegression", "output segments"),
    (lambda: tf.nn.approx_max_k([1.0, 2.0], 1), "ApproxTopK", "values indices"),
    (lambda: tf.nn.approx_min_k([1.0, 2.0], 1), "ApproxTopK", "values indices"),
    (lambda: tf.approx_top_k([1.0, 2.0], 1), "ApproxTopK", "values indices"),
    (lambda: tf.quantization.quantize(ONES, 0.0, 1.0, tf.qint8), "QuantizeV2", "output output_min output_max"),
    (lambda: tf.quantization.fake_quant_with_min_max_vars_gradient(ONES, ONES, 0.0, 1.0),
     "FakeQuantWithMinMaxVarsGradient", "backprops_wrt_input backprop_wrt_min backprop_wrt_max"),
    (lambda: tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(ONES, ONES, [0.0, 0.0], [1.0, 1.0]),
     "FakeQuantWithMinMaxVarsPerChannelGradient", "backprops_wrt_input backprop_wrt_min backprop_wrt_max")])
def test_results_have_names(make, name, fields):
    for found in (make(), tf.function(make)()):
        assert (type(found).__name__, found._fields) == (name, tuple(fields.split()))


def test_the_largest_and_the_smallest_values():
    x = np.random.RandomState(3).permutation(24).reshape(4, 6).astype(np.float32)
    found = tf.approx_top_k(x, 2, reduction_dimension=0)
    np.testing.assert_array_equal(found.values, -np.sort(-x, 0)[:2])
    np.testing.assert_array_equal(found.indices, np.argsort(-x, 0)[:2])
    np.testing.assert_array_equal(tf.approx_top_k(x, 3, is_max_k=False).values, np.sort(x)[:, :3])


def test_transforms_along_any_dimensions():
    x = np.random.RandomState(4).normal(size=(3, 4, 5)).astype(np.float32)
    for found, wanted in (
            (tf.fftnd(x.astype(np.complex64), [4, 6], [1, 2]), np.fft.fftn(x, [4, 6], [1, 2])),
            (tf.ifftnd(x.astype(np.complex64), [2], [0]), np.fft.ifftn(x, [2], [0])),
            (tf.rfftnd(x, [3, 4], [0, 1]), np.fft.rfftn(x, [3, 4], [0, 1])),
            (tf.irfftnd(x.astype(np.complex64), [3, 9], [0, 2]), np.fft.irfftn(x, [3, 9], [0, 2]))):
        assert found.dtype.size == (8 if found.dtype.is_complex else 4)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert tf.rfftnd(x.astype(np.float64), [3], [0], tf.complex128).dtype is tf.complex128


def test_dtypes_of_quantized_values():
    assert tf.dtypes.QUANTIZED_DTYPES == {tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32}
    assert [(one.name, one.size, one.as_datatype_enum, one.is_quantized, one.is_integer, one.is_floating)
            for one in (tf.qint8, tf.quint8, tf.qint32, tf.qint16, tf.quint16)] == [
        ("qint8", 1, 11, True, False, False), ("quint8", 1, 12, True, False, False),
        ("qint32", 4, 13, True, False, False), ("qint16", 2, 15, True, False, False),
        ("quint16", 2, 16, True, False, False)]
    assert (tf.as_dtype("qint8"), tf.as_dtype(11), tf.qint8.max, tf.quint16.min) == (tf.qint8, tf.qint8, 127, 0)
    assert pickle.loads(pickle.dumps(tf.quint8)) is tf.quint8 and not tf.int8.is_quantized and tf.qint8 != tf.int8
    for make in (lambda: tf.zeros([2], tf.qint8), lambda: tf.constant([1], tf.quint8),
                 lambda: tf.cast([1.0], tf.qint16)):
        with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError), match="qu?int"):
            make()


def test_quantized_bounds_may_be_computed():
    @tf.function
    def both(x):
        made = tf.quantization.quantize(x, tf.reduce_min(x), tf.reduce_max(x), tf.quint8)
        return tf.quantization.dequantize(*made)
    x = np.linspace(-2, 3, 11).astype(np.float32)
    np.testing.assert_allclose(both(x), x, atol=5 / 255)
    with pytest.raises(tf.errors.InvalidArgumentError, match="larger"):
        tf.function(lambda low: tf.quantization.quantize(x, low, 0.0, tf.quint8).output)(tf.constant(1.0))


def test_sparse_rows_pass_through_a_dataset():
    rows = tf.data.Dataset.from_tensor_slices([[0, 1, 0], [2, 0, 3]]).map(
        lambda row: tf.io.serialize_sparse(tf.sparse.from_dense(row))).batch(2)
    found, = rows.map(lambda texts: tf.io.deserialize_many_sparse(texts, tf.int32, rank=2))
    np.testing.assert_array_equal(tf.sparse.to_dense(found), [[0, 1, 0], [2, 0, 3]])
    with pytest.raises(UnimplementedError, match="variant"):
        tf.io.serialize_sparse(tf.sparse.from_dense([1]), tf.variant)


def test_more_directions_than_there_are():
    with pytest.raises(UnimplementedError, match="41"):
        tf.math.sobol_sample(41, 1)


def test_files_that_match_are_looked_up_once(tmp_path):
    (tmp_path / "a.txt").write_text("")
    found = tf.io.match_filenames_once(str(tmp_path / "*.txt"))
    (tmp_path / "b.txt").write_text("")
    assert [one.decode() for one in found.numpy()] == [str(tmp_path / "a.txt")] and not found.trainable


def test_schemes():
    assert {"", "file", "https", "s3"} <= set(tf.io.gfile.get_registered_schemes())


def test_creators_of_variables():
    seen = []

    def outer(next_creator, **kwargs):
        seen.append(("outer", kwargs["name"], kwargs["trainable"], sorted(kwargs)))
        return next_creator(**kwargs)

    def inner(next_creator, **kwargs):
        seen.append(("inner", kwargs["name"], kwargs["trainable"]))
        return next_creator(**{**kwargs, "name": "changed", "trainable": False})
    with tf.variable_creator_scope(outer):
        with tf.variable_creator_scope(inner):
            changed = tf.Variable([1.0, 2.0], name="x")
        plain = tf.Variable(3)
    after = tf.Variable(4)
    names = sorted("aggregation caching_device constraint dtype experimental_enable_variable_lifting import_scope "
                   "initial_value name shape synchronization trainable validate_shape variable_def".split())
    assert seen == [("inner", "x", None), ("outer", "changed", False, names), ("outer", None, None, names)]
    assert (changed.name, changed.trainable, plain.trainable, after.trainable) == ("changed:0", False, True, True)
    np.testing.assert_array_equal(changed, [1, 2])
    with tf.variable_creator_scope(lambda next_creator, **kwargs: "another"):
        assert tf.Variable(1) == "another"
    with pytest.raises(KeyError), tf.variable_creator_scope(outer):
        raise KeyError
    tf.Variable(1)
    assert len(seen) == 3


def test_variables_of_unknown_dimensions(tmp_path):
    kept = tf.Module()
    kept.rows = tf.Variable(tf.zeros([0, 2]), shape=[None, 2])

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def grown(more):
        before = kept.rows.read_value()
        kept.rows.assign(tf.concat([before, more], 0))
        kept.rows[1:].assign(kept.rows[1:] * 10)
        return before, kept.rows + 1

    kept.grown = grown
    assert grown(tf.ones([1, 2]))[0].shape == (0, 2)
    before, after = grown(tf.ones([2, 2]))
    assert before.numpy().tolist() == [[1, 1]] and after.numpy().tolist() == [[2, 2], [11, 11], [11, 11]]
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(kept.rows ** 2)
    assert tape.gradient(total, kept.rows).numpy().tolist() == [[2, 2], [20, 20], [20, 20]]
    kept.rows.numpy()[:] = 5  # an array of its own
    path = tf.train.Checkpoint(kept=kept).save(str(tmp_path / "c"))
    kept.rows.assign(tf.zeros([0, 2]))
    tf.train.Checkpoint(kept=kept).restore(path).assert_existing_objects_matched()
    assert kept.rows.numpy().tolist() == [[1, 1], [10, 10], [10, 10]] and kept.rows.shape.as_list() == [None, 2]
    tf.saved_model.save(kept, str(tmp_path / "m"))
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    assert loaded.grown(tf.zeros([0, 2]))[0].shape == (3, 2) and loaded.rows.shape.as_list() == [None, 2]
    assert kept.rows.scatter_nd_add([[2]], [[1.0, 2.0]]).numpy()[2].tolist() == [11, 12]
    for refused in ([1.0, 2.0], [[1.0]]):
        with pytest.raises(ValueError, match="mismatch"):
            kept.rows.assign(refused)
    for add in (kept.rows.assign_add, tf.function(kept.rows.assign_add)):
        with pytest.raises(InvalidArgumentError, match="shape"):
            add([[1.0, 2.0]])
    with pytest.raises(ValueError, match="incompatible"):
        tf.Variable([1.0], shape=[None, None])
    with pytest.raises(UnimplementedError, match="fixed"):
        tf.keras.optimizers.SGD(1.0).apply([tf.ones([3, 2])], [kept.rows])


def test_nothing_runs_ahead():
    with tf.experimental.async_scope():
        found = tf.constant(1) + 1
    tf.experimental.async_clear_error()
    assert int(found) == 2


@pytest.mark.parametrize("name", """RegisterGradient random_index_shuffle conv2d_backprop_input_v2
    image.generate_bounding_box_proposals io.decode_proto io.encode_proto io.decode_jxl debugging.experimental
    dtypes.experimental experimental.float8_e4m3fn experimental.int4 experimental.StructuredTensor
    quantization.experimental quantization.quantized_concat keras.Quantizer keras.quantizers keras.SymbolicScope
    keras.distribution keras.visualization""".split())
def test_what_is_not_there_says_so(name):
    module, _, own = name.rpartition(".")
    found = tf
    for word in filter(None, module.split(".")):
        found = getattr(found, word)
    with pytest.raises(AttributeError, match="UNIMPLEMENTED"):
        getattr(found, own)
