"""Small things that programs for TensorFlow use every day; expected values are TensorFlow 2.21's."""

import operator
import subprocess
import sys

import numpy as np
import pytest

import leat as tf


def test_parts_of_keras_stand_at_the_top():
    assert tf.metrics is tf.keras.metrics and tf.losses is tf.keras.losses
    assert tf.optimizers is tf.keras.optimizers and tf.initializers is tf.keras.initializers


@pytest.mark.parametrize("statement", ["from leat import lite", "import leat.raw_ops", "import leat.xla.experimental",
                                       "from leat.experimental import dtensor"])
def test_a_name_that_is_left_out_says_so_when_it_is_imported(statement):
    with pytest.raises(ImportError, match="UNIMPLEMENTED"):
        exec(statement)


def test_a_name_that_is_left_out_is_no_attribute():
    assert not hasattr(tf, "lite")
    with pytest.raises(AttributeError, match="UNIMPLEMENTED"):
        tf.raw_ops
    with pytest.raises(ImportError, match="nothing"):
        exec("from leat import nothing")


def test_py_function_and_numpy_function_decorate():
    @tf.py_function(Tout=tf.float32)
    def plus(x, y=2.):
        "Adds."
        return x + y

    @tf.numpy_function(Tout=tf.int32)
    def after(x):
        assert isinstance(x, np.generic)
        return x + np.int32(1)
    assert (plus.__name__, plus.__doc__) == ("plus", "Adds.")
    assert float(plus(tf.constant(1.))) == 3. == float(tf.function(lambda: plus(1., 2.))())
    assert list(tf.data.Dataset.range(3, output_type=tf.int32).map(after).as_numpy_iterator()) == [1, 2, 3]
    with pytest.raises(TypeError, match="inp"):
        tf.py_function(inp=[], Tout=tf.int32)
    with pytest.raises(TypeError, match="inp"):
        tf.py_function(abs, Tout=tf.int32)
    with pytest.raises(TypeError, match="keyword"):
        plus(x=1.)


@pytest.mark.parametrize("start, stop, dtype, values", [
    (0., 250, tf.float32, [0., 125., 250.]), (0, 250, tf.float64, [0., 125., 250.]),
    (np.float64(0), 250., tf.float64, [0., 125., 250.]), (0., [2, 3], tf.float32, [[0., 0.], [1., 1.5], [2., 3.]]),
    ([0., 1.], 2, tf.float32, [[0., 1.], [1., 1.5], [2., 2.]])])
def test_linspace_takes_the_dtype_of_its_start(start, stop, dtype, values):
    made = tf.linspace(start, stop, 3)
    assert made.dtype is dtype and made.numpy().tolist() == values


def test_linspace_refuses_a_stop_of_another_dtype():
    with pytest.raises(TypeError):
        tf.linspace(0, 2., 3)
    with pytest.raises(ValueError, match="float32"):
        tf.linspace(0., tf.constant(2), 3)


def test_variables_are_arguments_of_operations():
    two, three = tf.Variable(2), tf.Variable(3)
    assert tf.reduce_sum(tf.ones([2, 3]), axis=tf.Variable(1)).numpy().tolist() == [3., 3.]
    assert tf.reshape(tf.ones([4]), tf.Variable([2, 2])).shape == [2, 2]
    assert tf.one_hot([1], three).numpy().tolist() == [[0., 1., 0.]]
    assert tf.range(three).numpy().tolist() == [0, 1, 2] and tf.zeros(tf.Variable([2])).shape == [2]
    assert tf.tile([1.], [two]).numpy().tolist() == [1., 1.]
    bright = tf.image.adjust_brightness(tf.ones([1, 1, 3]), tf.Variable(0.1))
    np.testing.assert_allclose(bright.numpy(), np.full([1, 1, 3], 1.1), rtol=1e-6)


def test_a_variable_of_a_tensor_is_lifted_out_of_a_function():
    class Scaled(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.random.normal([x.shape[-1], 2]) * 0 + 3)
                self.first = tf.Variable(x * 2)
            return x @ self.w + self.first[0, 0]
    scaled = Scaled()
    assert scaled(tf.ones([1, 2])).numpy().tolist() == [[8., 8.]]
    assert scaled(tf.zeros([1, 2])).numpy().tolist() == [[2., 2.]]
    assert scaled.w.shape == [2, 2] and scaled.first.numpy().tolist() == [[2., 2.]]


def test_a_layer_builds_variables_of_tensors_for_an_input():
    class Product(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = tf.Variable(tf.random.normal([shape[-1], 2]))

        def call(self, x):
            return x @ self.w
    inputs = tf.keras.Input((3,))
    model = tf.keras.Model(inputs, Product()(inputs))
    assert model(tf.ones([1, 3])).shape == [1, 2]


def test_ragged_tensors_are_joined_and_turned_round():
    texts = tf.ragged.constant([["a", "b"], ["c"]])
    assert tf.strings.join(["<", texts, ">"], separator="|").to_list() == [[b"<|a|>", b"<|b|>"], [b"<|c|>"]]
    two, three = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[[1, 2], [3]], [[4]]])
    assert tf.reverse(two, [0]).to_list() == [[3], [1, 2]]
    assert tf.reverse(two, [0, 1]).to_list() == [[3], [2, 1]] == tf.reverse(two, [-1, 0]).to_list()
    assert tf.reverse(three, [0, 2]).to_list() == [[[4]], [[2, 1], [3]]]
    assert tf.reverse(three, [1]).to_list() == [[[3], [1, 2]], [[4]]]
    with pytest.raises(ValueError, match="bounds"):
        tf.reverse(two, [2])
    with pytest.raises(TypeError, match="list"):
        tf.reverse(two, 1)


def test_a_line_has_many_columns(tmp_path):
    line = ",".join(map(str, range(412)))
    assert [int(column) for column in tf.io.decode_csv(line, [[0]] * 412)] == list(range(412))
    path = tmp_path / "wide.csv"
    path.write_text(line + "\n")
    rows = tf.data.Dataset.from_tensors(str(path)).interleave(lambda name: tf.data.experimental.CsvDataset(
        name, [0] * 412))
    assert [int(column) for column in next(iter(rows))] == list(range(412))


def test_validation_split_cuts_tables_of_pandas():
    class Table:  # what fit knows a table of pandas by
        iloc = None

        def __init__(self, values):
            self.values, self.shape = values, values.shape

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values, dtype)

        def __len__(self):
            return len(self.values)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.arange(20.).reshape(10, 2)
    history = model.fit(Table(x), Table(x[:, 0]), validation_split=0.2, verbose=0).history
    assert sorted(history) == ["loss", "val_loss"]


@pytest.mark.parametrize("result, declared, expected", [
    ([1, 2], tf.int64, 1), ((1, 2), tf.int64, 1), ([1], tf.int64, 1), ([1, 2], [tf.int64], [1]),
    ([1, 2], [tf.int64, tf.int64], [1, 2]), ([[1, 2]], tf.int64, [1, 2]), ([[1, 2], [3, 4]], tf.int64, [1, 2]),
    (np.array([1, 2]), tf.int64, [1, 2]), (1, [tf.int64], [1])])
def test_lists_of_py_function(result, declared, expected):
    def call():
        return tf.py_function(lambda: result, [], declared)
    rows = tf.data.Dataset.range(1).map(lambda x: call())
    for found in (call(), tf.function(call)(), next(iter(rows))):
        found = list(found) if isinstance(found, (list, tuple)) else found
        values = [one.numpy() for one in found] if isinstance(found, list) else found.numpy()
        assert np.array_equal(values, expected)
        assert {one.dtype for one in (found if isinstance(found, list) else [found])} == {tf.int64}


@pytest.mark.parametrize("result", [[], None, ()])
def test_too_few_values_of_py_function(result):
    for call in (lambda: tf.py_function(lambda: result, [], tf.int64),
                 tf.function(lambda: tf.py_function(lambda: result, [], tf.int64)),
                 lambda: tf.py_function(lambda: [1], [], [tf.int64, tf.int64])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="values"):
            call()


def test_dtypes_of_py_function_must_be_said():
    for function in (tf.py_function, tf.numpy_function):
        with pytest.raises(TypeError, match="Tout"):
            function(lambda: 1, [])
        with pytest.raises(TypeError, match="Tout"):
            function()(lambda: 1)
    assert [one.numpy() for one in tf.numpy_function(lambda x: [x, x + 1], [3], tf.int64)] == [3, 4]


def test_variables_are_not_changed_in_place():
    variable = tf.Variable(4.0)
    for change in (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow):
        with pytest.raises(RuntimeError, match="assign"):
            change(variable, 2.0)
    assert operator.imod(variable, 3.0).numpy() == 1.0
    assert operator.iadd(tf.keras.Variable(4.0), 2.0).numpy() == 6.0


@pytest.mark.parametrize("text, expected", [
    ("tf.constant([[1, 2]]) @ tf.constant([[1], [2]])", [[5]]), ("[[1, 2]] @ tf.constant([[1], [2]])", [[5]]),
    ("tf.ones([2, 1, 1, 2]) @ tf.ones([3, 2, 1])", [[[[2]]] * 3] * 2), ("tf.Variable([[1, 2]]) @ [[1], [2]]", [[5]])])
def test_products_of_matrices_need_no_other_part_of_the_package(text, expected):
    program = f"import leat as tf\nprint(({text}).numpy().astype(int).tolist())"
    found = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(expected)
