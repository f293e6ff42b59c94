"""The layers that change pictures: when they do, what they draw, and how they stand in datasets, models and strategies.

What they compute is compared with Keras in test_nn_golden.
"""

import numpy as np
import pytest

import leat as tf

if len(tf.config.list_logical_devices("CPU")) < 2:
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                               [tf.config.LogicalDeviceConfiguration()] * 2)
layers = tf.keras.layers
PICTURES = np.random.default_rng(3).integers(0, 256, (6, 8, 7, 3)).astype(np.uint8)


def test_they_change_pictures_unless_told_that_it_is_inference():
    x = PICTURES.astype(np.float32)
    flip = layers.RandomFlip("horizontal", seed=5)
    np.testing.assert_array_equal(flip(x, training=False), x)
    first = flip(x).numpy()
    mirrored = [np.array_equal(found, row[:, ::-1]) for found, row in zip(first, x)]
    assert any(mirrored) and not all(mirrored)
    assert all(np.array_equal(found, row[:, ::-1] if turned else row) for found, row, turned in zip(first, x, mirrored))
    assert (flip(x).numpy() != first).any() and flip.weights == []
    flip.seed_generator.state.assign([5, 0])
    np.testing.assert_array_equal(flip(x, training=True), first)
    model = tf.keras.Sequential([layers.RandomFlip(seed=1), layers.RandomCrop(4, 4)])
    np.testing.assert_array_equal(model.predict(x, verbose=0), x)


@pytest.mark.parametrize("rank", [3, 4])
def test_they_stand_in_datasets(rank):
    def draw():
        layer = tf.keras.Sequential([layers.RandomRotation(0.2, seed=2), layers.RandomCrop(6, 6, seed=3)])
        rows = tf.data.Dataset.from_tensor_slices(PICTURES)
        rows = rows.map(layer) if rank == 3 else rows.batch(3).map(lambda x: layer(x, training=True))
        return rows.element_spec, [np.concatenate([row.numpy() for row in rows]) for _ in range(2)]
    spec, (first, second) = draw()
    assert spec.dtype is tf.float32 and spec.shape.as_list()[-3:] == [6, 6, 3]
    assert (first != second).any()
    np.testing.assert_array_equal(draw()[1], [first, second])


def test_unknown_sizes_are_found_in_the_run():
    spec = tf.TensorSpec((None, None, None, 3), tf.float32)
    x = PICTURES.astype(np.float32)
    for make in (lambda: layers.RandomZoom(0.4, seed=1), lambda: layers.RandomErasing([1, 1], seed=1),
                 lambda: layers.RandomTranslation(0.4, 0.2, seed=1), lambda: layers.RandomContrast(0.4, seed=1),
                 lambda: layers.Resizing(3, 4), lambda: layers.CenterCrop(3, 4)):
        layer = make()
        np.testing.assert_array_equal(tf.function(lambda x: layer(x), input_signature=[spec])(x), make()(x))
    with pytest.raises(ValueError, match="height and width of the pictures must be known"):
        tf.function(layers.RandomCrop(3, 3), input_signature=[spec])(x)
    with pytest.raises(ValueError, match="keeping proportions needs them"):
        tf.function(layers.Resizing(3, 3, crop_to_aspect_ratio=True), input_signature=[spec])(x)


def test_resizing_keeps_integers_outside_of_functions():
    whole = layers.Resizing(4, 5)(PICTURES)
    assert whole.dtype is tf.uint8
    inside = next(iter(tf.data.Dataset.from_tensors(PICTURES).map(layers.Resizing(4, 5))))
    assert inside.dtype is tf.float32
    np.testing.assert_array_equal(whole, np.rint(inside))


def test_replicas_draw_numbers_of_their_own():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        layer = layers.RandomBrightness(0.5, value_range=(-9, 9), seed=3)
    dataset = tf.data.Dataset.from_tensors(np.zeros((4, 2, 2, 3), "f"))
    rows = next(iter(strategy.experimental_distribute_dataset(dataset)))
    found = [part.numpy() for part in strategy.run(lambda x: layer(x, training=True), (rows,)).values]
    assert found[0].shape == found[1].shape and (found[0] != found[1]).any()


@pytest.mark.parametrize("make, text", [
    (lambda: layers.RandomFlip("sideways"), "mode is \"sideways\""),
    (lambda: layers.RandomRotation(2.0), "factor is 2; expected -1 to 1"),
    (lambda: layers.RandomTranslation(0.1, 1.5), "width_factor is 1.5"),
    (lambda: layers.RandomZoom(-1.0), "height_factor is -1"),
    (lambda: layers.RandomShear(x_factor=-0.1), "x_factor is -0.1; expected 0 to 1"),
    (lambda: layers.RandomContrast((0.1, 0.2, 0.3)), "factor has 3 numbers"),
    (lambda: layers.RandomHue(0.1, value_range=(1,)), "value_range has 1 numbers"),
    (lambda: layers.RandomRotation(0.1, fill_mode="mirror"), "fill_mode is \"mirror\""),
    (lambda: layers.RandomZoom(0.1, interpolation="cubic"), "interpolation is \"cubic\""),
    (lambda: layers.RandomGaussianBlur(kernel_size=4), "kernel_size is 4; expected an odd number"),
    (lambda: layers.RandomErasing(fill_value=(1, 2)), "fill_value has 2 numbers"),
    (lambda: layers.Resizing(2, 2, crop_to_aspect_ratio=True, pad_to_aspect_ratio=True), "only one of"),
    (lambda: layers.Resizing(2, 2, interpolation="sharp"), "method is \"sharp\""),
    (lambda: layers.RandomFlip(data_format="channels_first"), "channels last"),
    (lambda: layers.RandomFlip()(np.zeros((2, 3), "f")), "expected min_ndim=3"),
    (lambda: layers.RandomFlip()(np.zeros((2, 3, 4, 5, 1), "f")), "expected one picture"),
])
def test_refusals_name_what_is_wrong(make, text):
    with pytest.raises(ValueError, match=text):
        make()
