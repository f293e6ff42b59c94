"""leat.keras: what `fit`, `evaluate` and `predict` are fed with, epoch by epoch, as Keras 3.15 takes it."""

import warnings

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat.keras import layers


def regression(**compiled):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    model.compile("sgd", "mse", **compiled)
    return model


class Numbered(keras.utils.PyDataset):
    def __init__(self, count=3, **kwargs):
        super().__init__(**kwargs)
        self.count, self.log = count, []

    def __getitem__(self, number):
        self.log.append(number)
        return np.full((2, 2), number, np.float32), np.ones((2, 1), np.float32)

    @property
    def num_batches(self):
        return self.count

    def on_epoch_begin(self):
        self.log.append("begin")

    def on_epoch_end(self):
        self.log.append("end")


def epochs_of(data):
    """What was asked of a PyDataset from the first epoch on; before it, it is looked at."""
    return data.log[data.log.index("begin"):]


def fitted(data, **kwargs):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        history = regression().fit(data, verbose=0, shuffle=False, **kwargs).history
    return history, sum("interrupting" in str(one.message) for one in said)


def test_epochs_of_a_py_dataset():
    data, checked = Numbered(), Numbered()
    history, short = fitted(data, epochs=2, validation_data=checked)
    assert epochs_of(data) == epochs_of(checked) == ["begin", 0, 1, 2, "end"] * 2
    assert len(history["val_loss"]) == 2 and not short


def test_steps_of_a_py_dataset_go_on_and_end_with_the_data():
    data = Numbered()
    assert fitted(data, epochs=2, steps_per_epoch=2)[1] == 1
    assert epochs_of(data) == ["begin", 0, 1, "end", "begin", 2, "end"]
    data = Numbered()
    assert fitted(data, epochs=2, steps_per_epoch=4)[1] == 2
    assert epochs_of(data) == ["begin", 0, 1, 2, "end"] * 2


def test_a_py_dataset_without_end():
    data = Numbered(None)
    assert fitted(data, epochs=2, steps_per_epoch=2)[1] == 0
    assert epochs_of(data) == ["begin", 0, 1, "end", "begin", 2, 3, "end"]

    class Stopping(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = batch == 6
    data = Numbered(None, workers=2, max_queue_size=2)
    history = regression().fit(data, verbose=0, callbacks=[Stopping()])
    assert history.epoch == [0] and {0, 1, 2, 3, 4, 5, 6} <= set(data.log)


def test_datasets_and_generators_by_steps():
    rows = tf.data.Dataset.from_tensor_slices((np.ones((5, 2), "float32"), np.ones((5, 1), "float32"))).batch(2)
    history, short = fitted(rows, epochs=3, steps_per_epoch=2)
    assert len(history["loss"]) == 3 and short == 1
    history, short = fitted(rows.filter(lambda x, y: True), epochs=2)
    assert len(history["loss"]) == 2 and short == 0

    def batches(count):
        for _ in range(count):
            yield np.ones((2, 2), "float32"), np.ones((2, 1), "float32")
    history, short = fitted(batches(3), epochs=2, steps_per_epoch=2)
    assert len(history["loss"]) == 2 and short == 1
    assert fitted(batches(3), epochs=2)[1] == 1  # the second epoch has no data


@pytest.mark.parametrize("epochs, steps, begins, ends", [
    (1, None, [0, 3, 6], [2, 5, 8]), (1, 7, [0, 3, 6], [2, 5, 8]), (2, 4, [0, 3, 0], [2, 5, 2])])
def test_several_steps_together_are_whole(epochs, steps, begins, ends):
    """Callbacks get the numbers of whole groups; of 7 batches an epoch of 4 steps in groups of 3 takes 6."""
    model, begun, ended = regression(steps_per_execution=3), [], []
    note = keras.callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: begun.append(batch),
                                          on_train_batch_end=lambda batch, logs: ended.append(batch))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(np.ones((14, 2)), np.ones((14, 1)), batch_size=2, epochs=epochs, steps_per_epoch=steps, verbose=0,
                  callbacks=[note])
    assert begun == begins and ended == ends


REFUSED = [
    (lambda m, d, g: m.fit(d, np.ones(3)), "When providing `x` as a tf.data.Dataset, `y` should not be passed"),
    (lambda m, d, g: m.fit(d, sample_weight=np.ones(3)), "`sample_weights` should not be passed"),
    (lambda m, d, g: m.fit(g(2), np.ones(3)), "providing `x` as a generator, `y` should not be passed"),
    (lambda m, d, g: m.fit(g(0)), "the generator must yield at least one batch"),
    (lambda m, d, g: m.fit("abc"), "Unrecognized data type: x=abc"),
    (lambda m, d, g: m.fit(np.ones((2, 2)), "abc"), "Unrecognized data type"),
    (lambda m, d, g: m.fit([[1., 2.], [2., 3.]], [[1.], [2.]]), "Unrecognized data type"),
    (lambda m, d, g: m.fit(), "Unrecognized data type: x=None"),
    (lambda m, d, g: m.fit(np.ones((2, 2)), np.ones((2, 1)), sample_weight=np.ones(2), class_weight={0: 1.}),
     "You cannot `class_weight` and `sample_weight` at the same time"),
    (lambda m, d, g: m.fit(d.map(lambda x, y: (x, y, y)), class_weight={0: 1.}),
     "You cannot `class_weight` and `sample_weight` at the same time"),
    (lambda m, d, g: m.fit(d.map(lambda x, y: (x, (y, y))), class_weight={0: 1.}),
     "`class_weight` is only supported for Models with a single output"),
    (lambda m, d, g: m.fit(np.ones((2, 2)), [np.ones((2, 1))] * 2, class_weight={0: 1.}),
     "`class_weight` is only supported for Models with a single output"),
    (lambda m, d, g: m.fit(np.ones((2, 2)), [np.ones((2, 1))] * 2, sample_weight=[]),
     "You should provide one `sample_weight` array per output"),
    (lambda m, d, g: m.fit(np.ones((2, 2)), [np.ones((2, 1))] * 2, sample_weight=np.ones((2, 2))),
     "For a model with multiple outputs, when providing a single `sample_weight`"),
    (lambda m, d, g: m.fit(d, verbose=0, validation_data=d, validation_freq="a"),
     "`validation_freq` to be a list or int"),
    (lambda m, d, g: m.fit([None], np.ones((2, 1))), "is not optional, but None was passed"),
    (lambda m, d, g: m.evaluate(d, foo=3), "Arguments not recognized"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[1][:40])
def test_what_is_no_data_is_refused(case):
    def batches(count):
        for _ in range(count):
            yield np.ones((2, 2), "float32"), np.ones((2, 1), "float32")
    dataset = tf.data.Dataset.from_tensor_slices((np.ones((4, 2), "float32"), np.ones((4, 1), "float32"))).batch(2)
    with pytest.raises(ValueError, match=case[1]):
        case[0](regression(), dataset, batches)


def test_one_weight_of_rows_serves_all_outputs():
    start = keras.Input((2,))
    model = keras.Model(start, [layers.Dense(1, name="a")(start), layers.Dense(2, name="b")(start)])
    model.compile("sgd", "mse")
    x, y, weights = np.ones((4, 2)), [np.ones((4, 1)), np.ones((4, 2))], np.array([0., 1., 0., 2.])
    one = model.evaluate(x, y, sample_weight=weights, verbose=0)
    assert one == pytest.approx(model.evaluate(x, y, sample_weight=[weights, weights], verbose=0))
    assert one != pytest.approx(model.evaluate(x, y, verbose=0))


class Maybe(layers.Layer):
    def call(self, x, y=None):
        return x if y is None else x + y


def optional(is_optional=True):
    first, second = keras.Input((2,), name="first"), keras.Input((2,), name="second", optional=is_optional)
    return keras.Model({"first": first, "second": second}, Maybe()(first, second))


def test_none_stands_for_an_optional_input():
    model, x = optional(), np.ones((4, 2), np.float32)
    np.testing.assert_array_equal(model({"first": x, "second": None}), x)
    np.testing.assert_array_equal(model({"first": x, "second": x}), 2 * x)
    np.testing.assert_array_equal(model.predict({"first": x, "second": None}, verbose=0), x)
    model.compile("sgd", "mse")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is nothing to train
        assert model.fit({"first": x, "second": None}, x, verbose=0).history["loss"] == [0.0]
        batches = (({"first": x, "second": None}, x) for _ in range(2))
        assert model.fit(batches, verbose=0).history["loss"] == [0.0]
    with pytest.raises(ValueError, match="'second'"):
        optional(False)({"first": x, "second": None})


def test_tensors_without_names_for_inputs_with_names():
    first, second = keras.Input((2,), name="IT"), keras.Input((2,), name="IS")
    model = keras.Model({"IT": first, "IS": second}, layers.subtract([first, second]))
    x, y = np.ones((1, 2)), np.zeros((1, 2))
    np.testing.assert_array_equal(model({"IT": x, "IS": y, "more": y}), x)
    with pytest.raises(ValueError, match="dictionary"):
        model([x, y])
    with pytest.raises(ValueError, match="named"):
        model(x)
    with pytest.warns(UserWarning, match="structure"):
        np.testing.assert_array_equal(optional()([x, x]), 2 * x)


def test_inputs_in_structures():
    one, two, three = (keras.Input((width,)) for width in (1, 2, 3))
    model = keras.Model({"1": one, "others": {"2": two, "3": three}},
                        {"1": layers.Dense(1)(one), "others": {"2": layers.Dense(2)(two), "3": layers.Dense(3)(three)}})
    found = model({"1": np.ones((2, 1)), "others": {"2": np.ones((2, 2)), "3": np.ones((2, 3))}})
    assert found["others"]["3"].shape == (2, 3)
    found = model.predict({"1": np.ones((2, 1)), "others": {"2": np.ones((2, 2)), "3": np.ones((2, 3))}}, verbose=0)
    assert found["1"].shape == (2, 1) and found["others"]["2"].shape == (2, 2)
