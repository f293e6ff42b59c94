"""leat.image: pictures in Python, in traced functions without callbacks, and gradients.

Values are those of the tables' cases (tests/conform/ops); here is what Python adds. The gradients are TensorFlow
2.21's, recorded by calling the same functions there.
"""
import struct
import zlib

import numpy as np
import pytest

import leat as tf

PICTURE = np.array([[[0.1, 0.5, 0.9], [0.3, 0.2, 0.7]], [[0.6, 0.4, 0.8], [0.25, 0.75, 0.5]]], np.float32)
GRADIENTS = {
    "adjust_brightness": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
    "adjust_gamma": [0.1, 1.0, 2.7, 1.2, 1.0, 4.2, 4.2, 3.2, 7.2, 2.5, 8.25, 6.0],
    "rgb_to_grayscale": [0.2989, 0.587, 0.114, 0.5978, 1.174, 0.228, 0.8967, 1.761, 0.342, 1.1956, 2.348, 0.456],
    "rgb_to_yuv": [1.84964, -1.53563, 0.68599, 4.15015, -2.18614, 2.03599,
                   6.45065, -2.83664, 3.38599, 8.75115, -3.48714, 4.73599],
    "yiq_to_rgb": [6.0, -2.90826, 4.43911, 15.0, -4.17656, 9.47266, 24.0, -5.44486, 14.50622, 33.0, -6.71316, 19.53977],
    "resize": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
    "central_crop": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
    "rot90": [7.0, 8.0, 9.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 4.0, 5.0, 6.0],
}
FUNCTIONS = {
    "adjust_brightness": lambda t: tf.image.adjust_brightness(t, 0.1),
    "adjust_gamma": lambda t: tf.image.adjust_gamma(t, 2.0, 0.5),
    "rgb_to_grayscale": tf.image.rgb_to_grayscale,
    "rgb_to_yuv": tf.image.rgb_to_yuv,
    "yiq_to_rgb": tf.image.yiq_to_rgb,
    "resize": lambda t: tf.image.resize(t, [2, 2], "bicubic"),
    "central_crop": lambda t: tf.image.central_crop(t, 1.0),
    "rot90": tf.image.rot90,
}


@pytest.fixture
def traced(monkeypatch):
    """Functions that become callbacks fail."""
    def refuse(function, what, reason):
        raise AssertionError(f"a callback, {what}: {reason}")
    monkeypatch.setattr(tf._graph.trace, "announce", refuse)


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    x = tf.constant(PICTURE)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = FUNCTIONS[name](x)
        weights = np.arange(1, np.prod(y.shape) + 1, dtype=np.float32).reshape(y.shape)
        y = tf.reduce_sum(y * weights)
    np.testing.assert_allclose(tape.gradient(y, x).numpy().reshape(-1), GRADIENTS[name], atol=2e-5)


def augment(image, seed):
    image = tf.image.resize_with_crop_or_pad(image, 6, 6)
    image = tf.image.stateless_random_crop(image, size=[4, 5, 3], seed=seed)
    image = tf.image.stateless_random_flip_left_right(image, seed)
    image = tf.image.stateless_random_brightness(image, 0.2, seed)
    image = tf.image.stateless_random_contrast(image, 0.5, 1.5, seed=seed)
    image = tf.image.stateless_random_saturation(image, 0.5, 1.5, seed)
    image = tf.image.stateless_random_hue(image, 0.1, seed)
    return tf.image.per_image_standardization(tf.image.resize(image, [3, 3], method="lanczos3"))


def test_map_is_traced(traced):
    images = np.arange(5 * 5 * 5 * 3, dtype=np.uint8).reshape(5, 5, 5, 3)
    seeds = np.arange(10, dtype=np.int32).reshape(5, 2)
    dataset = tf.data.Dataset.from_tensor_slices((images, seeds)).map(augment)
    assert dataset.element_spec.shape == (3, 3, 3)
    for image, seed, result in zip(images, seeds, dataset.as_numpy_iterator()):
        np.testing.assert_array_equal(result, augment(tf.constant(image), tf.constant(seed)).numpy())


def test_computed_arguments(traced):
    """Sizes and numbers that the element decides."""
    def function(n):
        image = tf.ones([8, 8, 1])
        image = tf.image.crop_to_bounding_box(image, n, 1, 4, n + 2)
        return tf.image.adjust_brightness(image, tf.cast(n, tf.float32))
    results = list(tf.data.Dataset.range(3).map(function).as_numpy_iterator())
    assert [r.shape for r in results] == [(4, 2, 1), (4, 3, 1), (4, 4, 1)]
    assert [r.flat[0] for r in results] == [1, 2, 3]


def test_boxes():
    begin, size, box = tf.image.stateless_sample_distorted_bounding_box(
        [40, 50, 3], tf.zeros([1, 0, 4]), seed=(1, 2), use_image_if_no_bounding_boxes=True)
    assert begin.dtype is tf.int32 and size.numpy()[2] == -1 and box.shape == (1, 1, 4)
    drawn = tf.image.draw_bounding_boxes(tf.zeros([1, 4, 4, 3]), [[[0.0, 0.0, 1.0, 1.0]]], None)
    np.testing.assert_array_equal(drawn.numpy()[0, :, :, 0], [[1, 1, 1, 1], [1, 0, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1]])


def test_errors():
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="max_delta"):
        tf.image.stateless_random_hue(PICTURE, 0.7, (1, 2))
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="mitchellcubic"):
        tf.image.resize(PICTURE, [2, 2], "sharp")


RANDOM = {
    "random_brightness": lambda t: tf.image.random_brightness(t, 0.3),
    "random_contrast": lambda t: tf.image.random_contrast(t, 0.5, 1.5),
    "random_saturation": lambda t: tf.image.random_saturation(t, 0.5, 1.5, seed=2),
    "random_hue": lambda t: tf.image.random_hue(t, 0.2),
    "random_jpeg_quality": lambda t: tf.image.random_jpeg_quality(t, 20, 80),
    "random_flip_left_right": tf.image.random_flip_left_right,
    "random_flip_up_down": tf.image.random_flip_up_down,
    "random_crop": lambda t: tf.image.random_crop(t, [2, 3, 3]),
    "random_resized_crop": lambda t: tf.image.random_resized_crop(t, [4, 4]),
    "rand_augment": lambda t: tf.image.rand_augment(t, value_range=[0.0, 1.0]),
    "mixup": lambda t: tf.image.mixup(tf.stack([t, 1 - t]), tf.eye(2))[0],
    "cutmix": lambda t: tf.image.cutmix(tf.stack([t, 1 - t]), tf.eye(2), factor=1.0)[0],
    "sample_distorted_bounding_box": lambda t: tf.image.sample_distorted_bounding_box(
        [40, 50, 3], tf.zeros([1, 0, 4]), seed=5, use_image_if_no_bounding_boxes=True)[2],
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_distortions_do_not_depend_on_threads(name, traced):
    """Eight pictures are distorted alike by one call after the other and by several at once."""
    pictures = np.random.RandomState(5).rand(8, 6, 5, 3).astype(np.float32)

    def run(calls):
        tf.random.set_seed(11)
        dataset = tf.data.Dataset.from_tensor_slices(pictures).map(RANDOM[name], num_parallel_calls=calls)
        return [np.asarray(element) for element in dataset]
    expected = run(None)
    tf.random.set_seed(None)
    if name != "random_jpeg_quality":
        assert any(not np.array_equal(one, expected[0]) for one in expected[1:])
    for calls in (1, 2, 8):
        for found, wanted in zip(run(calls), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    tf.random.set_seed(None)


def test_recipes_train_on_batches(traced):
    """mixup after batch: labels stay probabilities, and the weight is that of the pictures."""
    pictures = np.stack([np.full((4, 4, 3), i, np.uint8) for i in range(6)])
    dataset = tf.data.Dataset.from_tensor_slices((pictures, np.eye(6, dtype=np.float32))).batch(3)
    for images, labels in dataset.map(lambda x, y: tf.image.mixup(x, y, alpha=1.0, seed=1)):
        assert images.dtype is tf.float32 and images.shape == (3, 4, 4, 3)
        np.testing.assert_allclose(np.sum(labels, axis=1), np.ones(3), rtol=1e-6)
        np.testing.assert_allclose(np.asarray(labels) @ np.arange(6), np.asarray(images)[:, 0, 0, 0], rtol=1e-5)


@pytest.mark.parametrize("function", [
    lambda t: tf.image.resize(t, [3, 1]), lambda t: tf.image.resize(t, [1, 3], "lanczos3", antialias=True),
    lambda t: tf.image.resize_with_pad(t, 3, 4, method="bicubic")])
def test_second_derivatives_of_sizes(function):
    """TensorFlow has none: d2/dx2 of the sum of cubes is 6 A^T diag(A x) A, of which each column is checked."""
    x = tf.constant(PICTURE)

    def slope(values):
        with tf.GradientTape() as tape:
            tape.watch(values)
            y = tf.reduce_sum(function(values) ** 3)
        return tape.gradient(y, values)
    with tf.GradientTape() as outer:
        outer.watch(x)
        total = tf.reduce_sum(slope(x))
    found = outer.gradient(total, x).numpy().reshape(-1)
    rows = np.stack([np.asarray(function(tf.constant(one.reshape(PICTURE.shape)))).reshape(-1)
                     for one in np.eye(PICTURE.size, dtype=np.float32)], axis=1)
    expected = 6 * rows.T @ np.diag(rows @ PICTURE.reshape(-1)) @ rows @ np.ones(PICTURE.size)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def _png(depth, colour, rows, *chunks):
    """A PNG file (W3C PNG, sections 5 and 11) of rows of bytes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    samples = {0: 1, 2: 3}[colour] * depth // 8
    head = struct.pack(">IIBBBBB", len(rows[0]) // samples, len(rows), depth, colour, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, data) for kind, data in [(b"IHDR", head), *chunks, (b"IDAT", packed), (b"IEND", b"")])


@pytest.mark.parametrize("depth, colour", [(8, 2), (16, 2), (8, 0), (16, 0)])
def test_one_colour_of_a_png_is_transparent(depth, colour):
    channels = 3 if colour == 2 else 1
    key = [7, 8, 9][:channels]
    near = [*key[:-1], key[-1] + 1]
    pixels = [[key, near], [[9, 8, 7][:channels] if channels == 3 else [1], key]]
    kind = "B" if depth == 8 else ">H"
    rows = [b"".join(struct.pack(kind, sample) for pixel in row for sample in pixel) for row in pixels]
    data = _png(depth, colour, rows, (b"tRNS", b"".join(struct.pack(">H", sample) for sample in key)))
    found = tf.io.decode_png(data, channels=4, dtype=tf.uint8 if depth == 8 else tf.uint16).numpy()
    opaque = 2**depth - 1
    assert found[..., 3].tolist() == [[0, opaque], [opaque, 0]]
    assert found[..., :3].tolist() == [[pixel * (3 // channels) for pixel in row] for row in pixels]


def test_boxes_of_many_pixels():
    """Pictures of more than 2**31 pixels: parts are drawn, as of smaller ones."""
    boxes = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])
    for seed in range(5):
        begin, size, _ = tf.image.stateless_sample_distorted_bounding_box(
            [100000, 100000, 3], boxes, seed=(seed, 1), min_object_covered=0.0, area_range=(0.4, 0.6))
        begin, size = begin.numpy(), size.numpy()
        assert 0.39 <= float(size[0]) * float(size[1]) / 1e10 <= 0.61
        assert (begin[:2] >= 0).all() and (begin[:2] + size[:2] <= 100000).all()
