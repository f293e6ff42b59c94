"""Layers of pictures under Keras and leat alike: what they draw, and what becomes of pictures, masks, boxes and labels.

``python keras_transformations.py data/keras_transformations.json`` records what Keras gives;
test_keras_transformations.py compares.
"""

import json
import sys

import numpy as np
from keras_rest import plain

X = np.random.default_rng(0).uniform(0, 255, (2, 5, 4, 3)).round(1).astype("f")
MASKS = np.random.default_rng(1).integers(0, 4, (2, 5, 4, 1)).astype("f")
BOXES = np.array([[[1, 2, 3, 4], [0, 0, 3, 4]], [[2, 2, 4, 5], [1, 3, 4, 5]]], "f")
LABELS = np.array([[0, 1], [1, 2]], "int32")
CLASSES = np.eye(2, dtype="f")
_PLAIN = ("RandomBrightness(0.4, {})", "RandomContrast(0.4, {})", "RandomSharpness(0.7, {})", "RandomHue(0.3, {})",
          "RandomColorDegeneration(0.7, {})", "RandomSaturation(0.4, {})", "RandomInvert((0.5, 1), {})",
          "RandomGrayscale(0.6, {})", "RandomPosterization((2, 6), {})", "RandomPosterization(5, {})",
          "Solarization(0.4, 0.5, {})", "RandomGaussianBlur((1, 1), 3, (0.3, 1.0), {})", "RandomErasing((1, 1), {})")
_MOVING = ("MixUp({})", "CutMix((1, 1), {})", "RandomFlip({})", "RandomFlip('vertical', {})", "RandomCrop(3, 2, {})",
           "RandomTranslation(0.3, 0.2, {})", "RandomRotation(0.2, {})", "RandomZoom(0.3, {})",
           "RandomZoom(0.3, 0.2, {})", "RandomShear(0.3, 0.2, {})", "RandomPerspective((1, 1), 0.6, {})",
           "RandomElasticTransform((1, 1), (0.5, 1), {})", "RandAugment(num_ops=2, factor=0.4, {})")
LAYERS = [name.format("seed=3") for name in (*_PLAIN, *_MOVING)]
# Layers that do not, or do otherwise, as docs/COMPATIBILITY.md says: masks with noise of their own, labels joined along
# the batch, boxes by rows and columns.
_LEFT_OUT = {"masks": ("Elastic", "MixUp", "RandAugment"), "boxes": ("MixUp", "RandomCrop", "RandAugment", "Elastic",
                                                                     "CutMix", "Grayscale"), "flat": ("RandAugment",)}
MADE = {  # transformations by hand
    "RandomFlip()": {"flips": np.array([[[[True]]], [[[False]]]]), "input_shape": (2, 5, 4, 3)},
    "RandomBrightness(0.5)": {"rgb_delta": np.array([[[[9.0]]], [[[-300.0]]]], "f")},
    "RandomTranslation(0.1, 0.1)": {"translations": np.array([[1.0, 0.0], [0.0, -2.0]], "f"),
                                    "input_shape": (2, 5, 4, 3)},
    "RandomZoom(0.1)": {"height_zoom": np.array([[0.5], [1.0]], "f"), "width_zoom": np.array([[1.0], [2.0]], "f"),
                        "input_shape": (2, 5, 4, 3)},
    "RandomShear(0.1, 0.1)": {"shear_factor": np.array([[0.3, 0.0], [-0.2, 0.4]], "f"), "input_shape": (2, 5, 4, 3)},
    "MixUp()": {"mix_weight": np.array([0.2, 0.75], "f"), "permutation_order": np.array([1, 0])},
    "RandomErasing()": {"apply_erasing": np.array([True, False]), "batch_masks": MASKS > 1,
                        "fill_value": np.float32(7)},
    "RandomGaussianBlur()": {"should_apply_blur": np.array([False, True]), "blur_factor": np.array([0.5, 0.9], "f")},
    "CenterCrop(3, 2)": {"input_shape": (2, 5, 4, 3)}, "Resizing(3, 2)": (5, 4)}


def _flat(name, value):
    """The tensors of a transformation by their names."""
    if isinstance(value, dict):
        return {path: leaf for key in value for path, leaf in _flat(f"{name}/{key}", value[key]).items()}
    if value is None or hasattr(value, "next") or "input_shape" in name or "batch_masks" in name:
        return {}
    return {name: plain(list(value) if isinstance(value, tuple) else value)}


def _does(kind, what):
    return not any(name in kind for name in _LEFT_OUT[what])


def _transformed(k, layer, kind, found):
    found_of, tensor = {"images": layer.transform_images(k.ops.convert_to_tensor(X), found)}, k.ops.convert_to_tensor
    if _does(kind, "masks"):
        found_of["masks"] = layer.transform_segmentation_masks(tensor(MASKS), found)
    if _does(kind, "boxes"):
        boxes = layer.transform_bounding_boxes({"boxes": tensor(BOXES), "labels": tensor(LABELS)}, found)
        found_of |= {"boxes": boxes["boxes"], "box labels": boxes["labels"]}
    found_of["labels"] = layer.transform_labels(tensor(CLASSES), found)
    return {name: plain(value) for name, value in found_of.items()}


def make(k, kind):
    """The layer of a case."""
    return eval(f"layers.{kind[:-1]}{', ' * (kind[-2] != '(')}bounding_box_format='xyxy')", {"layers": k.layers})


def drawn(k, kind):
    """What a layer draws for pictures, and what it makes of it."""
    layer = make(k, kind)
    found = layer.get_random_transformation(k.ops.convert_to_tensor(X))
    return {"drawn": _flat("", found) if _does(kind, "flat") else {}, **_transformed(k, layer, kind, found)}


def by_hand(k, kind):
    """What a layer makes of a transformation that it did not draw."""
    return _transformed(k, make(k, kind), kind, MADE[kind])


def one(k, kind):
    """The same of one picture at a time."""
    layer, tensor = make(k, kind), k.ops.convert_to_tensor
    found = layer.get_random_transformation(tensor(X[:1]))
    boxes = layer.transform_single_bounding_box({"boxes": tensor(BOXES[0]), "labels": tensor(LABELS[0])}, found)
    return plain([layer.transform_single_image(tensor(X[0]), found), boxes["boxes"], boxes["labels"],
                  layer.transform_single_label(tensor(CLASSES[0]), found),
                  layer.transform_single_segmentation_mask(tensor(MASKS[0]), found)])


ONE = ("RandomFlip(seed=3)", "RandomRotation(0.2, seed=3)", "RandomPerspective((1, 1), 0.6, seed=3)",
       "RandomBrightness(0.4, seed=3)")
SORTS = {"drawn": (drawn, LAYERS), "by hand": (by_hand, MADE), "one": (one, ONE)}


if __name__ == "__main__":
    import keras
    with open(sys.argv[1], "w") as file:
        lines = [f"{json.dumps(sort)}: {{\n" + ",\n".join(
            f"{json.dumps(kind)}: {json.dumps(run(keras, kind))}" for kind in kinds) + "}"
            for sort, (run, kinds) in SORTS.items()]
        file.write("{" + ",\n".join(lines) + "}\n")
