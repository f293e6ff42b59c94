#!/usr/bin/env python3
"""Record the cases of mixup, cutmix, rand_augment, aug_mix and saturate_cast from TensorFlow, and compute those of what it lacks, into tests/conform/ops.

    recipe_cases.py [FOLDER]

They are tf.keras.layers.MixUp, CutMix, RandAugment and AugMix: a layer of seed s whose generator has drawn k times answers the seed [s, k].
random_resized_crop and normalize are computed by the models below; the parts are scaled by tf.image.resize. Needs TensorFlow 2.21.
"""
import math
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "conform"))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras.src.backend.tensorflow import random as keras_random  # noqa: E402
from keras.src.layers.preprocessing.image_preprocessing import aug_mix  # noqa: E402
from op_case_model import DTYPE, F32, F64, I32, INVALID, SHAPE, U8, VALUE, Half, case, philox, unit, write  # noqa: E402

RNG = np.random.RandomState(20261)
CLOSE = {"tolerance": 1e-6}


def refuse(op, name, inputs, why, attributes=None):
    """`why`: reason and keyword of the library's failure."""
    case(op, name, inputs, attributes=attributes, error=(INVALID, *why))


# ---- mixup and cutmix ----

def layered(layer, images, labels, draws):
    """What a layer gives after its generator has drawn `draws` times."""
    layer.generator.state.assign([layer.seed, draws])
    out = layer({"images": tf.constant(images), "labels": tf.constant(labels)}, training=True)
    return np.asarray(out["images"]), np.asarray(out["labels"])


pictures = RNG.randint(0, 256, (5, 4, 6, 3)).astype(U8)
floats = RNG.rand(3, 8, 5, 1).astype(F32)
classes = np.eye(4, dtype=F32)[[0, 2, 1, 3, 2]]
three = RNG.rand(3, 2).astype(F32)
for i, (seed, draws) in enumerate(((0, 0), (7, 0), (123456, 9), (2**31 - 3, 2))):
    given = np.array([seed, draws], np.int64 if i % 2 else I32)
    for op, layer, arguments in (("stateless_mixup", tf.keras.layers.MixUp, [{}, {"alpha": 1.0}, {"alpha": 0.7}]),
                                 ("stateless_cutmix", tf.keras.layers.CutMix, [{}, {"factor": 0.4}, {"factor": [0.5, 1.0]}])):
        for k, attributes in enumerate(arguments):
            own = {"factor": [attributes["factor"]]} if attributes.get("factor") == 0.4 else attributes
            for name, images, labels in (("bytes", pictures, classes), ("floats", floats, three)):
                mixed, answer = layered(layer(seed=seed, **attributes), images, labels, draws)
                if op == "stateless_cutmix":
                    mixed = mixed.astype(images.dtype)
                case(op, "%s_%d_%d" % (name, i, k), [images, labels, given], (mixed, answer), own, **CLOSE)
for op, bad, word in (("mixup", {"alpha": 1.5}, (VALUE, "alpha")), ("cutmix", {"factor": [0.5, 1.5]}, (VALUE, "factor"))):
    for form, seeds in ((op, []), ("stateless_" + op, [np.array([1, 2], I32)])):
        refuse(form, "argument", [floats, three] + seeds, word, bad)
        refuse(form, "other_count", [floats, classes] + seeds, (SHAPE, "labels"))
        refuse(form, "one_picture", [floats[0], three] + seeds, (SHAPE, "batch"))
        refuse(form, "scalar_label", [floats, F32(1)] + seeds, (SHAPE, "labels"))
    refuse("stateless_" + op, "float_seed", [floats, three, np.array([1, 2], F32)], (SHAPE, "int32"))


def words_of(seed, block):
    """Block `block` of the stream of an operation's seed, without a global one."""
    return [int(w) for w in philox(87654321, seed, block)]


class Fixed:
    """In place of a layer's generator: hands out [first, second + k] in call k."""

    def __init__(self, first, second):
        self.first, self.second = first, second - 1

    def draw(self):
        self.second += 1
        return tf.constant([self.first, self.second], tf.int64)


# A stateful form draws its seed from the first block of the call.
kept = keras_random.draw_seed
keras_random.draw_seed = lambda generator: generator.draw()
for seed in (1, 5, 2**30):
    for op, layer, attributes in (("mixup", tf.keras.layers.MixUp, {"alpha": 0.4}), ("cutmix", tf.keras.layers.CutMix, {})):
        made = layer(seed=0, **attributes)
        made._get_seed_generator = lambda backend, generator=Fixed(*words_of(seed, 0)[:2]): generator
        out = made({"images": tf.constant(pictures), "labels": tf.constant(classes)}, training=True)
        images = np.asarray(out["images"])
        case(op, "seed_%d" % seed, [pictures, classes], (images.astype(U8) if op == "cutmix" else images, np.asarray(out["labels"])),
             dict(attributes, seed=seed), **CLOSE)
keras_random.draw_seed = kept

# ---- rand_augment ----

RANDAUGMENT = tf.keras.layers.RandAugment
for i, (seed, attributes) in enumerate([(s, {}) for s in range(12)] + [(20 + s, {"num_ops": 11, "factor": 0.3}) for s in range(3)] + [
        (30, {"value_range": [0.0, 1.0], "num_ops": 5}), (31, {"value_range": [-1.0, 1.0], "num_ops": 4}), (32, {"factor": [0.1, 0.2], "num_ops": 4}),
        (33, {"interpolation": "nearest", "num_ops": 6}), (34, {"factor": 1.0, "num_ops": 3})]):
    scale = attributes.get("value_range", [0.0, 255.0])
    batch = RNG.randint(0, 256, (2, 5, 6, 3)).astype(U8) if "value_range" not in attributes else (
        RNG.rand(2, 5, 6, 3) * (scale[1] - scale[0]) + scale[0]).astype(F32)
    own = dict(attributes, factor=[attributes["factor"]]) if isinstance(attributes.get("factor"), float) else attributes
    for name, value in (("batch", batch), ("picture", batch[0]), ("grey", batch[..., :1])):
        layer = RANDAUGMENT(seed=seed, **attributes)
        layer.generator.state.assign([seed, i])
        case("stateless_rand_augment", "%s_%d" % (name, i), [value, np.array([seed, i], np.int64 if i % 2 else I32)],
             np.asarray(layer(tf.constant(value), training=True)), own, tolerance=2e-5)
keras_random.draw_seed = lambda generator: generator.draw()
for seed in range(1, 6):
    layer = RANDAUGMENT(seed=0)
    layer._get_seed_generator = lambda backend, generator=Fixed(*words_of(seed, 0)[:2]): generator
    value = RNG.randint(0, 256, (5, 6, 3)).astype(U8)
    case("rand_augment", "seed_%d" % seed, [value], np.asarray(layer(tf.constant(value), training=True)), {"seed": seed}, tolerance=2e-5)
keras_random.draw_seed = kept
for op, more in (("rand_augment", []), ("stateless_rand_augment", [np.array([1, 2], I32)])):
    value = np.zeros((3, 3, 3), U8)
    refuse(op, "factor", [value] + more, (VALUE, "factor"), {"factor": [1.5]})
    refuse(op, "range", [value] + more, (VALUE, "value_range"), {"value_range": [1.0, 0.0]})
    refuse(op, "interpolation", [value] + more, (VALUE, "cubic"), {"interpolation": "cubic"})
    refuse(op, "two_channels", [value[..., :2]] + more, (SHAPE, "2"))
    refuse(op, "matrix", [value[0]] + more, (SHAPE, "pictures"))

# ---- random_resized_crop ----


def part_of(blocks, height, width, scale, ratio):
    low, high = math.log(ratio[0]), math.log(ratio[1])
    for words in blocks:
        area = height * width * (scale[0] + float(unit(words[0])) * (scale[1] - scale[0]))
        own = math.exp(low + float(unit(words[1])) * (high - low))
        tall, wide = round(math.sqrt(area / own)), round(math.sqrt(area * own))
        if 1 <= tall <= height and 1 <= wide <= width:
            return words[2] % (height - tall + 1), words[3] % (width - wide + 1), tall, wide
    own, tall, wide = width / height, height, width
    if own < ratio[0]:
        tall = max(1, round(width / ratio[0]))
    elif own > ratio[1]:
        wide = max(1, round(height * ratio[1]))
    return (height - tall) // 2, (width - wide) // 2, tall, wide


def resized_crop(block, images, size, scale=(0.08, 1.0), ratio=(0.75, 4 / 3), method="bilinear", antialias=False):
    """`block(i)`: block i of the stream, four words."""
    batch = images if images.ndim == 4 else images[None]
    out = []
    for i, picture in enumerate(batch):
        blocks = [block(16 * i + k) for k in range(10)]
        top, left, tall, wide = part_of(blocks, *picture.shape[:2], scale, ratio)
        out.append(np.asarray(tf.image.resize(picture[top:top + tall, left:left + wide], size, method=method, antialias=antialias)))
    return np.stack(out) if images.ndim == 4 else out[0]


def stateless_block(seed):
    """The stream of a seed of two integers: they are a counter, whose block is key and counter of the stream."""
    masked = [int(s) & (2**64 - 1) for s in seed]
    mixed = [int(w) for w in philox(0x02461E293EC8F720, masked[1], masked[0])]
    return lambda i: [int(w) for w in philox(mixed[0] | mixed[1] << 32, mixed[2] | mixed[3] << 32, i)]


picture = RNG.randint(0, 256, (13, 17, 3)).astype(U8)
tall = RNG.rand(2, 20, 3, 2).astype(F32)
options = [{"size": [6, 5]}, {"size": [9, 9], "scale": [0.5, 0.9], "ratio": [0.9, 1.1]}, {"size": [4, 4], "method": "nearest"},
           {"size": [3, 4], "antialias": True, "method": "bicubic"}, {"size": [5, 5], "scale": [0.9, 1.0], "ratio": [3.0, 4.0]}]
for i, attributes in enumerate(options):
    seed = np.array([3 + i, -i], np.int64 if i % 2 else I32)
    for name, value in (("bytes", picture), ("batch", tall), ("wide", picture[:2]), ("int16", picture.astype(np.int16))):
        case("stateless_random_resized_crop", "%s_%d" % (name, i), [value, seed], resized_crop(stateless_block(seed), value, **attributes),
             attributes, **CLOSE)
        case("random_resized_crop", "%s_%d" % (name, i), [value], resized_crop(lambda k: words_of(40 + i, k), value, **attributes),
             dict(attributes, seed=40 + i), **CLOSE)
for op, more in (("random_resized_crop", []), ("stateless_random_resized_crop", [np.array([1, 2], I32)])):
    refuse(op, "size_zero", [picture] + more, (VALUE, "1"), {"size": [0, 4]})
    refuse(op, "one_size", [picture] + more, (VALUE, "1"), {"size": [4]})
    refuse(op, "scale", [picture] + more, (VALUE, "scale"), {"size": [4, 4], "scale": [0.5, 0.1]})
    refuse(op, "ratio", [picture] + more, (VALUE, "ratio"), {"size": [4, 4], "ratio": [0.0, 0.1]})
    refuse(op, "method", [picture] + more, (VALUE, "sharp"), {"size": [4, 4], "method": "sharp"})
    refuse(op, "matrix", [picture[0]] + more, (SHAPE, "pictures"), {"size": [4, 4]})
    refuse(op, "nothing", [picture[:0]] + more, (SHAPE, "resized"), {"size": [4, 4]})

# ---- normalize ----


def normalize(images, mean, std):
    work = images.dtype.type if images.dtype in (F32, F64) else F32
    return (images.astype(work) - np.array(mean, work)) / np.array(std, work)


MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
for dtype in (U8, np.int8, np.int16, np.uint16, I32, np.int64, F32, F64):
    value = (RNG.rand(4, 5, 3) * 120).astype(dtype)
    more = {"gradient": True} if dtype in (F32, F64) else {}
    case("image_normalize", np.dtype(dtype).name, [value], normalize(value, MEAN, STD), {"mean": MEAN, "std": STD}, **more)
case("image_normalize", "batch", [tall], normalize(tall, [0.5, 0.25], [0.5]), {"mean": [0.5, 0.25], "std": [0.5]}, gradient=True)
long = RNG.rand(9, 11, 3).astype(F32)
case("image_normalize", "long", [long], normalize(long, [0.4], [0.25, 0.3, 0.35]), {"mean": [0.4], "std": [0.25, 0.3, 0.35]})
grey = RNG.randint(0, 256, (7, 3, 1)).astype(U8)
case("image_normalize", "grey", [grey], normalize(grey, [7.5], [2]), {"mean": [7.5], "std": [2.0]})
half = Half("float16", [0.5, 1.5, -2.0, 4.0], [2, 2])
case("image_normalize", "float16", [half], Half("float16", [0.0, 0.5, -1.25, 1.75], [2, 2]), {"mean": [0.5, 0.5], "std": [2.0, 2.0]})
case("image_normalize", "nothing", [picture[:0]], np.zeros((0, 17, 3), F32), {"mean": [0.0], "std": [1.0]})
refuse("image_normalize", "std_zero", [picture], (VALUE, "[1]"), {"mean": [0.0], "std": [1.0, 0.0, 1.0]})
refuse("image_normalize", "two_means", [picture], (SHAPE, "2"), {"mean": [0.0, 1.0], "std": [1.0]})
refuse("image_normalize", "no_std", [picture], (SHAPE, "0"), {"mean": [0.0], "std": []})
refuse("image_normalize", "scalar", [F32(1)], (SHAPE, "scalar"), {"mean": [0.0], "std": [1.0]})
refuse("image_normalize", "text", [b"x"], (DTYPE, "string"), {"mean": [0.0], "std": [1.0]})

# ---- saturate_cast ----

INTEGERS = [np.int8, np.int16, I32, np.int64, U8, np.uint16, np.uint32, np.uint64]
reals = [-np.inf, -1e30, -70000.0, -1.5, -0.5, 0.0, 0.5, 1.5, 70000.0, 1e30, np.inf, np.nan]


def taken(dtype, value):
    """A value of the test format: narrow floats by their numbers."""
    return Half(dtype.name, np.asarray(tf.cast(value, tf.float64)), value.shape) if dtype in (tf.float16, tf.bfloat16) else value.numpy()


DTYPES = [tf.dtypes.as_dtype(d) for d in INTEGERS] + [tf.float16, tf.bfloat16, tf.float32, tf.float64]
for a in DTYPES:
    if a in (tf.uint32, tf.uint64):
        continue  # TensorFlow's CPU does not clip them
    if a.is_floating:
        x = tf.cast(tf.constant(reals, tf.float64), a)
    else:
        x = tf.constant(np.array([a.min, a.min // 2, -1 if a.min < 0 else 3, 0, 1, 100, a.max // 2, a.max]).astype(a.as_numpy_dtype))
    for b in DTYPES:
        if a is tf.int64 and b in (tf.int64, tf.uint64, tf.bfloat16, tf.float32, tf.float64):
            continue  # TensorFlow's upper bound wraps, and all values become the lowest one
        given = x[:-1] if a.is_floating and b is tf.uint32 else x  # a NaN becomes one thing or another
        case("saturate_cast", "%s_to_%s" % (a.name, b.name), [taken(a, given)], taken(b, tf.saturate_cast(given, b)), {"dtype": b.name})
wide = np.array([-2**63, -1, 0, 5, 2**63 - 1], np.int64)
case("saturate_cast", "int64_kept", [wide], wide, {"dtype": "int64"})
case("saturate_cast", "int64_to_uint64", [wide], np.maximum(wide, 0).astype(np.uint64), {"dtype": "uint64"})
case("saturate_cast", "int64_to_float32", [wide], wide.astype(F32), {"dtype": "float32"})
large = np.array([0, 7, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
case("saturate_cast", "uint64_to_int64", [large], np.minimum(large, np.uint64(2**63 - 1)).astype(np.int64), {"dtype": "int64"})
case("saturate_cast", "uint64_to_uint8", [large], np.minimum(large, np.uint64(255)).astype(U8), {"dtype": "uint8"})
case("saturate_cast", "gradient", [np.array([-3.5, 0.25, 2.0], F32)], np.array([-3.5, 0.25, 2.0], F64), {"dtype": "float64"}, gradient=True)
refuse("saturate_cast", "bool", [np.array([True])], (DTYPE, "bool"), {"dtype": "int8"})
refuse("saturate_cast", "to_bool", [np.array([1], I32)], (DTYPE, "bool"), {"dtype": "bool"})
refuse("saturate_cast", "text", [b"x"], (DTYPE, "string"), {"dtype": "int8"})

# ---- aug_mix ----


class Choices:
    """In place of Python's generator, from which Keras takes what it does: the layer's own, at a draw that only depends on the place."""

    def __init__(self, layer):
        self.layer, self.place = layer, 0

    def choice(self, names):
        self.layer.generator.state.assign([self.layer.seed, self.begin + 2 + 4 * self.place])
        self.place += 1
        return names[int(keras_random.randint((), 0, len(names), seed=self.layer.generator))]


for i, attributes in enumerate([{}, {"num_chains": 1, "chain_depth": 9}, {"num_chains": 4, "chain_depth": 6, "factor": 0.8}, {"all_ops": False},
                                {"value_range": [0.0, 1.0], "alpha": 0.5, "factor": [0.1, 0.4]}, {"interpolation": "nearest", "chain_depth": 5},
                                {"chain_depth": 0, "num_chains": 2}]):
    scale = attributes.get("value_range", [0.0, 255.0])
    batch = (RNG.rand(2, 5, 6, 3) * (scale[1] - scale[0]) + scale[0]).astype(F32)
    own = dict(attributes, factor=[attributes["factor"]]) if isinstance(attributes.get("factor"), float) else attributes
    for name, value in (("batch", batch), ("picture", batch[0]), ("grey", batch[..., :1]), ("bytes", batch.astype(U8))):
        layer = tf.keras.layers.AugMix(seed=70 + i, **attributes)
        layer.generator.state.assign([70 + i, i])
        aug_mix.py_random = Choices(layer)
        aug_mix.py_random.begin = i
        case("stateless_aug_mix", "%s_%d" % (name, i), [value, np.array([70 + i, i], np.int64 if i % 2 else I32)],
             np.asarray(layer(tf.constant(value), training=True)), own, tolerance=2e-5)
refuse("stateless_aug_mix", "alpha", [pictures, np.array([1, 2], I32)], (VALUE, "alpha"), {"alpha": 0.0})
refuse("stateless_aug_mix", "factor", [pictures, np.array([1, 2], I32)], (VALUE, "factor"), {"factor": [1.5]})
refuse("stateless_aug_mix", "range", [pictures, np.array([1, 2], I32)], (VALUE, "value_range"), {"value_range": [1.0, 0.0]})
refuse("stateless_aug_mix", "interpolation", [pictures, np.array([1, 2], I32)], (VALUE, "cubic"), {"interpolation": "cubic"})
refuse("stateless_aug_mix", "two_channels", [pictures[..., :2], np.array([1, 2], I32)], (SHAPE, "2"))
refuse("stateless_aug_mix", "float_seed", [pictures, np.array([1, 2], F32)], (SHAPE, "int32"))

write({})
