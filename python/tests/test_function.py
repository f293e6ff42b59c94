"""leat.function, variables, folds and calls of Python, against what TensorFlow does."""

import numpy as np
import pytest

import leat as tf


def test_traces_once_for_each_sort_of_arguments():
    traced = []

    @tf.function
    def twice(x):
        traced.append(x)
        return x * 2
    assert twice(tf.constant(1)).numpy() == 2 and twice(tf.constant(5)).numpy() == 10
    assert twice(tf.constant([1, 2])).numpy().tolist() == [2, 4]
    assert twice(3).numpy() == 6 and twice(3).numpy() == 6 and twice(4).numpy() == 8
    assert len(traced) == 4 == twice.experimental_get_tracing_count()


def test_input_signature_and_reduce_retracing():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def total(x):
        return tf.reduce_sum(x)
    assert total([1, 2]).numpy() == 3 and total(tf.constant([1., 2., 3.])).numpy() == 6
    assert total.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match="Binding"):
        total(tf.constant([[1.]]))

    @tf.function(reduce_retracing=True)
    def relaxed(x):
        return tf.reduce_sum(x)
    for n in range(1, 6):
        relaxed(tf.ones(n))
    assert relaxed.experimental_get_tracing_count() == 2


def test_structures_in_and_out():
    @tf.function
    def shuffle(pair, *, scale):
        return {"b": [pair[0] * scale, None], "a": (pair[1]["k"],)}
    found = shuffle((tf.constant(2), {"k": tf.constant("x")}), scale=tf.constant(3))
    assert found["b"][0].numpy() == 6 and found["b"][1] is None and found["a"][0].numpy() == b"x"
    assert isinstance(found["b"], list) and isinstance(found["a"], tuple)


def test_methods_and_functions_within_functions():
    class Scale:
        def __init__(self, by):
            self.by = tf.Variable(by)

        @tf.function
        def __call__(self, x):
            return inner(x) * self.by

    @tf.function
    def inner(x):
        return x + 1.
    a, b = Scale(2.), Scale(3.)
    assert a(tf.constant(1.)).numpy() == 4 and b(tf.constant(1.)).numpy() == 6


def test_variables_are_read_when_the_function_runs():
    v = tf.Variable(1.)

    @tf.function
    def add(x):
        v.assign_add(x)
        return v * 10.
    assert add(tf.constant(1.)).numpy() == 20 and v.numpy() == 2
    v.assign(5.)
    assert add(tf.constant(1.)).numpy() == 60 and v.numpy() == 6
    assert add.experimental_get_tracing_count() == 1


def test_variables_are_made_on_the_first_call_alone():
    made = []

    @tf.function
    def lazy(x):
        if not made:
            made.append(tf.Variable(2.))
        return x * made[0]
    assert lazy(tf.constant(3.)).numpy() == 6 and lazy(tf.constant(4.)).numpy() == 8
    assert lazy.experimental_get_tracing_count() == 2  # once to make it, once to find it

    @tf.function
    def always(x):
        return x * tf.Variable(2.)
    with pytest.raises(ValueError, match="singleton"):
        always(tf.constant(1.))


def test_an_optimizer_is_built_on_the_first_call_alone():
    @tf.function
    def step(variable, optimizer):
        optimizer.apply([tf.constant(1.)], [variable])
    first, second = tf.Variable(1.), tf.Variable(2.)
    adam = tf.keras.optimizers.Adam(0.5)
    step(first, adam)
    step(first, adam)
    assert first.numpy() == pytest.approx(0., abs=1e-4)
    step(second, tf.keras.optimizers.SGD(0.5))  # has no variables for each of the model's
    assert second.numpy() == 1.5
    with pytest.raises(ValueError, match="singleton"):
        step(second, tf.keras.optimizers.Adam(0.5))


def test_training_step():
    v = tf.Variable([1., 2.])

    @tf.function
    def step(scale):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(scale * v * v)
        gradient = tape.gradient(loss, v)
        v.assign_sub(0.1 * gradient)
        return loss
    assert step(tf.constant(1.)).numpy() == 5
    np.testing.assert_allclose(v.numpy(), [0.8, 1.6], rtol=1e-6)
    losses = [step(tf.constant(1.)).numpy() for _ in range(5)]
    assert losses == sorted(losses, reverse=True)


def test_gradients_flow_through_functions():
    v = tf.Variable(3.)

    @tf.function
    def forward(x):
        return tf.cond(x > 0., lambda: x * v, lambda: v * v)
    x = tf.constant(2.)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = forward(x), forward(-x)
    assert tape.gradient(y, [x, v])[0].numpy() == 3 and tape.gradient(y, v).numpy() == 2
    assert tape.gradient(z, v).numpy() == 6

    @tf.function
    def counts(x):
        v.assign_add(1.)
        return x * v
    with tf.GradientTape() as tape:
        y = counts(x)
    assert tape.gradient(y, v).numpy() == 2 and v.numpy() == 4


def test_what_cannot_be_traced_runs_in_python(caplog):
    @tf.function
    def values(x):
        return tf.constant(x.numpy() + 1)
    assert values(tf.constant(1)).numpy() == 2 and values(tf.constant(2)).numpy() == 3
    assert sum("numpy()" in record.message for record in caplog.records) == 1


def test_random_numbers_differ_between_calls():
    @tf.function
    def draw():
        return tf.random.uniform([3])
    first, second = draw().numpy().tolist(), draw().numpy().tolist()
    assert first != second


def test_concrete_functions():
    @tf.function
    def add(a, b):
        return a + b
    concrete = add.get_concrete_function(tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32))
    assert concrete(tf.constant([1, 2]), tf.constant(1)).numpy().tolist() == [2, 3]
    assert str(concrete.structured_outputs) == 'Tensor("Identity:0", shape=(None,), dtype=int32)'
    assert repr(concrete.structured_outputs) == "<tf.Tensor 'Identity:0' shape=(None,) dtype=int32>"
    printed = []
    tf.function(lambda x: printed.append(str(x))).get_concrete_function(tf.TensorSpec(None, name="x"))
    assert printed == ['Tensor("x:0", dtype=float32)']


def test_variables_print_and_convert():
    v = tf.Variable([[1, 2], [3, 4]], name="w", trainable=False)
    assert repr(v) == ("<tf.Variable 'w:0' shape=(2, 2) dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], "
                       "dtype=int32)>") == str(v)
    assert repr(tf.Variable(1.0)) == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=1.0>"
    assert (v + 1).numpy().tolist() == [[2, 3], [4, 5]] and (1 - v)[0, 0].numpy() == 0
    assert repr(v.assign([[1, 1], [1, 1]])) == ("<tf.Variable 'UnreadVariable' shape=(2, 2) dtype=int32, numpy=\n"
                                                "array([[1, 1],\n       [1, 1]], dtype=int32)>")
    assert v.assign_sub([[1, 1], [1, 1]]).numpy().sum() == 0
    assert np.asarray(v).shape == (2, 2) and tf.reduce_sum(v).numpy() == 0
    with pytest.raises(ValueError, match="w:0"):
        v.assign([1, 2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(v)
    with pytest.raises(ValueError, match="initial_value"):
        tf.Variable()
    kept = v.numpy()
    v.assign_add([[1, 1], [1, 1]])
    assert kept.sum() == 0


def test_folds():
    i = tf.constant([1, 2, 3])
    assert tf.map_fn(lambda t: t * 2, i).numpy().tolist() == [2, 4, 6]
    halves = tf.map_fn(lambda t: tf.cast(t, tf.float32) / 2, i, fn_output_signature=tf.float32)
    assert halves.numpy().tolist() == [0.5, 1, 1.5]
    with pytest.raises(ValueError, match="structure"):
        tf.map_fn(lambda t: (t, t), i)
    assert tf.foldl(lambda a, t: a + t, i).numpy() == 6
    assert tf.foldr(lambda a, t: a - t, i, initializer=10).numpy() == 4
    assert tf.scan(lambda a, t: a + t, i).numpy().tolist() == [1, 3, 6]


def test_python_functions_are_called_from_pipelines():
    both = tf.data.Dataset.range(3).map(lambda x: tf.py_function(
        lambda a: [a * 2, tf.cast(a, tf.float32)], [x], [tf.int64, tf.float32]))
    assert [tuple(map(float, row)) for row in both.as_numpy_iterator()] == [(0, 0), (2, 1), (4, 2)]
    assert tf.numpy_function(lambda a: a + 1, [tf.constant([1, 2])], tf.int32).numpy().tolist() == [2, 3]

    def fail(a):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        list(tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(fail, [x], tf.int64)))
    wrong = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(lambda a: a + 0.5, [x], tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="int64"):
        list(wrong)


def test_nest():
    structure = {"b": 1, "a": [2, (3,)]}
    assert tf.nest.flatten(structure) == [2, 3, 1]
    assert tf.nest.map_structure(lambda a: a + 1, structure) == {"b": 2, "a": [3, (4,)]}
    assert tf.nest.pack_sequence_as(structure, [1, 2, 3]) == {"b": 3, "a": [1, (2,)]}
    assert tf.nest.is_nested([1]) and not tf.nest.is_nested(1)
    with pytest.raises(ValueError, match="number"):
        tf.nest.assert_same_structure([1], [1, 2])
    with pytest.raises(TypeError, match="sequence"):
        tf.nest.map_structure(lambda a, b: a + b, [1], (1,))
    with pytest.raises(ValueError, match="flat_sequence"):
        tf.nest.pack_sequence_as([1, 2], [1])


def test_what_python_computes_is_a_tensor(caplog):
    @tf.function
    def f(x):
        return int(x.numpy()) + 1, {"a": x.numpy()}
    for _ in range(2):
        count, values = f(tf.constant(2))
        assert isinstance(count, tf.Tensor) and isinstance(values["a"], tf.Tensor)
        assert (count.numpy(), values["a"].numpy()) == (3, 2)


def test_what_a_callback_returns_is_copied():
    buffer = np.zeros(3, np.float32)

    def fill(x):
        buffer[:] = x
        return buffer
    for size in (3, 5000):
        buffer = np.zeros(size, np.float32)
        dataset = tf.data.Dataset.range(4).map(lambda x: tf.numpy_function(fill, [x], tf.float32))
        assert [row[-1] for row in list(dataset.as_numpy_iterator())] == [0, 1, 2, 3]


@pytest.mark.parametrize("result", [np.float32(2), np.full([], 2, np.float32), np.full([2, 3], 2, np.float32), 2.0,
                                    np.full([3, 2], 2, np.float32).T, np.zeros([0, 2], np.float32), [2.0],
                                    np.full(2, 2, ">f4")])
def test_forms_of_results_of_numpy_function(result):
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(lambda y: result, [x], tf.float32))
    for found in dataset.as_numpy_iterator():
        np.testing.assert_array_equal(found, np.asarray(result[0] if isinstance(result, list) else result, np.float32))
        assert found.dtype == np.float32


@pytest.mark.parametrize("result, declared", [
    (np.float64(2), tf.float32), (np.zeros(2), tf.float32), (2, tf.string), (np.zeros(2, np.int32), tf.float32),
    ("two", tf.float32), ([2.0, 2.0], tf.float32), ([], tf.float32), ([2.0], [tf.float32, tf.float32])])
def test_numpy_function_keeps_to_its_dtype(result, declared):
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(lambda y: result, [x], declared))
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
        next(iter(dataset))


@pytest.mark.parametrize("arguments, keywords, word", [
    ((1,), {}, "'y'"), ((1, 2, 3), {}, "many"), ((1, 2), {"z": 3}, "'z'"),
])
def test_binding_errors(arguments, keywords, word):
    @tf.function
    def f(x, y):
        return x
    with pytest.raises(TypeError, match=word):
        f(*arguments, **keywords)


def test_concrete_functions_are_the_traces():
    @tf.function
    def f(d, y=2):
        return d["a"] * y - d["b"]
    spec = tf.TensorSpec([], tf.int32)
    found = f.get_concrete_function({"a": spec, "b": spec})
    assert found is f.get_concrete_function({"b": spec, "a": spec})
    assert found({"a": tf.constant(5), "b": tf.constant(1)}, 2).numpy() == 9
    assert found(tf.constant(5), tf.constant(1)).numpy() == found(d=tf.constant(5), d_1=tf.constant(1)).numpy() == 9
    for wrong in ({"a": tf.constant(5)}, {"a": tf.constant(5), "c": tf.constant(1)}):
        with pytest.raises(TypeError, match="Binding"):
            found(wrong, 2)
    assert f({"b": tf.constant(1), "a": tf.constant(5)}).numpy() == 9
    assert f.experimental_get_tracing_count() == 1
    assert found.structured_input_signature == (({"a": spec, "b": spec}, 2), {})
    assert repr(found).startswith("<ConcreteFunction (d: Dict[['a', TensorSpec(")


@pytest.mark.parametrize("args, kwargs, word", [
    ((), {"b": 3}, "b"), ((3,), {}, "3"), ((), {"zz": 3}, "zz"), ((), {"b": None}, "None"), ((2, 2), {}, "many"),
    ((), {"a": tf.constant(1.0), "b": 2}, "multiple")])
def test_concrete_functions_refuse_other_arguments(args, kwargs, word):
    @tf.function
    def power(a, b):
        return a ** b
    square = power.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
    for good in ({}, {"b": 2}, {"b": 2.0}):
        assert square(tf.constant(10.0), **good).numpy() == 100
    with pytest.raises(TypeError, match=word):
        square(tf.constant(10.0), *args, **kwargs)
    with pytest.raises(TypeError, match="missing"):
        square()


def test_concrete_functions_of_other_parameters():
    @tf.function
    def several(*args, **kwargs):
        return sum(args) + sum(kwargs.values())
    one = tf.constant(1)
    concrete = several.get_concrete_function(one, one, k=one)
    assert concrete(one, one, k=one).numpy() == 3
    for args, kwargs in (((one,), {"k": one}), ((one, one), {"q": one}), ((one, one), {"k": one, "j": one})):
        with pytest.raises(TypeError, match="Binding"):
            concrete(*args, **kwargs)
    named = tf.function(lambda x: x).get_concrete_function(tf.TensorSpec([], name="foo"))
    assert named(foo=tf.constant(1.0)).numpy() == named(x=tf.constant(1.0)).numpy() == 1
    assert named.structured_input_signature == ((tf.TensorSpec([], name="foo"),), {})


def test_results_that_are_no_tensors():
    @tf.function
    def f(x):
        return x, object()
    with pytest.raises(TypeError, match="object"):
        f(tf.constant([1]))


def test_errors_while_tracing_are_of_both_classes():
    @tf.function
    def shapes(x):
        return tf.matmul(x, x)

    @tf.function
    def kinds(x):
        return x + tf.cast(x, tf.int32)
    for kind in (ValueError, tf.errors.InvalidArgumentError):
        with pytest.raises(kind, match="inner"):
            shapes(tf.zeros([2, 3]))
    for kind in (TypeError, tf.errors.InvalidArgumentError):
        with pytest.raises(kind, match="dtype"):
            kinds(tf.zeros([2]))


def test_functions_run_eagerly():
    @tf.function
    def f():
        return 1 if tf.executing_eagerly() else 0
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly() and f() == 1
    finally:
        tf.config.run_functions_eagerly(False)
    assert f().numpy() == 0


def test_errors_of_a_run_name_the_function():
    @tf.function
    def inverse(x):
        return 1 // x
    with pytest.raises(tf.errors.InvalidArgumentError, match="floordiv") as caught:
        inverse(tf.constant(0))
    assert [note.split(" at ")[0] for note in caught.value.__notes__] == ["leat: in the function inverse"]
    assert caught.value.__notes__[0].endswith(f"test_function.py:{inverse.python_function.__code__.co_firstlineno}")
