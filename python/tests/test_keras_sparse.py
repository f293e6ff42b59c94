"""Sparse tensors into layers and models; the numbers are Keras 3.15's, or those of the dense tensor."""

import numpy as np
import pytest

import leat as tf
from leat import keras

X = np.eye(4, dtype="f")[np.arange(8) % 4]
Y = X.sum(1, keepdims=True)
SPARSE = tf.sparse.from_dense(X)


def model_of(*layers):
    model = keras.Sequential([*layers, keras.layers.Dense(2, kernel_initializer="ones"),
                              keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    return model


def test_fit_evaluate_predict():
    model = model_of()
    losses = model.fit(SPARSE, Y, batch_size=4, epochs=2, verbose=0, shuffle=False).history["loss"]
    np.testing.assert_allclose(losses, [0.8969406485557556, 0.5741474628448486], rtol=1e-6)
    np.testing.assert_allclose(model.evaluate(SPARSE, Y, verbose=0), 0.41604113578796387, rtol=1e-6)
    np.testing.assert_allclose(model.predict(SPARSE, verbose=0)[:2], [[1.6450124979019165]] * 2, rtol=1e-6)


@pytest.mark.parametrize("kwargs", [{}, {"shuffle": True}, {"shuffle": "batch"}])
@pytest.mark.parametrize("seeded", [False, True])
def test_rows_as_of_dense_data(kwargs, seeded):
    x = np.where(np.random.RandomState(1).rand(9, 5) < 0.4, np.random.RandomState(2).rand(9, 5), 0).astype("f")
    found = []
    for data in (x, tf.sparse.from_dense(x)):
        if seeded:
            keras.utils.set_random_seed(4)
        model = model_of()
        kwargs = {**kwargs, "shuffle": kwargs.get("shuffle", False)} if not seeded else kwargs
        found.append(model.fit(data, x[:, :1], batch_size=9 if not seeded else 4, epochs=2, verbose=0,
                               **kwargs).history["loss"])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_datasets_and_matrices():
    class Matrix:  # as those of scipy
        row, col, data, shape = np.array([1, 0]), np.array([0, 2]), np.array([2.0, 3.0]), (2, 4)

        def tocoo(self):
            return self
    model = model_of(keras.Input((4,)))
    model.fit(tf.data.Dataset.from_tensor_slices((SPARSE, Y)).batch(4), verbose=0)
    np.testing.assert_allclose(model.predict(Matrix(), verbose=0), model(np.array([[0, 0, 3, 0], [2, 0, 0, 0]], "f")),
                               rtol=1e-6)
    np.testing.assert_allclose(model(SPARSE), model(X), rtol=1e-6)


def test_sparse_inputs(tmp_path):
    class Product(keras.layers.Layer):
        def build(self, input_shape):
            self.kernel = self.add_weight(shape=(input_shape[-1], 2), initializer="ones")

        def call(self, x):
            assert hasattr(x, "dense_shape")
            return tf.sparse.sparse_dense_matmul(x, self.kernel)
    inputs = keras.Input((4,), sparse=True)
    assert inputs.sparse and "sparse=True" in repr(inputs)
    dense = keras.layers.Dense(2, kernel_initializer="ones")(inputs)
    assert dense.shape == (None, 2) and not dense.sparse
    model = keras.Model(inputs, dense + Product()(inputs))
    np.testing.assert_array_equal(model(SPARSE), 2 * X @ np.ones((4, 2)))
    np.testing.assert_array_equal(model(X), 2 * X @ np.ones((4, 2)))
    model.compile("sgd", "mse")
    assert model.fit(SPARSE, X[:, :2], verbose=0).history["loss"]
    plain = keras.Model(inputs, dense)
    plain.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert again.inputs[0].sparse and again.layers[0].get_config()["sparse"] is True
    np.testing.assert_array_equal(again(SPARSE), plain(SPARSE))
    with pytest.raises(ValueError, match="ragged"):
        keras.Input((4,), ragged=True, sparse=True)


@pytest.mark.parametrize("mode, indices, values", [
    ("multi_hot", [[0, 1], [0, 2], [1, 0], [1, 3]], [1] * 4), ("count", [[0, 1], [0, 2], [1, 0], [1, 3]], [1] * 4)])
def test_vectors_without_zeros(mode, indices, values):
    numbers = np.array([[1, 2], [0, 3]])
    layer = keras.layers.CategoryEncoding(4, mode, sparse=True)
    made = layer(numbers)
    assert made.indices.numpy().tolist() == indices and made.values.numpy().tolist() == values
    assert made.dense_shape.numpy().tolist() == [2, 4] and made.dtype == "float32"
    assert layer.get_config()["sparse"] is True
    dense = type(layer)(4, mode)(numbers)
    inputs = keras.Input((2,), dtype="int64")
    hot = layer(inputs)
    assert hot.sparse and hot.shape == (None, 4)
    model = keras.Model(inputs, keras.layers.Dense(3, kernel_initializer="ones")(hot))
    np.testing.assert_array_equal(model(numbers), dense @ np.ones((4, 3), "f"))


def test_lookups_and_operations():
    layer = keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot", sparse=True)
    made = layer(np.array([["a", "b"], ["b", "z"]]))
    assert made.indices.numpy().tolist() == [[0, 1], [0, 2], [1, 0], [1, 2]] and made.dtype == "int64"
    hashed = keras.layers.Hashing(4, output_mode="one_hot", sparse=True)(np.array([[1], [2]]))
    wanted = keras.layers.Hashing(4, output_mode="one_hot")([[1], [2]])
    np.testing.assert_array_equal(tf.sparse.to_dense(hashed), wanted)
    for make in (lambda: keras.layers.StringLookup(sparse=True), lambda: keras.layers.Hashing(3, sparse=True)):
        with pytest.raises(ValueError, match="sparse"):
            make()
    hot = keras.ops.one_hot(np.array([1, 2]), 4, sparse=True)
    assert hot.indices.numpy().tolist() == [[0, 1], [1, 2]]
    np.testing.assert_array_equal(keras.ops.matmul(SPARSE, np.ones((4, 2), "f")), X @ np.ones((4, 2)))
    np.testing.assert_array_equal(keras.ops.convert_to_tensor(SPARSE, sparse=False), X)
    assert keras.ops.convert_to_tensor(SPARSE, "int32").dtype == "int32"
    np.testing.assert_array_equal(keras.ops.add(SPARSE, 1.0), X + 1)
