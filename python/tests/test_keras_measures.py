"""Metrics of leat.keras at many thresholds, metrics and losses of a program's own, and their configurations.

Numbers are those of Keras 3.15.
"""

import pickle

import numpy as np
import pytest

import leat as tf
from leat import keras

LABELS = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [1, 1]], np.float32)
SCORES = np.array([[.1, .8], [.55, .3], [.9, .4], [.5, .2], [.25, .75]], np.float32)
WEIGHTS = np.array([1, 2, .5, 1, 3], np.float32)

AREAS = [
    ({}, True, 0.8333333730697632, 0.7214105129241943),
    ({}, False, 0.8333333730697632, 0.7552335262298584),
    ({"curve": "PR"}, True, 0.9041060209274292, 0.7934182286262512),
    ({"curve": "pr"}, False, 0.9041059613227844, 0.8511800765991211),
    ({"label_weights": [2.0, 0.5]}, True, 0.8333333730697632, 0.6625901460647583),
    ({"label_weights": [2.0, 0.5]}, False, 0.8333333134651184, 0.6856410503387451),
    ({"curve": "PR", "summation_method": "majoring", "num_thresholds": 5}, True, 0.944444477558136, 0.8548465967178345),
    ({"curve": "PR", "summation_method": "majoring", "num_thresholds": 5}, False, 0.9523810148239136,
     0.8868139982223511),
    ({"thresholds": [0.6, 0.3]}, True, 0.7083333730697632, 0.7478354573249817),
    ({"thresholds": [0.6, 0.3]}, False, 0.7083333730697632, 0.7648952603340149),
    ({"curve": "PRGAIN"}, True, 0.53125, 0.3900172710418701),
    ({"curve": "PRGAIN"}, False, 0.53125, 0.48788756132125854),
]


@pytest.mark.parametrize("arguments,multi_label,first,second", AREAS)
def test_areas_below_curves_of_labels(arguments, multi_label, first, second):
    metric = keras.metrics.AUC(multi_label=multi_label, **arguments)
    metric.update_state(LABELS, SCORES)
    assert float(metric.result()) == pytest.approx(first, rel=1e-6)
    metric.update_state(LABELS[::-1], SCORES, sample_weight=WEIGHTS)
    assert float(metric.result()) == pytest.approx(second, rel=1e-6)
    points = len(metric.thresholds)
    assert [tuple(v.shape) for v in metric.variables] == [(points, 2) if multi_label else (points,)] * 4
    assert [v.name for v in metric.variables] == ["true_positives", "false_positives", "true_negatives",
                                                  "false_negatives"]
    again = keras.metrics.AUC.from_config(metric.get_config())
    assert again.get_config() == metric.get_config() and again.thresholds == metric.thresholds
    metric.reset_state()
    assert float(metric.result()) in (0.0, 1.0)


def test_areas_know_their_thresholds():
    metric = keras.metrics.AUC(num_thresholds=None, thresholds=[0.5, 0.25], curve="pr", multi_label=True, num_labels=2)
    assert metric.num_thresholds == 4
    np.testing.assert_allclose(metric.thresholds, [-1e-7, 0.25, 0.5, 1 + 1e-7], rtol=1e-12)
    assert metric.get_config() == {
        "name": metric.name, "dtype": "float32", "num_thresholds": 4, "curve": "PR", "summation_method":
        "interpolation", "multi_label": True, "num_labels": 2, "label_weights": None, "from_logits": False,
        "thresholds": [0.25, 0.5]}
    assert len(metric.variables) == 4
    assert "thresholds" not in keras.metrics.AUC().get_config()
    assert keras.metrics.Recall().thresholds == [0.5] and keras.metrics.Recall(top_k=2).thresholds == [-1e10]
    assert keras.metrics.Recall([0.2, 0.4]).thresholds == [0.2, 0.4] and keras.metrics.Recall().get_config()[
        "thresholds"] is None
    assert keras.metrics.PrecisionAtRecall(0.5, num_thresholds=3).thresholds == [0.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="`multi_label=True`"):
        keras.metrics.AUC(multi_label=True).update_state([0., 1.], [0.3, 0.6])


@pytest.mark.parametrize("name,goal", [("PrecisionAtRecall", 0.4), ("RecallAtPrecision", 0.6),
                                       ("SensitivityAtSpecificity", 0.5), ("SpecificityAtSensitivity", 0.5)])
def test_counts_at_even_thresholds(name, goal):
    metric = getattr(keras.metrics, name)(goal, num_thresholds=5)
    metric.update_state([0, 0, 1, 1, 1, 0], [0., .25, .5, .75, 1., 0.])
    assert float(metric.result()) == 1.0
    assert {v.name: v.numpy().tolist() for v in metric.variables} == {
        "true_positives": [3, 3, 2, 1, 0], "false_positives": [1, 0, 0, 0, 0], "true_negatives": [2, 3, 3, 3, 3],
        "false_negatives": [0, 0, 1, 2, 3]}
    assert [v.name for v in metric.variables][1:3] == ["false_positives", "true_negatives"]


def test_predictions_that_are_thresholds():
    """Where thresholds are even Keras divides into steps; predictions on the edge of one belong to the step below."""
    metric = keras.metrics.Precision(thresholds=[0, .5, 1])
    metric.update_state([0, 1, 1, 0, 1], [0., .1, .5, .75, 1.])
    np.testing.assert_allclose(metric.result(), [0.75, 0.5, 0.0])
    places = np.arange(200, dtype=np.float32) / np.float32(199)
    metric = keras.metrics.AUC()
    metric.update_state((np.arange(200) % 3 == 0).astype(np.float32), places)
    assert float(metric.result()) == pytest.approx(0.49618446826934814, rel=1e-6)
    some = [0, 1, 49, 98, 150, 199]
    assert metric.true_positives.numpy()[some].tolist() == [67, 66, 50, 34, 16, 0]
    assert metric.false_positives.numpy()[some].tolist() == [133, 132, 100, 67, 33, 0]


def test_the_first_of_equal_predictions_is_the_largest():
    precision, recall = keras.metrics.Precision(top_k=2), keras.metrics.Recall(top_k=2)
    precision.update_state([[0, 1, 1, 0]], [[.3, .3, .3, .1]])
    recall.update_state([[0, 1, 1, 0]], [[.3, .3, .3, .1]], sample_weight=[2.])
    assert (float(precision.result()), float(recall.result())) == (0.5, 0.5)


@pytest.mark.parametrize("make,words", [
    (lambda m: m.FalseNegatives(thresholds=[None]), r"\[None\]"),
    (lambda m: m.TruePositives(thresholds=[0.5, -2, 3]), r"\[-2, 3\]"),
    (lambda m: m.PrecisionAtRecall(1.5), "recall=1.5"),
    (lambda m: m.SpecificityAtSensitivity(-0.5), "sensitivity=-0.5"),
    (lambda m: m.RecallAtPrecision(0.5, num_thresholds=0), "num_thresholds=0"),
    (lambda m: m.AUC(num_thresholds=1), "num_thresholds=1"),
    (lambda m: m.AUC(curve="line"), '"line"'),
    (lambda m: m.AUC(summation_method="up"), '"up"'),
    (lambda m: m.AUC(num_labels=3), "`num_labels`"),
    (lambda m: m.FBetaScore(average="all"), "average=all"),
    (lambda m: m.FBetaScore(beta=-2.0), "beta=-2.0"),
    (lambda m: m.F1Score(threshold=1.5), "threshold=1.5"),
    (lambda m: m.R2Score(num_regressors=-2), "num_regressors=-2"),
    (lambda m: m.R2Score(class_aggregation="sum"), "class_aggregation=sum"),
    (lambda m: m.R2Score().update_state([0.5], [0.5]), "R2Score"),
    (lambda m: m.Recall(class_id=1).update_state([0, 1], [0.5, 0.5]), "class_id"),
])
def test_wrong_arguments_of_metrics_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make(keras.metrics)


def test_weights_that_integers_cut_off():
    metric = keras.metrics.MeanIoU(3)
    with pytest.warns(Warning, match="weight"):
        metric.update_state([0, 1, 2, 2], [0, 2, 2, 1], sample_weight=np.array([0.5, 1.5, 2.0, 1.0]))
    assert float(metric.result()) == 0.25


# ---- metrics of one's own ----

class Distance(keras.metrics.Metric):
    def __init__(self, name="distance", dtype=None):
        super().__init__(dtype=dtype, name=name)
        self.sum = self.add_variable((), "zeros", name="sum")
        self.count = self.add_variable((), keras.initializers.Zeros(), dtype="int32", name="count")

    def update_state(self, y_true, y_pred):
        self.sum.assign(self.sum + tf.reduce_sum(tf.abs(y_true - y_pred)))
        self.count.assign(self.count + y_true.shape[0])

    def result(self):
        return tf.cast(self.sum, "float32") / tf.cast(self.count, "float32")


def test_states_that_come_from_outside():
    metric = Distance()
    a, b = tf.constant([1., 2., 3.]), tf.constant([2., 2., 5.])
    state = metric.variables
    for _ in range(2):
        state = metric.stateless_update_state(state, a, b)
    assert [float(one) for one in state] == [6.0, 6.0] and float(metric.sum) == 0
    assert float(metric.stateless_result([tf.constant(8.), tf.constant(4.)])) == 2.0
    metric.update_state(a, b)
    assert [float(one) for one in metric.stateless_reset_state()] == [0.0, 0.0] and float(metric.sum) == 3.0
    for call in (metric.stateless_update_state, metric.stateless_result):
        with pytest.raises(ValueError, match="`metric_variables`"):
            call(state[:1])


def test_attributes_of_metrics_are_theirs():
    metric = Distance("outer/one")
    assert metric.variables[0].path == "outer>one/sum" and metric.count.dtype.name == "int32"
    metric.more = {"a": [keras.Variable(0.0), (keras.Variable(1.0),)]}
    metric.parts = {"b": [Distance("b")], "c": Distance("c")}
    metric.parts["c"].inner = Distance("d")
    assert len(metric.variables) == 2 + 2 + 6
    assert Distance(dtype="float16").sum.dtype.name == "float32"

    class Forgetful(keras.metrics.Metric):
        def __init__(self):
            pass
    for use in (lambda m: m.add_variable((), "zeros"), lambda m: m(1, 2)):
        with pytest.raises(RuntimeError, match=r"`super\(\).__init__\(\)`"):
            use(Forgetful())


def test_metrics_and_losses_can_be_copied():
    metric = keras.metrics.Recall(thresholds=[0.2, 0.6])
    metric.update_state([1, 1], [0.4, 0.7])
    again = pickle.loads(pickle.dumps(metric))
    assert again.get_config() == metric.get_config() and again.result().numpy().tolist() == [1.0, 0.5]
    loss = pickle.loads(pickle.dumps(keras.losses.Huber(delta=3.0, name="h")))
    assert (loss.delta, loss.name) == (3.0, "h")
    assert pickle.loads(pickle.dumps(keras.losses.get("mae"))) is keras.losses.mean_absolute_error


def test_means_of_functions_are_means():
    metric = keras.metrics.MeanMetricWrapper(keras.losses.mean_absolute_error, name="m")
    assert isinstance(metric, keras.metrics.Mean) and [v.path for v in metric.variables] == ["m/total", "m/count"]
    assert metric.get_config() == {"name": "m", "dtype": "float32", "fn": {
        "module": "builtins", "class_name": "function", "config": "mean_absolute_error", "registered_name": "function"}}
    again = keras.metrics.deserialize(keras.metrics.serialize(metric))
    again.update_state([[1., 2.]], [[2., 4.]])
    assert float(again.result()) == 1.5
    crossentropy = keras.metrics.BinaryCrossentropy(label_smoothing=0.25)
    assert crossentropy.get_config() == {"name": "binary_crossentropy", "dtype": "float32", "from_logits": False,
                                         "label_smoothing": 0.25}
    assert crossentropy.label_smoothing == 0.25
    assert type(keras.saving.deserialize_keras_object(keras.metrics.serialize(crossentropy))) is type(crossentropy)


# ---- losses ----

def test_labels_of_crossentropies_do_not_broadcast():
    for name in ("BinaryCrossentropy", "CategoricalCrossentropy", "BinaryFocalCrossentropy"):
        with pytest.raises(ValueError, match="target.shape"):
            getattr(keras.losses, name)()([[0.], [1.]], [[0.9, 0.05], [0.5, 0.5]])
    assert float(keras.losses.MeanSquaredError()([[0.], [1.]], [[1., 0.], [1., 3.]])) == 1.25


def test_losses_of_rows_keep_the_shape_of_their_weights():
    labels, predictions = np.zeros((4, 3), np.float32), np.arange(12, dtype=np.float32).reshape(4, 3)
    loss = keras.losses.MeanAbsoluteError(reduction="none")
    assert loss(labels, predictions, [1., 0., 2., 1.]).shape == (4,)
    np.testing.assert_array_equal(loss(labels, predictions, [[1.], [0.], [2.], [1.]]), [[1.], [0.], [14.], [10.]])
    assert loss(labels[:, None], predictions[:, None], [1., 0., 2., 1.]).shape == (4, 1)


def test_a_zero_among_the_labels_of_a_sequence():
    """A 0 between labels counts like a label, and only as many labels as are not 0 are looked at."""
    logits = np.linspace(-1, 1, 36).reshape(2, 6, 3)
    assert float(keras.losses.CTC()([[1, 0, 2, 0], [2, 2, 0, 1]], logits)) == pytest.approx(2.9500131607055664)


def test_circles_around_references():
    labels, rows = np.array([0, 1, 0]), np.array([[.6, .8], [1., 0.], [0., 1.]], np.float32)
    found = keras.losses.circle(labels, rows, ref_labels=np.array([1, 0]), remove_diagonal=False,
                                ref_embeddings=np.array([[.8, .6], [0., 1.]], np.float32))
    np.testing.assert_allclose(found, [51.32801055908203, 1.8698406711870064e-10, 3.239956855773926], rtol=1e-5)
    alone = keras.losses.circle(labels, rows, gamma=10)
    np.testing.assert_allclose(keras.losses.circle(labels, rows, labels, rows, gamma=10), alone, rtol=1e-5)


def test_configurations_of_functions_and_of_ones_own():
    config = keras.losses.serialize(keras.losses.mean_squared_error)
    assert config == {"module": "builtins", "class_name": "function", "config": "mean_squared_error",
                      "registered_name": "function"}
    assert keras.losses.deserialize(config) is keras.losses.mean_squared_error

    class Absolute(keras.losses.Loss):
        def __init__(self, factor=1.0, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, y_true, y_pred):
            return self.factor * tf.reduce_mean(tf.abs(y_true - y_pred), -1)

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}
    config = keras.losses.serialize(Absolute(2.0, name="own"))
    assert config["registered_name"] == "Absolute" and config["module"] == __name__
    assert keras.losses.Huber().fn is keras.losses.huber
    with pytest.raises(ValueError, match="identifier"):
        keras.losses.deserialize(config)
    again = keras.losses.deserialize(config, {"Absolute": Absolute})
    assert float(again([[1., 2.]], [[2., 4.]])) == 3.0 and again.name == "own"
    with keras.saving.custom_object_scope({"Absolute": Absolute}):
        assert keras.losses.get(config).factor == 2.0


FIRST_DRAWN = [-0.1027689203619957, 0.05790938809514046, 0.009580431506037712]


def test_models_of_functions_are_read_again(tmp_path):
    pytest.importorskip("h5py")
    x = np.arange(12, dtype=np.float32).reshape(4, 3) / 12
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, activation="sigmoid")])
    model.compile("sgd", keras.losses.mean_squared_error, metrics=[
        keras.metrics.MeanMetricWrapper(keras.losses.mean_absolute_error, name="m"),
        keras.metrics.BinaryCrossentropy(label_smoothing=0.25), keras.metrics.AUC(multi_label=True, num_labels=2)])
    model.fit(x, x[:, :2], verbose=0)
    model.save(tmp_path / "functions.keras")
    again = keras.models.load_model(tmp_path / "functions.keras")
    assert again.evaluate(x, x[:, :2] > 0.5, verbose=0) == model.evaluate(x, x[:, :2] > 0.5, verbose=0)
    assert again.loss is keras.losses.mean_squared_error


def test_initializers_of_arrays_and_generators():
    values = np.array([[1., 2.], [3., 4.]])
    constant = keras.initializers.Constant(values[0])
    np.testing.assert_array_equal(constant((2, 2)), [[1., 2.], [1., 2.]])
    assert constant.get_config() == {"value": {"class_name": "__numpy__", "config": {
        "value": [1.0, 2.0], "dtype": "float64"}}}
    again = keras.initializers.deserialize(keras.initializers.serialize(constant))
    np.testing.assert_array_equal(again((1, 2), "int32"), [[1, 2]])
    for given in (values, tf.constant(values)):
        made = keras.initializers.get(given)
        assert made((2, 2)).dtype == tf.float32
        with pytest.raises(ValueError, match="`shape`"):
            made((4,))
    drawn = keras.initializers.RandomNormal(seed=keras.random.SeedGenerator(5))
    np.testing.assert_allclose(drawn((3,)), FIRST_DRAWN, rtol=1e-6)
    assert not np.allclose(drawn((3,)), FIRST_DRAWN)
    config = drawn.get_config()
    assert config["seed"]["class_name"] == "SeedGenerator"
    assert type(keras.saving.deserialize_keras_object(keras.initializers.serialize(drawn)).seed) is type(drawn.seed)
    assert type(keras.initializers.get("OrthogonalInitializer")) is keras.initializers.Orthogonal
    np.testing.assert_allclose(keras.initializers.RandomNormal.from_config(config)((3,)), FIRST_DRAWN, rtol=1e-6)


@pytest.mark.parametrize("arguments,expected", [
    ({"mode": "fan_in"}, [-0.44249939918518066, -0.23543111979961395, -1.2336804866790771, -0.9667467474937439]),
    ({"mode": "fan_out", "distribution": "uniform"},
     [0.42795294523239136, 0.29822486639022827, -0.7659482955932617, 0.24978452920913696]),
    ({"mode": "fan_avg", "distribution": "Normal", "scale": 3.0},
     [-0.7095776200294495, -0.37752965092658997, -1.9782897233963013, -1.5502434968948364])])
def test_fans_of_told_axes(arguments, expected):
    made = keras.initializers.VarianceScaling(seed=7, input_axes=[0], output_axes=[1, 2], **arguments)
    np.testing.assert_allclose(made((3, 2, 2)).numpy().ravel()[:4], expected, rtol=1e-5)
    again = keras.initializers.VarianceScaling.from_config(made.get_config())
    np.testing.assert_array_equal(again((3, 2, 2)), made((3, 2, 2)))
    assert made.distribution in ("truncated_normal", "uniform")


@pytest.mark.parametrize("make,words", [
    (lambda i: i.VarianceScaling(scale=-1.0), "scale=-1"),
    (lambda i: i.VarianceScaling(mode="in"), "`mode`"),
    (lambda i: i.VarianceScaling(distribution="flat"), "`distribution`"),
    (lambda i: i.Identity()((2, 3, 4)), r"\(2, 3, 4\)"),
    (lambda i: i.get("typo"), "typo"),
])
def test_wrong_arguments_of_initializers_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make(keras.initializers)


def test_a_constraint_without_a_call_changes_nothing():
    given = tf.constant([1., -2.])
    assert keras.constraints.Constraint()(given) is given


def test_batches_of_one_keep_their_dimension():
    """What drops the last dimension of labels drops no other of size 1; as Keras 3.15."""
    labels, predictions = np.array([[1]]), np.array([[0.2, 0.7, 0.1]], np.float32)
    metrics = tf.keras.metrics
    for metric, expected in ((metrics.SparseTopKCategoricalAccuracy(k=1), 0.5),
                             (metrics.SparseCategoricalAccuracy(), 0.5),
                             (metrics.SparseCategoricalCrossentropy(), 1.3296300172805786)):
        metric.update_state(labels, predictions)
        metric.update_state(labels + 1, predictions)
        assert float(metric.result()) == pytest.approx(expected, rel=1e-6)
    entropy = tf.keras.losses.SparseCategoricalCrossentropy(reduction=None)
    assert np.asarray(entropy(labels, predictions)) == pytest.approx([0.35667497], rel=1e-6)
    squares = tf.keras.losses.MeanSquaredError(reduction=None)
    one, three = np.ones((1, 1), np.float32), np.full((1, 1), 3, np.float32)
    assert np.asarray(squares(one, three[0])).tolist() == [4.0]
    assert np.asarray(squares(one, three, sample_weight=one / 2)).tolist() == [[2.0]]


def test_columns_of_labels_are_labels():
    """Labels [rows, 1] count as [rows]; as Keras 3.15."""
    labels = np.array([[1], [0], [2], [2]])
    predictions = np.array([[.2, .7, .1], [.2, .7, .1], [.5, .3, .2], [.1, .2, .7]], np.float32)
    metrics = tf.keras.metrics
    for make, expected in ((lambda: metrics.SparseTopKCategoricalAccuracy(k=1), 0.5),
                           (lambda: metrics.SparseTopKCategoricalAccuracy(k=2), 0.75),
                           (metrics.SparseCategoricalAccuracy, 0.5),
                           (metrics.SparseCategoricalCrossentropy, 0.9830564260482788)):
        for shape in ((4, 1), (4,)):
            metric = make()
            metric.update_state(labels.reshape(shape), predictions)
            assert float(metric.result()) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["FalsePositives", "FalseNegatives", "TruePositives", "TrueNegatives"])
def test_counts_are_kept_in_accumulators(name):
    metric = getattr(tf.keras.metrics, name)()
    metric.update_state([1.0], [1.0])
    assert [variable.name for variable in metric.variables] == ["accumulator"]


@pytest.mark.parametrize("name", ["mixed_bfloat16", "bfloat16", "float64"])
def test_counts_are_float32_whatever_the_dtype(name):
    recall, area = tf.keras.metrics.Recall(dtype=name), tf.keras.metrics.AUC(dtype=name)
    assert recall.dtype == area.dtype == name.removeprefix("mixed_")
    for metric in (recall, area):
        result = metric([0, 1, 1], [0.0, 1.0, 0.2])
        assert {str(variable.dtype) for variable in metric.variables} <= {"float32", "<dtype: 'float32'>", "tf.float32"}
        assert result.dtype == "float32"
    assert float(recall.result()) == 0.5 and recall.get_config() == {
        "name": recall.name, "dtype": name.removeprefix("mixed_"), "thresholds": None, "top_k": None, "class_id": None}
    assert tf.keras.metrics.Mean(dtype="mixed_float16")([1.0, 2.0]).dtype == "float16"


def test_top_k_from_sorted_ids():
    labels, ids = [2, 0, 1], [[1, 2, 0], [2, 1, 0], [1, 0, 2]]
    for convert in (list, np.array, lambda x: np.array(x, "float32")):
        metric = tf.keras.metrics.SparseTopKCategoricalAccuracy(k=2, from_sorted_ids=True)
        assert float(metric(convert(labels), convert(ids))) == pytest.approx(2 / 3)
    assert metric.get_config() == {"name": "sparse_top_k_categorical_accuracy", "dtype": "float32", "k": 2,
                                   "from_sorted_ids": True}
    found = tf.keras.metrics.sparse_top_k_categorical_accuracy(labels, ids, k=2, from_sorted_ids=True)
    assert np.asarray(found).tolist() == [1, 0, 1]
    many = tf.keras.metrics.SparseTopKCategoricalAccuracy(k=9, from_sorted_ids=True)
    assert float(many([[2], [7], [1]], ids)) == pytest.approx(2 / 3)  # k beyond what there is, labels as a column


def test_metrics_in_checkpoints(tmp_path):
    saved, fresh = tf.keras.metrics.Mean(), tf.keras.metrics.Mean()
    saved.update_state([1.0, 2.0, 6.0])
    path = tf.train.Checkpoint(b=saved).save(str(tmp_path / "c"))
    tf.train.Checkpoint(b=fresh).restore(path).assert_consumed()
    assert float(fresh.result()) == 3.0
    fresh.update_state([7.0])
    assert float(fresh.result()) == 4.0
