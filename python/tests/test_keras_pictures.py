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
    with pytest.raises(ValueError, match="height"):
        tf.function(layers.RandomCrop(3, 3), input_signature=[spec])(x)
    with pytest.raises(ValueError, match="proportions"):
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
    found = [part.numpy() for part in strategy.run(tf.function(lambda x: layer(x, training=True)), (rows,)).values]
    assert found[0].shape == found[1].shape and (found[0] != found[1]).any()


RAMP = (np.arange(3 * 4 * 5) % 251).reshape(3, 4, 5, 1).astype(np.float32)
CLASSES = (np.arange(2 * 4 * 5).reshape(2, 4, 5, 1) % 3).astype(np.uint8)


@pytest.mark.parametrize("make, expected", [  # of Keras 3.15: two calls
    (lambda: layers.MixUp(seed=11), [
        [[0.31973091, 0.68026912, 0], [0.3059836, 0.6940164, 0], [0, 0, 1]],
        [[0.05194665, 0.94805336, 0], [0, 0.05625805, 0.94374198], [0.01170713, 0, 0.98829287]]]),
    (lambda: layers.CutMix(factor=(1, 1), seed=11), [
        [[0.36928654, 0, 0.63071346], [0, 1, 0], [0.70681489, 0, 0.29318511]],
        [[0.83317971, 0.16682029, 0], [0, 0.27473474, 0.72526527], [0.18191373, 0, 0.81808627]]]),
])
@pytest.mark.parametrize("is_traced", [False, True])
def test_labels_are_mixed_as_their_pictures_are(make, expected, is_traced):
    layer, alone = make(), make()
    call = tf.function(layer) if is_traced else layer
    for labels in expected:
        found = call({"images": RAMP, "labels": np.eye(3, dtype="f"), "name": np.int32(7)})
        np.testing.assert_allclose(found["labels"], labels, atol=1e-6)
        np.testing.assert_array_equal(found["images"], alone(RAMP))
        assert found["name"].numpy() == 7
    given = {"images": RAMP, "labels": np.eye(3, dtype="f")}
    found = layer(given, training=False)
    assert all(np.array_equal(found[key], given[key]) for key in given)
    picture = make()({"images": RAMP[0], "labels": np.array([0, 1, 0], "f")})
    np.testing.assert_allclose(picture["labels"], [0, 1, 0], atol=1e-6)
    np.testing.assert_allclose(picture["images"], RAMP[0], atol=1e-4)


@pytest.mark.parametrize("make, expected", [  # of Keras 3.15
    (lambda: layers.RandomRotation(0.3, seed=4), "1120000122220111120022110110020221121100"),
    (lambda: layers.RandomFlip(seed=4), "0120120120120120120120120120120120120120"),
    (lambda: layers.RandomTranslation(0.4, 0.4, seed=4, fill_mode="constant"),
     "1201001200201201201000000012002012012010"),
    (lambda: layers.RandomPerspective(factor=(1, 1), scale=0.5, seed=4), "0101120120020120120120100120120120120120"),
    (lambda: layers.Resizing(3, 3), "021102021210021210"),
    (lambda: layers.RandomCrop(2, 3, seed=4), "201120120012"),
])
def test_masks_are_moved_as_their_pictures_are(make, expected):
    found = make()({"images": RAMP[:2], "segmentation_masks": CLASSES})["segmentation_masks"]
    assert "".join(str(int(value)) for value in found.numpy().ravel()) == expected


@pytest.mark.parametrize("make", [
    lambda: layers.RandomFlip(seed=2), lambda: layers.RandomRotation(0.5, interpolation="nearest", seed=2),
    lambda: layers.RandomZoom(0.4, interpolation="nearest", seed=2), lambda: layers.RandomCrop(3, 4, seed=2),
    lambda: layers.RandomShear(0.7, 0.4, interpolation="nearest", seed=2), lambda: layers.CenterCrop(2, 3),
    lambda: layers.RandomElasticTransform((1, 1), (1, 1), interpolation="nearest", seed=2),
    lambda: layers.RandomPerspective((1, 1), interpolation="nearest", seed=2), lambda: layers.MixUp(seed=2),
    lambda: layers.CutMix(seed=2), lambda: layers.Resizing(3, 3, interpolation="nearest")])
@pytest.mark.parametrize("training", [True, False])
def test_a_mask_that_is_the_picture_stays_the_picture(make, training):
    x = np.random.default_rng(5).uniform(0, 255, (4, 21, 22, 2)).astype(np.float32)
    layer = make()
    for _ in range(2):
        found = layer({"images": x, "segmentation_masks": x}, training=training)
        np.testing.assert_array_equal(found["images"], found["segmentation_masks"])
    if training and not isinstance(layer, (layers.CenterCrop, layers.Resizing)):
        assert found["images"].shape != x.shape or (found["images"].numpy() != x).any()


def test_colours_leave_masks_alone_and_policies_move_them():
    mask = (RAMP[:2] % 4).astype(np.uint8)
    for layer in (layers.RandomBrightness(0.5), layers.RandomInvert(), layers.Solarization(0.3, 0.4),
                  layers.RandomErasing(), layers.Equalization(), layers.AutoContrast()):
        found = layer({"images": RAMP[:2], "segmentation_masks": mask})["segmentation_masks"]
        np.testing.assert_array_equal(found, mask)
    np.testing.assert_array_equal(layers.RandAugment(num_ops=0)(RAMP), RAMP)
    layer, seen = layers.RandAugment(num_ops=4, factor=1.0, seed=3), set()
    for _ in range(6):
        found = layer({"images": RAMP[:2], "segmentation_masks": mask})["segmentation_masks"].numpy()
        assert found.dtype == np.uint8 and set(np.unique(found)) <= {0, 1, 2, 3}
        seen.add(found.tobytes())
    assert len(seen) > 2


def test_boxes_stay_where_pixels_do():
    boxes = {"boxes": np.array([[[0, 0, 2, 2]]] * 3, "f"), "labels": np.ones((3, 1), "f")}
    layer = layers.RandomBrightness(0.5, bounding_box_format="xyxy", seed=1)
    found = layer({"images": RAMP, "bounding_boxes": boxes})["bounding_boxes"]
    assert all(np.array_equal(found[key], boxes[key]) for key in boxes)
    assert layer.get_config()["bounding_box_format"] == "xyxy"
    with pytest.raises(ValueError, match="`bounding_box_format`"):
        layers.RandomBrightness(0.5)({"images": RAMP, "bounding_boxes": boxes})
    with pytest.raises(NotImplementedError, match="'random_elastic"):
        layers.RandomElasticTransform(bounding_box_format="xyxy")({"images": RAMP, "bounding_boxes": boxes})


def test_dictionaries_stand_in_datasets():
    rows = tf.data.Dataset.from_tensors({"images": RAMP, "labels": np.eye(3, dtype="f"), "segmentation_masks": RAMP})
    rows = rows.repeat(2).map(layers.CutMix(seed=1)).map(layers.RandomFlip(seed=2))
    first, second = rows.as_numpy_iterator()
    for found in (first, second):
        np.testing.assert_array_equal(found["images"], found["segmentation_masks"])
        np.testing.assert_allclose(found["labels"].sum(-1), 1, atol=1e-6)
    assert (first["images"] != second["images"]).any()


@pytest.mark.parametrize("make", [
    lambda **k: layers.RandomRotation(0.3, seed=4, **k), lambda **k: layers.RandomCrop(4, 3, seed=4, **k),
    lambda **k: layers.RandomBrightness(0.3, seed=4, **k), lambda **k: layers.Resizing(3, 9, **k),
    lambda **k: layers.Equalization(**k), lambda **k: layers.CutMix(seed=4, **k),
    lambda **k: layers.Solarization(0.5, seed=4, **k)])
def test_channels_may_come_first(make):
    x = np.random.default_rng(1).uniform(0, 255, (3, 6, 7, 2)).astype(np.float32)
    data = {"images": x, "labels": np.eye(3, dtype="f"), "segmentation_masks": x[..., :1]}
    first = {**data, "images": np.moveaxis(x, -1, 1), "segmentation_masks": np.moveaxis(x[..., :1], -1, 1)}
    layer = make(data_format="channels_first")
    expected, found = make()(data), layer(first)
    for key in ("images", "segmentation_masks"):
        np.testing.assert_array_equal(np.moveaxis(found[key].numpy(), 1, -1), expected[key])
    np.testing.assert_array_equal(found["labels"], expected["labels"])
    config = layer.get_config()
    assert config["data_format"] == "channels_first" and make().get_config()["data_format"] == "channels_last"
    again = type(layer).from_config(config)
    assert again.data_format == "channels_first"
    assert again(np.moveaxis(x[0], -1, 0)).shape == found["images"].shape[1:]


def test_equal_values_everywhere_stay():
    flat = np.full((2, 9, 8, 3), 37, np.float32)
    np.testing.assert_array_equal(layers.Equalization()(flat), flat)
    clahe = layers.ContrastLimitedAdaptiveHistogramEqualization(clip_limit=2, tile_grid_size=3)
    assert np.ptp(clahe(flat)) == 0 and clahe(flat.astype(np.uint8)).dtype is tf.uint8


def test_histograms_are_flattened():
    x = (np.random.default_rng(1).beta(2, 9, (1, 40, 50, 2)) * 255).astype(np.float32)
    found = np.sort(layers.Equalization()(x).numpy(), axis=None)
    np.testing.assert_allclose(found, np.linspace(0, 255, found.size), atol=9)
    assert np.sort(x, axis=None)[-100] < 170


@pytest.mark.parametrize("make, text", [
    (lambda: layers.MixUp(alpha=0.0), "alpha"),
    (lambda: layers.CutMix(factor=1.5), "factor=1.5"),
    (lambda: layers.RandAugment(factor=-0.5), "factor=-0.5"),
    (lambda: layers.RandAugment()(np.zeros((1, 4, 4, 2), "f")), "channels"),
    (lambda: layers.RandomPosterization(9), "factor=9"),
    (lambda: layers.RandomPerspective(scale=1.5), "scale=1.5"),
    (lambda: layers.RandomElasticTransform(scale=2.0), "scale=2"),
    (lambda: layers.Equalization(bins=0), "bins=0"),
    (lambda: layers.ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(2, 3, 4)), r"\b3\b"),
    (lambda: layers.ContrastLimitedAdaptiveHistogramEqualization()(np.zeros((3, 3, 1), "f")), "tile_grid_size"),
    (lambda: layers.RandomFlip()({"labels": RAMP}), "'images'"),
    (lambda: layers.RandomFlip(bounding_box_format="cxcywh"), "bounding_box_format=cxcywh"),
    (lambda: layers.MixUp()({"images": RAMP, "labels": np.zeros((2, 4), "f")}), "labels"),
    (lambda: layers.RandomFlip("sideways"), '"sideways"'),
    (lambda: layers.RandomRotation(2.0), "factor=2"),
    (lambda: layers.RandomTranslation(0.1, 1.5), "width_factor=1.5"),
    (lambda: layers.RandomZoom(-1.0), "height_factor=-1"),
    (lambda: layers.RandomShear(x_factor=-0.1), "x_factor=-0.1"),
    (lambda: layers.RandomContrast((0.1, 0.2, 0.3)), r"\b3\b"),
    (lambda: layers.RandomHue(0.1, value_range=(1,)), "`value_range`"),
    (lambda: layers.RandomRotation(0.1, fill_mode="mirror"), '"mirror"'),
    (lambda: layers.RandomZoom(0.1, interpolation="cubic"), '"cubic"'),
    (lambda: layers.RandomGaussianBlur(kernel_size=4), "kernel_size"),
    (lambda: layers.RandomErasing(fill_value=(1, 2)), "fill_value"),
    (lambda: layers.Resizing(2, 2, crop_to_aspect_ratio=True, pad_to_aspect_ratio=True), "crop_to_aspect_ratio"),
    (lambda: layers.Resizing(2, 2, interpolation="sharp"), '"sharp"'),
    (lambda: layers.RandomFlip(data_format="channels_middle"), "channels_middle"),
    (lambda: layers.RandomFlip()(np.zeros((2, 3), "f")), "rank"),
    (lambda: layers.RandomFlip()(np.zeros((2, 3, 4, 5, 1), "f")), "rank"),
])
def test_refusals_name_what_is_wrong(make, text):
    with pytest.raises(ValueError, match=text):
        make()
