"""Complex numbers are TensorFlow's: values, gradients, eagerly and in functions, in datasets, files and messages."""

import json
import os
import pathlib

import complex_values
import devices
import numpy as np
import pytest

import leat as tf
from leat._graph import ops

EXPECTED = json.loads((pathlib.Path(__file__).with_name("data") / "complex_values.json").read_text())
CASES = {name: case for name, *case in complex_values.cases(tf)}


def results(name, wrap=lambda function: function):
    try:
        return complex_values.results(tf, *CASES[name], wrap=wrap)
    except tf.errors.UnimplementedError as error:
        if "kissfft" not in str(error) and "OpenBLAS" not in str(error):
            raise
        pytest.skip(str(error))


def check(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert (one["dtype"], one["shape"]) == (other["dtype"], other["shape"])
        one, other = complex_values.values_of(one), complex_values.values_of(other)
        if one.dtype.kind not in "cf":
            np.testing.assert_array_equal(one, other)
            continue
        within = 1e-9 if one.dtype in (np.complex128, np.float64) else 1e-4
        np.testing.assert_allclose(one, other, within, within / 10 * max(1, np.max(np.abs(other), initial=0)))


def test_cases():
    assert set(CASES) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_eager(name):
    check(results(name), EXPECTED[name])


@pytest.mark.parametrize("name", EXPECTED)
def test_in_functions(name):
    check(results(name, tf.function), EXPECTED[name])


# ---- dtypes and tensors ----

def test_dtypes():
    assert (tf.complex64.size, tf.complex128.size) == (8, 16)
    assert tf.complex64.is_complex and tf.complex64.is_numeric and not tf.complex64.is_floating
    assert (tf.complex64.real_dtype, tf.complex128.real_dtype) == (tf.float32, tf.float64)
    assert (tf.complex64.as_datatype_enum, tf.complex128.as_datatype_enum) == (8, 18)
    assert tf.as_dtype(np.complex64) is tf.complex64 and tf.as_dtype("complex128") is tf.complex128
    with pytest.raises(TypeError, match="complex64"):
        tf.complex64.max  # noqa: B018


def test_constants():
    assert tf.constant([1 + 2j]).dtype == tf.complex128
    assert tf.constant([1, 2], tf.complex64).numpy().tolist() == [1, 2]
    assert complex(tf.constant(1 - 2j)) == 1 - 2j
    assert repr(tf.constant([1 + 2j])) == "<tf.Tensor: shape=(1,), dtype=complex128, numpy=array([1.+2.j])>"
    assert str(tf.constant(1 + 2j)) == "tf.Tensor((1+2j), shape=(), dtype=complex128)"
    for value, dtype, error in (([1, 2j], None, ValueError), (1j, tf.float32, TypeError), (1j, tf.int32, TypeError)):
        with pytest.raises(error):
            tf.constant(value, dtype)


def test_numpy_and_dlpack():
    values = np.arange(6, dtype=np.complex64).reshape(2, 3) * (1 + 1j)
    tensor = tf.constant(values)
    assert np.asarray(tensor).dtype == np.complex64 and (tensor.numpy() == values).all()
    assert (np.from_dlpack(tensor) == values).all()
    assert (tf.constant(values.T[::-1]).numpy() == values.T[::-1]).all()
    proto = tf.make_tensor_proto(values)
    assert proto.dtype == 8 and (tf.make_ndarray(proto) == values).all()
    proto = tf.make_tensor_proto(2 - 1j, shape=[2])
    assert proto.dcomplex_val == [2.0, -1.0] and (tf.make_ndarray(proto) == [2 - 1j, 2 - 1j]).all()


def test_variables(tmp_path):
    variable = tf.Variable([1 + 2j, 3j])
    variable.assign_add([1 + 0j, 1j])
    with tf.GradientTape() as tape:
        out = tf.reduce_sum(tf.abs(variable) ** 2)
    assert tape.gradient(out, variable).numpy().tolist() == [4 + 4j, 8j]
    path = tf.train.Checkpoint(v=variable).save(str(tmp_path / "ckpt"))
    other = tf.Variable([0j, 0j])
    tf.train.Checkpoint(v=other).restore(path).assert_consumed()
    assert (other.numpy() == variable.numpy()).all()


# ---- what orders numbers, or has no complex form, is refused ----

@pytest.mark.parametrize("call", [
    lambda x: tf.maximum(x, x), lambda x: x < x, tf.reduce_max, tf.sort, tf.argmax, lambda x: tf.math.top_k(x, 1),
    tf.nn.relu, tf.nn.softmax, tf.math.floor, tf.math.erf, lambda x: x // x, lambda x: x % x, tf.math.is_nan, tf.unique,
    lambda x: tf.linalg.pinv([[x[0]]]),
    lambda x: tf.saturate_cast(x, tf.float32), lambda x: tf.math.segment_max(x, [0, 0]), tf.nn.l2_loss,
    lambda x: tf.linalg.global_norm([x]), lambda x: x + tf.constant([1.0]),
    lambda x: tf.tensor_scatter_nd_max(x, [[0]], x[:1]),
    lambda x: tf.nn.conv1d(x[None, :, None], x[:, None, None], 1, "SAME"), lambda x: tf.range(x[0], 3),
    lambda x: tf.debugging.check_numerics(x, ""), lambda x: tf.clip_by_value(x, 0, 1),
    lambda x: tf.pad(tf.cast(x, tf.complex64), [[1, 0]], constant_values=x[0])])
def test_refused(call):
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, TypeError), match="complex"):
        call(tf.constant([1j, 2 + 0j]))


@pytest.mark.parametrize("layer", [
    tf.keras.layers.Dense(2), tf.keras.layers.Conv1D(1, 1), tf.keras.layers.GaussianNoise(0.1),
    tf.keras.layers.UnitNormalization(), tf.keras.layers.Normalization(mean=0.0, variance=1.0),
    tf.keras.layers.ReLU(), tf.keras.layers.Embedding(3, 2)], ids=lambda layer: layer.name)
def test_layers(layer):
    with pytest.raises(TypeError, match="complex"):
        layer(tf.constant([[[1j], [2 + 0j]]]))
    assert tf.keras.layers.Lambda(lambda x: x * 2)(tf.constant([1j])).numpy() == 2j


def test_strategies_reduce():
    values = devices.TWO.run(lambda: tf.constant(1 + 3j))
    assert devices.TWO.reduce("SUM", values, axis=None).numpy() == 2 + 6j
    assert devices.TWO.reduce("MEAN", values, axis=None).numpy() == 1 + 3j


# ---- every operation of the table: right, or refused ----

_OPS = pathlib.Path(__file__).parents[2] / "tests/conform/ops"
# What is not linear in its floats; TensorFlow's values of these are among the recorded ones.
_NOT_LINEAR = set("""abs acos acosh angle asin asinh atan atanh banded_triangular_solve cholesky conj cos cosh
count_nonzero cumprod divide divide_no_nan edit_distance eig eigvals einsum equal exp expm1 imag log log1p
log_matrix_determinant lu matmul matrix_determinant matrix_inverse matrix_logarithm matrix_solve matrix_square_root
matrix_triangular_solve multiply multiply_no_nan not_equal ones_like pow qr real reciprocal reduce_prod rsqrt
segment_prod self_adjoint_eig self_adjoint_eigvals sigmoid sign sin sinh sqrt square squared_difference svd tan tanh
tridiagonal_solve unsorted_segment_prod xdivy""".split())
_OF_SHAPES = set("as_string assert bitcast fingerprint rank serialize_tensor shape size string_format".split())
_OF_OTHERS = set("cast random_shuffle".split())  # whose values are another test's, or drawn


def _complex_of(tensor):
    """(x, y, x + iy, 0) of an input of a case, y a turned x; four times the same where it is no float."""
    if tensor["dtype"] not in ("float32", "float64"):
        values = np.array(tensor["data"], object if tensor["dtype"] == "string" else tensor["dtype"])
        return (values.reshape(tensor["shape"]),) * 4
    x = np.array([float(one) for one in tensor["data"]], tensor["dtype"]).reshape(tensor["shape"])
    y = np.roll(x.reshape(-1), 1).reshape(x.shape)
    return x, y, (x + y * 1j).astype("complex64" if x.dtype == "float32" else "complex128"), x * 0


def _cases(name):
    for case in json.loads((_OPS / name).read_text()).get("cases", []):
        dtypes = {one["dtype"] for one in case.get("inputs", [])}
        values = [value for one in case.get("inputs", []) for value in one["data"]]
        if "error" not in case and dtypes & {"float32", "float64"} and not {"bfloat16", "string"} & dtypes and not any(
                isinstance(value, str) for value in values):
            yield case


@pytest.mark.parametrize("file", sorted(name for name in os.listdir(_OPS) if ops.TABLE.get(name[:-5])))
def test_table(file):
    name, linear = file[:-5], 0
    for case in [*_cases(file)][:3]:
        inputs = [_complex_of(one) for one in case["inputs"]]

        def run(which, case=case, inputs=inputs):
            given = [tf.constant(one[which]) for one in inputs]
            return [one.numpy() for one in ops.call(name, case.get("attributes") or {}, given)]
        try:
            both = run(2)
        except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError) as error:
            assert "complex" in str(error), error
            continue
        if name in _NOT_LINEAR | _OF_SHAPES | _OF_OTHERS:
            continue
        linear += 1
        for found, x, y, fixed in zip(both, run(0), run(1), run(3), strict=True):  # of nothing: what stands around it
            expected = x + 1j * (y - fixed) if x.dtype.kind == "f" else x
            np.testing.assert_allclose(found, expected, 1e-5, 1e-5 * np.max(np.abs(expected), initial=1), err_msg=name)
    assert linear == 0 or name not in _NOT_LINEAR


# ---- datasets ----

def test_datasets(tmp_path):
    values = np.arange(6).astype(np.complex64) * (1 + 2j)
    dataset = tf.data.Dataset.from_tensor_slices(values)
    assert dataset.element_spec == tf.TensorSpec([], tf.complex64)
    squares = dataset.map(lambda x: x * tf.math.conj(x)).batch(4)
    found = [batch.numpy().tolist() for batch in squares]
    assert found == [[0, 5, 20, 45], [80, 125]]
    padded = tf.data.Dataset.range(3).map(lambda n: tf.fill([n], 1 - 1j)).padded_batch(3, padding_values=2j)
    assert next(iter(padded)).numpy().tolist() == [[2j, 2j], [1 - 1j, 2j], [1 - 1j, 1 - 1j]]
    squares.save(str(tmp_path / "saved"))
    assert [b.numpy().tolist() for b in tf.data.Dataset.load(str(tmp_path / "saved"))] == found
    generated = tf.data.Dataset.from_generator(lambda: iter([1j, 2]), output_signature=tf.TensorSpec([], tf.complex64))
    assert [x.numpy() for x in generated] == [1j, 2]
    total = dataset.reduce(tf.constant(0, tf.complex64), lambda total, x: total + x)
    assert total.numpy() == 15 + 30j
    assert len(list(dataset.shuffle(6, seed=1).repeat(2).take(8).cache())) == 8


def test_lists_of_several_types():
    assert tf.constant([1 + 2j, 1.5, 2]).numpy().tolist() == [1 + 2j, 1.5, 2]
    assert tf.constant([1j, True], tf.complex64).dtype == tf.complex64
    assert tf.constant([0, 1j], tf.complex128).numpy().tolist() == [0, 1j]
    assert tf.constant([True, 1], tf.float32).numpy().tolist() == [1, 1]
    for value in ([0, 1j], [1.5, 1j], [True, 1], [1j, "a"]):
        with pytest.raises((ValueError, TypeError)):
            tf.constant(value)
    with pytest.raises(TypeError):
        tf.constant([1j, 0], tf.float32)


def test_counts_as_complex_numbers():
    z = tf.constant([1 + 0j, 0, 1j])
    assert tf.math.count_nonzero(z).numpy() == 2
    found = tf.math.count_nonzero(z, dtype=tf.complex64)
    assert found.dtype == tf.complex64 and found.numpy() == 2


def test_gradient_of_means_of_segments():
    x = tf.Variable([1 + 2j, 0, 3 - 1j], dtype=tf.complex64)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.math.real(tf.math.segment_mean(x * (2 + 1j), [0, 0, 1])))
    assert tape.gradient(y, x).numpy().tolist() == [1 - 0.5j, 1 - 0.5j, 2 - 1j]
