"""``keras.distillation`` beside Keras 3.15, whose numbers these are."""

import numpy as np
import pytest

from leat import keras

X = np.random.default_rng(0).normal(size=(16, 4)).astype("f")
Y = np.random.default_rng(1).integers(0, 3, 16)


def models():
    keras.utils.set_random_seed(3)
    return [keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu", name=name),
                              keras.layers.Dense(3)]) for name in "ab"]


def test_a_student_learns(tmp_path):
    parts = keras.distillation
    made = parts.Distiller(
        *models(), [parts.LogitsDistillation(2.0), parts.FeatureDistillation("mse", "a", "b"),
                    parts.LogitsDistillation(2.0, "mse")], [1.0, 0.5, 0.3], student_loss_weight=0.4)
    made.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                 metrics=["accuracy"])
    before = made.teacher.get_weights()
    history = made.fit(X, Y, epochs=2, batch_size=8, shuffle=False, verbose=0).history
    expected = {"accuracy": [0.3125, 0.375], "distillation_loss": [7.1044, 7.09568], "loss": [4.71604, 4.70123],
                "student_loss": [1.13351, 1.10955], "total_loss": [4.71604, 4.70123]}
    assert set(history) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(history[name], values, atol=2e-5)
    found = made.evaluate(X, Y, verbose=0, return_dict=True)
    assert abs(found["distillation_loss"] - 7.08935) < 2e-5 and abs(found["loss"] - 4.68969) < 2e-5
    np.testing.assert_allclose(made.predict(X[:1], verbose=0), [[-0.14823, -0.09781, -0.12707]], atol=2e-5)
    assert all(map(np.array_equal, made.teacher.get_weights(), before)) and len(made.trainable_variables) == 4
    made.save(tmp_path / "both.keras")
    again = keras.models.load_model(tmp_path / "both.keras")
    np.testing.assert_array_equal(again.predict(X, verbose=0), made.predict(X, verbose=0))
    assert again.distillation_losses[1].teacher_layer_name == "a" and again.student_loss_weight == 0.4


def test_divergences_of_probabilities():
    loss = keras.distillation.LogitsDistillation(2.0, keras.losses.KLDivergence())
    teacher, student = np.array([[1.0, 2.0, 4.0]], "f"), np.array([[2.0, 2.0, 1.0]], "f")
    p, q = (np.exp(one / 2) / np.exp(one / 2).sum() for one in (teacher, student))
    assert abs(float(loss.compute_loss(teacher, student)) - 4 * (p * np.log(p / q)).sum()) < 1e-5
    several = keras.distillation.FeatureDistillation(["mse", None])
    assert float(several.compute_loss([teacher, teacher], [student, student])) == pytest.approx(10 / 3)


@pytest.mark.parametrize("make, word", [
    (lambda parts, two: parts.LogitsDistillation(0), "positive"),
    (lambda parts, two: parts.LogitsDistillation(loss=None), "non-`None`"),
    (lambda parts, two: parts.Distiller(two[0], "student", parts.LogitsDistillation()), "Student"),
    (lambda parts, two: parts.Distiller(*two, None), "None"),
    (lambda parts, two: parts.Distiller(*two, [parts.LogitsDistillation()], [1, 2]), "Number"),
    (lambda parts, two: parts.Distiller(*two, parts.LogitsDistillation(), student_loss_weight=2), "between"),
    (lambda parts, two: parts.Distiller(*two, parts.FeatureDistillation("mse", "none", "b")), "teacher"),
    (lambda parts, two: parts.Distiller(two[0], keras.Sequential([keras.Input((5,)), keras.layers.Dense(3)]),
                                        parts.LogitsDistillation()), "incompatible"),
    (lambda parts, two: parts.Distiller(*two, parts.LogitsDistillation()).compile(), "loss"),
])
def test_what_is_refused(make, word):
    with pytest.raises(ValueError, match=word):
        make(keras.distillation, models())
