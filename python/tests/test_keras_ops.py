"""``keras.ops`` beside results recorded from Keras (tools/record/keras_ops.py), eager, traced and on KerasTensors."""

import json
import pathlib

import keras_ops_calls
import numpy as np
import pytest

import leat as tf
from leat.keras import ops

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/keras_ops.json").read_text())["calls"]


def evaluate(call):
    return eval(call, {**keras_ops_calls.NAMES, "ops": ops})


def check(found, wanted):
    if isinstance(wanted, list):
        assert isinstance(found, (list, tuple)) and len(found) == len(wanted)
        for one, other in zip(found, wanted):
            check(one, other)
        return
    if isinstance(wanted, str):
        assert found == wanted
        return
    array = np.asarray(found)
    assert list(array.shape) == wanted["shape"]
    if hasattr(found, "dtype"):
        assert found.dtype.name == wanted["dtype"]
    loose = wanted["dtype"] in ("float16", "bfloat16")
    np.testing.assert_allclose(array.astype("float64").reshape(-1), np.array(wanted["values"], "float64"),
                               rtol=2e-3 if loose else 2e-5, atol=1e-3 if loose else 2e-6)


@pytest.mark.parametrize("call", RECORDED)
def test_gives_what_keras_gives(call):
    check(evaluate(call), RECORDED[call])


# Where Keras and numpy part (a turn by 180 degrees, rows of vectors, a diagonal of a matrix that is not square, equal
# infinities, points of the simplex) the results are numpy's.

def test_gives_what_numpy_gives():
    a, v, n = (keras_ops_calls.NAMES[name] for name in "avn")
    np.testing.assert_array_equal(ops.rot90(a, 2), np.rot90(a, 2))
    np.testing.assert_array_equal(ops.vstack([v, v]), np.vstack([v, v]))
    np.testing.assert_array_equal(ops.eye(2, 4, k=1, dtype="int32"), np.eye(2, 4, k=1, dtype="int32"))
    np.testing.assert_array_equal(ops.isclose(n, n, equal_nan=True), np.isclose(n, n, equal_nan=True))


@pytest.mark.parametrize("axis", [0, 1])
def test_sparsemax_is_the_nearest_point_of_the_simplex(axis):
    a = keras_ops_calls.NAMES["a"]
    found = np.asarray(ops.sparsemax(a, axis=axis))
    np.testing.assert_allclose(found.sum(axis), 1, rtol=1e-6)
    assert (found >= 0).all()
    # Where it is positive it is the input less one number, which no other input exceeds.
    border = np.where(found > 0, a - found, np.inf).min(axis, keepdims=True)
    np.testing.assert_allclose(np.where(found > 0, a - found, border), np.broadcast_to(border, a.shape), atol=1e-6)
    assert (np.where(found == 0, a, -np.inf) <= border + 1e-6).all()


# ---- traced, and in models ----

TRACED = ["ops.sum(a, axis=1)", "ops.softmax(c, axis=1)", "ops.median(c, axis=(0, 1))", "ops.layer_normalization(a)",
          "ops.conv(x1, np.ones((3, 3, 2), 'float32') * 0.1)",
          "ops.take_along_axis(a, np.array([[1], [0], [3]]), axis=1)",
          "ops.slice_update(a, (1, 1), np.ones((2, 2), 'float32'))", "ops.gelu(a)", "ops.argsort(a)", "ops.cumsum(i)",
          "ops.dot_product_attention(x2, x2, x2, is_causal=True)", "ops.quantile(a, 0.3)", "ops.tril(q)"]


@pytest.mark.parametrize("call", TRACED)
def test_traced(call):
    code = compile(call, call, "eval")
    names = [name for name in code.co_names if name in keras_ops_calls.NAMES and name != "np"]

    @tf.function
    def traced(*values):
        return eval(code, {**keras_ops_calls.NAMES, **dict(zip(names, values)), "ops": ops})
    check(traced(*[tf.constant(keras_ops_calls.NAMES[name]) for name in names]), RECORDED[call])


def test_in_a_model(tmp_path):
    inputs = tf.keras.Input((4,))
    x = ops.relu(ops.subtract(inputs, 0.25))
    x = ops.concatenate([x, ops.multiply(inputs, inputs)], axis=-1)
    x = ops.where(ops.greater(x, 0.1), x, ops.zeros_like(x))
    model = tf.keras.Model(inputs, ops.mean(x, axis=1, keepdims=True))
    data = np.random.RandomState(0).rand(5, 4).astype("float32")
    parts = np.concatenate([np.maximum(data - 0.25, 0), data * data], -1)
    wanted = np.where(parts > 0.1, parts, 0).mean(1, keepdims=True)
    np.testing.assert_allclose(model.predict(data, verbose=0), wanted, rtol=1e-6)
    model.save(tmp_path / "model.keras")
    np.testing.assert_allclose(tf.keras.models.load_model(tmp_path / "model.keras").predict(data, verbose=0), wanted,
                               rtol=1e-6)


def test_shapes_of_what_is_not_there_yet():
    x = ops.reshape(tf.keras.Input((6,)), (-1, 2, 3))
    assert x.shape == (None, 2, 3) and ops.shape(x) == (None, 2, 3)
    assert ops.stack([x, x], axis=1).shape == (None, 2, 2, 3)
    assert ops.mean(x, axis=-1).dtype == "float32"


def test_gradients():
    x = tf.Variable(np.array([[0.3, -0.7], [1.2, 0.1]], "float32"))
    with tf.GradientTape() as tape:
        loss = ops.sum(ops.logaddexp(x, ops.transpose(x)) * ops.softmax(x))
    gradient = tape.gradient(loss, x).numpy()

    def value(at):
        soft = np.exp(at) / np.exp(at).sum(-1, keepdims=True)
        return (np.logaddexp(at, at.T) * soft).sum()
    for place in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[place] = 1e-4
        slope = (value(x.numpy().astype("float64") + step) - value(x.numpy().astype("float64") - step)) / 2e-4
        np.testing.assert_allclose(gradient[place], slope, rtol=1e-3, atol=1e-5)


def test_what_is_refused():
    with pytest.raises(ValueError, match="axis=1"):
        ops.squeeze(np.zeros((1, 2)), axis=1)
    with pytest.raises(ValueError, match="top_padding"):
        ops.image.pad_images(np.zeros((4, 4, 3)), -1, 0, 0, 0)
    with pytest.raises(ValueError, match="`x`"):
        ops.fft(np.zeros(4))
    with pytest.raises(ValueError, match="float31"):
        ops.cast(np.zeros(4), "float31")
    with pytest.raises(ValueError, match="itemsize"):
        ops.view(np.zeros(3, "uint8"), "float32")
    with pytest.raises(ValueError, match="rearrange"):
        ops.rearrange(np.zeros((2, 3)), "a b -> a c")


# ---- what is made of several operations, beside numpy ----

@pytest.mark.parametrize("size", [1, 64, 66, 97, 130, 960])
def test_fourier_transforms_of_any_length(size):
    real, imag = np.random.RandomState(size).randn(2, 3, size).astype("float32")
    wanted = np.fft.fft(real + 1j * imag)
    found = ops.fft((real, imag))
    most = np.abs(wanted).max()
    np.testing.assert_allclose(found[0], wanted.real, atol=1e-6 * most)
    np.testing.assert_allclose(found[1], wanted.imag, atol=1e-6 * most)
    np.testing.assert_allclose(ops.irfft(ops.rfft(real), size), real, atol=1e-5)


def test_a_signal_comes_back_from_its_windows():
    signal = np.random.RandomState(5).randn(2, 96).astype("float32")
    back = ops.istft(ops.stft(signal, 32, 8, 32), 32, 8, 32)
    assert back.shape == (2, 96)
    np.testing.assert_allclose(back[:, 16:-16], signal[:, 16:-16], atol=1e-5)


def test_windows_of_pictures_are_added_up_again():
    x = np.random.RandomState(6).randn(2, 3, 5, 6).astype("float32")
    windows = ops.unfold(x, (2, 3), dilation=(2, 1), padding=(1, 0), stride=(1, 2))
    counts = ops.fold(ops.ones_like(windows), (5, 6), (2, 3), (2, 1), (1, 0), (1, 2))
    np.testing.assert_allclose(ops.fold(windows, (5, 6), (2, 3), (2, 1), (1, 0), (1, 2)), x * np.asarray(counts),
                               rtol=1e-5)


def test_adaptive_pools():
    x = np.random.RandomState(7).randn(2, 5, 7, 3).astype("float32")
    rows, columns = ((0, 2), (1, 4), (3, 5)), ((0, 4), (3, 7))
    for pool, fold in ((ops.adaptive_average_pool, np.mean), (ops.adaptive_max_pool, np.max)):
        wanted = np.stack([np.stack([fold(x[:, a:b, c:d], axis=(1, 2)) for c, d in columns], 1) for a, b in rows], 1)
        np.testing.assert_allclose(pool(x, (3, 2)), wanted, rtol=1e-5)
        np.testing.assert_allclose(pool(x.transpose(0, 3, 1, 2), (3, 2), "channels_first"),
                                   wanted.transpose(0, 3, 1, 2), rtol=1e-5)


def test_changes_along_a_direction():
    x, y = np.array([0.5, 1.5], "float32"), np.array([2.0, -3.0], "float32")
    out, moved = ops.jvp(lambda x, y: ops.exp(x) * y, (x, y), (y, x))
    np.testing.assert_allclose(out, np.exp(x) * y, rtol=1e-6)
    np.testing.assert_allclose(moved, np.exp(x) * y * y + np.exp(x) * x, rtol=1e-6)
    out, moved, more = ops.jvp(lambda x: ({"square": x * x}, "more"), (x,), (y,), has_aux=True)
    np.testing.assert_allclose(moved["square"], 2 * x * y, rtol=1e-6)
    assert more == "more"


@pytest.mark.parametrize("mode, of_numpy", [("reflect", "symmetric"), ("mirror", "reflect"), ("wrap", "wrap"),
                                            ("nearest", "edge"), ("constant", "constant")])
def test_what_lies_outside_of_a_tensor(mode, of_numpy):
    values = np.array([1.0, 2.0, 3.0, 4.0], "float32")
    found = ops.image.map_coordinates(values, np.arange(-4, 7, dtype="float32")[None], 0, mode)
    np.testing.assert_array_equal(found, np.pad(values, (4, 3), of_numpy))


def test_pictures_of_unknown_size():
    pictures = tf.keras.Input((None, None, 3))
    assert ops.image.resize(pictures, (4, 6), crop_to_aspect_ratio=True).shape == (None, 4, 6, 3)
    assert ops.image.resize(pictures, (4, 6), pad_to_aspect_ratio=True).shape == (None, 4, 6, 3)
    assert ops.image.pad_images(pictures, 1, 1, target_height=9, target_width=8).shape == (None, 9, 8, 3)
    assert ops.image.crop_images(pictures, 1, 1, target_height=9, target_width=8).shape == (None, 9, 8, 3)
    with pytest.raises(ValueError, match="`target_height`"):
        ops.image.crop_images(pictures, 1, 1, 2, 2)
    model = tf.keras.Model(pictures, ops.image.resize(pictures, (2, 3), pad_to_aspect_ratio=True))
    pixels = np.random.RandomState(8).rand(2, 7, 4, 3).astype("float32")
    np.testing.assert_array_equal(model(pixels), ops.image.resize(pixels, (2, 3), pad_to_aspect_ratio=True))


def test_names_of_dtypes_and_where_they_meet():
    backend = tf.keras.backend
    assert [backend.standardize_dtype(one) for one in (None, float, "int", np.int8, tf.bool, np.dtype("uint16"))] == [
        "float32", "float32", "int64", "int8", "bool", "uint16"]
    assert backend.is_float_dtype("bfloat16") and not backend.is_float_dtype("int8")
    assert backend.is_int_dtype(np.uint8) and not backend.is_int_dtype("bool")
    assert [backend.result_type(*given) for given in (("int8", "uint8"), ("float16", "bfloat16"), ("int32", float), (),
                                                      ("uint8", int), ("bool", int), ("int64", "float16"),
                                                      ("uint32", "int8"), (bool, "bool"), (None, "int64"))] == [
        "int16", "float32", "float32", "float32", "uint8", "int32", "float16", "int64", "bool", "float32"]
    assert tf.keras.utils.is_keras_tensor(tf.keras.Input((2,))) and not tf.keras.utils.is_keras_tensor(tf.zeros(2))


# ---- functions that run others, on KerasTensors too ----

def test_loops_over_parts_whose_number_is_not_known():
    x = tf.keras.Input((3,))
    total, sums = ops.scan(lambda total, part: (total + part, ops.sum(total)), np.zeros(3, "float32"), x)
    assert total.shape == (3,) and sums.shape == (None,)
    model = tf.keras.Model(x, [total, sums, ops.map(lambda row: {"most": ops.max(row), "row": row * 2}, x)["most"],
                               ops.fori_loop(0, 3, lambda i, value: value * 2, x)])
    rows = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9.0]], "float32")
    total, sums, most, doubled = model(rows)
    np.testing.assert_array_equal(total, [12, 15, 18])
    np.testing.assert_array_equal(sums, [0, 6, 21])
    np.testing.assert_array_equal(most, [3, 6, 9])
    np.testing.assert_array_equal(doubled, rows * 8)
    _, backwards = ops.scan(lambda total, part: (total + part, total), np.zeros((), "float32"), rows[0], reverse=True)
    np.testing.assert_array_equal(backwards, [5, 3, 0])


def test_branches_and_structures():
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, ops.switch(ops.cast(ops.sum(x) > 3, "int32"), [lambda a: a + 1, lambda a: -a], x))
    np.testing.assert_array_equal(model(np.ones((1, 3), "float32")), [[2, 2, 2]])
    np.testing.assert_array_equal(model(np.ones((2, 3), "float32")), -np.ones((2, 3)))
    found = ops.while_loop(lambda state: state["n"] < 5, lambda state: {"n": state["n"] + 2, "m": state["m"] * 3},
                           {"n": 0, "m": (np.float32(1))})
    assert int(found["n"]) == 6 and float(found["m"]) == 27
    mapped = ops.vectorized_map(lambda one: {"a": one, "b": (one + 1,)}, np.arange(2))
    np.testing.assert_array_equal(mapped["b"][0], [1, 2])
    assert ops.convert_to_tensor(x) is x and ops.convert_to_tensor(x, "int32").dtype == "int32"
    joined = ops.rearrange(tf.keras.Input((4, 6)), "b (h p) w -> b h (w p)", p=2)
    assert joined.shape == (None, 2, 12)


def test_products_at_places():
    factors = np.array([3.0, 5.0, 7.0], "float32")
    out = ops.scatter_update(np.full((2, 3), 2.0, "float32"), [[0, 1], [1, 2], [0, 1]], factors, reduction="mul")
    np.testing.assert_array_equal(out, [[2, 42, 2], [2, 2, 10]])


def test_shapes_that_do_not_fit():
    square, tall = np.eye(3, dtype="float32"), np.ones((3, 2), "float32")
    for call in (ops.det, ops.inv, ops.cholesky, ops.cholesky_inverse):
        with pytest.raises(ValueError, match="square"):
            call(tall)
        with pytest.raises(ValueError, match="rank"):
            call(tall[0])
    with pytest.raises(ValueError, match="Cholesky"):
        ops.cholesky(-square)
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        ops.solve(square, np.ones((2, 2), "float32"))
    for call in (ops.softmax, ops.log_softmax, ops.normalize, ops.unstack, ops.norm):
        with pytest.raises(ValueError, match="axis"):
            call(square, axis=4)
    with pytest.raises(ValueError, match="`variance`"):
        ops.batch_normalization(tall, np.ones(2), np.ones(3), -1)
    with pytest.raises(ValueError, match="`shape`"):
        ops.slice(tall, (0, 0), (1,))
    with pytest.raises(ValueError, match="`num`"):
        ops.unstack(tf.keras.Input((2,)))
    with pytest.raises(ValueError, match="`unroll`"):
        ops.scan(lambda a, b: (a, b), 0, [1, 2], unroll=0)
    with pytest.warns(UserWarning, match="axis"):
        ops.softmax(tall[:, :1])


def test_halves_are_summed_in_float32():
    values = np.array([-700.0, 350.0, 1100.0, -1800.0], "float16")
    mean, variance = ops.moments(values, axes=[0])
    assert mean.dtype == variance.dtype == "float16" and float(variance) == 65504
    normal = ops.layer_normalization(values)
    wide = values.astype("float32")
    np.testing.assert_allclose(normal, (wide - wide.mean()) / wide.std(), atol=2e-3)
    assert normal.dtype == "float16"
    kernel = np.ones((2, 1, 1), "float16")
    np.testing.assert_array_equal(ops.conv(values.reshape(1, 4, 1), kernel)[0, :, 0], values[:3] + values[1:])
    transposed = ops.conv_transpose(np.ones((1, 2, 1)), np.ones((2, 1, 1)), 2)
    assert transposed.dtype == "float64" and transposed.shape == (1, 4, 1)


def test_shapes_where_a_dimension_is_not_known():
    x = tf.keras.Input((3, 4))
    assert ops.tensordot(x, np.ones((4, 5), "float32"), axes=1).shape == (None, 3, 5)
    assert ops.squeeze(tf.keras.Input((1, 3))).shape == (None, 3)
    assert ops.diff(x).shape == (None, 3, 3)
    assert ops.cross(x[:, :, :3], np.ones((1, 3), "float32")).shape == (None, 3, 3)
    assert ops.linspace(x, 2.0, 7, axis=1).shape == (None, 7, 3, 4)
    assert ops.histogram(tf.keras.KerasTensor((None,)))[0].shape == (10,)
    assert [part.shape for part in ops.split(tf.keras.KerasTensor((None, 4)), 2)] == [(None, 4)] * 2
    assert ops.kron(tf.keras.KerasTensor((None, 3)), np.eye(2, dtype="float32")).shape == (None, 6)
    assert (tf.ones([4]) + x).shape == (None, 3, 4) and x.reshape((-1, 12)).shape == (None, 12)
    for call in (tf.reduce_sum, tf.convert_to_tensor):
        with pytest.raises(ValueError, match="KerasTensor"):
            call(x)
    with pytest.raises(NotImplementedError, match="Iterating"):
        iter(x)


def test_what_numpy_gives_for_infinities_and_few_elements():
    values = np.array([[1.0, np.inf, 3.0], [2.0, np.nan, np.inf]], "float32")
    np.testing.assert_array_equal(ops.nanmedian(values, axis=0), [1.5, np.inf, np.inf])
    np.testing.assert_array_equal(ops.nanquantile(values, 0.5, axis=()), values)
    np.testing.assert_array_equal(ops.median(np.array([1.0, np.inf, np.inf])), np.inf)
    assert ops.diff(np.ones((2, 3)), n=2, axis=0).shape == (0, 3)
    np.testing.assert_array_equal(ops.roll(np.arange(6).reshape(2, 3), 1, axis=(0, 1)), [[5, 3, 4], [2, 0, 1]])
    np.testing.assert_array_equal(ops.concatenate([np.eye(2), np.zeros(2)], axis=None), [1, 0, 0, 1, 0, 0])
    found = ops.unique(np.array([7, 5, 7, 6]), return_index=True, return_inverse=True, return_counts=True)
    for one, wanted in zip(found, np.unique([7, 5, 7, 6], True, True, True)):
        np.testing.assert_array_equal(one, wanted)
    np.testing.assert_array_equal(ops.unique(np.array([7, 5, 7, 6]), size=4, fill_value=-1), [5, 6, 7, -1])
    np.testing.assert_array_equal(ops.unique(np.array([7, 5, 7, 6]), size=2), [5, 6])


def test_arguments_that_are_refused():
    for call, text in ((lambda: ops.reshape(np.zeros(4), (-2, 2)), r"newshape=\(-2, 2\)"),
                       (lambda: ops.reshape(np.zeros(4), (-1, -1)), r"newshape=\(-1, -1\)"),
                       (lambda: ops.transpose(np.zeros((2, 3)), (1, 1)), "permutation"),
                       (lambda: ops.diagonal(np.zeros((2, 2)), axis1=1, axis2=-1), "`axis2`"),
                       (lambda: ops.histogram(np.zeros(3), bins=-1), "bins=-1"),
                       (lambda: ops.histogram(np.zeros(3), range=(2, 1)), r"range=\(2, 1\)"),
                       (lambda: ops.sort(np.zeros((2, 2)), axis=3), r"\b3\b"),
                       (lambda: tf.keras.random.randint((2,), 0, 3, "float32"), "dtype=float32"),
                       (lambda: tf.keras.random.uniform((2,), dtype="int32"), "dtype=int32"),
                       (lambda: tf.keras.random.categorical(np.zeros(3, "float32"), 2), "`logits`")):
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="`N`"):
        ops.eye(3.0)
    tf.keras.utils.set_random_seed(3)
    small = tf.keras.random.randint((500,), 3, 9, "uint8")
    assert small.dtype == "uint8" and set(np.asarray(small)) == {3, 4, 5, 6, 7, 8}


def test_complex_numbers():
    z = np.array([1 + 2j, 3 - 1j, 0.5j], np.complex64)
    var, std, cbrt = ops.var(z), ops.std(z), ops.cbrt(z)
    assert (var.dtype, std.dtype, cbrt.dtype) == ("complex64", "float32", "float32")
    np.testing.assert_allclose([var, std], [3.055555582046509, 1.7480148077011108], 1e-6)
    np.testing.assert_allclose(cbrt, [1, 1.4422495, 0], 1e-6)


@pytest.mark.parametrize("lower, upper, expected, dtype", [
    (0, 3, 3, "int32"), (3, 0, 0, "int32"), (0, 0, 0, "int32"), (0.0, 3.0, 3, "float32"), (True, False, 0, "int32"),
    (0, 2.5, 3, "int32"), (0, np.int64(3), 3, "int32"), (0, tf.constant(3), 3, "int32"),
    (tf.constant(0), tf.constant([3]), 3, "int32")])
def test_bounds_of_fori_loop(lower, upper, expected, dtype):
    found = ops.fori_loop(lower, upper, lambda i, x: x + i, 0)
    assert found.dtype == dtype and float(found) == expected


def test_bounds_that_are_no_numbers():
    for lower, upper in (("a", 3), (None, 3), ([0], [3])):
        with pytest.raises(TypeError):
            ops.fori_loop(lower, upper, lambda i, x: x + i, 0)


def test_windows_that_do_not_fit():
    for columns in (np.ones((1, 4, 3), "float32"), np.ones((1, 5, 9), "float32")):
        with pytest.raises(tf.errors.InvalidArgumentError):
            ops.fold(columns, (4, 4), (2, 2))
    with pytest.raises(ValueError, match="3D"):
        ops.fold(np.ones((5, 9), "float32"), (4, 4), (2, 2))
