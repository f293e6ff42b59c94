"""tf.Module, scopes, named results and what else programs of tutorials use; expectations are TensorFlow 2.21's."""

import numpy as np
import pytest

import leat as tf


class Dense(tf.Module):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([inputs, outputs]), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")
        self.c = tf.Variable(1, trainable=False, name="c")

    def __call__(self, x):
        return x @ self.w + self.b


class Several(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.z = tf.Variable(9.0, name="z")
        self.layers = [Dense(3, 2), Dense(2, 1)]
        self.d = {"k": Dense(1, 1, "kk"), "a": tf.Variable(4.0, name="da")}
        self.dense_1 = self.layers[0]
        self.t = (tf.Variable(5.0, name="t0"),)

    @tf.Module.with_name_scope
    def late(self):
        return tf.Variable(1.0, name="late").name


def names(variables):
    return [variable.name for variable in variables]


def test_variables_of_a_module():
    module = Several("the_name")
    inner = ["b:0", "c:0", "w:0"]
    assert names(module.variables) == ["da:0", "t0:0", "z:0", *inner * 3]
    assert names(module.trainable_variables) == ["da:0", "t0:0", "z:0", *["b:0", "w:0"] * 3]
    assert names(module.non_trainable_variables) == ["c:0"] * 3
    assert [one.name for one in module.submodules] == ["kk", "dense", "dense"]
    assert (module.name, module.late(), module.name_scope.name) == ("the_name", "the_name/late:0", "the_name/")
    assert module.layers[0](tf.ones([1, 3])).numpy().tolist() == [[3, 3]]


def test_names_of_modules():
    assert type("MyHTTPLayer2d", (tf.Module,), {})().name == "my_http_layer2d"
    with pytest.raises(ValueError, match="identifiers"):
        tf.Module("bad name")


def test_a_module_is_trained_and_saved(tmp_path):
    module = Dense(1, 1)
    x, y = tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [5.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((module(x) - y) ** 2)
        for variable, gradient in zip(module.trainable_variables, tape.gradient(loss, module.trainable_variables)):
            variable.assign_sub(0.1 * gradient)
        return loss
    losses = [float(step()) for _ in range(5)]
    assert losses == sorted(losses, reverse=True)
    path = tf.train.Checkpoint(model=module).save(tmp_path / "c")
    other = Dense(1, 1)
    tf.train.Checkpoint(model=other).restore(path).assert_consumed()
    assert [v.numpy().tolist() for v in other.variables] == [v.numpy().tolist() for v in module.variables]


def test_models_optimizers_and_generators_are_saved(tmp_path):
    def make():
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        return model, tf.keras.optimizers.Adam(0.1), tf.random.Generator.from_seed(1)
    model, optimizer, generator = make()
    optimizer.apply_gradients([(tf.ones(v.shape), v) for v in model.trainable_variables])
    generator.normal([3])
    path = tf.train.Checkpoint(model=model, optimizer=optimizer, generator=generator).save(tmp_path / "c")
    for is_built in (False, True):
        other, second, third = make()
        if is_built:
            second.build(other.trainable_variables)
        restored = tf.train.Checkpoint(model=other, optimizer=second, generator=third)
        status = restored.restore(path).assert_existing_objects_matched()
        assert second.iterations.numpy() == 1
        if not is_built:
            with pytest.raises(AssertionError, match="_variables"):
                status.assert_consumed()
            second.build(other.trainable_variables)
        status.assert_consumed()
        for mine, found in zip([*model.variables, *optimizer.variables], [*other.variables, *second.variables]):
            np.testing.assert_array_equal(mine.numpy(), found.numpy())
        np.testing.assert_array_equal(tf.random.Generator.from_state(generator.state, 1).normal([3]), third.normal([3]))


def test_slots_are_restored_in_the_first_step(tmp_path):
    def step(optimizer, variable):
        optimizer.apply_gradients([(tf.constant([1.0, 2.0]), variable)])
    variable, optimizer = tf.Variable([1.0, 2.0]), tf.keras.optimizers.Adam(0.1)
    step(optimizer, variable)
    path = tf.train.Checkpoint(v=variable, o=optimizer).save(tmp_path / "c")
    other, second = tf.Variable([0.0, 0.0]), tf.keras.optimizers.Adam(0.5)
    tf.train.Checkpoint(v=other, o=second).restore(path)
    for _ in range(2):
        step(optimizer, variable)
        step(second, other)
    np.testing.assert_array_equal(variable.numpy(), other.numpy())
    assert second.iterations.numpy() == 3


def test_a_module_is_restored_as_it_gets_its_variables(tmp_path):
    class Late(tf.Module):
        def __call__(self, x):
            if not hasattr(self, "w"):
                self.w = tf.Variable(2.0)
            return self.w * x
    module = Late()
    module(1.0)
    module.w.assign(5.0)
    path, late = tf.train.Checkpoint(m=module).save(tmp_path / "c"), Late()
    status = tf.train.Checkpoint(m=late).restore(path)
    with pytest.raises(AssertionError, match="root.m.w"):
        status.assert_consumed()
    assert late(1.0).numpy() == 5.0
    status.assert_consumed()


def test_name_scopes():
    with tf.name_scope("a") as scope:
        with tf.name_scope("b"):
            assert names([tf.Variable(1.0, name="v"), tf.Variable(1.0)]) == ["a/b/v:0", "a/b/Variable:0"]
    assert scope == "a/" and tf.Variable(1.0).name == "Variable:0"
    with pytest.raises(ValueError, match="name_scope"):
        tf.name_scope(None)


@pytest.mark.parametrize("name", ["/CPU:0", "cpu:0", None, "/device:CPU:0", "/GPU:0",
                                  "/job:localhost/replica:0/task:0/device:CPU:0"])
def test_devices(name):
    with tf.device(name):
        assert tf.constant(1).device.endswith("CPU:0")


def test_what_is_no_device():
    with pytest.raises(ValueError, match="'nonsense'"):
        tf.device("nonsense")


def test_static_values():
    assert tf.get_static_value(tf.constant([1, 2])).tolist() == [1, 2] and tf.get_static_value(3) == 3
    found = []

    @tf.function
    def traced(x):
        found.append((tf.get_static_value(x), tf.get_static_value(tf.constant(2))))
        return x
    traced(tf.constant(1))
    assert found == [(None, 2)]


def test_timestamps():
    first, second = tf.timestamp(), tf.timestamp()
    assert first.dtype == tf.float64 and 1.5e9 < first.numpy() <= second.numpy()
    later = list(tf.data.Dataset.range(2).map(lambda x: tf.timestamp()).as_numpy_iterator())
    assert second.numpy() <= later[0] <= later[1]


def test_named_results():
    found = tf.math.top_k([1.0, 3.0, 2.0], 2)
    assert found.values.numpy().tolist() == [3, 2] and found.indices.numpy().tolist() == [1, 2]
    assert tf.unique([1, 1, 2])._fields == ("y", "idx")
    values, places, counts = tf.unique_with_counts([1, 1, 2])
    assert counts.numpy().tolist() == [2, 1] and type(found).__name__ == "TopKV2"
    for row in tf.data.Dataset.from_tensors([1.0, 3.0]).map(lambda x: tf.math.top_k(x, 1)):
        assert row.values.numpy().tolist() == [3] and row.indices.numpy().tolist() == [1]


def test_printed_forms():
    sparse = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
    assert str(sparse) == repr(sparse) == (
        "SparseTensor(indices=tf.Tensor(\n[[0 0]\n [1 2]], shape=(2, 2), dtype=int64), values=tf.Tensor([1 2], "
        "shape=(2,), dtype=int32), dense_shape=tf.Tensor([3 4], shape=(2,), dtype=int64))")
    spec = "element_spec=TensorSpec(shape=(), dtype=tf.string, name=None)>"
    assert repr(tf.data.TFRecordDataset("f")) == f"<TFRecordDatasetV2 {spec}"
    assert repr(tf.data.TextLineDataset("f")) == f"<TextLineDatasetV2 {spec}"
    assert repr(tf.data.TextLineDataset("f").cache()) == f"<CacheDataset {spec}"
    assert repr(tf.data.TextLineDataset("f").take(1)) == f"<_TakeDataset {spec}"


def test_arguments_of_functions_have_their_names():
    seen = []

    @tf.function
    def step(x, y=2, *, z=3):
        seen.append(str(x))
        return x + 1
    step(tf.constant(1))
    concrete = step.get_concrete_function(tf.TensorSpec([], tf.int32))
    assert seen == ['Tensor("x:0", shape=(), dtype=int32)']
    assert concrete(tf.constant(5)).numpy() == 6
    assert repr(concrete.structured_input_signature) == (
        "((TensorSpec(shape=(), dtype=tf.int32, name='x'), 2), {'z': 3})")


A, B, C = (tf.ragged.constant(rows) for rows in ([[1], [2, 3]], [[4, 5], [6]], [[4], [6, 7]]))


@pytest.mark.parametrize("axis, expected", [
    (0, [[[1], [2, 3]], [[4], [6, 7]]]), (-3, [[[1], [2, 3]], [[4], [6, 7]]]), (1, [[[1], [4]], [[2, 3], [6, 7]]]),
    (2, [[[1, 4]], [[2, 6], [3, 7]]]), (-1, [[[1, 4]], [[2, 6], [3, 7]]])])
def test_ragged_stack(axis, expected):
    assert tf.ragged.stack([A, C], axis).to_list() == expected
    traced = tf.function(lambda a, c: tf.ragged.stack([a, c], axis))
    assert traced(A, C).to_list() == expected


def test_ragged_stack_of_rows_that_differ():
    assert tf.ragged.stack([A, B], axis=1).to_list() == [[[1], [4, 5]], [[2, 3], [6]]]
    assert tf.ragged.stack([[1, 2], [3, 4]], axis=1).numpy().tolist() == [[1, 3], [2, 4]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical"):
        tf.ragged.stack([A, B], axis=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows"):
        tf.ragged.stack([A, tf.ragged.constant([[1]])], axis=1)
    with pytest.raises(ValueError, match="axis=3"):
        tf.ragged.stack([A, B], axis=3)


def test_ragged_tile():
    rows = tf.ragged.constant([[3, 1], [], [5]])
    assert tf.tile(rows, [1, 2]).to_list() == [[3, 1, 3, 1], [], [5, 5]]
    assert tf.tile(rows, [2, 1]).to_list() == [[3, 1], [], [5]] * 2
    deep = tf.ragged.constant([[[1], [2, 3]], [[4]]])
    assert tf.tile(deep, [1, 2, 2]).to_list() == [[[1, 1], [2, 3, 2, 3]] * 2, [[4, 4]] * 2]
    with pytest.raises(ValueError, match="multiples"):
        tf.tile(rows, [2])


@pytest.mark.parametrize("rows, text", [
    ([[1, 2], [3]], "[[1, 2], [3]]"), ([[1, 2], [3, 4]], "[[1, 2],\n [3, 4]]"), ([[], []], "[[], []]"),
    ([[[1], [2, 3]], [[4]]], "[[[1], [2, 3]], [[4]]]"), ([["a", "b"], []], "[[b'a', b'b'], []]"),
    ([[1.5, 2.0], [3.25]], "[[1.5, 2.0], [3.25]]"),
    ([[[1, 2], [3, 4]], [[5, 6], [7]]], "[[[1, 2], [3, 4]],\n [[5, 6], [7]]]")])
def test_ragged_tensors_are_printed(rows, text):
    assert repr(tf.ragged.constant(rows)) == f"<tf.RaggedTensor {text}>"


def test_map_fn_of_ragged_rows():
    rows = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2]])
    assert tf.map_fn(tf.math.square, rows).to_list() == [[9, 1, 16, 1], [], [25, 81, 4]]
    assert tf.map_fn(lambda x: x[:2], rows).to_list() == [[3, 1], [], [5, 9]]
    assert tf.map_fn(tf.reduce_sum, rows, fn_output_signature=tf.int32).numpy().tolist() == [9, 0, 16]
    spec = tf.RaggedTensorSpec([None], tf.int32)
    assert tf.map_fn(tf.range, tf.constant([2, 0, 3]), fn_output_signature=spec).to_list() == [[0, 1], [], [0, 1, 2]]
    deep = tf.ragged.constant([[[1], [2, 3]], [[4]]])
    assert tf.map_fn(lambda x: x + 1, deep).to_list() == [[[2], [3, 4]], [[5]]]


def test_versions():
    assert tf.version.VERSION == tf.__version__


def test_slices_of_variables_are_set():
    variable = tf.Variable([1, 2, 3])
    assert variable.scatter_nd_update([[1]], [7]).name == "UnreadVariable" and variable.numpy().tolist() == [1, 7, 3]
    variable.scatter_nd_add([[0], [0]], [1, 2])
    variable.scatter_nd_sub([[2]], [3])
    assert variable.numpy().tolist() == [4, 7, 0]

    @tf.function
    def step(i):
        variable.scatter_nd_add(tf.reshape(i, [1, 1]), [10])
        return variable[0]
    assert step(tf.constant(0)).numpy() == 14 and variable.numpy().tolist() == [14, 7, 0]


def test_what_an_assignment_gives_is_the_variable():
    v = tf.Variable(1.0)
    given = v.assign_add(1.0)
    v.assign(5.0)
    assert given.numpy() == 5.0 and given.assign(7.0).numpy() == 7.0 and v.numpy() == 7.0
    with tf.GradientTape() as tape:
        y = v.assign(2.0) * v
    assert tape.gradient(y, v).numpy() == 4.0

    @tf.function
    def step():
        given = v.assign_add(1.0)
        v.assign_add(1.0)
        return given + 0.0
    assert step().numpy() == 4.0


def test_slices_are_scattered():
    v = tf.Variable([1.0, 2.0, 3.0])
    v.scatter_update(tf.IndexedSlices(9.0, 1)).scatter_add(tf.IndexedSlices([1.0, 1.0], [0, 0]))
    v.scatter_sub(tf.IndexedSlices([0.5], [2])).scatter_max(tf.IndexedSlices([7.0], [2]))
    assert v.scatter_min(tf.IndexedSlices([2.0], [0])).numpy().tolist() == [2.0, 9.0, 7.0]
    assert v.gather_nd([[0], [2]]).numpy().tolist() == [2.0, 7.0] and v.sparse_read([1]).numpy().tolist() == [9.0]
    with pytest.raises(TypeError, match="sparse_delta"):
        v.scatter_add([1.0])
    v.set_shape([None])
    with pytest.raises(ValueError, match="incompatible"):
        v.set_shape([2])
    step = tf.function(lambda x: v.scatter_add(tf.IndexedSlices(x, [0])).read_value())
    assert step([3.0]).numpy().tolist() == [5.0, 9.0, 7.0]
    slices = tf.IndexedSlices([[1.0], [2.0]], [1, 1], [3, 1])
    assert tf.convert_to_tensor(slices).numpy().tolist() == [[0.0], [3.0], [0.0]] and slices.shape == [3, 1]
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices([1.0], [0]))


def test_initializers():
    assert tf.zeros_initializer()([2], tf.int32).numpy().tolist() == [0, 0]
    assert tf.ones_initializer()([1, 2]).numpy().tolist() == [[1.0, 1.0]]
    assert tf.constant_initializer([1, 2])([2]).dtype is tf.int32
    tf.random.set_seed(1)
    first = tf.random_normal_initializer(seed=3)([2, 2])
    tf.random.set_seed(1)
    assert (first.numpy() == tf.random.normal([2, 2], 0.0, 0.05, seed=3).numpy()).all()
    uniform = tf.random_uniform_initializer.from_config(tf.random_uniform_initializer(2, 5, 1).get_config())
    assert set(uniform([50], tf.int32).numpy()) <= {2, 3, 4}
    with pytest.raises(ValueError, match="int32"):
        tf.random_normal_initializer()([2], tf.int32)


def test_what_tensors_are():
    assert tf.get_logger().name == "leat" and not tf.is_symbolic_tensor(tf.constant(1))
    assert tf.function(lambda x: tf.constant(tf.is_symbolic_tensor(x)))(tf.constant(1)).numpy()
    assert tf.type_spec_from_value(tf.constant([1])) == tf.TensorSpec([1], tf.int32)
    with tf.name_scope("outer"), tf.name_scope("inner"):
        assert tf.get_current_name_scope() == "outer/inner"
    assert tf.compat.as_str(b"a") == tf.compat.as_text("a") == "a" and tf.compat.as_bytes("\u00e4") == b"\xc3\xa4"
    assert tf.compat.as_str_any(3) == "3" and tf.compat.dimension_at_index(tf.TensorShape([2, None]), 0) == 2
    with pytest.raises(TypeError, match=r"\b1\b"):
        tf.compat.as_bytes(1)
    assert tf.float32.real_dtype is tf.float32 and not tf.float32.is_quantized and not tf.variant.is_numpy_compatible


def test_shapes_are_compared():
    shape = tf.TensorShape([1, None])
    assert shape.with_rank_at_least(2) is shape and shape.with_rank_at_most(2) is shape
    assert tf.TensorShape([1, 2]).is_subtype_of(shape) and not shape.is_subtype_of([1, 2])
    assert shape.most_specific_common_supertype([[3, 2], [1, 4]]) == [None, None]
    for failing in (lambda: shape.with_rank_at_least(3), lambda: shape.with_rank_at_most(1),
                    lambda: shape.assert_same_rank([1]), shape.assert_is_fully_defined):
        with pytest.raises(ValueError, match="Shape"):
            failing()


def test_gradients_pass_through():
    x = tf.constant([1.2, 2.7])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(lambda v: tf.round(v) * 3)(x) + tf.recompute_grad(tf.square)(x)
    assert tape.gradient(y, x).numpy().tolist() == pytest.approx([3.4, 6.4])


def test_folders_are_walked(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_bytes(b"12345")
    assert [(names, files) for _, names, files in tf.io.gfile.walk(str(tmp_path))] == [(["below"], []), ([], ["file"])]
    found = tf.io.gfile.stat(str(tmp_path / "below" / "file"))
    assert found.length == 5 and not found.is_directory and tf.io.gfile.stat(str(tmp_path)).is_directory
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.gfile.stat(str(tmp_path / "nothing"))
    failed = []
    assert list(tf.io.gfile.walk(str(tmp_path / "nothing"), onerror=failed.append)) == []
    assert isinstance(failed[0], tf.errors.NotFoundError)


def test_parts_of_variables_are_set():
    v = tf.Variable(np.arange(12, dtype=np.float32).reshape(3, 4))
    assert v[0].assign([1.0, 2.0, 3.0, 4.0]).shape == [3, 4]
    v[1, 1].assign(5.5)
    v[:, -1].assign(7)
    v[::2, 1:3].assign(np.zeros((2, 2), np.float32))
    assert v.numpy().tolist() == [[1, 0, 0, 7], [4, 5.5, 6, 7], [8, 0, 0, 7]]
    v[0].assign(v[1] + 1)
    v[0:0].assign(np.zeros((0, 4), np.float32))
    assert v[0].numpy().tolist() == [5, 6.5, 7, 8]

    @tf.function
    def step(i):
        v[i].assign(tf.ones([4]))
        return v.read_value()
    assert step(tf.constant(2)).numpy().tolist() == [[5, 6.5, 7, 8], [4, 5.5, 6, 7], [1, 1, 1, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
        v[0].assign([1.0, 2.0])
    for plain in (tf.constant([1.0])[0], v[v > 2], v + 1, v.read_value()):
        assert not hasattr(plain, "assign")
    with pytest.raises(AttributeError):
        v[0].assign_add(1.0)
    with tf.GradientTape() as tape:
        y = v[1] * 2
    assert tape.gradient(y, v).numpy().sum(axis=1).tolist() == [0, 8, 0]


def test_slices_stay_slices():
    def made():
        return tf.IndexedSlices(tf.identity([[1.0, 2.0]]), tf.constant([2]), tf.constant([5, 2]))

    spec = tf.IndexedSlicesSpec([5, 2], tf.float32, tf.int32, tf.int32, [1])
    both = tf.function(lambda given: {"same": given, "twice": tf.IndexedSlices(given.values * 2, given.indices)})
    traced = both(made())
    chosen = tf.function(lambda wanted: tf.cond(wanted, made, made))(tf.constant(True))
    found = [tf.function(made)(), traced["same"], traced["twice"], chosen, tf.cast(made(), tf.float64)]
    found += [tf.identity(made()), *tf.data.Dataset.from_tensors(made()).map(lambda one: one)]
    assert [type(one) for one in found] == [tf.IndexedSlices] * 7
    assert [one.indices.numpy().tolist() for one in found] == [[2]] * 7
    assert found[2].values.numpy().tolist() == [[2, 4]]
    assert tf.type_spec_from_value(made()) == spec
    assert tf.reduce_sum(tf.ones([5, 2]) + made()).numpy() == tf.reduce_sum(made() + tf.ones([5, 2])).numpy() == 13
    assert len(tf.nest.flatten(made(), expand_composites=True)) == 3


def test_slices_of_rows_are_set():
    for dtype in (tf.int32, tf.int64):
        v = tf.Variable(tf.zeros([2, 3]))
        delta = tf.IndexedSlices(tf.constant([[5.0, 6.0], [7.0, 8.0]]), tf.constant([[1, 0], [2, 1]], dtype))
        assert v.batch_scatter_update(delta).numpy().tolist() == [[6, 5, 0], [0, 8, 7]]
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        v = tf.Variable(tf.zeros([2, 3]))
    with pytest.raises(NotImplementedError, match="batch_scatter_update"):
        v.batch_scatter_update(delta)


def test_ranges_are_lists():
    assert tf.ones(range(1, 3)).shape == tf.zeros(iter([1, 2])).shape == tf.reshape([1, 2], range(1, 3)).shape == [1, 2]
    assert tf.transpose([[1, 2]], range(2)).numpy().tolist() == [[1, 2]]
    assert tf.reduce_sum([[1, 2]], range(2)).numpy() == 3
    assert tf.tile([[1, 2]], range(1, 3)).numpy().tolist() == [[1, 2, 1, 2]]
