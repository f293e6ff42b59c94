"""Layers that number words and integers, and layers around others, with the answers of Keras 3.15."""

import pathlib
import pickle

import numpy as np
import pytest

import leat as tf
from leat import keras

layers = tf.keras.layers
WORDS = ["a", "b", "c", "d"]
ROWS = [["a", "c", "d"], ["d", "z", "b"]]


@pytest.mark.parametrize("mode, expected", [
    ("int", [[1, 3, 4], [4, 0, 2]]),
    ("one_hot", [[[0, 1, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]],
                 [[0, 0, 0, 0, 1], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0]]]),
    ("multi_hot", [[0, 1, 0, 1, 1], [1, 0, 1, 0, 1]]), ("count", [[0, 1, 0, 1, 1], [1, 0, 1, 0, 1]])])
def test_words_in_each_mode(mode, expected):
    layer = layers.StringLookup(vocabulary=WORDS, output_mode=mode)
    found = layer(ROWS)
    assert found.dtype is tf.int64 and found.numpy().tolist() == expected
    again = layers.StringLookup.from_config(layer.get_config())
    assert again(np.array(ROWS)).numpy().tolist() == expected
    assert tf.function(layer)(tf.constant(ROWS)).numpy().tolist() == expected


@pytest.mark.parametrize("mode, expected", [
    ("int", [[3, 0, 2], [2, 4, 4]]), ("multi_hot", [[0, 1, 1, 0, 0, 0], [0, 1, 0, 1, 0, 0]]),
    ("count", [[0, 1, 1, 0, 0, 0], [0, 1, 0, 2, 0, 0]])])
def test_masks_and_several_numbers_for_what_is_unknown(mode, expected):
    layer = layers.StringLookup(vocabulary=WORDS, output_mode=mode, mask_token="", num_oov_indices=2)
    assert layer([["a", "", "q"], ["y", "b", "b"]]).numpy().tolist() == expected


def test_integers():
    given = {"vocabulary": [12, 36, 1138, 42], "num_oov_indices": 3, "mask_token": 0}
    x = np.array([[12, 7, 0], [42, 8, 36]])
    assert layers.IntegerLookup(**given)(x).numpy().tolist() == [[4, 2, 0], [7, 3, 5]]
    assert layers.IntegerLookup(output_mode="count", **given)(x).numpy().tolist() == [
        [0, 1, 0, 1, 0, 0, 0], [0, 0, 1, 0, 1, 0, 1]]
    hashed = layers.IntegerLookup(vocabulary=[1, 2], num_oov_indices=4, oov_method="farmhash")
    assert hashed(np.array([1, 2, 3, 4, 5, 6])).numpy().tolist() == [4, 5, 1, 3, 3, 3]
    assert layers.IntegerLookup(vocabulary=[5, 6, 7], invert=True)([[1, 3, 4], [4, 0, 2]]).numpy().tolist() == [
        [5, 7, -1], [-1, -1, 6]]
    assert layers.IntegerLookup(vocabulary=[-1, 5, 6]).get_vocabulary() == [-1, 5, 6]


def test_words_of_numbers():
    back = layers.StringLookup(vocabulary=WORDS, invert=True)
    assert back([[1, 3, 4], [4, 0, 9]]).numpy().tolist() == [[b"a", b"c", b"d"], [b"d", b"[UNK]", b"[UNK]"]]
    masked = layers.StringLookup(vocabulary=WORDS, invert=True, mask_token="[M]")
    assert masked([[1, 3, 4], [4, 0, 2]]).numpy().tolist() == [[b"[UNK]", b"b", b"c"], [b"c", b"[M]", b"a"]]


def test_weights_of_words():
    given = {"vocabulary": WORDS, "idf_weights": [.25, .75, .6, .4], "output_mode": "tf_idf"}
    rows = [["a", "c", "d", "d"], ["d", "z", "b", "z"]]
    np.testing.assert_allclose(layers.StringLookup(**given)(rows), [[0, .25, 0, .6, .8], [1, 0, .75, 0, .4]], rtol=1e-6)
    padded = layers.StringLookup(max_tokens=7, pad_to_max_tokens=True, **given)
    np.testing.assert_allclose(padded(rows), [[0, .25, 0, .6, .8, 0, 0], [1, 0, .75, 0, .4, 0, 0]], rtol=1e-6)


@pytest.mark.parametrize("make, data, vocabulary, x, expected", [
    (lambda: layers.StringLookup(), ["b", "a", "c", "a", "b", "a", "d"], ["[UNK]", "a", "b", "d", "c"], ["a", "q"],
     [1, 0]),
    (lambda: layers.StringLookup(max_tokens=3, mask_token=""), [["b", "a", "c"], ["a", "b", "a"]], ["", "[UNK]", "a"],
     [["a", "q"]], [[2, 1]]),
    (lambda: layers.StringLookup(output_mode="tf_idf"), [["b", "a", "c"], ["a", "b", "a"], ["c", "a", "x"]],
     ["[UNK]", "a", "c", "b", "x"], [["a", "q", "c", "c"]], [[0.71555024, 0.55961579, 1.38629436, 0, 0]]),
    (lambda: layers.StringLookup(output_mode="tf_idf"), ["b", "a", "c", "a"], ["[UNK]", "a", "c", "b"],
     [["a", "q", "c", "c"]], [[1.01484084, 0.84729785, 2.197224617, 0]]),
    (lambda: layers.StringLookup(output_mode="tf_idf"),
     tf.data.Dataset.from_tensor_slices(["x", "y", "x", "z"]).batch(2), ["[UNK]", "x", "z", "y"], [["x", "q"]],
     [[0.63237333, 0.5108256, 0, 0]]),
    (lambda: layers.StringLookup(), tf.data.Dataset.from_tensor_slices(["x", "y", "x", "z"]), ["[UNK]", "x", "z", "y"],
     ["x", "q"], [1, 0]),
    (lambda: layers.IntegerLookup(), np.array([[5, 5, 7], [9, 7, 5]]), [-1, 5, 7, 9], [[5, 1, 9]], [[1, 0, 3]])])
def test_vocabularies_are_found_in_data(make, data, vocabulary, x, expected):
    layer = make()
    layer.adapt(data)
    assert layer.get_vocabulary() == vocabulary and layer.vocabulary_size() == len(vocabulary)
    np.testing.assert_allclose(layer(x), expected, rtol=1e-6)


def test_vocabularies_of_files_and_in_files_of_models(tmp_path):
    place = tmp_path / "words.txt"
    place.write_text("a\nb\nc\n")
    layer = layers.StringLookup(vocabulary=str(place), mask_token="[M]", oov_token="[O]")
    assert layer.get_vocabulary() == ["[M]", "[O]", "a", "b", "c"] and layer.get_config()["vocabulary"] == [
        "a", "b", "c"]
    assert layer.get_vocabulary(include_special_tokens=False) == ["a", "b", "c"]
    pytest.importorskip("h5py")
    found = layers.StringLookup(output_mode="tf_idf")
    found.adapt([["x", "y"], ["y", "y"]])
    for one, x in ((layer, [["b"], ["q"]]), (found, [["x", "y"]])):
        model = tf.keras.Sequential([tf.keras.Input((len(x[0]),), dtype="string"), one])
        model.save(tmp_path / "model.keras")
        again = tf.keras.models.load_model(tmp_path / "model.keras")
        assert again.layers[-1].get_vocabulary() == one.get_vocabulary()
        np.testing.assert_array_equal(again(tf.constant(x)), model(tf.constant(x)))


def test_hashes():
    rows = [["A"], ["B"], ["C"]]
    assert layers.Hashing(5)(rows).numpy().tolist() == [[4], [3], [2]]
    assert layers.Hashing(5, mask_value="", salt=133)([["A", ""], ["B", "C"]]).numpy().tolist() == [[4, 0], [3, 3]]
    count = layers.Hashing(5, mask_value="", salt=133, output_mode="count")([["A", ""], ["B", "C"]])
    assert count.dtype is tf.float32 and count.numpy().tolist() == [[1, 0, 0, 0, 1], [0, 0, 0, 2, 0]]
    assert layers.Hashing(4)([[1], [2], [10]]).numpy().tolist() == [[1], [3], [2]]
    assert layers.Hashing(4)(np.array([1.5, 2.2])).numpy().tolist() == [1, 3]
    assert layers.StringLookup(vocabulary=WORDS, num_oov_indices=5, salt=[3, 4])(["u", "v", "w"]).numpy().tolist() == [
        1, 2, 1]
    layer = layers.Hashing(7, mask_value=3, output_mode="one_hot")
    np.testing.assert_array_equal(layers.Hashing.from_config(layer.get_config())([[3], [4]]), layer([[3], [4]]))


def test_they_stand_in_datasets_models_and_ragged_values():
    layer = layers.StringLookup(vocabulary=WORDS)
    rows = tf.data.Dataset.from_tensor_slices(["a", "q"]).map(layer)
    assert [int(x) for x in rows.as_numpy_iterator()] == [1, 0]
    given = tf.keras.Input((1,), dtype="string")
    model = tf.keras.Model(given, layers.StringLookup(vocabulary=WORDS, output_mode="one_hot")(given))
    assert model(tf.constant([["b"], ["x"]])).numpy().tolist() == [[0, 0, 1, 0, 0], [1, 0, 0, 0, 0]]
    assert layer(tf.ragged.constant([["a"], ["b", "d"]])).to_list() == [[1], [2, 4]]
    sparse = layer(tf.sparse.from_dense([["", "b"], ["a", ""]]))
    assert sparse.values.numpy().tolist() == [2, 1]


@pytest.mark.parametrize("make, error, text", [
    (lambda: layers.StringLookup(max_tokens=1), ValueError, "max_tokens=1"),
    (lambda: layers.StringLookup(num_oov_indices=-1), ValueError, "num_oov_indices=-1"),
    (lambda: layers.StringLookup(vocabulary=["a", "b", "a"]), ValueError, "repeated"),
    (lambda: layers.StringLookup(vocabulary=["a", "[M]"], mask_token="[M]"), ValueError, "mask"),
    (lambda: layers.StringLookup(vocabulary=["a", "[UNK]"], invert=True), ValueError, "OOV"),
    (lambda: layers.StringLookup(vocabulary=WORDS, max_tokens=3), ValueError, r"\b5\b"),
    (lambda: layers.StringLookup(vocabulary=[]), ValueError, "empty"),
    (lambda: layers.StringLookup(vocabulary="no-such-file"), ValueError, "no-such-file"),
    (lambda: layers.StringLookup(output_mode="best"), ValueError, "output_mode=best"),
    (lambda: layers.StringLookup(invert=True, output_mode="count"), ValueError, "output_mode=count"),
    (lambda: layers.StringLookup(sparse=True), ValueError, "sparse=True"),
    (lambda: layers.StringLookup(vocabulary=WORDS, output_mode="tf_idf"), ValueError, "`idf_weights`"),
    (lambda: layers.StringLookup(vocabulary=WORDS, idf_weights=[1]), ValueError, "`idf_weights`"),
    (lambda: layers.StringLookup(vocabulary=WORDS).adapt(["a"]), ValueError, "adapt"),
    (lambda: layers.StringLookup()(["a"]), tf.errors.FailedPreconditionError, "Table"),
    (lambda: layers.StringLookup(output_mode="count")(["a"]), RuntimeError, "output_mode=count"),
    (lambda: layers.StringLookup(vocabulary=WORDS, num_oov_indices=0)(["a", "q"]), tf.errors.InvalidArgumentError,
     "`num_oov_indices=0`"),
    (lambda: layers.IntegerLookup(salt=3), ValueError, "`salt`"),
    (lambda: layers.IntegerLookup(vocabulary_dtype="int32"), ValueError, "vocabulary_dtype='int64'"),
    (lambda: layers.Hashing(0), ValueError, "`num_bins`"), (lambda: layers.Hashing(2, salt="x"), ValueError, "`salt`"),
    (lambda: layers.Hashing(2, dtype="float32"), ValueError, "dtype=float32"),
    (lambda: layers.Wrapper(3), ValueError, "Wrapper"),
    (lambda: layers.SpectralNormalization(layers.Dense(1), power_iterations=0), ValueError, "`power_iterations=0`"),
    (lambda: layers.SpectralNormalization(layers.ReLU())(np.ones((2, 3), "f")), ValueError, "'kernel'"),
    (lambda: layers.Pipeline.from_config({"layers": 3}), ValueError, "`layers`"),
])
def test_refusals_name_what_is_wrong(make, error, text):
    with pytest.raises(error, match=text):
        make()


# ---- layers around layers ----

def test_spectral_normalization_divides_by_the_largest_singular_value():
    keras.utils.set_random_seed(3)  # a kernel whose singular values lie apart
    x = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    layer = layers.SpectralNormalization(layers.Dense(3), power_iterations=60)
    kernel = layer(x) is not None and np.array(layer.kernel)
    expected = kernel / np.linalg.svd(kernel)[1][0]
    np.testing.assert_allclose(layer(x, training=True), x @ expected, atol=1e-5)
    np.testing.assert_allclose(layer.kernel, expected, atol=1e-5)
    np.testing.assert_allclose(layer(x), x @ expected, atol=1e-5)
    assert [w.path for w in layer.weights] == [f"{layer.name}/{layer.layer.name}/kernel", f"{layer.name}/vector_u",
                                               f"{layer.name}/{layer.layer.name}/bias"]
    layer.kernel.assign(np.zeros((5, 3)))
    np.testing.assert_array_equal(layer(x, training=True), np.zeros((4, 3)))
    again = layers.SpectralNormalization.from_config(layer.get_config())
    assert again.power_iterations == 60 and type(again.layer) is layers.Dense and again.layer.units == 3


def test_spectral_normalization_goes_on_where_it_ended():
    layer = layers.SpectralNormalization(layers.Dense(2, use_bias=False))
    layer.build((None, 2))
    layer.kernel.assign([[3, 1], [0, 2]])
    layer.vector_u.assign([[0.6, 0.8]])
    found = [layer(np.eye(2, dtype="f"), training=True).numpy() for _ in range(2)]
    u, kernel, expected = np.array([[0.6, 0.8]]), np.array([[3.0, 1], [0, 2]]), []
    for _ in range(2):  # by hand
        v = u @ kernel.T / np.linalg.norm(u @ kernel.T)
        u = v @ kernel / np.linalg.norm(v @ kernel)
        kernel = kernel / (v @ kernel @ u.T)
        expected.append(kernel)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_wrapped_layers_train():
    model = tf.keras.Sequential([tf.keras.Input((6, 6, 1)),
                                 layers.SpectralNormalization(layers.Conv2D(2, 3, padding="same"), power_iterations=2)])
    model.compile("sgd", "mse")
    random = np.random.default_rng(1)
    losses = model.fit(random.normal(size=(8, 6, 6, 1)), random.normal(size=(8, 6, 6, 2)), epochs=3, verbose=0)
    assert losses.history["loss"][-1] < losses.history["loss"][0]


def test_pipeline_is_its_layers():
    x = np.arange(20, dtype="f").reshape(1, 4, 5, 1)
    pipeline = layers.Pipeline([layers.RandomFlip("horizontal", seed=3), layers.RandomRotation(0.2, seed=5)])
    np.testing.assert_allclose(pipeline(x).numpy().ravel()[:4], [17.02336884, 12.35481071, 7.44355202, 2.88507295],
                               atol=1e-4)
    np.testing.assert_array_equal(pipeline(x, training=False), x)
    np.testing.assert_array_equal(pipeline({"images": x}, training=False)["images"], x)
    again = layers.Pipeline.from_config(pipeline.get_config())
    assert [type(layer) for layer in again.layers] == [layers.RandomFlip, layers.RandomRotation]
    rows = tf.data.Dataset.from_tensors({"images": x, "labels": np.ones((1, 2), "f")}).map(again)
    found = next(iter(rows))
    assert found["images"].shape == x.shape and found["labels"].shape == (1, 2)


# ---- bins and categories ----

VALUES = np.random.default_rng(3).normal(size=(400,)).astype(np.float32)


@pytest.mark.parametrize("data, given, expected", [
    (VALUES, {"num_bins": 4}, [-0.633188, 0.024259, 0.726072]),
    (VALUES.reshape(20, 20), {"num_bins": 5, "epsilon": 0.05}, [-0.788109, -0.214829, 0.229154, 0.814104]),
    (tf.data.Dataset.from_tensor_slices(VALUES).batch(64), {"num_bins": 6, "epsilon": 0.02},
     [-0.872452, -0.341944, 0.025899, 0.564108, 1.011946]),
    ([VALUES[:30], VALUES[30:90]], {"num_bins": 3}, [-0.452649, 0.481945]),
    (VALUES[:5], {"num_bins": 3}, [-1.230401, -0.1624]),
    (tf.data.Dataset.from_tensor_slices(VALUES).batch(64), {"num_bins": 6, "epsilon": 0.3},
     [-0.30816, 0.526168, 1.346436])])
def test_bins_are_found_in_data(data, given, expected):
    layer = layers.Discretization(**given)
    with pytest.raises(ValueError, match="`bin_boundaries`"):
        layer(VALUES)
    layer.adapt(data)
    np.testing.assert_allclose(layer.bin_boundaries, expected, atol=1e-6)
    again = layers.Discretization.from_config(layer.get_config())
    for one in (layer, again, tf.function(layer)):
        np.testing.assert_array_equal(one(VALUES), np.digitize(VALUES, layer.bin_boundaries))
    assert again.num_bins == given["num_bins"]


@pytest.mark.parametrize("mode", ["int", "one_hot", "multi_hot", "count"])
def test_shapes_of_bins_are_known_before_data_is(mode):
    for shape in ((6,), (4, 1), (4, 3), (2, 3, 5)):
        layer = layers.Discretization(num_bins=4, output_mode=mode)
        found = layer.compute_output_shape(shape)
        layer.adapt(VALUES)
        assert found == tuple(layer(np.zeros(shape, "f")).shape) == layer.compute_output_shape(shape)


def test_categories_may_be_lists_and_have_weights():
    count = layers.CategoryEncoding(num_tokens=4, output_mode="count")
    x, weights = [[0, 1], [0, 0], [1, 2], [3, 1]], np.array([[.1, .2], [.1, .1], [.2, .3], [.4, .2]])
    expected = [[.1, .2, 0, 0], [.2, 0, 0, 0], [0, .2, .3, 0], [0, .2, 0, .4]]
    np.testing.assert_allclose(count(x, count_weights=weights), expected, rtol=1e-6)
    np.testing.assert_allclose(tf.function(lambda: count(np.array(x), count_weights=weights))(), expected, rtol=1e-6)
    alone = count(np.array([0, 1, 1]), count_weights=np.array([.1, .2, .5]))
    np.testing.assert_allclose(alone, [.1, .7, 0, 0], rtol=1e-6)
    assert layers.CategoryEncoding(num_tokens=4, output_mode="one_hot")([3, 2]).numpy().tolist() == [
        [0, 0, 0, 1], [0, 0, 1, 0]]
    assert layers.Discretization([0.0, 1.0, 2.0])([[-1.5, 1.0], [3.4, 0.5]]).numpy().tolist() == [[0, 2], [3, 1]]
    for make, text in ((lambda: layers.CategoryEncoding(), "IntegerLookup"),
                       (lambda: layers.CategoryEncoding(0), "num_tokens=0"),
                       (lambda: layers.CategoryEncoding(2, output_mode="int"), "output_mode"),
                       (lambda: layers.CategoryEncoding(2)([1], count_weights=[1.0]), "`count_weights`"),
                       (lambda: layers.Discretization(), "`bin_boundaries`"),
                       (lambda: layers.Discretization([1.0], num_bins=2), "`num_bins=2`"),
                       (lambda: layers.Discretization(num_bins=-1), "`num_bins=-1`"),
                       (lambda: layers.Discretization([1.0]).adapt(VALUES), "adapt")):
        with pytest.raises(ValueError, match=text):
            make()


# ---- texts ----

TEXTS, VOCABULARY = ["The cat, sat on THE mat!", "a dog's life", ""], ["the", "cat", "mat", "dogs", "life"]


@pytest.mark.parametrize("given, expected", [
    ({}, [[2, 3, 1, 1, 2, 4], [1, 5, 6, 0, 0, 0], [0] * 6]),
    ({"output_sequence_length": 4}, [[2, 3, 1, 1], [1, 5, 6, 0], [0] * 4]),
    ({"output_sequence_length": 7}, [[2, 3, 1, 1, 2, 4, 0], [1, 5, 6, 0, 0, 0, 0], [0] * 7]),
    ({"output_mode": "multi_hot"}, [[1, 1, 1, 1, 0, 0], [1, 0, 0, 0, 1, 1], [0] * 6]),
    ({"output_mode": "count", "max_tokens": 7, "pad_to_max_tokens": True},
     [[2, 2, 1, 1, 0, 0, 0], [1, 0, 0, 0, 1, 1, 0], [0] * 7]),
    ({"output_mode": "tf_idf", "idf_weights": [1, 2, 3, 4, 5]}, [[6, 2, 2, 3, 0, 0], [3, 0, 0, 0, 4, 5], [0] * 6]),
    ({"standardize": "lower", "output_sequence_length": 3}, [[2, 1, 1], [1, 1, 6], [0] * 3]),
    ({"standardize": "strip_punctuation", "output_sequence_length": 2}, [[1, 3], [1, 5], [0] * 2]),
    ({"standardize": lambda x: tf.strings.regex_replace(x, "dog.s", "cat"), "output_sequence_length": 2},
     [[1, 1], [1, 3], [0] * 2])])
def test_texts_in_each_way(given, expected):
    layer = layers.TextVectorization(vocabulary=VOCABULARY, **given)
    np.testing.assert_allclose(layer(TEXTS), expected)
    column = tf.constant([[text] for text in TEXTS])
    np.testing.assert_allclose(layer(column), expected)
    np.testing.assert_allclose(tf.function(layer)(column), expected)
    if not callable(given.get("standardize")):
        again = layers.TextVectorization.from_config(layer.get_config())
        np.testing.assert_allclose(again(np.array(TEXTS)), expected)


def test_texts_are_split_as_told():
    ragged = layers.TextVectorization(vocabulary=VOCABULARY, ragged=True)
    assert ragged(TEXTS).to_list() == [[2, 3, 1, 1, 2, 4], [1, 5, 6], []]
    letters = layers.TextVectorization(vocabulary=list("acdet"), split="character", output_sequence_length=12)
    assert letters(TEXTS[:2]).numpy().tolist() == [[6, 1, 5, 1, 3, 2, 6, 1, 1, 2, 6, 1],
                                                   [2, 1, 4, 1, 1, 1, 1, 1, 1, 1, 5, 0]]
    words = [["the", "cat"], ["q", "life"]]
    for length, expected in ((3, [[2, 3, 0], [1, 6, 0]]), (1, [[2], [1]]), (None, [[2, 3], [1, 6]])):
        whole = layers.TextVectorization(vocabulary=VOCABULARY, split=None, output_sequence_length=length)
        assert whole(words).numpy().tolist() == expected


@pytest.mark.parametrize("given, data, vocabulary, x, expected", [
    ({}, ["a b b c", "b a", "d"], ["", "[UNK]", "b", "a", "d", "c"], ["b q"], [[2, 1]]),
    ({"ngrams": 2}, ["a b b c", "b a"], ["", "[UNK]", "b", "a", "c", "b c", "b b", "b a", "a b"], ["b c b"],
     [[2, 4, 2, 5, 1]]),
    ({"ngrams": (2, 3)}, ["a b b c", "b a"], ["", "[UNK]", "b c", "b b c", "b b", "b a", "a b b", "a b"], ["a b b"],
     [[7, 4, 6]]),
    ({"output_mode": "tf_idf"}, tf.data.Dataset.from_tensor_slices(["x y", "y z z"]).batch(1), ["[UNK]", "z", "y", "x"],
     ["z y"], [[0, 0.69314718, 0.51082563, 0]]),
    ({"max_tokens": 4}, tf.data.Dataset.from_tensor_slices(["x y", "y z z"]), ["", "[UNK]", "z", "y"], ["z y"],
     [[2, 3]])])
def test_words_are_found_in_texts(given, data, vocabulary, x, expected):
    layer = layers.TextVectorization(**given)
    layer.adapt(data)
    assert layer.get_vocabulary() == vocabulary and layer.vocabulary_size() == len(vocabulary)
    np.testing.assert_allclose(layer(x), expected, rtol=1e-6)


def test_texts_stand_in_datasets_and_models(tmp_path):
    layer = layers.TextVectorization(output_sequence_length=3)
    layer.adapt(TEXTS)
    rows = tf.data.Dataset.from_tensor_slices(TEXTS).batch(2).map(layer)
    assert rows.element_spec.shape.as_list() == [None, 3]
    assert np.concatenate(list(rows.as_numpy_iterator())).tolist() == layer(TEXTS).numpy().tolist()
    model = tf.keras.Sequential([tf.keras.Input((1,), dtype="string"), layer,
                                 layers.Embedding(layer.vocabulary_size(), 4), layers.GlobalAveragePooling1D()])
    assert model.output_shape == (None, 4)
    pytest.importorskip("h5py")
    model.save(tmp_path / "model.keras")
    again, x = tf.keras.models.load_model(tmp_path / "model.keras"), tf.constant([[text] for text in TEXTS])
    np.testing.assert_array_equal(again(x), model(x))
    count = layers.StringLookup(vocabulary=VOCABULARY, output_mode="count")
    assert count(tf.ragged.constant([["the", "cat", "the"], ["q"]])).numpy().tolist() == [
        [0, 2, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]]
    for make, word in ((lambda: layers.TextVectorization(vocabulary=VOCABULARY)([["a", "b"]]), "rank"),
                       (lambda: layers.TextVectorization(standardize="upper"), "standardize=upper"),
                       (lambda: layers.TextVectorization(split="comma"), "split=comma"),
                       (lambda: layers.TextVectorization(ngrams=1.5), "ngrams=1.5"),
                       (lambda: layers.TextVectorization(output_sequence_length=2, output_mode="count"),
                        "`output_sequence_length`"),
                       (lambda: layers.TextVectorization(ragged=True, output_mode="count"), "`ragged`")):
        with pytest.raises(ValueError, match=word):
            make()


@pytest.mark.parametrize("mode, expected", [("int", "int64"), ("one_hot", "float32"), ("multi_hot", "float32"),
                                            ("count", "float32")])
def test_what_a_model_is_told_of_vectors(mode, expected):
    layers, Input = tf.keras.layers, tf.keras.Input
    layer = layers.StringLookup(vocabulary=["a", "b"], output_mode=mode)
    made = layer(Input((1,), dtype="string"))
    assert made.dtype == expected and layer(tf.constant([["a"]])).dtype == "int64"
    numbers = layers.IntegerLookup(vocabulary=[1, 2], output_mode=mode)
    assert numbers(Input((1,), dtype="int64")).dtype == expected
    if mode in ("int", "multi_hot"):
        texts = layers.TextVectorization(vocabulary=["a", "b"], output_mode=mode)
        assert texts(Input((1,), dtype="string")).dtype == expected


def test_vocabularies_out_of_files_of_keras():
    """data/keras_vocabularies.keras is what Keras 3.15 wrote of layers that have looked at data."""
    pytest.importorskip("h5py")
    model = keras.saving.load_model(pathlib.Path(__file__).parent / "data/keras_vocabularies.keras")
    found = model([tf.constant([["b", ""], ["é c", "r"]]), tf.constant([[7, 5], [1, 1]], tf.int64),
                   tf.constant([["y z"], ["v v u"]])])
    weights = [[[1.2647467, 0, 0, 0], [.6323733, .5108256, 0, 0]], [[1.2647467, 0, 0, 0], [0, 1.0216513, 0, .6931472]]]
    for one, wanted in zip(found, ([[2, 0], [3, 1]], [[0, 1, 1], [1, 0, 0]], [[2, 3, 0], [1, 1, 1]], *weights,
                                   [[0, 1], [1, 1]])):
        np.testing.assert_allclose(one, wanted, rtol=1e-6)
    assert model.get_layer("words").get_vocabulary() == ["", "[UNK]", "b", "é c", "a"]
    assert model.get_layer("numbers").get_vocabulary() == [-1, 5, 7]
    assert model.get_layer("documents").get_vocabulary() == ["[UNK]", "v", "w", "u"]
    again = pickle.loads(pickle.dumps(model))  # through a file of leat's
    assert again.get_layer("both").get_vocabulary() == ["[UNK]", "[UNK]", "n", "m"]


def test_models_of_layers_without_a_vocabulary():
    layer = layers.StringLookup()
    start = keras.Input((1,), dtype="string")
    model = keras.Model(start, layer(start))
    with pytest.raises(tf.errors.FailedPreconditionError, match="vocabulary"):
        model(tf.constant([["a"]]))
    layer.adapt(np.array([["a"], ["b"], ["b"]]))
    np.testing.assert_array_equal(model(tf.constant([["a"], ["b"], ["c"]])), [[2], [1], [0]])
    with pytest.raises(tf.errors.FailedPreconditionError, match="vocabulary"):
        tf.function(layers.IntegerLookup())(tf.constant([[1]], tf.int64))


def test_weights_of_vocabularies_are_where_keras_looks_for_them(tmp_path):
    h5py = pytest.importorskip("h5py")
    keras.backend.clear_session()
    words, texts = layers.StringLookup(output_mode="tf_idf"), layers.TextVectorization(output_mode="tf_idf")
    words.adapt(np.array([["q", "r"], ["r", "s"]])), texts.adapt(np.array(["r q", "r s"]))
    pair, one = keras.Input((2,), dtype="string"), keras.Input((1,), dtype="string")
    model = keras.Model([pair, one], [words(pair), texts(one)])
    model.save_weights(tmp_path / "w.weights.h5")
    with h5py.File(tmp_path / "w.weights.h5") as file:
        for place in ("string_lookup", "text_vectorization", "text_vectorization/_lookup_layer"):
            np.testing.assert_allclose(file[f"layers/{place}/vars/idf_weights"],
                                       [.63237333, .51082563, .6931472, .6931472], rtol=1e-6)
    model.save(tmp_path / "m.keras")
    again = keras.saving.load_model(tmp_path / "m.keras")
    given = [tf.constant([["r", "x"]]), tf.constant([["s s"]])]
    for found, wanted in zip(again(given), model(given)):
        np.testing.assert_array_equal(found, wanted)
