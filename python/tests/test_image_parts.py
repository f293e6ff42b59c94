"""Boxes that are chosen, and parts that are cut out of pictures; what is expected is TensorFlow 2.21's."""

import numpy as np
import pytest

import leat as tf

rng = np.random.RandomState(1)
BOXES = rng.rand(2, 12, 1, 4).astype(np.float32) * 1.3
BOXES[..., 2:] = BOXES[..., :2] + rng.rand(2, 12, 1, 2) * .6
SCORES = rng.rand(2, 12, 3).astype(np.float32)
PICTURES = np.arange(2 * 5 * 6, dtype=np.float32).reshape(2, 5, 6, 1)


def listed(values):
    return [value.numpy().tolist() for value in values]


# ---- boxes ----

@pytest.mark.parametrize("arguments, expected", [
    ({}, [9, 5, 1, 6, 8, 10, 11, 3, 4, 2, 0, 7]),
    ({"score_threshold": 0.5}, [9, 5, 1, 6, 8, 10]),
    ({"sorted_input": True, "iou_threshold": .1}, [0, 1, 2, 5, 6, 7, 8, 9, 11]),
    ({"sorted_input": True, "iou_threshold": .1, "score_threshold": .3}, [1, 5, 6, 8, 9]),
    ({"canonicalized_coordinates": True, "iou_threshold": .1}, [9, 5, 1, 6, 8, 11, 3, 4, 7]),
    ({"iou_threshold": .1, "tile_size": 4}, [9, 5, 1, 6, 8, 11, 3, 4, 7])])
def test_padded_suppression(arguments, expected):
    boxes, scores = BOXES[0, :, 0], SCORES[0, :, 0]
    chosen = tf.image.non_max_suppression_padded
    assert listed(chosen(boxes, scores, 20, **arguments)) == [expected, len(expected)]
    assert listed(chosen(boxes, scores, 3, **arguments)) == [expected[:3], 3]
    assert listed(chosen(boxes, scores, 20, pad_to_max_output_size=True, **arguments)) == [
        expected + [0] * (20 - len(expected)), len(expected)]


def test_padded_suppression_of_batches():
    chosen = tf.image.non_max_suppression_padded
    boxes, scores = BOXES[:, :, 0], SCORES[:, :, 0]
    assert listed(chosen(boxes, scores, 4, pad_to_max_output_size=True)) == [[[9, 5, 1, 6], [5, 3, 4, 0]], [4, 4]]
    assert listed(chosen(boxes, scores, 9, .05, pad_to_max_output_size=True)) == [
        [[9, 5, 1, 6, 8, 11, 3, 4, 7], [5, 3, 4, 0, 6, 7, 9, 10, 2]], [9, 9]]
    deeper = chosen(boxes[:, None], scores[:, None], 4, pad_to_max_output_size=True)
    assert listed(deeper) == [[[[9, 5, 1, 6]], [[5, 3, 4, 0]]], [[4], [4]]]
    with pytest.raises(ValueError, match="pad_to_max_output_size"):
        chosen(boxes, scores, 4)
    traced = tf.function(lambda b, s: chosen(b, s, 4, pad_to_max_output_size=True), input_signature=[
        tf.TensorSpec([None, None, 4]), tf.TensorSpec([None, None])])
    assert [one.shape.as_list() for one in traced.get_concrete_function().outputs] == [[None, 4], [None]]
    assert listed(traced(boxes, scores)) == [[[9, 5, 1, 6], [5, 3, 4, 0]], [4, 4]]


def test_combined_suppression():
    found = tf.image.combined_non_max_suppression(BOXES, SCORES, 2, 5)
    assert type(found).__name__ == "CombinedNonMaxSuppression"
    assert found._fields == ("nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections")
    assert found.nmsed_classes.numpy().tolist() == [[0, 2, 1, 0, 1], [1, 2, 1, 0, 0]]
    assert found.valid_detections.numpy().tolist() == [5, 5]
    np.testing.assert_allclose(found.nmsed_scores[0], [0.98861617, 0.97002, 0.96727633, 0.8468288, 0.8289809], 1e-6)
    traced = tf.function(lambda b, s: tf.image.combined_non_max_suppression(b, s, 2, 5), input_signature=[
        tf.TensorSpec([None, None, 1, 4]), tf.TensorSpec([None, None, 3])])
    assert [one.shape.as_list() for one in traced.get_concrete_function().outputs] == [
        [None, 5, 4], [None, 5], [None, 5], [None]]
    sizes = tf.function(lambda most: tf.image.combined_non_max_suppression(BOXES, SCORES, most, most + 3))
    assert sizes(tf.constant(2)).nmsed_classes.numpy().tolist() == found.nmsed_classes.numpy().tolist()
    with pytest.raises(tf.errors.InvalidArgumentError, match="classes"):
        tf.image.combined_non_max_suppression(np.tile(BOXES, (1, 1, 2, 1)), SCORES, 2, 5)


# ---- glimpses ----

@pytest.mark.parametrize("arguments, offsets, expected", [
    ({}, [[0., 0.], [0.3, -0.4]], [[[8, 9], [14, 15], [20, 21]], [[36, 37], [42, 43], [48, 49]]]),
    ({}, [[-1., 1.], [5., 9.]], [[[0, 0], [5, 0], [11, 0]], [[0, 0]] * 3]),
    ({}, [[0.25, .6], [-.3, .2]], [[[9, 10], [15, 16], [21, 22]], [[32, 33], [38, 39], [44, 45]]]),
    ({"centered": False}, [[.5, .5], [.25, -.6]], [[[15, 16], [21, 22], [27, 28]], [[0, 0]] * 3]),
    ({"centered": False}, [[0.25, .6], [-.3, .2]], [[[9, 10], [15, 16], [21, 22]], [[0, 0], [31, 32], [37, 38]]]),
    ({"normalized": False}, [[1., 2.], [-.3, .2]], [[[23, 0], [29, 0], [0, 0]], [[45, 46], [51, 52], [57, 58]]]),
    ({"normalized": False}, [[.5, .5], [1.4, 2.6]], [[[21, 22], [27, 28], [0, 0]], [[53, 0], [59, 0], [0, 0]]]),
    ({"centered": False, "normalized": False}, [[-1., 1.], [1.4, 2.6]],
     [[[0, 0], [1, 2], [7, 8]], [[38, 39], [44, 45], [50, 51]]])])
def test_glimpses(arguments, offsets, expected):
    found = tf.image.extract_glimpse(PICTURES, [3, 2], offsets, noise="zero", **arguments)
    assert found.numpy()[..., 0].tolist() == expected


@pytest.mark.parametrize("noise", ["uniform", "gaussian"])
def test_noise_of_glimpses(noise):
    first, second = (tf.image.extract_glimpse(PICTURES, [3, 8], [[0., 0.]] * 2, noise=noise).numpy()[..., 0]
                     for _ in range(2))
    assert first[0, :, 1:7].tolist() == PICTURES[0, 1:4, :, 0].tolist()  # what lies inside stays
    assert (first[:, :, [0, 7]] != second[:, :, [0, 7]]).all()
    if noise == "uniform":
        assert (first[0] >= 0).all() and (first[0] <= 29).all() and (first[1] >= 30).all()


def test_glimpses_refuse():
    with pytest.raises(tf.errors.InvalidArgumentError, match="gaussian"):
        tf.image.extract_glimpse(PICTURES, [3, 2], [[0., 0.]] * 2, noise="other")
    with pytest.raises(ValueError, match="rank"):
        tf.image.extract_glimpse(PICTURES[0], [3, 2], [[0., 0.]] * 2)


# ---- random crops ----

def cropped(x, function):
    tf.random.set_seed(3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        part = function(x)
        total = tf.reduce_sum(part * [[[1.], [2.], [3.]], [[4.], [5.], [6.]]])
    return part.numpy()[..., 0].tolist(), tape.gradient(total, x).numpy()[..., 0].tolist()


def test_gradient_of_random_crop():
    x, wanted = tf.constant(PICTURES[0]), np.zeros([5, 6])
    wanted[1:3, 1:4] = [[1, 2, 3], [4, 5, 6]]
    crop = lambda value: tf.image.random_crop(value, [2, 3, 1], seed=4)  # noqa: E731
    part, slopes = cropped(x, crop)
    assert part == [[7, 8, 9], [13, 14, 15]] and slopes == wanted.tolist()
    part, slopes = cropped(x, tf.function(crop))
    assert np.array(slopes)[np.array(slopes) > 0].tolist() == [1, 2, 3, 4, 5, 6]
    tf.random.set_seed(3)
    assert crop(x).numpy()[..., 0].tolist() == [[7, 8, 9], [13, 14, 15]]  # without a tape, too


def test_random_crop_elsewhere():
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)), tf.GradientTape():
        tf.image.random_crop(tf.constant(PICTURES[0]), [9, 3, 1])
    with tf.GradientTape():
        assert tf.image.random_crop(tf.constant([[1, 2], [3, 4]]), [2, 2]).numpy().tolist() == [[1, 2], [3, 4]]
        assert tf.image.random_crop(tf.constant(PICTURES[0]), tf.constant([5, 6, 1])).shape == (5, 6, 1)
