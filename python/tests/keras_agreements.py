"""A program about what differs without a word where it differs at all; it runs under Keras and leat alike.

``python keras_agreements.py data/keras_agreements.json`` records what it gives under Keras; test_keras_agreements.py
compares. Each function of `CASES` gives lists of numbers, truth values and texts.
"""

import json
import os
import sys
import tempfile
import warnings

import numpy as np

CASES = {}


def case(function):
    """Notes a function by its name."""
    CASES[function.__name__] = function
    return function


def plain(value):
    """A tensor's dtype, shape and values as JSON, floats to six digits; "error" of what fails."""
    if callable(value) and not hasattr(value, "dtype"):
        try:
            value = value()
        except Exception:
            return "error"
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "to_tensor"):
        value = value.to_tensor()
    if not hasattr(value, "dtype"):
        return float(f"{value:.6g}") if isinstance(value, float) else value
    array = np.asarray(value)
    return [getattr(value.dtype, "name", str(value.dtype)), list(array.shape),
            [float(f"{one:.6g}") if array.dtype.kind == "f" else one for one in array.reshape(-1).tolist()]]


@case
def seeds(tf, keras):
    """Random numbers without a seed of their own, from a global seed on."""
    random, found = keras.random, []
    for seed in (42, 42, 7):
        keras.utils.set_random_seed(seed)
        found += [random.randint((4,), 0, 1000), random.normal((3,)), random.uniform((2,)),
                  random.truncated_normal((2,)), random.categorical(np.zeros((1, 5), "float32"), 4),
                  random.dropout(np.ones(6, "float32"), 0.5),
                  random.shuffle(np.arange(6)), random.shuffle(np.arange(12).reshape(3, 4), axis=1),
                  random.shuffle(np.arange(6), seed=3),
                  keras.layers.Dropout(0.5)(np.ones((2, 6), "float32"), training=True)]
    keras.utils.set_random_seed(1)
    generator = random.SeedGenerator()
    found += [generator.next(), random.uniform((2,), seed=generator)]
    traced = tf.function(lambda: random.uniform((2,)))
    keras.utils.set_random_seed(5)
    return plain([*found, traced(), traced()])


@case
def ignored(tf, keras):
    """A class that does not count, in losses and metrics, with weights and masks."""
    y = np.array([[0, 1, 2], [2, 0, 1]])
    p = np.array([[[.8, .1, .1], [.05, .9, .05], [.2, .3, .5]],
                  [[.1, .8, .1], [.3, .3, .4], [.25, .5, .25]]], "float32")
    weights = (None, np.array([[1., 2., .5], [3., 4., 1.]]), np.array([1., 3.]), np.array([[1.], [3.]]))
    found = []
    for number in (None, 0, 2, -1):
        labels = np.where(y == 0, -1, y) if number == -1 else y
        for weight in weights:
            for given in (labels, labels[..., None]):
                metric = keras.metrics.SparseCategoricalCrossentropy(ignore_class=number)
                loss = keras.losses.SparseCategoricalCrossentropy(ignore_class=number)
                found += plain([lambda: metric.update_state(given, p, weight),
                                lambda: metric.update_state(given, p[::-1]), metric.result(),
                                lambda: loss(given, p, weight)])

    class Own(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return keras.losses.sparse_categorical_crossentropy(y_true, y_pred, ignore_class=0)
    mean = keras.metrics.Mean()
    values = keras.losses.sparse_categorical_crossentropy(tf.constant(y), tf.constant(p), ignore_class=0)
    mean.update_state(values, weights[1])
    mean.update_state(values)
    masked = tf.constant(p) * 1.
    masked._keras_mask = tf.constant([[True, True, False], [True, False, True]])
    both = keras.metrics.SparseCategoricalCrossentropy(ignore_class=1)
    both.update_state(y, masked, weights[1])
    counted = keras.metrics.MeanIoU(num_classes=3, ignore_class=0)
    counted.update_state(y, y[::-1], weights[1])
    return [*found, *plain([Own()(y, p), Own()(y, p, weights[1]), mean.result(), both.result(), counted.result()])]


@case
def overwritten(tf, keras):
    """Variables that become their gradients."""
    found = []
    for kind, more in (("SGD", {}), ("Adam", {}), ("SGD", {"clipnorm": 0.1}), ("SGD", {"loss_scale_factor": 2.}),
                       ("SGD", {"gradient_accumulation_steps": 2}), ("Adam", {"weight_decay": 0.5})):
        first, second = keras.Variable([1., 2.]), keras.Variable([3., 4.])
        first.overwrite_with_gradient = True
        optimizer = getattr(keras.optimizers, kind)(0.5, **more)
        for step in (1., 5., 3.):
            optimizer.apply([tf.constant([step, -step]), tf.constant([step, step])], [first, second])
            found.append([first, second])
        found.append(optimizer.iterations)
    alone = keras.Variable([1.])
    alone.overwrite_with_gradient = True
    optimizer = keras.optimizers.SGD(0.5)
    optimizer.apply([tf.constant([4.])], [alone])
    return plain([*found, alone, optimizer.iterations])


@case
def pipelines(tf, keras):
    """Which layers of a Pipeline are given a mask."""
    layers, seen = keras.layers, []

    class Seeing(layers.Layer):
        def __init__(self, stops=False):
            super().__init__()
            self.supports_masking, self.stops, self.built = True, stops, True

        def call(self, inputs, mask=None):
            seen.append(mask is not None)
            return inputs

        def compute_mask(self, inputs, mask=None):
            return None if self.stops else mask
    x, mask, found = tf.ones((2, 3, 4)), tf.ones((2, 3), "bool"), []
    for listed, given in (
            ([Seeing(), Seeing()], {"mask": mask}), ([Seeing(), layers.ReLU(), Seeing()], {"mask": mask}),
            ([Seeing(True), Seeing()], {"mask": mask}), ([Seeing(), Seeing()], {}),
            ([layers.Masking(), Seeing(), Seeing()], {}), ([layers.Rescaling(2.), Seeing()], {"mask": mask})):
        seen.clear()
        made = layers.Pipeline(listed)(x, **given)
        count = sum(type(one) is Seeing for one in listed)  # Keras calls all of them twice at first
        found.append([seen[-count:], getattr(made, "_keras_mask", None) is not None])
    return plain([*found, layers.Pipeline([layers.Rescaling(2., dtype="float64")])(np.ones((1, 2)) / 3)])


@case
def inputs(tf, keras):
    """Inputs of other dtypes than a model says that it takes."""
    found = []
    for dtype in ("float16", "float64", "float32", "int32", "int64", "uint8", "bool"):
        start = keras.Input((2,), dtype=dtype)
        functional = keras.Model(start, keras.layers.Identity(dtype=dtype if "float" in dtype else None)(start))
        nested = keras.Model(start, functional(start))
        sequential = keras.Sequential([keras.Input((2,), dtype=dtype), keras.layers.Identity(
            dtype=dtype if "float" in dtype else None)])
        for value in (np.array([[1 / 3, 2.7]]), np.array([[1, 2]]), np.array([[1 / 3, -1.5]], "float32"),
                      np.array([[True, False]])):
            found += plain([lambda: functional(value), lambda: functional(tf.constant(value)), lambda: nested(value),
                            lambda: sequential(value)])
    names = {"a": keras.Input((1,), dtype="int32", name="a"), "b": keras.Input((1,), dtype="float64", name="b")}
    model = keras.Model(names, [names["a"], names["b"]])
    found += list(model({"a": np.array([[1.9]]), "b": np.array([[1]])}))
    found += [one.dtype.name for one in model.predict({"a": np.array([[1.9]]), "b": np.array([[1]])}, verbose=0)]
    model = keras.Sequential([keras.layers.Identity()])
    found += [model(np.array([[1.5]])), keras.Sequential([keras.layers.Flatten()])(np.array([[[1.5], [2]]]))]
    words = keras.Input((1,), dtype="string")
    numbers = keras.Model(words, keras.layers.StringLookup(vocabulary=["a"])(words))
    return [*found[:112], *plain([*found[112:], numbers(tf.constant([["a"]]))])]


@case
def variables(tf, keras):
    """dtypes of keras.Variable and of what operators make of it."""
    V, found = keras.Variable, []
    for given in ([[1, 1]], 1.5, 2, True, np.ones(2), np.ones(2, "int64"), [1., 2.], [True], np.float16(1), (1, 2),
                  tf.constant([1, 2])):
        found.append(V(given))
    found += [V("zeros", shape=(2,)), V("ones", shape=(1,), dtype="int32"), V([1, 2], dtype="float32"),
              V([1.7, 2], dtype="int32"), V(tf.constant([1.5]), dtype="int64"), V([0, 2], dtype="bool")]
    one, two = V([1, 2]), V([1.5, -2.])
    for other in (two, one, 2, 2.5, tf.constant([1., 2.]), tf.constant([3, 4]), np.array([1., 2.]),
                  V([1, 2], dtype="float16"), V([1, 2], dtype="int16"), V([True, False]), [1, 2]):
        for left in (one, two, V([3, 4], dtype="int16")):
            found += [lambda: left + other, lambda: left * other, lambda: left / other, lambda: left - other,
                      lambda: left // other, lambda: left % other, lambda: left > other, lambda: left == other]
            found = [plain(one) if callable(one) else one for one in found]
    found += [2 - one, 2.5 * one, 1 / one, 7 // one, 7 % one, 2 ** one, np.array([1., 2.]) + one, one ** 2, two ** 2,
              one @ one, round(V([1.55, 2.])), round(V([1.55, 2.]), 1), -one, abs(two), ~V([True]), one[0], two[1:],
              V([True]) & V([False]), V([True]) | V([False]), V([True]) ^ V([False]), keras.ops.add(one, 1.5)]
    for value, delta in (([1., 2.], [1, 2]), ([1, 2], [1.5, -0.5]), ([1, 2], 1.5), ([1., 2.], 1), ([1, 2], True)):
        added, taken, put = V(value), V(value), V(value)
        added.assign_add(delta), taken.assign_sub(delta), put.assign(np.broadcast_to(delta, 2))
        found += [added, taken, put, plain(lambda: put.assign([1., 2., 3.]))]
    found += [lambda: bool(one), lambda: int(one), lambda: float(two), lambda: int(V(3)), lambda: float(V(3)),
              lambda: setattr(one, "regularizer", 3), lambda: setattr(one, "constraint", "x"),
              lambda: setattr(one, "overwrite_with_gradient", 1), lambda: V([1], name="a/b"),
              lambda: V([1], aggregation="all"), lambda: V([1], synchronization="never"), lambda: len(one),
              lambda: V([1, 2], name="a").__repr__(), lambda: type(one.assign([3, 4])).__name__ != "Variable"]
    return plain(found)


@case
def sizes(tf, keras):
    """Data of sizes that are known in no step, into models that say them."""
    def windows(size):
        made = tf.data.Dataset.range(12).window(size, 1, drop_remainder=True).flat_map(lambda one: one.batch(size))
        return made.map(lambda one: (tf.cast(one[:-1], tf.float32) / 10, tf.cast(one[-1], tf.float32) / 10)).batch(4)
    found = []
    start = keras.Input((4,))
    for make in (lambda: keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, kernel_initializer="ones")]),
                 lambda: keras.Model(start, keras.layers.Dense(1, kernel_initializer="ones")(start)),
                 lambda: keras.Sequential([keras.Input((4,)), keras.layers.Reshape((2, 2)), keras.layers.Flatten(),
                                           keras.layers.Dense(1, kernel_initializer="ones")])):
        model = make()
        model.compile(keras.optimizers.SGD(0.01), "mse")
        found += [model.evaluate(windows(5), verbose=0), model.fit(windows(5), verbose=0, epochs=2).history["loss"],
                  model.predict(windows(5).map(lambda x, _: x), verbose=0)]
    return plain(found)


@case
def data(tf, keras):
    """What `train_step` and `test_step` are given."""
    kinds, dtypes = [], []

    def kind(value):
        if isinstance(value, (tuple, list)):
            return [type(value).__name__, *map(kind, value)]
        return {name: kind(one) for name, one in value.items()} if isinstance(value, dict) else (
            None if value is None else list(value.shape))

    class Model(keras.Model):
        def call(self, inputs):
            return inputs

        def train_step(self, data):
            kinds.append(kind(data))
            dtypes.append([tf.as_dtype(one.dtype).name for one in tf.nest.flatten(data) if one is not None])
            return {"loss": tf.constant(1.)}

        def test_step(self, data):
            kinds.append(["test", kind(data)])
            return {"loss": tf.constant(1.)}
    model, x = Model(), np.ones((4, 2), "float32")
    model.compile(keras.optimizers.SGD(), run_eagerly=True)
    slices = tf.data.Dataset.from_tensor_slices
    for call in (lambda: model.fit(x, verbose=0), lambda: model.fit(tf.constant(x), verbose=0),
                 lambda: model.fit([x, x], verbose=0), lambda: model.fit((x, x), verbose=0),
                 lambda: model.fit([x], verbose=0), lambda: model.fit({"a": x}, verbose=0),
                 lambda: model.fit(x, x, verbose=0),
                 lambda: model.fit(x, x, sample_weight=np.ones(4), verbose=0),
                 lambda: model.evaluate(x, verbose=0),
                 lambda: model.fit(slices(x).batch(2), verbose=0), lambda: model.fit(slices((x,)).batch(4), verbose=0),
                 lambda: model.fit(((one,) for one in (x, x)), verbose=0),
                 lambda: model.train_on_batch(x), lambda: model.test_on_batch(x), lambda: model.train_on_batch(x, x),
                 lambda: model.fit(x, steps_per_epoch=2, verbose=0), lambda: model.fit(x, batch_size=3, verbose=0),
                 lambda: model.fit(x, validation_split=0.5, verbose=0)):
        plain(call)
        kinds.append("|")
    dtypes.clear()
    for dtype in ("float16", "float32", "float64", "int32", "int64", "uint8", "bool"):
        given = np.ones((2, 2), dtype)
        model.fit(given, given, sample_weight=given[:, 0], verbose=0), model.fit(tf.constant(given), verbose=0)
    return [*kinds, *dtypes]


@case
def merging(tf, keras):
    """Layers that join inputs of different dtypes."""
    found = []
    kinds = [np.array([[1.5, 2.]], "float32"), np.array([[1, 2]]), np.array([[3, 4]], "int32"),
             np.array([[1, 3]], "uint8"), np.array([[.5, 2.]], "float64")]
    for name in ("Add", "Concatenate", "Multiply", "Average", "Maximum", "Minimum", "Subtract", "Dot"):
        for dtype in (None, "float64"):
            layer = getattr(keras.layers, name)(dtype=dtype, **({"axes": 1} if name == "Dot" else {}))
            pairs = [(one, other) for one in kinds for other in kinds] if dtype is None else [(kinds[0], kinds[1])]
            found += [plain(lambda pair=pair: layer([*map(tf.constant, pair)])) for pair in pairs]
    words = keras.Input((1,), dtype="int64")
    numbers = keras.Input((2,))
    joined = keras.layers.Concatenate()([keras.layers.IntegerLookup(vocabulary=[4, 5], output_mode="one_hot")(words),
                                         numbers])
    model = keras.Model([words, numbers], keras.layers.Dense(1, kernel_initializer="ones")(joined))
    masked = keras.layers.Masking()(tf.constant([[[1., 2.], [0., 0.]]]))
    added = keras.layers.Add()([masked, tf.constant([[[1, 1], [2, 2]]])])
    largest = keras.layers.Maximum()([masked, tf.constant([[[1, 1], [2, 2]]])])
    predicted = model([np.array([[4], [9]]), np.array([[1., 2.], [3., 4.]])])
    return [*found, *plain([predicted, joined.dtype, added, largest])]


def _stepped(tf, keras, make, is_traced=False, take=None, seen=((1, 1, 2), (2, 2, 0), (3, 1, 3))):
    """A table after steps along gradients of rows, some taken several times."""
    layer = keras.layers.Embedding(5, 2, "ones")
    layer.build((None,))
    optimizer, table, slope = make(), layer.embeddings, tf.constant([[1., 2.], [3., -4.], [5., 6.]])
    value = table.value if "tensorflow.python" in str(type(table.value).__mro__) else table

    def step(rows):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(rows) * slope) if take is None else take(layer, rows, slope)
        optimizer.apply_gradients([(tape.gradient(loss, value), table)])
    run = tf.function(step) if is_traced else step
    for rows in seen:
        run(tf.constant(rows))
    return table


def _clipped(tf, keras):
    """Tables after steps of gradients that the program clips itself, or scales by a loss's."""
    found = []
    for clip in (lambda one: tf.clip_by_global_norm([one, tf.constant([1., 2.])], 1.)[0][0],
                 lambda one: tf.clip_by_norm(one, 1.), lambda one: tf.clip_by_global_norm([one], 1e6)[0][0]):
        for is_traced in (False, True):
            def make(clip=clip):
                optimizer = keras.optimizers.Adam(0.1)
                apply = optimizer.apply_gradients
                optimizer.apply_gradients = lambda pairs: apply([(clip(one), table) for one, table in pairs])
                return optimizer
            found.append(_stepped(tf, keras, make, is_traced))
    for is_traced in (False, True):
        found.append(_stepped(tf, keras, lambda: keras.optimizers.LossScaleOptimizer(
            keras.optimizers.Adam(0.1), initial_scale=8.), is_traced,
            lambda layer, rows, slope: tf.reduce_sum(layer(rows) * slope) * 8.))
    return found


@case
def slices(tf, keras):
    """Gradients of rows that a batch takes several times."""
    found, optimizers = [], keras.optimizers
    makes = [(name, {}) for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam",
                                     "Ftrl", "Lion", "Lamb", "Adafactor", "Muon")]
    makes += [("Adam", {"amsgrad": True}), ("RMSprop", {"centered": True, "momentum": 0.5}),
              ("SGD", {"momentum": 0.9, "nesterov": True}), ("Ftrl", {"l1_regularization_strength": 0.1})]
    makes += [("Adam", {name: 1.}) for name in ("clipnorm", "clipvalue", "global_clipnorm", "weight_decay")]
    makes += [("Adam", {"use_ema": True}), ("Adam", {"gradient_accumulation_steps": 3}), ("SGD", {"clipvalue": 2.}),
              ("Adagrad", {"initial_accumulator_value": 0.})]
    for name, more in makes:
        for is_traced in (False, True):
            found.append(_stepped(tf, keras, lambda: getattr(optimizers, name)(0.1, **more), is_traced))
    found += _clipped(tf, keras)
    takes = (lambda layer, rows, slope: tf.reduce_sum(layer(rows) * slope) + tf.reduce_sum(layer(rows) * 2 * slope),
             lambda layer, rows, slope: tf.reduce_sum(layer(rows) * slope) + tf.reduce_sum(layer.embeddings ** 2),
             lambda layer, rows, slope: tf.reduce_sum(layer(tf.reshape(rows, [1, 3, 1]))[0, :, 0] * slope),
             lambda layer, rows, slope: tf.reduce_sum(layer(rows)[:2] * slope[:2]),
             lambda layer, rows, slope: tf.reduce_sum(layer(rows) ** 2 * slope))
    for take in takes:
        found += [_stepped(tf, keras, lambda: optimizers.Adam(0.1), is_traced, take) for is_traced in (False, True)]
    for name in ("Adam", "RMSprop", "Adagrad"):
        for more in ({}, {"embeddings_regularizer": "l2"}, {"mask_zero": True}):
            keras.utils.set_random_seed(1)
            model = keras.Sequential([keras.Input((3,), dtype="int32"), keras.layers.Embedding(5, 2, "ones", **more),
                                      keras.layers.GlobalAveragePooling1D(),
                                      keras.layers.Dense(1, kernel_initializer="ones")])
            model.compile(getattr(optimizers, name)(0.1), "mse")
            x = np.array([[1, 1, 2], [2, 2, 2], [0, 1, 0], [3, 4, 4]])
            found.append(model.fit(x, np.array([[1.], [2.], [3.], [4.]]), epochs=3, batch_size=2, shuffle=False,
                                   verbose=0).history["loss"])
    return plain(found)


@case
def orders(tf, keras):
    """In which order `fit` takes rows, epoch by epoch."""
    count, seen = 8, []
    x = np.arange(count, dtype="float32").reshape(count, 1)
    y = x * 0
    rows = tf.data.Dataset.from_tensor_slices((x, y))

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, inputs):
            return self.dense(inputs)

        def train_step(self, data):
            seen.append([int(one) for one in np.asarray(data[0])[:, 0]])
            return super().train_step(data)

        def test_step(self, data):
            seen.append(["test", *(int(one) for one in np.asarray(data[0])[:, 0])])
            return super().test_step(data)

    def run(make, built=False, fits=1, epochs=3, evaluates=False, seed=1, **more):
        keras.utils.set_random_seed(seed)
        model = Model()
        if built:
            model(x)
        model.compile("sgd", "mse", run_eagerly=True)
        given = make()
        for _ in range(fits):
            model.fit(*given, epochs=epochs, verbose=0, **more)
        if evaluates:
            model.evaluate(*given, verbose=0)
        seen.append("|")

    def shuffled(size=count, **more):
        return (rows.shuffle(count, seed=5, **more).batch(size),)
    run(shuffled), run(shuffled, built=True), run(shuffled, fits=2, epochs=2), run(shuffled, epochs=1, evaluates=True)
    run(shuffled, validation_data=shuffled()[0], epochs=2)
    run(lambda: (shuffled()[0].repeat(),), steps_per_epoch=2), run(shuffled, steps_per_epoch=1)
    run(lambda: (rows.shuffle(count, seed=5).filter(lambda *_: True).batch(count),))
    run(lambda: shuffled(reshuffle_each_iteration=False)), run(lambda: (rows.shuffle(count, seed=5).cache().batch(3),))
    run(lambda: (shuffled()[0].prefetch(2),)), run(lambda: shuffled(4))
    run(lambda: (rows.shuffle(count).batch(count),))
    run(lambda: (rows.shuffle(3, seed=2).batch(4).map(lambda *one: one),))
    for seed in (1, 2):
        run(lambda: (x, y), seed=seed)
    for size in (3, 4):
        run(lambda: (x, y), batch_size=size), run(lambda: (x, y), batch_size=size, shuffle="batch")
    run(lambda: (x, y), built=True, fits=2, epochs=1), run(lambda: (x, y), steps_per_epoch=2)
    run(lambda: (x, y), steps_per_epoch=2, batch_size=2), run(lambda: (x, y), validation_split=0.25, epochs=2)
    run(lambda: (x, y[:, 0]), class_weight={0: 2.}, epochs=2), run(lambda: (x, y), shuffle=False, epochs=1)
    run(lambda: (x, y, 3), epochs=1), run(lambda: (x, y), sample_weight=np.ones(count), epochs=1)
    return seen


@case
def said(tf, keras):
    """The dtypes that layers say, and the sizes of weights."""
    layers, found = keras.layers, []
    for mode in ("int", "one_hot", "multi_hot", "count", "tf_idf"):
        more = {"output_mode": mode, **({"idf_weights": [.5, .6]} if mode == "tf_idf" else {})}
        for layer, dtype, value in ((layers.StringLookup(vocabulary=["a", "b"], **more), "string", [["a"]]),
                                    (layers.IntegerLookup(vocabulary=[3, 4], **more), "int64", [[3]]),
                                    (layers.TextVectorization(vocabulary=["a", "b"], **more), "string", [["a b"]])):
            said_of = layer(keras.Input((1,), dtype=dtype))
            found += [said_of.dtype, layer(tf.constant(value))]
    normal = layers.Normalization()
    normal.adapt(np.arange(8.).reshape(4, 2))
    model, lines = keras.Sequential([keras.Input((2,)), normal, layers.Dense(1)]), []
    model.summary(print_fn=lambda text, **_: lines.append(text))
    found += [line.strip() for line in "\n".join(lines).split("\n") if "params" in line]
    found += [[v.name, np.asarray(v).dtype.name] for v in normal.variables]
    return plain([*found, keras.backend.standardize_dtype(int), keras.backend.standardize_dtype("int"),
                  keras.ops.cast(1.5, "int"), keras.Variable([1.], dtype="int")])


@case
def refused(tf, keras):
    """What operations refuse, and values at the border of it."""
    ops, tensor, metrics = keras.ops, keras.KerasTensor, keras.metrics
    x, volume = np.arange(6., dtype="float32").reshape(2, 3), np.ones((1, 8, 8, 8, 1), "float32")
    wave, rows, numbers = np.ones(16, "float32"), np.ones(3, "float32"), np.array([0, 1, 1])
    halves = ops.cast([float("nan"), float("inf"), -float("inf"), 1.], "bfloat16")

    class Batches(keras.utils.PyDataset):
        def __getitem__(self, index):
            return np.full((2,), index)

    def first_batches():
        return [batch for _, batch in zip(range(3), Batches())]
    return plain([
        lambda: ops.linspace(0, 10, num=0, endpoint=False), lambda: ops.linspace(0, 10, num=0),
        lambda: ops.linspace(0, 10, num=1, endpoint=False), lambda: ops.linspace(2., 10, num=1),
        lambda: ops.linspace(0, 10, num=4, endpoint=False), lambda: ops.linspace(0, 10, num=-1),
        lambda: ops.linspace(0, 10, num=5, retstep=True)[1], lambda: ops.linspace(0, 10, 5, False, True)[1],
        lambda: ops.isnan(ops.linspace(0, 10, num=1, retstep=True)[1]),
        lambda: ops.logspace(0, 2, num=1, endpoint=False), lambda: ops.stft(wave, 4, 0, 4),
        lambda: ops.stft(wave, 4, -1, 4), lambda: ops.nan_to_num(halves), lambda: ops.nan_to_num(halves, 1., 2., 3.),
        lambda: ops.nan_to_num(ops.cast(halves, "float16")),
        *[lambda axes=axes: ops.swapaxes(x, *axes) for axes in ((0, 1), (-1, 0), (0, 2), (-3, 0))],
        *[lambda axes=axes: ops.moveaxis(x, *axes) for axes in (
            (0, 1), (0, -1), (2, 0), (0, 2), (-3, 0), ((0, 1), (1, 0)))],
        *[lambda axis=axis: ops.sparsemax(x, axis) for axis in (-1, 0, 2, -3)],
        *[lambda axis=axis: ops.split(x, 1, axis) for axis in (0, -1, 2, -3)],
        lambda: ops.image.extract_patches(volume[0], (2, 2), strides=2, dilation_rate=2),
        lambda: ops.image.extract_patches(volume[0], (2, 2), strides=(1, 2), dilation_rate=(2, 1)),
        lambda: ops.shape(ops.image.extract_patches(volume[0], (2, 2), strides=2))[1],
        lambda: ops.shape(ops.image.extract_patches(volume[0], (2, 2), strides=1, dilation_rate=2))[1],
        lambda: ops.image.extract_patches_3d(volume, (2, 2, 2), strides=2, dilation_rate=2),
        lambda: ops.segment_sum(rows, numbers, num_segments=4, sorted=True),
        lambda: ops.segment_max(rows, numbers, num_segments=4, sorted=True),
        lambda: ops.segment_sum(rows, numbers, sorted=True), lambda: ops.segment_sum(rows, numbers, num_segments=4),
        lambda: list(ops.swapaxes(tensor((2, 3)), 0, 1).shape), lambda: ops.swapaxes(tensor((2, 3)), 0, 5),
        lambda: ops.moveaxis(tensor((2, 3)), 0, 5), lambda: ops.split(tensor((4,)), 2, axis=3),
        *[lambda given=given: metrics.FBetaScore(**given).name for given in (
            {}, {"beta": 2}, {"beta": None}, {"beta": 2.}, {"threshold": 1}, {"threshold": .5}, {"threshold": "a"})],
        lambda: metrics.F1Score(threshold=1).name, lambda: metrics.F1Score(average="micro", threshold=0.5).name,
        lambda: metrics.FBetaScore.from_config(metrics.FBetaScore(beta=2.).get_config()).beta,
        *[lambda more=more: keras.utils.normalize(tf.constant(x), **more) for more in (
            {}, {"axis": 0}, {"order": 1}, {"axis": 0, "order": 1}, {"order": 3})],
        lambda: keras.utils.normalize(x), lambda: keras.utils.normalize(x, order=1), first_batches])


@case
def corners(tf, keras):
    """Shapes, dtypes and values of operations that were other ones."""
    ops, x = keras.ops, np.arange(6, dtype="float32").reshape(1, 2, 3)
    found = [lambda made=made, given=given: made(given) for made in (ops.hstack, ops.vstack, ops.dstack)
             for given in ([x[0], x[0]], x[0], tf.constant(x), x[..., None],
                           [x, x], [x], (x, x.astype("int32")))]
    found += [lambda made=made, count=count: made(count) for made in (
        ops.blackman, ops.bartlett, ops.hamming, ops.hanning) for count in (1, 1.14, 2, 5, 5.5, 7)]
    found += [lambda given=given: ops.geomspace(*given) for given in (
        (1, 1000, 4), (-1, -1000, 4), (2., 3., 3, False), (1, -8, 4), (1, 0, 2), (1, 8, 4, True, "float64"))]
    found += [lambda given=given: ops.isinf(tf.linspace(*given)) for given in (
        (1., np.inf, 3), (-np.inf, 1., 2), (-np.inf, 1., 1))]
    return plain([*found, lambda: ops.select(np.ones((1, 2), bool), np.ones((1, 2))), lambda: ops.vectorize(3),
                  lambda: ops.select([np.array([True, False])], [np.array([1, 2])], 5),
                  *[lambda dtype=dtype: ops.image.extract_patches(np.arange(36).reshape(1, 6, 6, 1).astype(dtype), 2)
                    for dtype in ("int32", "float16", "float64")]])


@case
def begun(tf, keras):
    """Configurations of models that were built without an Input: they have its layer, and tuples."""
    found, layers = [], keras.layers

    def say(model):
        config = model.get_config()
        found.append([[one["class_name"] for one in config["layers"]], list(config),
                      str(config.get("build_input_shape")), str(config["layers"][0]["config"].get("batch_shape")),
                      [str(one["config"].get("kernel_size")) for one in config["layers"]]])
    model = keras.Sequential([layers.Dense(2)])
    say(model), model(np.ones((1, 3), "float32")), say(model)
    again = keras.Sequential.from_config(model.get_config())
    say(again), found.append(list(again(np.ones((4, 3), "float32")).shape))
    with tempfile.TemporaryDirectory() as folder:
        model.save(os.path.join(folder, "m.keras"))
        loaded = keras.models.load_model(os.path.join(folder, "m.keras"))
        say(loaded), found.append(list(loaded(np.ones((5, 3), "float32")).shape))
    model = keras.Sequential([layers.Conv1D(2, 1)])
    model.compile("sgd", "mse")
    model.fit(np.ones((6, 3, 1)), np.ones((6, 3, 2)), batch_size=4, verbose=0)
    say(model), model.add(layers.Flatten()), say(model), model(np.ones((2, 3, 1))), say(model)
    inner = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    outer = keras.Sequential([inner, layers.Dense(1)])
    say(inner), outer(np.ones((2, 3), "float32")), say(outer)
    model = keras.Sequential([layers.Flatten()])
    model.build((None, 2, 2))
    say(model)
    return found


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    warnings.simplefilter("ignore")
    if sys.argv[1] == "leat":  # only those that are named, to the terminal
        import leat
        for name in sys.argv[2:] or CASES:
            print(json.dumps({name: CASES[name](leat, leat.keras)}))
    else:
        import tensorflow

        import keras as keras_
        with open(sys.argv[1], "w") as file:
            file.write("{" + ",\n".join(f"{json.dumps(name)}: {json.dumps(CASES[name](tensorflow, keras_))}"
                                        for name in (sys.argv[2:] or CASES)) + "}\n")
