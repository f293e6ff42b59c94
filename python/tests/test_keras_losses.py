"""Losses and metrics of leat.keras: masks, functions, names. Numbers were recorded from Keras 3.15."""

import numpy as np
import pytest

import leat as tf
from leat import keras

LABELS = np.array([[1, 0, 2], [0, 1, 1]], np.int32)
LOGITS = np.arange(18, dtype=np.float32).reshape(2, 3, 3) % 5 / 3
WEIGHTS = np.array([[1, 2, 3], [.5, .25, 4]], np.float32)
MASK = np.array([[True, False, True], [True, True, False]])
MASKED = {  # (reduction, weighted, ignored class) -> the loss
    ("sum_over_batch_size", False, None): 0.8905219435691833, ("sum_over_batch_size", False, 0): 1.0242007970809937,
    ("sum_over_batch_size", True, None): 1.0174545049667358, ("sum_over_batch_size", True, 0): 1.2750251293182373,
    ("sum", False, None): 3.5620877742767334, ("sum", False, 0): 3.0726022720336914,
    ("sum", True, None): 4.069818019866943, ("sum", True, 0): 3.825075387954712,
    ("mean", True, 0): 1.2750251293182373, ("mean_with_sample_weight", False, None): 0.8905219435691833,
    ("mean_with_sample_weight", True, None): 0.8568037748336792,
    ("mean_with_sample_weight", True, 0): 0.9000177383422852,
    ("none", True, 0): [[1.1353118419647217, 0.0, 2.405935525894165], [0.0, 0.2838279604911804, 0.0]]}


def masked():
    predictions = tf.constant(LOGITS)
    predictions._keras_mask = tf.constant(MASK)
    return predictions


@pytest.mark.parametrize("key", MASKED)
@pytest.mark.parametrize("is_traced", [False, True])
def test_masks_of_predictions(key, is_traced):
    reduction, weighted, ignored = key
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction, ignore_class=ignored)
    weights = WEIGHTS if weighted else None
    if is_traced:
        def run(logits, mask):
            logits = tf.identity(logits)
            logits._keras_mask = mask
            return loss(LABELS, logits, sample_weight=weights)
        found = tf.function(run)(LOGITS, MASK)
    else:
        found = loss(LABELS, masked(), sample_weight=weights)
    np.testing.assert_allclose(found, MASKED[key], rtol=1e-6)


def test_masks_in_losses_of_ones_own_and_in_metrics():
    class Own(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.square(y_pred - y_true[..., None]), -1)
    assert float(Own()(LABELS, masked())) == pytest.approx(0.7685185, rel=1e-6)
    assert float(Own(reduction="mean_with_sample_weight")(LABELS, masked(), WEIGHTS)) == pytest.approx(1.3489279)
    metric = keras.metrics.SparseCategoricalAccuracy()
    metric.update_state(LABELS, masked())
    assert float(metric.result()) == 0.5
    metric.update_state(LABELS, masked(), WEIGHTS)
    assert float(metric.result()) == pytest.approx(0.62857139)
    wrapped = keras.metrics.MeanMetricWrapper(lambda y_true, y_pred: tf.reduce_mean(y_pred, -1))
    wrapped.update_state(LABELS, masked())
    wrapped.update_state(LABELS, masked(), WEIGHTS)
    assert float(wrapped.result()) == pytest.approx(0.61904758)


def test_a_mask_goes_with_its_tensor():
    tensor = masked()
    assert tensor._keras_mask.numpy().tolist() == MASK.tolist()
    assert tf.constant(LOGITS)._keras_mask is None
    del tensor
    assert not tf._core.tensor._masks


def test_functions_of_metrics():
    one_hot = [[0, 1, 0], [0, 0, 1]]
    scores = [[0.1, 0.5, 0.4], [0.6, 0.3, 0.1]]
    assert keras.metrics.categorical_accuracy(one_hot, scores).numpy().tolist() == [1, 0]
    assert keras.metrics.sparse_categorical_accuracy([1, 2], scores).numpy().tolist() == [1, 0]
    assert keras.metrics.top_k_categorical_accuracy(one_hot, scores, k=2).numpy().tolist() == [1, 0]
    assert keras.metrics.sparse_top_k_categorical_accuracy([1, 2], scores, 3).numpy().tolist() == [1, 1]
    assert keras.metrics.binary_accuracy([[1.], [0.]], [[0.4], [0.4]], threshold=0.3).numpy().tolist() == [[1], [0]]
    np.testing.assert_allclose(keras.metrics.pearson_correlation([[0, 1, 0.5], [1, 1, 0.2]],
                                                                 [[0.1, 0.9, 0.5], [1, 0.9, 0.2]], axis=-1),
                               [1, 0.99339927], rtol=1e-5)
    np.testing.assert_allclose(keras.metrics.concordance_correlation([[0, 1, 0.5], [1, 1, 0.2]],
                                                                     [[0.1, 0.9, 0.5], [1, 0.9, 0.2]], axis=-1),
                               [0.97560976, 0.98765432], rtol=1e-5)
    np.testing.assert_allclose(keras.metrics.categorical_focal_crossentropy(
        [[0, 1, 0], [0, 0, 1]], [[0.05, 0.9, 0.05], [0.1, 0.85, 0.05]]), [2.63401289e-04, 6.75912094e-01], rtol=1e-4)


def test_counts_of_iou_are_integers():
    metric = keras.metrics.MeanIoU(num_classes=3)
    assert metric.dtype == "int64" and metric.total_cm.dtype == tf.int64
    metric.update_state([0, 1, 2, 2], [0, 1, 1, 2], sample_weight=[1, 1, 1, 2])
    assert metric.total_cm.numpy().tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 2]]
    again = keras.metrics.deserialize(keras.metrics.serialize(metric))
    assert again.num_classes == 3 and again.dtype == "int64"
    with pytest.raises(ValueError, match=r"\b3\b"):
        keras.metrics.IoU(num_classes=3, target_class_ids=[3])


def test_wrong_shapes_of_scores_are_named():
    with pytest.raises(ValueError, match="F1Score"):
        keras.metrics.F1Score().update_state([1., 0.], [0.5, 0.5])
    with pytest.raises(ValueError, match="q"):
        keras.losses.CategoricalGeneralizedCrossEntropy(q=1.0)


def test_metrics_in_another_dtype():
    metric = keras.metrics.Mean(dtype="float64")
    metric.update_state(np.full(10, 0.1))
    assert metric.result().dtype == tf.float64 and float(metric.result()) == pytest.approx(0.1, abs=1e-16)
    recall = keras.metrics.Recall(dtype="float64")
    recall.update_state([1, 0, 1], [1, 0, 0])
    assert float(recall.result()) == 0.5


def test_short_names_are_keras():
    assert keras.metrics.get("mape").name == "mean_absolute_percentage_error"
    assert keras.metrics.get("MSLE").name == "mean_squared_logarithmic_error"
    assert keras.metrics.LogCoshError().name == "logcosh"
    assert type(keras.regularizers.get("l1l2")) is keras.regularizers.L1L2
    with pytest.raises(ValueError, match="`weight_decay`"):
        keras.optimizers.AdamW(weight_decay=None)


def test_metrics_of_several_numbers_in_fit():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
    model.compile("sgd", keras.losses.CategoricalFocalCrossentropy(),
                  metrics=[keras.metrics.F1Score(), keras.metrics.OneHotMeanIoU(3), "categorical_accuracy",
                           keras.metrics.top_k_categorical_accuracy])
    x, y = np.random.default_rng(0).normal(size=(12, 4)), np.eye(3)[np.arange(12) % 3]
    history = model.fit(x.astype(np.float32), y.astype(np.float32), epochs=2, verbose=0).history
    assert np.shape(history["f1_score"]) == (2, 3)
    assert set(history) == {"loss", "f1_score", "one_hot_mean_io_u", "categorical_accuracy",
                            "top_k_categorical_accuracy"}
    assert history["top_k_categorical_accuracy"] == [1, 1]


NAMES = {
    "losses": (
        "BinaryCrossentropy BinaryFocalCrossentropy CTC CategoricalCrossentropy CategoricalFocalCrossentropy "
        "CategoricalGeneralizedCrossEntropy CategoricalHinge Circle CosineSimilarity Dice Hinge Huber "
        "KLDivergence LogCosh Loss MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError "
        "MeanSquaredLogarithmicError Poisson SparseCategoricalCrossentropy SquaredHinge Tversky "
        "binary_crossentropy binary_focal_crossentropy categorical_crossentropy categorical_focal_crossentropy "
        "categorical_generalized_cross_entropy categorical_hinge circle cosine_similarity ctc deserialize dice "
        "get hinge huber kl_divergence log_cosh mean_absolute_error mean_absolute_percentage_error "
        "mean_squared_error mean_squared_logarithmic_error poisson serialize sparse_categorical_crossentropy "
        "squared_hinge tversky"),
    "metrics": (
        "AUC Accuracy BinaryAccuracy BinaryCrossentropy BinaryIoU CategoricalAccuracy CategoricalCrossentropy "
        "CategoricalHinge ConcordanceCorrelation CosineSimilarity F1Score FBetaScore FalseNegatives "
        "FalsePositives Hinge IoU KLDivergence LogCoshError Mean MeanAbsoluteError MeanAbsolutePercentageError "
        "MeanIoU MeanMetricWrapper MeanSquaredError MeanSquaredLogarithmicError Metric OneHotIoU OneHotMeanIoU "
        "PearsonCorrelation Poisson Precision PrecisionAtRecall R2Score Recall RecallAtPrecision "
        "RootMeanSquaredError SensitivityAtSpecificity SparseCategoricalAccuracy SparseCategoricalCrossentropy "
        "SparseTopKCategoricalAccuracy SpecificityAtSensitivity SquaredHinge Sum TopKCategoricalAccuracy "
        "TrueNegatives TruePositives binary_accuracy binary_crossentropy binary_focal_crossentropy "
        "categorical_accuracy categorical_crossentropy categorical_focal_crossentropy categorical_hinge "
        "concordance_correlation deserialize get hinge huber kl_divergence log_cosh mean_absolute_error "
        "mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error pearson_correlation "
        "poisson serialize sparse_categorical_accuracy sparse_categorical_crossentropy "
        "sparse_top_k_categorical_accuracy squared_hinge top_k_categorical_accuracy"),
    "optimizers": (
        "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lamb Lion LossScaleOptimizer MultiOptimizer Muon Nadam "
        "Optimizer OptimizerMap RMSprop SGD ScheduleFreeAdamW deserialize get legacy schedules serialize"),
    "optimizers.schedules": (
        "CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay LearningRateSchedule "
        "PiecewiseConstantDecay PolynomialDecay deserialize serialize"),
    "regularizers": (
        "L1 L1L2 L2 OrthogonalRegularizer Regularizer deserialize get l1 l1_l2 l2 orthogonal_regularizer "
        "serialize"),
    "constraints": (
        "Constraint MaxNorm MinMaxNorm NonNeg UnitNorm deserialize get max_norm min_max_norm non_neg serialize "
        "unit_norm"),
}
LATER = {"optimizers.legacy"}  # of Keras 2


@pytest.mark.parametrize("module", NAMES)
def test_every_name_of_keras_is_there(module):
    found = keras
    for part in module.split("."):
        found = getattr(found, part)
    missing = [name for name in NAMES[module].split() if not hasattr(found, name) and f"{module}.{name}" not in LATER]
    assert missing == []


@pytest.mark.parametrize("from_logits, expected", [(False, [1.25642943, 0.7620433]), (True, [1.17530405, 0.93820769])])
def test_classes_in_the_last_dimension_by_its_number(from_logits, expected):
    predictions = np.array([[0.63696170, 0.26978671, 0.04097353], [0.01652764, 0.81327021, 0.91275555]], np.float32)
    for axis in (1, -1):
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits, axis=axis, reduction=None)
        np.testing.assert_allclose(loss(np.array([1, 1]), predictions), expected, 1e-5)
    with pytest.raises(ValueError, match="axis"):
        keras.losses.SparseCategoricalCrossentropy(axis=1)(np.zeros([2, 3], int), np.ones([2, 3, 4], np.float32))
