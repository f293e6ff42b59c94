"""Records layers of Keras that golden/nn lacks: more_layers.json, picture_layers.json and further_layers.json of
tests/golden/data/nn, in the form of layers.json; and values of initializers: more_initializers.json.

    python keras_layers.py tests/golden/data/nn         (with TensorFlow and Keras installed)

Layers that draw numbers are recorded with a seed, so their draws are those of Keras' generator. AugMix, which takes its
choices from Python's generator, is given one that asks the layer's.
"""

import json
import sys

import keras
import numpy as np
import tensorflow as tf
from keras.src.layers.preprocessing.image_preprocessing import aug_mix

LINE, PLANE, SPACE = (2, 7, 4), (2, 6, 5, 4), (2, 4, 5, 3, 2)
CASES = [  # layer, configurations, shapes of the inputs, training
    ("Conv1D", [{"filters": 3, "kernel_size": 3}, {"filters": 4, "kernel_size": 2, "strides": 2, "padding": "same"},
                {"filters": 2, "kernel_size": 3, "padding": "causal", "dilation_rate": 2},
                {"filters": 4, "kernel_size": 3, "groups": 2, "activation": "tanh"}], [LINE], False),
    ("Conv2D", [{"filters": 6, "kernel_size": 3, "groups": 2, "strides": 2, "padding": "same"}], [PLANE], False),
    ("Conv3D", [{"filters": 3, "kernel_size": 2}, {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same"},
                {"filters": 2, "kernel_size": [1, 3, 2], "padding": "same", "use_bias": False},
                {"filters": 4, "kernel_size": 2, "groups": 2, "strides": [2, 1, 1]},
                {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "padding": "same"}], [SPACE], False),
    ("Conv1DTranspose", [{"filters": 3, "kernel_size": 3, "strides": 2},
                         {"filters": 2, "kernel_size": 2, "padding": "same", "strides": 2}], [LINE], False),
    ("Conv2DTranspose", [{"filters": 3, "kernel_size": 3}, {"filters": 3, "kernel_size": 3, "strides": 2},
                         {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same"},
                         {"filters": 2, "kernel_size": [2, 3], "strides": 3, "use_bias": False},
                         {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same", "output_padding": 1},
                         {"filters": 2, "kernel_size": 3, "strides": 2, "output_padding": [1, 0]}], [PLANE], False),
    ("DepthwiseConv1D", [{"kernel_size": 3}, {"kernel_size": 2, "depth_multiplier": 2, "padding": "same"}], [LINE], False),
    ("DepthwiseConv2D", [{"kernel_size": 3, "dilation_rate": 2, "padding": "same", "activation": "relu"}], [PLANE], False),
    ("SeparableConv1D", [{"filters": 3, "kernel_size": 3}], [LINE], False),
    ("SeparableConv2D", [{"filters": 3, "kernel_size": 3}, {"filters": 5, "kernel_size": 3, "strides": 2, "padding": "same",
                                                           "depth_multiplier": 2, "use_bias": False}], [PLANE], False),
    ("MaxPooling1D", [{}, {"pool_size": 3, "strides": 2, "padding": "same"}], [LINE], False),
    ("AveragePooling1D", [{"pool_size": 2}, {"pool_size": 3, "strides": 1, "padding": "same"}], [LINE], False),
    ("MaxPooling3D", [{}, {"pool_size": 3, "strides": 2, "padding": "same"}, {"pool_size": [1, 2, 3], "strides": 1}],
     [SPACE], False),
    ("AveragePooling3D", [{"pool_size": 2}, {"pool_size": 3, "strides": 2, "padding": "same"}], [SPACE], False),
    ("GlobalAveragePooling1D", [{}, {"keepdims": True}, {"data_format": "channels_first"}], [LINE], False),
    ("GlobalMaxPooling1D", [{}], [LINE], False),
    ("GlobalAveragePooling3D", [{}], [SPACE], False),
    ("GlobalMaxPooling3D", [{"keepdims": True}], [SPACE], False),
    ("GlobalMaxPooling2D", [{"data_format": "channels_first"}], [PLANE], False),
    ("BatchNormalization", [{"axis": 1}, {"momentum": 0.5, "scale": False}], [PLANE], True),
    ("BatchNormalization", [{"axis": 1}], [PLANE], False),
    ("LayerNormalization", [{"axis": 1}, {"axis": [1, 3], "epsilon": 0.1}], [PLANE], False),
    ("GroupNormalization", [{"groups": 2}, {"groups": -1, "scale": False}, {"groups": 4, "center": False}], [PLANE], False),
    ("GroupNormalization", [{"groups": 3, "axis": 1}], [PLANE], False),
    ("Reshape", [{"target_shape": [10, 12]}, {"target_shape": [-1, 4, 5]}], [PLANE], False),
    ("Permute", [{"dims": [3, 1, 2]}], [PLANE], False),
    ("RepeatVector", [{"n": 3}], [(2, 4)], False),
    ("ZeroPadding1D", [{}, {"padding": [2, 1]}], [LINE], False),
    ("ZeroPadding2D", [{"padding": [2, 1]}], [PLANE], False),
    ("ZeroPadding3D", [{}, {"padding": [[0, 1], [2, 0], [1, 1]]}], [SPACE], False),
    ("Cropping1D", [{}, {"cropping": [0, 2]}], [LINE], False),
    ("Cropping2D", [{"cropping": 1}, {"cropping": [[1, 2], [0, 3]]}], [PLANE], False),
    ("Cropping3D", [{"cropping": [1, 2, 1]}], [(2, 4, 5, 3, 2)], False),
    ("UpSampling1D", [{}], [LINE], False),
    ("UpSampling2D", [{"size": [3, 1]}, {"interpolation": "bilinear"}, {"size": 3, "interpolation": "bicubic"}], [PLANE],
     False),
    ("UpSampling3D", [{"size": [1, 2, 2]}], [SPACE], False),
    ("Add", [{}], [(2, 3), (2, 3), (2, 3)], False),
    ("Add", [{}], [(2, 4, 3), (2, 3)], False),
    ("Subtract", [{}], [(2, 3), (2, 3)], False),
    ("Average", [{}], [(2, 3), (2, 1), (2, 3)], False),
    ("Maximum", [{}], [(2, 3), (2, 3)], False),
    ("Minimum", [{}], [(2, 3), (2, 3), (2, 3)], False),
    ("Concatenate", [{"axis": 1}], [(2, 3, 2), (2, 1, 2)], False),
    ("Dot", [{"axes": 1}, {"axes": 1, "normalize": True}], [(3, 4), (3, 4)], False),
    ("Dot", [{"axes": [2, 1]}, {"axes": [1, 2]}], [(2, 3, 3), (2, 3, 3)], False),
    ("Dot", [{"axes": [1, 3]}], [(2, 3, 4), (2, 2, 5, 3)], False),
    ("Activation", [{"activation": name} for name in (
        "softsign", "hard_silu", "log_sigmoid", "log_softmax", "mish", "tanh_shrink", "hard_shrink", "soft_shrink",
        "squareplus", "hard_tanh", "swish")], [(4, 6)], False),
    ("ReLU", [{"threshold": 0.3}, {"negative_slope": 0.2}, {"max_value": 0.5}], [(4, 6)], False),
    ("ELU", [{}, {"alpha": 0.5}], [(4, 6)], False),
    ("Softmax", [{}, {"axis": 0}], [(4, 6)], False),
    ("PReLU", [{"alpha_initializer": "ones"}, {"shared_axes": [1, 2]}], [(2, 3, 2, 3)], False),
    ("Rescaling", [{"scale": 2, "offset": [0.5, 1, -1]}], [(2, 4, 3)], False),
    ("Normalization", [{"mean": [1, 2, 3], "variance": [4, 1, 0.25]}, {"mean": 2, "variance": 3, "invert": True}],
     [(2, 4, 3)], False),
    ("Dropout", [{"rate": 0.4, "seed": 7}], [(3, 50)], True),
    ("Dropout", [{"rate": 0.5, "seed": 1, "noise_shape": [None, 1]}], [(6, 5)], True),
    ("Dropout", [{"rate": 0.4, "seed": 7}, {"rate": 0, "seed": 7}], [(3, 5)], False),
    ("SpatialDropout1D", [{"rate": 0.5, "seed": 3}], [(3, 2, 6)], True),
    ("SpatialDropout2D", [{"rate": 0.5, "seed": 3}], [(3, 2, 2, 6)], True),
    ("SpatialDropout3D", [{"rate": 0.5, "seed": 3}], [(3, 2, 1, 2, 6)], True),
    ("GaussianNoise", [{"stddev": 0.4, "seed": 5}], [(3, 7)], True),
    ("GaussianDropout", [{"rate": 0.3, "seed": 5}], [(3, 7)], True),
]

PICTURES, PICTURE = (2, 5, 4, 3), (5, 4, 3)
UNIT = {"value_range": [0, 1]}
VIEWS = [{"fill_mode": mode} for mode in ("reflect", "wrap", "nearest")] + [
    {"fill_mode": "constant", "fill_value": 7.0}, {"interpolation": "nearest"}]


def seeded(*configs, **common):
    return [{**common, **config, "seed": 3 + 2 * i} for i, config in enumerate(configs)]


PICTURE_CASES = [  # layer, configurations, shape, training; values from 0 to 255, or to 1 where value_range says so
    ("RandomFlip", seeded({}, {"mode": "horizontal"}, {"mode": "vertical"}), PICTURES, True),
    ("RandomFlip", seeded({}, {"mode": "vertical"}), PICTURE, True),
    ("RandomFlip", seeded({}), PICTURES, False),
    ("RandomCrop", seeded({"height": 4, "width": 3}, {"height": 1, "width": 2}, {"height": 5, "width": 3},
                          {"height": 7, "width": 6}, {"height": 2, "width": 9}), PICTURES, True),
    ("RandomCrop", seeded({"height": 4, "width": 3}), PICTURE, True),
    ("RandomCrop", seeded({"height": 4, "width": 3}), PICTURES, False),
    ("RandomRotation", seeded(*VIEWS, factor=0.3), PICTURES, True),
    ("RandomRotation", seeded({"factor": [0.25, 0.25]}, {"factor": [-0.1, 0.4]}), PICTURE, True),
    ("RandomRotation", seeded({"factor": 0.5}), PICTURES, False),
    ("RandomTranslation", seeded(*VIEWS, height_factor=0.6, width_factor=[-0.2, 0.9]), PICTURES, True),
    ("RandomTranslation", seeded({"height_factor": [0.5, 0.5], "width_factor": 0}), PICTURE, True),
    ("RandomTranslation", seeded({"height_factor": 1, "width_factor": 1}), PICTURES, False),
    ("RandomZoom", seeded(*VIEWS, height_factor=0.4, width_factor=[-0.5, 1.0]), PICTURES, True),
    ("RandomZoom", seeded({"height_factor": 0.7}, {"height_factor": [-0.3, -0.3]}), PICTURE, True),
    ("RandomZoom", seeded({"height_factor": 0.7}), PICTURES, False),
    ("RandomShear", seeded(*VIEWS, x_factor=0.5, y_factor=[0.1, 0.8]), PICTURES, True),
    ("RandomShear", seeded({"x_factor": 0.3}, {"y_factor": [0.2, 0.2]}), PICTURE, True),
    ("RandomShear", seeded({"x_factor": 0.3}), PICTURES, False),
    ("CenterCrop", [{"height": 4, "width": 3}, {"height": 3, "width": 2}, {"height": 6, "width": 5},
                    {"height": 8, "width": 4}, {"height": 9, "width": 12}], PICTURES, True),
    ("CenterCrop", [{"height": 3, "width": 3}, {"height": 7, "width": 2}], PICTURE, False),
    ("Resizing", [{"height": 4, "width": 7}, {"height": 9, "width": 3, "interpolation": "nearest"},
                  {"height": 3, "width": 2, "interpolation": "bicubic", "antialias": True},
                  {"height": 3, "width": 8, "crop_to_aspect_ratio": True},
                  {"height": 7, "width": 3, "crop_to_aspect_ratio": True, "interpolation": "nearest"},
                  {"height": 3, "width": 8, "pad_to_aspect_ratio": True, "fill_value": 9.0},
                  {"height": 9, "width": 4, "pad_to_aspect_ratio": True}], PICTURES, True),
    ("Resizing", [{"height": 4, "width": 7}, {"height": 5, "width": 5, "crop_to_aspect_ratio": True}], PICTURE, False),
    ("RandomBrightness", seeded({"factor": 0.4}, {"factor": [0.2, 0.2]}, {"factor": [-1, 0]}, {"factor": 0.5, **UNIT}),
     PICTURES, True),
    ("RandomBrightness", seeded({"factor": 0.4}), PICTURE, True),
    ("RandomBrightness", seeded({"factor": 0.4}), PICTURES, False),
    ("RandomContrast", seeded({"factor": 0.8}, {"factor": [0.3, 0.3]}, {"factor": [0.5, 0.9]}, {"factor": 0.5, **UNIT}),
     PICTURES, True),
    ("RandomContrast", seeded({"factor": 0.8}), PICTURE, True),
    ("RandomContrast", seeded({"factor": 0.8}), PICTURES, False),
    ("RandomSaturation", seeded({"factor": 0.8, **UNIT}, {"factor": [0.3, 0.3], **UNIT}, {"factor": [0.5, 0.9], **UNIT},
                                {"factor": 0.4}), PICTURES, True),
    ("RandomSaturation", seeded({"factor": 0.8, **UNIT}), PICTURE, True),
    ("RandomSaturation", seeded({"factor": 0.8}), PICTURES, False),
    ("RandomHue", seeded({"factor": 0.8}, {"factor": [0.3, 0.3]}, {"factor": [0.5, 0.9]}, {"factor": 0.5, **UNIT}),
     PICTURES, True),
    ("RandomHue", seeded({"factor": 0.8}), PICTURE, True),
    ("RandomHue", seeded({"factor": 0.8}), PICTURES, False),
    ("RandomSharpness", seeded({"factor": 0.8}, {"factor": [0.3, 0.3]}, {"factor": [0.6, 1.0]}, {"factor": 0.5, **UNIT}),
     PICTURES, True),
    ("RandomSharpness", seeded({"factor": 0.8}), PICTURE, True),
    ("RandomSharpness", seeded({"factor": 0.8}), PICTURES, False),
    ("RandomInvert", seeded({}, {"factor": 0.5}, {"factor": [1, 1]}, {"factor": [0.4, 0.8], **UNIT}), PICTURES, True),
    ("RandomInvert", seeded({"factor": [0.9, 1]}), PICTURE, True),
    ("RandomInvert", seeded({}), PICTURES, False),
    ("RandomColorDegeneration", seeded({"factor": 0.8}, {"factor": [0.3, 0.3]}, {"factor": [0.5, 0.9]},
                                       {"factor": 0.5, **UNIT}), PICTURES, True),
    ("RandomColorDegeneration", seeded({"factor": 0.8}), PICTURE, True),
    ("RandomColorDegeneration", seeded({"factor": 0.8}), PICTURES, False),
    ("RandomGrayscale", seeded({}, {"factor": 0.9}, {"factor": 0.1}, {"factor": 1.0}), PICTURES, True),
    ("RandomGrayscale", seeded({}), (2, 4, 4, 1), True),
    ("RandomGrayscale", seeded({}), PICTURES, False),
    ("RandomColorJitter", seeded(
        {"brightness_factor": 0.3, "contrast_factor": 0.5}, {"saturation_factor": 0.6, **UNIT}, {"hue_factor": 0.4},
        {"brightness_factor": [0.1, 0.2], "contrast_factor": 0.5, "saturation_factor": 0.7, "hue_factor": 0.9, **UNIT}, {}),
     PICTURES, True),
    ("RandomColorJitter", seeded({"brightness_factor": 0.3}), PICTURE, True),
    ("RandomColorJitter", seeded({"brightness_factor": 0.3}), PICTURES, False),
    ("RandomErasing", seeded({}, {"factor": [1, 1], "scale": [0.2, 0.5], "fill_value": 3.0},
                             {"factor": [1, 1], "scale": 0.9, "fill_value": [1.0, 20.0, 300.0]},
                             {"factor": [0.9, 1], "scale": [0.3, 0.3], **UNIT}), PICTURES, True),
    ("RandomErasing", seeded({"factor": [1, 1], "scale": [0.1, 0.8]}), PICTURE, True),
    ("RandomErasing", seeded({}), PICTURES, False),
    ("RandomGaussianBlur", seeded({}, {"factor": [1, 1], "kernel_size": 5}, {"factor": [1, 1], "sigma": [0.7, 0.7]},
                                  {"factor": [0.5, 1], "kernel_size": [3, 5], **UNIT}), PICTURES, True),
    ("RandomGaussianBlur", seeded({"factor": [1, 1]}), PICTURE, True),
    ("RandomGaussianBlur", seeded({}), PICTURES, False),
    ("Solarization", seeded({"threshold_factor": 0.6}, {"addition_factor": 0.3, "threshold_factor": [0.4, 0.9]},
                            {"addition_factor": [0.1, 0.5]}, {"threshold_factor": 0.9, **UNIT}), PICTURES, True),
    ("Solarization", seeded({"threshold_factor": 0.6}), PICTURE, True),
    ("Solarization", seeded({"threshold_factor": 0.6}), PICTURES, False),
    ("AutoContrast", [{}, UNIT, {"value_range": [-10, 300]}], PICTURES, True),
    ("AutoContrast", [{}], (2, 4, 3, 1), True),
    ("AutoContrast", [{}], PICTURES, False),
    ("MixUp", seeded({}, {"alpha": 0.9}), (4, 3, 2, 3), True),
    ("MixUp", seeded({}), PICTURE, True),
    ("MixUp", seeded({}), PICTURES, False),
    ("CutMix", seeded({}, {"factor": 0.4}, {"factor": [0.5, 1.0]}), (4, 6, 5, 2), True),
    ("CutMix", seeded({}), PICTURE, True),
    ("CutMix", seeded({}), PICTURES, False),
    ("RandAugment", seeded({}, {"num_ops": 4, "factor": [0.1, 0.3]}, {"num_ops": 3, "interpolation": "nearest", **UNIT},
                           {"factor": 0.2}), PICTURES, True),
    ("RandAugment", seeded({"num_ops": 3}), PICTURE, True),
    ("RandAugment", seeded({}), PICTURES, False),
    ("AugMix", seeded({}, {"num_chains": 2, "chain_depth": 4, "all_ops": False}, {"factor": [0.2, 0.6], "alpha": 0.4, **UNIT},
                      {"num_chains": 1, "chain_depth": 8, "interpolation": "nearest"}), PICTURES, True),
    ("AugMix", seeded({"num_chains": 4, "chain_depth": 2}), PICTURE, True),
    ("AugMix", seeded({}), PICTURES, False),
    ("RandomPosterization", seeded({"factor": 3}, {"factor": [2, 7]}, {"factor": [5, 5]}, {"factor": 4, **UNIT}, {"factor": 1}),
     PICTURES, True),
    ("RandomPosterization", seeded({"factor": 6}), PICTURE, True),
    ("RandomPosterization", seeded({"factor": 3}), PICTURES, False),
    ("Equalization", [{}, {"bins": 16}, {"bins": 7, **UNIT}, {"value_range": [-50, 255]}], PICTURES, True),
    ("Equalization", [{"bins": 1}], (2, 3, 4, 1), True),
    ("Equalization", [{}], PICTURE, True),
    ("Equalization", [{}], PICTURES, False),
    ("ContrastLimitedAdaptiveHistogramEqualization",
     [{"tile_grid_size": [2, 3]}, {"tile_grid_size": [3, 2], "clip_limit": 20.0}, {"tile_grid_size": [1, 2], "clip_limit": 0.0},
      {"tile_grid_size": [2, 2], "clip_limit": 100.0, **UNIT}, {"tile_grid_size": [4, 3], "value_range": [-20, 255]}],
     (2, 6, 7, 2), True),
    ("ContrastLimitedAdaptiveHistogramEqualization", [{"tile_grid_size": [3, 4], "clip_limit": 30.0}], (13, 17, 1), False),
    ("ContrastLimitedAdaptiveHistogramEqualization", [{}], (1, 24, 16, 1), False),
    ("RandomPerspective", seeded({"factor": [1, 1]}, {"factor": [1, 1], "scale": 0.3, "fill_value": 7.0},
                                 {"factor": [1, 1], "scale": 0.6, "interpolation": "nearest"}, {}), PICTURES, True),
    ("RandomPerspective", seeded({"factor": [1, 1], "scale": 0.5}, {"factor": 0}), PICTURE, True),
    ("RandomPerspective", seeded({}), PICTURES, False),
    ("RandomElasticTransform", seeded(*VIEWS, factor=[1, 1], scale=[1, 1]), (1, 22, 21, 1), True),
    ("RandomElasticTransform", seeded({}, {"factor": [1, 1], "scale": 0.7}, {"factor": [1, 1], "scale": [0.4, 0.4], **UNIT},
                                      {"factor": 0}), PICTURES, True),
    ("RandomElasticTransform", seeded({"factor": [1, 1]}), PICTURE, True),
    ("RandomElasticTransform", seeded({}), PICTURES, False),
]
UNDERIVED = {"MixUp", "CutMix", "RandAugment", "AugMix"}  # leat's have no gradient where they change something


class Choices:
    """In place of Python's generator, from which AugMix takes what it does at each place: the layer's own, at a draw that
    only depends on the place."""

    def __init__(self, layer):
        self.layer, self.place = layer, 0

    def choice(self, names):
        self.layer.generator.state.assign([self.layer.seed, 2 + 4 * self.place])
        self.place += 1
        return names[int(keras.random.randint((), 0, len(names), seed=self.layer.generator))]

MATRIX = (3, 4)
ADAPTIVE = [{"output_size": size} for size in (2, 3, 4, 5)]  # with 1, TensorFlow's gradient of the largest value crashes
FURTHER_CASES = [  # layer, configurations, shape, training, and of integers the end of their range
    ("Conv3DTranspose", [{"filters": 2, "kernel_size": 2}, {"filters": 3, "kernel_size": 3, "strides": 2},
                         {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same", "activation": "tanh"},
                         {"filters": 2, "kernel_size": [1, 2, 3], "strides": [2, 1, 2], "use_bias": False},
                         {"filters": 2, "kernel_size": 2, "strides": 2, "padding": "same", "output_padding": 1},
                         {"filters": 1, "kernel_size": 3, "strides": [3, 2, 2], "output_padding": [2, 0, 1]},
                         {"filters": 1, "kernel_size": [1, 3, 2], "strides": [3, 2, 1]}], (2, 3, 4, 2, 2), False, None),
    ("UnitNormalization", [{}, {"axis": 1}, {"axis": [1, 2]}], LINE, False, None),
    ("UnitNormalization", [{}, {"axis": 0}], MATRIX, True, None),
    ("RMSNormalization", [{}, {"axis": [2]}, {"axis": [1, 2], "epsilon": 0.1}], LINE, False, None),
    ("RMSNormalization", [{}, {"epsilon": 0.5}], MATRIX, True, None),
    ("AlphaDropout", [{"rate": 0.4, "seed": 7}, {"rate": 0.1, "seed": 2}, {"rate": 0.5, "seed": 1, "noise_shape": [None, 1]}],
     (4, 9), True, None),
    ("AlphaDropout", [{"rate": 0.4, "seed": 7}, {"rate": 0, "seed": 7}], MATRIX, False, None),
    ("EinsumDense", [{"equation": "abc,cd->abd", "output_shape": [None, 5], "bias_axes": "d", "activation": "relu"},
                     {"equation": "abc,cde->abde", "output_shape": [7, 2, 3], "bias_axes": "de"},
                     {"equation": "...c,cd->...d", "output_shape": 5, "bias_axes": "d"},
                     {"equation": "ab...,bc->ac...", "output_shape": 6, "bias_axes": "c"},
                     {"equation": "abc,bd->adc", "output_shape": [3, 4], "bias_axes": "dc"}], LINE, False, None),
    ("EinsumDense", [{"equation": "ab,bc->ac", "output_shape": 6}, {"equation": "ab,b->a", "output_shape": []}], MATRIX, False,
     None),
    *[(f"Adaptive{way}Pooling1D", [*ADAPTIVE, {"output_size": 9}], LINE, False, None) for way in ("Average", "Max")],
    *[(f"Adaptive{way}Pooling2D", [*ADAPTIVE, {"output_size": [4, 2]}], PLANE, False, None) for way in ("Average", "Max")],
    *[(f"Adaptive{way}Pooling3D", [*ADAPTIVE[:3], {"output_size": [3, 2, 2]}, {"output_size": [2, 5, 3]}], SPACE, False, None)
      for way in ("Average", "Max")],
    ("CategoryEncoding", [{"num_tokens": 5, "output_mode": mode} for mode in ("one_hot", "multi_hot", "count")], MATRIX, False, 5),
    ("CategoryEncoding", [{"num_tokens": 4, "output_mode": mode} for mode in ("one_hot", "multi_hot", "count")], (5, 1), False, 4),
    ("CategoryEncoding", [{"num_tokens": 3, "output_mode": "one_hot"}, {"num_tokens": 3}], (6,), False, 3),
    ("Discretization", [{"bin_boundaries": [-0.5, 0.0, 1.0], "output_mode": mode}
                        for mode in ("int", "one_hot", "multi_hot", "count")], MATRIX, False, None),
    ("Discretization", [{"bin_boundaries": [0.0, 1.0, 1.0, 2.0]}, {"bin_boundaries": [1.0]}], MATRIX, False, 3),
]


def array(tensor):
    if tensor is None:
        return None
    found = np.asarray(tensor)
    kind = int if found.dtype.kind in "iu" else float
    return {"dtype": str(found.dtype), "shape": list(found.shape), "data": [kind(str(value)) for value in found.ravel()]}


def record(name, config, shapes, training, random, high=None, whole=False):
    """A case as a line of JSON; inputs are normal numbers, or uniform ones from 0 to `high`, maybe integers."""
    inputs = [tf.constant(random.normal(size=shape).astype(np.float32) if high is None else
                          random.integers(0, high, shape, np.int32) if whole else
                          random.uniform(0, high, shape).astype(np.float32)) for shape in shapes]
    given = inputs if len(inputs) > 1 else inputs[0]
    layer = getattr(keras.layers, name)(**config)
    layer.build(shapes if len(inputs) > 1 else shapes[0])
    if name == "AugMix":
        aug_mix.py_random = Choices(layer)
    for weight in layer.weights:
        value = random.normal(size=weight.shape)
        weight.assign(np.abs(value) + 0.5 if weight.name == "moving_variance" else value)
    before = {weight.name: array(weight) for weight in layer.weights}
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(inputs)
        output = layer(given, training=training)
        upstream = tf.constant(random.normal(size=output.shape).astype(np.float32))
        loss = tf.reduce_sum(tf.cast(output, tf.float32) * upstream)
    underived = training and name in UNDERIVED and not (name == "CutMix" and len(shapes[0]) == 3)
    case = {"layer": name, "config": config, "training": training, "inputs": [array(one) for one in inputs],
            "weights": before, "upstream": array(upstream), "output": array(output),
            "input_grads": [None if underived else array(one) for one in tape.gradient(loss, inputs)],
            "weight_grads": {weight.name: array(tape.gradient(loss, weight.value)) for weight in layer.trainable_weights}}
    if name == "BatchNormalization":
        case["state_after"] = {weight.name: array(weight) for weight in layer.non_trainable_weights}
    return json.dumps(case)


def write(path, lines):
    with open(path, "w") as file:
        file.write('{"keras": "%s", "cases": [\n%s\n]}\n' % (keras.__version__, ",\n".join(lines)))


def main(folder):
    random = np.random.default_rng(14)
    write(f"{folder}/more_layers.json", [record(name, config, shapes, training, random)
                                         for name, configs, shapes, training in CASES for config in configs])
    random = np.random.default_rng(15)
    write(f"{folder}/picture_layers.json", [
        record(name, config, [shape], training, random, (config.get("value_range") or [0, 255])[1])
        for name, configs, shape, training in PICTURE_CASES for config in configs])
    random = np.random.default_rng(16)
    write(f"{folder}/further_layers.json", [record(name, config, [shape], training, random, high, True)
                                            for name, configs, shape, training, high in FURTHER_CASES for config in configs])
    write(f"{folder}/more_initializers.json", [
        json.dumps({"initializer": "Orthogonal", "config": config, "shape": shape,
                    "value": array(keras.initializers.Orthogonal(**config)(shape))})
        for config, shape in (({"seed": 3}, [4, 4]), ({"seed": 5, "gain": 2.0}, [6, 3]), ({"seed": 7}, [3, 5]),
                              ({"seed": 1}, [3, 3, 2, 4]), ({"seed": 2, "gain": -0.5}, [2, 2, 7]))])


main(sys.argv[1])
