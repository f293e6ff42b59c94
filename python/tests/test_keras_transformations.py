"""leat.keras' layers of pictures beside Keras 3.15: transformations by themselves; keras_transformations.py records."""

import json
import pathlib
import random

import keras_transformations as cases
import numpy as np
import pytest

import leat as tf
from leat import keras

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/keras_transformations.json").read_text())


def same(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if len(expected) == 3 and isinstance(expected[0], str) and isinstance(expected[1], list):
        assert found[1] == expected[1]
        np.testing.assert_allclose(found[2], expected[2], atol=2e-3, rtol=1e-4)
        return
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        same(one, other)


@pytest.mark.parametrize(("sort", "kind"), [(sort, kind) for sort, kinds in RECORDED.items() for kind in kinds])
def test_what_keras_gives(sort, kind):
    run, kinds = cases.SORTS[sort]
    assert list(kinds) == list(RECORDED[sort])
    same(run(keras, kind), RECORDED[sort][kind])


@pytest.mark.parametrize("kind", [*cases.LAYERS, "CenterCrop(3, 2)", "Resizing(3, 2)", "AutoContrast()",
                                  "Equalization()"])
def test_a_call_is_its_transformation(kind):
    alone, layer = cases.make(keras, kind), cases.make(keras, kind)
    for _ in range(2):
        found = layer.get_random_transformation({"images": cases.X})
        np.testing.assert_allclose(alone(cases.X, training=True), layer.transform_images(cases.X, found), atol=2e-3)
    if "seed" in kind:
        np.testing.assert_array_equal(alone.seed_generator.state, layer.seed_generator.state)
    kept = layer.transform_images(cases.X, found, training=False)
    assert kept.shape != cases.X.shape or "Contrast" in kind or "Equal" in kind or np.array_equal(kept, cases.X)


def test_policies_move_boxes_as_pictures():
    layer = keras.layers.RandAugment(num_ops=3, factor=0.8, seed=1, bounding_box_format="xyxy")
    found = layer.get_random_transformation(cases.X)
    boxes = {"boxes": cases.BOXES, "labels": cases.LABELS}
    expected, steps = dict(boxes), list(found["transforms"])
    makes = {"random_shear": keras.layers.RandomShear, "random_translation": keras.layers.RandomTranslation,
             "random_rotation": keras.layers.RandomRotation}
    for number in found["layer_idxes"].numpy():
        if steps[number] in makes:
            arguments = (0.1,) * (1 if number == 2 else 2)
            step = makes[steps[number]](*arguments, bounding_box_format="xyxy")
            expected = step.transform_bounding_boxes(expected, found["transforms"][steps[number]])
    moved = layer.transform_bounding_boxes(boxes, found)
    np.testing.assert_allclose(moved["boxes"], expected["boxes"], atol=1e-5)
    assert np.abs(moved["boxes"] - cases.BOXES).max() > 0
    again = keras.layers.RandAugment(num_ops=3, factor=0.8, seed=1, bounding_box_format="xyxy")
    called = again({"images": cases.X, "bounding_boxes": boxes}, training=True)
    np.testing.assert_allclose(called["bounding_boxes"]["boxes"], moved["boxes"], atol=1e-5)
    np.testing.assert_allclose(called["images"], layer.transform_images(cases.X, found), atol=2e-3)
    mix = keras.layers.AugMix(seed=5)
    found = mix.get_random_transformation(cases.X)
    assert len(found["chain_transforms"]) == 3 and abs(float(sum(found["chain_mixing_weights"])) - 1) < 1e-5
    still = mix.transform_images(cases.X, {**found, "weight_sample": 1.0})
    np.testing.assert_allclose(still, cases.X, atol=1e-3)


def test_transformations_in_datasets():
    layer = keras.layers.RandomFlip("horizontal", seed=5)
    rows = tf.data.Dataset.from_tensor_slices(cases.X).batch(2)
    rows = rows.map(lambda x: (x, layer.transform_images(x, layer.get_random_transformation(x))))
    for x, moved in rows.repeat(4):
        assert all(np.array_equal(a, b) or np.array_equal(a[:, ::-1], b) for a, b in zip(x.numpy(), moved.numpy()))
    with pytest.raises(NotImplementedError, match="bounding_boxes"):
        keras.layers.CutMix(bounding_box_format="xyxy").transform_bounding_boxes(
            {"boxes": cases.BOXES, "labels": cases.LABELS}, None)
    with pytest.raises(ValueError, match="size"):
        keras.layers.RandomCrop(2, 2, bounding_box_format="xyxy").transform_bounding_boxes(
            {"boxes": cases.BOXES, "labels": cases.LABELS}, (1, 1))


def test_seeds_of_crops():
    """Of Keras 3.15: the configuration names one seed, and the generator draws another."""
    random.seed(5)
    layer = keras.layers.RandomCrop(2, 2)
    assert layer.get_config()["seed"] == 668835602 and layer.seed_generator.state.numpy().tolist() == [274281999, 0]
    again = keras.layers.RandomCrop.from_config(layer.get_config())
    assert again.seed_generator.state.numpy().tolist() == [668835602, 0]
